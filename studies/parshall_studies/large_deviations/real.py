"""Figure 7 on other traces: the source's download is not public, series of other real flows of Reno are.

`PARSHALL_DATA` names a folder with ``cwnd/*_reno_*_cwnd.csv.gz``: rows of time and window, whenever it changed. Without
it the section says that it is missing.

References: Loiseau 2010, §5.2, Fig. 7; data of paper 87 of IMC 2019 (windows of Reno over a wireless network).
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import single
from parshall.foundations.errors import InputError
from parshall.instruments.observation import TracedFlow, observe
from parshall.report.document import Chart, Section, Table
from parshall.report.observation.figures import loss_function, windows
from parshall.report.plot import Plot
from parshall.studies.study import Findings
from parshall_studies.large_deviations.setting import PAPER
from parshall_studies.observed.spectra import Variability, variability
from parshall_studies.observed.variability import spectra
from parshall_studies.spectrum import interval_means

VARIABLE = "PARSHALL_DATA"
HEADER = ("flow", "chain of", "n", "observed range", "chain's range", "chain in range", "mean", "chain's mean")


def real() -> Findings:
    """Each trace that is there."""
    heading = "Figure 7: real flows"
    files = sorted((Path(os.environ.get(VARIABLE, "data")) / "cwnd").glob("*_reno_*_cwnd.csv.gz"))
    if not files:
        where = f"{VARIABLE} names the folder that has cwnd/*_reno_*_cwnd.csv.gz."
        return Findings([], [Section(heading, (f"Left out: no series of real flows was found. {where}",))])
    claims: list[Claim] = []
    rows, figures = [], []
    remarks: list[str] = []
    for path in files:
        name = path.name.removesuffix("_cwnd.csv.gz")
        try:
            flow = observe(path).flow(0)
            result = variability(flow, "reno")
        except InputError as error:
            remarks.append(f"Left out: {error}.")
            continue
        more, cells = compared(name, "reno", flow, result)
        claims += more
        rows += cells
        figures += [Chart(f"fig7-{kind}-{name}", title, plot) for kind, title, plot in plots(name, flow, result)]
    text = (
        "The source's download is not public, so its figure cannot be reproduced, and nothing here counts as "
        "published; these are series of other real flows, of Reno over a wireless network (an hour).",
        "The chain is in range from ten loss cycles on. A Reno flow with windows near 1000 packets has cycles of "
        "500 round trips: an hour holds ten intervals of that length, too few for a spectrum. The source's flow "
        "had windows of some 60 packets.",
        *remarks,
    )
    table = Table("Packets per RTT", HEADER, rows, numbers=(2, 6, 7))
    return Findings(claims, [Section(heading, text, [table], figures)])


def compared(
    name: str, control: str, flow: TracedFlow, result: Variability
) -> tuple[list[Claim], list[tuple[str, ...]]]:
    """A flow's range at each scale beside its chain's: checks, and rows of a table."""
    checks: list[Claim] = []
    rows: list[tuple[str, ...]] = []
    fitted = result.fitted
    for each in result.empirical:
        means = interval_means(flow.windows, each.scale)
        seen = f"{means.min():.0f} .. {means.max():.0f}"
        if fitted is None:
            rows.append((name, control, str(each.scale), seen, "", "", "", ""))
            continue
        low, high = fitted.bounds(flow.windows.size, each.scale)
        cycle = flow.windows.size / max(1, int(np.count_nonzero(flow.events)))
        in_range = each.scale >= 10 * cycle
        inside = "yes" if in_range else f"no, from {10 * cycle:.0f}"
        average = f"{flow.windows.mean():.0f}", f"{fitted.mean:.0f}"
        rows.append((name, control, str(each.scale), seen, f"{low:.0f} .. {high:.0f}", inside, *average))
        for label, bound, ours in (("lowest", low, means.min()), ("highest", high, means.max())):
            quantity = f"{name}: {label} mean over {each.scale} RTTs, beside eq. (10)"
            note = f"in range: {inside}; extremes of {means.size} intervals"
            if not in_range:  # of shorter scales the theory says nothing
                note += f"; eq. (10) has {bound:.4g}"
                checks.append(reported("fig7c", quantity, single(float(ours)), note, basis="theory"))
                continue
            within = PAPER.within("chain", bound)
            checks.append(
                equal("fig7c", quantity, bound, single(float(ours)), within=within, basis="theory", note=note)
            )
    return checks, rows


def plots(name: str, flow: TracedFlow, result: Variability) -> list[tuple[str, str, Plot]]:
    """A flow's windows, losses and spectra: kind, title and plot of each."""
    return [
        ("windows", f"Windows, {name}", windows(flow)),
        ("p", f"Losses by window, {name}", loss_function(flow.loss_function())),
        ("spectra", f"Spectra, {name}", spectra(result)),
    ]
