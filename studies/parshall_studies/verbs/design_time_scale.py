"""``parshall design time-scale``: T_L of multiple time scale congestion control, from measured traffic."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli.console import console, print_json, table
from parshall.cli.groups import Printed
from parshall.cli.values import duration_s

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from parshall_studies.time_scale import TimeScale


def time_scale(
    source: Annotated[
        Path,
        typer.Argument(help="A run with link samples, or a text file with one number per line.", show_default=False),
    ],
    *,
    link: Annotated[str | None, typer.Option(help="A link of the run.", show_default="the first")] = None,
    bin_: Annotated[
        str | None, typer.Option("--bin", help='Width of a bin of a file, e.g. "10 ms".', show_default=False)
    ] = None,
    rtt: Annotated[
        str | None,
        typer.Option(
            help="RTT of the connection to be steered; T_L is at least ten times as long.", show_default="no bound"
        ),
    ] = None,
    longest: Annotated[
        str | None, typer.Option(help="Longest interval considered.", show_default="what the series allows")
    ] = None,
    printed: Printed,
) -> None:
    """Find the interval T_L of multiple time scale congestion control, from measured traffic."""
    from dataclasses import asdict

    from parshall_studies.time_scale import time_scale as choose

    if source.is_dir():
        series, bin_s = _link_samples(source, link)
    else:
        bin_s = _bin_width(bin_)
        series = [_numbers(source)]
    longest_s = duration_s("--longest", longest)
    answer = choose(series, bin_s, rtt_s=duration_s("--rtt", rtt) or 0.0, longest_s=longest_s)
    if printed.as_json:
        print_json(asdict(answer))
    elif not printed.quiet:
        _show_time_scale(answer)


def _link_samples(directory: Path, link: str | None) -> tuple[list[NDArray[np.float64]], float]:
    """Bytes forwarded by bin after the warm-up, a series a repetition; bins that are not whole are left out."""
    import polars as pl

    from parshall.foundations.errors import InputError
    from parshall.instruments.simulation import Run

    run = Run.load(directory)
    if run.link_samples is None:
        raise InputError(f'{directory}: holds no link samples; set probes.link_samples, e.g. "100 ms", and run again')
    names = run.link_samples["link"].unique(maintain_order=True).to_list()
    if link is not None and link not in names:
        raise InputError(f"--link: found {link!r}; accepted: {', '.join(names)}")
    rows = run.link_samples.filter(pl.col("link") == (link or names[0]))
    bin_s = float(rows["bin_s"].max())  # type: ignore[arg-type]
    warm_up_s = run.scenario.resolved.warm_up_ps / 1e12
    full = rows.filter((pl.col("time_s") >= warm_up_s) & (pl.col("bin_s") > 0.999 * bin_s))
    parts = full.sort("time_s").partition_by("repetition", maintain_order=True)
    return [part["forwarded_bytes"].to_numpy().astype(float) for part in parts], bin_s


def _numbers(path: Path) -> NDArray[np.float64]:
    import numpy as np

    from parshall.foundations.errors import InputError
    from parshall.foundations.files import read_file

    try:
        return np.loadtxt(io.BytesIO(read_file(path, "numbers")), dtype=np.float64, ndmin=1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}; accepted are a run's directory, or text with a number a line") from None


def _bin_width(given: str | None) -> float:
    from parshall.foundations.errors import InputError

    if given is None:
        raise InputError('--bin: missing; a file of numbers needs the width of its bins, e.g. --bin "10 ms"')
    return duration_s("--bin", given)


def _show_time_scale(answer: TimeScale) -> None:
    out = console()
    if answer.chosen is None:
        out.print("No interval is shown to say anything of the next one: no T_L can be recommended.")
    else:
        out.print(
            f"T_L = {answer.chosen.interval_s:g} s: the correlation of successive intervals is "
            f"{answer.chosen.correlation:.2f}, and no other interval is known to have a larger one."
        )
    shown = table("", "interval (s)", "correlation", "standard error", "pairs")
    for each in answer.correlations:
        cells = (f"{each.interval_s:g}", f"{each.correlation:.3f}", f"{each.standard_error:.3f}", f"{each.pairs}")
        shown.add_row(*cells)
    out.print(shown)
