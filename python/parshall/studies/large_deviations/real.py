"""Figure 7 on other traces: the source's download is not available, published series of real flows are.

`PARSHALL_DATA` names a folder with ``cwnd/*_cwnd.csv.gz``: rows of time and window, whenever it changed. Without it the
section says that it is missing.

References: Loiseau 2010, §5.2, Fig. 7; data of paper 87 of IMC 2019 (windows of Reno over a wireless network for an
hour, and of CUBIC over a long-distance path).
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from parshall.errors import InputError
from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Plot
from parshall.stats.spectrum import interval_means
from parshall.studies.check import Check
from parshall.studies.study import Scale
from parshall.traces import TracedFlow, observe
from parshall.traces.figures import loss_function, spectra, windows
from parshall.traces.spectra import Variability, variability

VARIABLE = "PARSHALL_DATA"
SHOWN = {"quick": ("wireless_reno_1_1_10000", "longDistance_cubic_5_1_53002"), "paper": None}
PERIODS = 20
"""Periods without loss that make a quartile."""


def real(scale: Scale) -> tuple[list[Check], Section]:
    """Each trace that is there."""
    heading = "Figure 7: real flows"
    files = _files(SHOWN[scale])
    if not files:
        words = (
            f"Left out: no series of real flows was found. {VARIABLE} names the folder that has cwnd/*_cwnd.csv.gz.",
        )
        return [], Section(heading, words)
    checks: list[Check] = []
    rows, figures, left_out = [], [], []
    for path in files:
        name = path.name.removesuffix("_cwnd.csv.gz")
        flow = observe(path).flow(0)
        try:
            found = variability(flow)
        except InputError as error:
            # CUBIC's window does not tell the round-trip time, which such a series does not hold.
            left_out.append(f"Left out: {error}.")
            continue
        more, cells = _compared(name, flow, found)
        checks += more
        rows += cells
        figures += [Drawn(f"fig7-{kind}-{name}", title, plot) for kind, title, plot in _plots(flow, found)]
    header = ("flow", "n", "observed range", "chain's range", "chain in range")
    text = (
        "The source's own trace is not available; these are series of other real flows, one of Reno over a wireless "
        "network (an hour) and of CUBIC over a long path. The chain is Reno's with the flow's own p(w).",
        "The chain is in range from ten loss cycles on. A Reno flow with windows near 1000 packets has cycles of 500 "
        "round trips: an hour holds ten intervals of that length, too few for a spectrum. The source's flow had "
        "windows of some 60 packets.",
        *left_out,
    )
    return checks, Section(heading, text, [Table("Packets per RTT", header, rows, numbers=(1,))], figures)


def _files(names: tuple[str, ...] | None) -> list[Path]:
    folder = Path(os.environ.get(VARIABLE, "data")) / "cwnd"
    if names is None:
        return sorted(folder.glob("*_cwnd.csv.gz"))
    return [path for path in (folder / f"{name}_cwnd.csv.gz" for name in names) if path.exists()]


def _compared(name: str, flow: TracedFlow, found: Variability) -> tuple[list[Check], list[tuple[str, ...]]]:
    checks: list[Check] = []
    rows: list[tuple[str, ...]] = []
    fitted = found.fitted
    for each in found.empirical:
        means = interval_means(flow.windows, each.scale)
        seen = f"{means.min():.0f} .. {means.max():.0f}"
        if fitted is None:
            rows.append((name, str(each.scale), seen, "", ""))
            continue
        low, high = fitted.bounds(flow.windows.size, each.scale)
        cycle = flow.windows.size / max(1, int(np.count_nonzero(flow.events)))
        inside = "yes" if each.scale >= 10 * cycle else f"no, from {10 * cycle:.0f}"
        rows.append((name, str(each.scale), seen, f"{low:.0f} .. {high:.0f}", inside))
        for words, bound, ours in (("lowest", low, means.min()), ("highest", high, means.max())):
            quantity = f"{name}: {words} mean over {each.scale} RTTs, beside eq. (10)"
            tolerance = 0.05 * bound
            checks.append(Check("fig7c", quantity, bound, float(ours), None, None, tolerance, f"in range: {inside}"))
    return checks, rows


def _plots(flow: TracedFlow, found: Variability) -> list[tuple[str, str, Plot]]:
    return [
        ("windows", f"Windows, {flow.name}", windows(flow)),
        ("p", f"Losses by window, {flow.name}", loss_function(flow.loss_function())),
        ("spectra", f"Spectra, {flow.name}", spectra(found)),
    ]
