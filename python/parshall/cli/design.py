"""``parshall design``: from what is asked of a network to what to set."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli import design_network
from parshall.cli.console import console, print_json, table
from parshall.cli.groups import PageOptions, Printed, Work
from parshall.cli.options import Seed
from parshall.cli.values import duration_s, parsed, part
from parshall.cli.verb import Commands, verb

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from parshall.analysis.models.diffserv import Sessions
    from parshall.analysis.stats.time_scale import TimeScale
    from parshall.design.recommendation import Recommendation
    from parshall.design.rio import RioDesign

design = typer.Typer(
    cls=Commands, help="Choose parameters for what is asked.", no_args_is_help=True, add_completion=False
)


@design.callback()
def root() -> None:
    """Choose parameters for what is asked."""


design.command("buffer")(design_network.buffer)
design.command("aqm")(design_network.aqm)
design.command("repetitions")(design_network.repetitions)


@design.command("rio")
@verb
def rio(
    *,
    capacity: Annotated[str, typer.Option(help='Rate of the link, e.g. "48 Mbit/s".', show_default=False)],
    sessions: Annotated[int, typer.Option(help="Number of TCP sessions.", min=1, show_default=False)],
    rtt: Annotated[
        str, typer.Option(help='Round-trip propagation delays: "100 ms", or evenly from "100 ms..298 ms".')
    ] = "100 ms",
    reservation: Annotated[str, typer.Option(help="Rate of each session's token bucket.")] = "320 kbit/s",
    burst: Annotated[int, typer.Option(help="Size of each bucket, packets.", min=0)] = 20,
    access: Annotated[str | None, typer.Option(help="Rate of each access link.", show_default="no limit")] = None,
    packet: Annotated[str, typer.Option(help="Packet size.")] = "1000 B",
    loss_in: Annotated[
        str | None,
        typer.Option(
            "--loss-in", help='Constraint: largest loss of in-packets, e.g. "0.5 %" or 0.005.', show_default=False
        ),
    ] = None,
    delay: Annotated[
        str | None, typer.Option(help="Constraint: largest delay of any packet in the router.", show_default=False)
    ] = None,
    mean_delay: Annotated[
        str | None, typer.Option("--mean-delay", help="Constraint: largest mean delay.", show_default=False)
    ] = None,
    reservations: Annotated[
        bool, typer.Option("--reservations", help="Constraint: every session reaches its reservation.")
    ] = False,
    limit: Annotated[int, typer.Option(help="max_in = max_out, packets, unless --delay fixes it.")] = 100,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate/--no-simulate",
            help="Recommend thresholds with which a simulation keeps the agreement, or those of the model alone.",
        ),
    ] = True,
    repetitions: Annotated[int, typer.Option(help="Repetitions of the simulation.", min=2)] = 4,
    duration: Annotated[str, typer.Option(help="Simulated time of each repetition.")] = "120 s",
    seed: Seed = 1,
    work: Work,
    page: PageOptions,
    printed: Printed,
) -> None:
    """Find thresholds of a RIO router for a service level agreement."""
    from parshall.design.agreement import Agreement
    from parshall.design.page import page as design_page
    from parshall.design.recommendation import recommend
    from parshall.design.rio import rio as solve
    from parshall.design.simulated import Setting

    drawn = page.files()
    packet_bytes = _bytes(packet)
    given = _sessions(sessions, rtt, reservation, burst, access, packet_bytes)
    agreement = Agreement(
        None if loss_in is None else part("--loss-in", loss_in),
        duration_s("--delay", delay),
        duration_s("--mean-delay", mean_delay),
        reservations,
    )
    capacity_per_s = _rate("--capacity", capacity) / (8 * packet_bytes)
    answer = solve(given, capacity_per_s=capacity_per_s, agreement=agreement, limit_packets=limit)
    recommendation = None
    if simulate and answer.choice is not None:
        printed.note("simulating the model's point, and others until one keeps the agreement ...")
        span = duration_s("--duration", duration)
        setting = Setting(span, span / 4, repetitions, seed, packet_bytes)
        with work.execution(bar=printed.bar("rio")) as by:
            recommendation = recommend(answer, setting, execution=by)
    page.write(lambda: design_page(answer, recommendation), "design.html", drawn, printed)
    if printed.as_json:
        print_json(result(answer, recommendation))
    elif not printed.quiet:
        _show(answer, recommendation)


@design.command("time-scale")
@verb
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

    from parshall.analysis.stats.time_scale import time_scale as choose

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


def result(answer: RioDesign, recommendation: Recommendation | None) -> dict[str, Any]:
    """Return the value that ``--json`` prints; docs/rio.md describes it."""
    from dataclasses import asdict

    import numpy as np

    from parshall.design import recommendation as recommended

    state = None if answer.choice is None else answer.choice.state
    router = answer.router
    if recommendation is not None:
        router = None if recommendation.kept is None else recommendation.kept.router
    names = ("in_min", "in_max", "in_probability", "out_min", "out_max", "out_probability")
    return {
        "feasible": answer.choice is not None,
        "answer": recommended.answer(answer, recommendation),
        "router": None if router is None else {name: float(np.asarray(getattr(router, name))) for name in names},
        "predicted": None
        if state is None
        else {
            "load_per_s": float(state.load_per_s[0]),
            "load_in_per_s": float(state.load_in_per_s[0]),
            "loss_in": float(state.loss_in[0]),
            "loss_out": float(state.loss_out[0]),
            "queue_packets": float(state.queue_packets[0]),
            "utilisation": float(state.utilisation[0]),
            "session_per_s": state.session_per_s.tolist(),
            "residual": float(state.residual),
        },
        "costs": [asdict(cost) for cost in answer.costs],
        "conflict": None if answer.conflict is None else asdict(answer.conflict),
        "region": {
            "in_probability": answer.region.in_probability.tolist(),
            "out_probability": answer.region.out_probability.tolist(),
            "kept": answer.region.kept.tolist(),
        },
        "simulated": None
        if recommendation is None
        else {
            "verdict": recommendation.verdict,
            "out_probability": recommendation.nearest.out_probability,
            "constraints": [asdict(each) for each in recommendation.nearest.confirmation.kept],
            "trials": [
                {
                    "out_probability": trial.out_probability,
                    "verdict": trial.confirmation.verdict,
                    "utilisation": trial.confirmation.simulated.utilisation.mean,
                }
                for trial in recommendation.trials
            ],
        },
    }


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


def _sessions(count: int, rtt: str, reservation: str, burst: int, access: str | None, packet_bytes: int) -> Sessions:
    import numpy as np

    from parshall.analysis.models.diffserv import Sessions

    first, _, last = rtt.partition("..")
    ends = (duration_s("--rtt", first), duration_s("--rtt", last or first))
    bits = 8 * packet_bytes
    access_bps = float("inf") if access is None else _rate("--access", access)
    return Sessions(
        np.linspace(*ends, count),
        _rate("--reservation", reservation) / bits,
        burst,
        access_per_s=access_bps / bits,
        access_delay_s=bits / access_bps,
    )


def _rate(option: str, text: str) -> float:
    return parsed(option, "rate", text)


def _bytes(text: str) -> int:
    from parshall.foundations.errors import InputError

    size = int(parsed("--packet", "bytes", text))
    if not 100 <= size <= 65_535:
        raise InputError(f'--packet: found "{text}"; accepted: 100 B to 65535 B')
    return size


def _show(answer: RioDesign, recommendation: Recommendation | None) -> None:
    from parshall.design import recommendation as recommended
    from parshall.design.agreement import LABELS

    out = console()
    for line in recommended.answer(answer, recommendation):
        out.print(line)
    if answer.costs:
        shown = table("Costs", "without", "p_out^max", "used capacity", "cost")
        for cost in answer.costs:
            cells = [
                "-" if value is None else f"{value:.4g}"
                for value in (cost.out_probability, cost.utilisation, cost.lost_utilisation)
            ]
            shown.add_row(LABELS[cost.constraint], *cells)
        out.print(shown)
    if recommendation is not None:
        shown = table("Simulated", "p_out^max", "constraint", "simulated", "95 %", "bound", "verdict")
        for trial in recommendation.trials:
            for each in trial.confirmation.kept:
                value = each.value
                interval = "" if value.low is None else f"{value.low:.4g} .. {value.high:.4g}"
                simulated_cells = (f"{trial.out_probability:.4g}", each.label, f"{value.mean:.4g}", interval)
                shown.add_row(*simulated_cells, f"{each.bound:.4g}", each.verdict)
        out.print(shown)
