"""Figs 6 and 7: throughput against the aggressiveness threshold, at three loads and the source's own 30 ms.

The source's claims are signs between the ends of a curve and theta = 4: `contrasts`. As a whole a curve is *unimodal*
if its best inner point is above both ends, *increasing* or *decreasing* if its ends differ and no inner point is above
the better end; each difference is paired and its 95 % interval is on one side of 0. Anything else is *flat*. The best
point is chosen by the same data, so that a peak is found a little too easily. Ends are theta = 1 and 8.

Fig. 7 has three curves: selective slopes in congestion avoidance, the association of windows with contention in slow
start (§3.6.1), and both. What is coupled to slow start has no threshold, so that this curve is a level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim, Tolerance
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.verdict import sign_of
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot
from parshall_studies.multiple_time_scale.claims import NAMES, curve
from parshall_studies.multiple_time_scale.contrasts import contrasts
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.network import BASE_RTT_MS, PAPER
from parshall_studies.multiple_time_scale.readings import BASE

_THRESHOLD_PEAK = PAPER["threshold_peak"]
_LOADS_MBPS = PAPER["loads_mbps"]

FIGURES = (("fig6", "reno", ("congestion_avoidance",)), ("fig7", "tcp_rate", ("congestion_avoidance", "both")))
"""Artefact, control, and which couplings are drawn against the threshold."""
COUPLINGS = {
    "congestion_avoidance": "congestion avoidance",
    "slow_start": "slow start",
    "both": "both",
}
_RESAMPLED = 1000


def steered(control: str, load: float, threshold: int, coupling: str = "congestion_avoidance") -> Point:
    """A connection that is aggressive up to a threshold; 0: the plain control."""
    parameters = BASE.threshold(threshold)
    if parameters is not None and coupling != "congestion_avoidance":
        parameters = (*parameters, ("coupling", coupling))
    return BASE.point(control, parameters, load_mbps=load)


def slow_start(control: str, load: float) -> Point:
    """A connection of which only slow start is steered."""
    return BASE.point(control, (("coupling", "slow_start"),), load_mbps=load)


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for _, control, couplings in FIGURES:
        for load in _LOADS_MBPS:
            yield steered(control, load, 0)
            for coupling in couplings:
                yield from (steered(control, load, each, coupling) for each in size.thresholds)
            if len(couplings) > 1:
                yield slow_start(control, load)
    for each in contrasts("fig6", "fig7"):
        yield from each.points(BASE, size)


def shape(rows: Sequence[NDArray[np.float64]]) -> str:
    """What a curve looks like; a vector of seeds a point.

    Examples
    --------
    >>> noise = np.array([0.0, 0.01, -0.01])
    >>> shape([1 + noise, 2 - noise, 1 + 2 * noise]), shape([1 + noise, 1.5 - noise, 2 + 2 * noise])
    ('unimodal', 'increasing')
    >>> shape([1 + noise, 1 - noise, 1 - 2 * noise])
    'flat'
    """
    first, last = rows[0], rows[-1]
    best = max(rows[1:-1], key=lambda row: float(row.mean()))
    over_first, over_last = sign_of(mean_interval(best - first)), sign_of(mean_interval(best - last))
    ends = sign_of(mean_interval(last - first))
    if over_first > 0 and over_last > 0:
        return "unimodal"
    if ends > 0 and over_last <= 0:
        return "increasing"
    if ends < 0 and over_first <= 0:
        return "decreasing"
    return "flat"


def peak(
    thetas: Sequence[int], rows: Sequence[NDArray[np.float64]], resampled: int = _RESAMPLED
) -> tuple[int, float, float]:
    """Where the mean curve peaks, and the 95 % interval of that over seeds drawn again (percentile bootstrap).

    Examples
    --------
    >>> noise = np.array([0.0, 0.01, -0.01])
    >>> peak([1, 4, 8], [1 + noise, 2 - noise, 1 + 2 * noise])
    (4, 4.0, 4.0)
    """
    curves = np.array(rows)
    draws = np.random.default_rng(1).integers(0, curves.shape[1], (resampled, curves.shape[1]))
    best = np.array(thetas)[curves[:, draws].mean(axis=2).argmax(axis=0)]
    low, high = np.quantile(best, (0.025, 0.975), method="inverted_cdf")
    return thetas[int(curves.mean(axis=1).argmax())], float(low), float(high)


def _rows(
    results: Results, size: Size, control: str, load: float, coupling: str = "congestion_avoidance"
) -> list[NDArray[np.float64]]:
    return [results.goodput(steered(control, load, each, coupling)) for each in size.thresholds]


def checks(results: Results, size: Size) -> Iterator[Claim]:
    """The signs of both figures, and where the curve of Fig. 6 (a) peaks."""
    yield from (each.check(results, size) for each in contrasts("fig6", "fig7"))
    best, low, high = peak(size.thresholds, _rows(results, size, "reno", 5.0))
    step = float(np.diff(size.thresholds).max())
    yield equal(
        "fig6",
        "best threshold of Reno at 5 Mbit/s",
        float(_THRESHOLD_PEAK),
        Interval(float(best), low, high, 1),
        within=Tolerance((step - 1) / 2, "half of the thresholds between those that are tried"),
        note=f"of {', '.join(str(each) for each in size.thresholds)}; interval over seeds drawn again",
    )


def section(results: Results, size: Size) -> Section:
    """The figures and their values."""
    drawn, listed = [], []
    for artefact, control, couplings in FIGURES:
        for letter, load in zip("abc", (5.0, 2.5, 7.5), strict=True):
            marks: list[Mark] = []
            for number, coupling in enumerate(couplings):
                rows = _rows(results, size, control, load, coupling)
                name = (
                    f"{NAMES[control]}, {COUPLINGS[coupling]}" if len(couplings) > 1 else f"{NAMES[control]}, steered"
                )
                marks += curve([float(theta) for theta in size.thresholds], rows, name, number)
                means = (f"{row.mean():.3f}" for row in rows)
                plain = results.goodput(steered(control, load, 0)).mean()
                listed.append(
                    (f"{NAMES[control]}, {COUPLINGS[coupling]}", f"{load:g}", f"{plain:.3f}", *means, shape(rows))
                )
            if len(couplings) > 1:
                only = float(results.goodput(slow_start(control, load)).mean())
                marks.append(Guide(only, f"{NAMES[control]}, slow start"))
            marks.append(Guide(float(results.goodput(steered(control, load, 0)).mean()), f"{NAMES[control]}, plain"))
            caption = (
                f"{NAMES[control]} at an RTT of {BASE_RTT_MS} ms beside clients of {load:g} Mbit/s, A = 6; θ = "
                f"{size.thresholds[-1]}: always aggressive. Bars are 95 % intervals over seeds."
            )
            panel = Panel(marks, Axis("aggressiveness threshold θ"), Axis("reliable throughput", "Mbit/s"))
            figure = artefact.replace("fig", "Fig. ")
            drawn.append(Chart(f"{artefact}{letter}", f"{figure} ({letter}): {load:g} Mbit/s", Plot([panel], caption)))
    header = ("steered", "load (Mbit/s)", "plain", *(f"θ = {theta}" for theta in size.thresholds), "shape")
    return Section(
        "Threshold curves",
        (
            "How selective must aggressiveness be? Means over seeds, Mbit/s. The source's answer: where resources are "
            "plentiful, aggressive at any contention; where they are scarce, at none; between both, at the lower half.",
        ),
        [Table("", header, listed, numbers=range(1, len(header) - 1))],
        drawn,
    )
