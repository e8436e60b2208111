"""Figure 7 on other traces: the source's download is not public, series of other real flows are.

`PARSHALL_DATA` names a folder with ``cwnd/*_cwnd.csv.gz``: rows of time and window, whenever it changed. Without it the
section says that it is missing.

References: Loiseau 2010, §5.2, Fig. 7; data of paper 87 of IMC 2019 (windows of Reno over a wireless network for an
hour, and of CUBIC over a long-distance path).
"""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import single
from parshall.foundations.errors import InputError
from parshall.foundations.files import read_file
from parshall.foundations.numbers import counted
from parshall.instruments.observation import TracedFlow, observe
from parshall.report.document import Chart, Section, Table
from parshall.report.observation.figures import loss_function, windows
from parshall.report.plot import Plot
from parshall.studies.study import Findings, Scale
from parshall_studies.chains.growth import growth
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.observed.spectra import Variability, variability
from parshall_studies.observed.variability import spectra
from parshall_studies.spectrum import interval_means

VARIABLE = "PARSHALL_DATA"
SHOWN = {"quick": ("wireless_reno_1_1_10000", "longDistance_cubic_5_1_53002"), "paper": None}
LASTS = 3
"""Round trips after which a reduction that is undone has been: recovery ends after one or two."""
PERIODS = 20
"""Reductions that make a median."""
BETA = 0.7
"""What a reduction leaves of the window. RFC 9438 §4.6"""
SPIKE, SPIKE_S = 1.5, 0.06
"""A window that grows by more than this factor in a row, and is back within this time, was none: doubling takes a round
trip. (740 rows of the two CUBIC series, held for 3 ms in the median and 55 ms at most in 95 % of cases.)"""


def real(scale: Scale) -> Findings:
    """Each trace that is there."""
    heading = "Figure 7: real flows"
    files = _files(SHOWN[scale])
    if not files:
        reason = (
            f"Left out: no series of real flows was found. {VARIABLE} names the folder that has cwnd/*_cwnd.csv.gz.",
        )
        return Findings([], [Section(heading, reason)])
    checks: list[Claim] = []
    rows, figures = [], []
    remarks: list[str] = []
    for path in files:
        name = path.name.removesuffix("_cwnd.csv.gz")
        control = "cubic" if "cubic" in name else "reno"
        try:
            flow, rtt_s = _cubic(path, remarks) if control == "cubic" else (observe(path).flow(0), None)
            result = variability(flow, control, rtt_s)
            if rtt_s is not None:
                checks += _explained(name, flow, rtt_s, remarks)
        except InputError as error:
            remarks.append(f"Left out: {error}.")
            continue
        more, cells = compared(name, control, flow, result)
        checks += more
        rows += cells
        figures += [Chart(f"fig7-{kind}-{name}", title, plot) for kind, title, plot in plots(name, flow, result)]
    header = ("flow", "chain of", "n", "observed range", "chain's range", "chain in range", "mean", "chain's mean")
    text = (
        "The source's download is not public, so its figure cannot be reproduced, and nothing here counts as "
        "published; these are series of other real flows, of Reno over a wireless network (an hour) and of CUBIC "
        "over a long path (1000 s). Reno's chain has the flow's own p(w), CUBIC's its p(w, k).",
        "The chain is in range from ten loss cycles on. A Reno flow with windows near 1000 packets has cycles of "
        "500 round trips: an hour holds ten intervals of that length, too few for a spectrum. The source's flow "
        "had windows of some 60 packets.",
        *remarks,
    )
    table = Table("Packets per RTT", header, rows, numbers=(2, 6, 7))
    return Findings(checks, [Section(heading, text, [table], figures)])


def _files(names: tuple[str, ...] | None) -> list[Path]:
    folder = Path(os.environ.get(VARIABLE, "data")) / "cwnd"
    if names is None:
        # *_p_of_cwnd.csv.gz beside them is another table.
        return [path for path in sorted(folder.glob("*_cwnd.csv.gz")) if not path.name.endswith("_p_of_cwnd.csv.gz")]
    return [path for path in (folder / f"{name}_cwnd.csv.gz" for name in names) if path.exists()]


def _cubic(path: Path, remarks: list[str]) -> tuple[TracedFlow, float]:
    """A CUBIC flow's windows per round trip: without spikes, with the round-trip time that its reductions show."""
    time, window = np.loadtxt(io.BytesIO(read_file(path, "numbers")), delimiter=",", skiprows=1, unpack=True)
    spike = spikes(time, window)
    time, window = time[~spike], window[~spike]
    rtt_s = reduction_s(time, window)
    name = path.name
    if rtt_s is None:
        raise InputError(f"{name}: fewer than {PERIODS} reductions that take a time; they show the round-trip time")
    stays = int(np.count_nonzero(window[1:] > SPIKE * window[:-1]))
    left_out = counted(int(spike.sum()), "row")
    remarks.append(
        f"{name}: left out: {left_out} in which the window jumps to more than {SPIKE} times the last one and is "
        f"back at once (within {SPIKE_S:g} s): no sender's window can. {stays} such jumps stay, as when a reduction "
        "is undone, which the chain does not have. The round-trip time is not in the series; it is the time that a "
        f"reduction takes, {1e3 * rtt_s:.0f} ms (median; RFC 6937 spreads it over a round trip)."
    )
    with tempfile.TemporaryDirectory() as folder:
        cleaned = Path(folder) / name.removesuffix(".gz")
        np.savetxt(cleaned, np.column_stack([time, window]), "%.6f,%d", header="t_s,cwnd_pkts", comments="")
        return observe(cleaned, rtt_s=rtt_s).flow(0), rtt_s


def spikes(time_s: FloatArray, window: FloatArray) -> NDArray[np.bool_]:
    """Which rows are a window that jumps up and is back before anything could be sent with it; shape of `window`."""
    is_spike = np.zeros(window.size, dtype=np.bool_)
    kept = 0
    for place in range(1, window.size):
        if window[place] <= SPIKE * window[kept]:
            kept = place
            continue
        after = np.searchsorted(time_s, time_s[place] + SPIKE_S, side="right")
        is_spike[place] = bool(np.any(window[place + 1 : after] <= SPIKE * window[kept]))
        kept = kept if is_spike[place] else place
    return is_spike


def reduction_s(time_s: FloatArray, window: FloatArray) -> float | None:
    """Median time that a reduction to 0.4 to 0.85 of the window takes, s, of those that take any; None of too few."""
    steps = np.sign(np.diff(window))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (steps < 0).astype(np.int8), [0]])))
    first, last = edges[::2], edges[1::2]
    factor, took = window[last] / window[first], time_s[last] - time_s[first + 1]
    proper = took[(factor >= 0.4) & (factor <= 0.85) & (took > SPIKE_S)]
    return float(np.median(proper)) if proper.size >= PERIODS else None


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


def undone(flow: TracedFlow) -> NDArray[np.bool_]:
    """Which loss events leave no smaller window: `LASTS` round trips later it is what it was, within 5 %."""
    events = np.flatnonzero(flow.events)
    after = flow.windows[np.minimum(events + LASTS, flow.windows.size - 1)]
    is_undone = np.zeros(flow.windows.size, dtype=np.bool_)
    is_undone[events[after >= 0.95 * flow.windows[events]]] = True
    return is_undone


def played(windows: FloatArray, events: NDArray[np.bool_], rtt_s: float) -> float:
    """The mean window that CUBIC's rules make of loss events at these round trips, from the first window on."""
    rule, early, aim = growth("cubic", rtt_s), np.array([False]), 0.0
    rule.begin(np.array([windows[0] / BETA]), early)
    total = 0.0
    for event in events:
        total += float(rule.window[0])
        if event:
            early = rule.window < aim
            aim = float(rule.aim(rule.window, early)[0])
            rule.begin(rule.window, early)
        else:
            rule.advance()
    return total / windows.size


def _explained(name: str, flow: TracedFlow, rtt_s: float, remarks: list[str]) -> list[Claim]:
    """Why the chain's mean is not the flow's: what CUBIC's rules make of the flow's own loss events, with no chain."""
    without = flow.events & ~undone(flow)
    every, lasting = (played(flow.windows, events, rtt_s) for events in (flow.events, without))
    mean = float(flow.windows.mean())
    tenths = np.array_split(np.arange(flow.windows.size), 10)
    means = [float(flow.windows[part].mean()) for part in tenths]
    losses = [int(flow.events[part].sum()) for part in tenths]
    count, back = int(flow.events.sum()), int(flow.events.sum() - without.sum())
    remarks.append(
        f"{name}: reductions that the sender undid, which are no losses: {flow.capture['undone_reductions']}. Loss "
        f"events left: {count}; of these, those that leave no smaller window: {back}. CUBIC's rules at all of the "
        f"flow's own loss events have a mean of {every:.0f} packets, without those undone {lasting:.0f}; the flow "
        f"has {mean:.0f}. Nor do losses depend on the window alone: the means of its tenths go from "
        f"{min(means):.0f} to {max(means):.0f} packets, with {min(losses)} to {max(losses)} loss events each."
    )
    note = "no chain: the round trips of the loss events are the flow's own"
    return [
        reported("fig7", f"{name}: mean by CUBIC's rules at {label} over the flow's", single(ours / mean), note)
        for label, ours in (("all its loss events", every), ("those that are not undone", lasting))
    ]


def plots(name: str, flow: TracedFlow, result: Variability) -> list[tuple[str, str, Plot]]:
    """A flow's windows, losses and spectra: kind, title and plot of each."""
    return [
        ("windows", f"Windows, {name}", windows(flow)),
        ("p", f"Losses by window, {name}", loss_function(flow.loss_function())),
        ("spectra", f"Spectra, {name}", spectra(result)),
    ]
