"""Figs 6 and 7: throughput against the aggressiveness threshold, at three loads.

The source's claims are signs between the ends of a curve and theta = 4. As a whole a curve is *unimodal* if its best
inner point is above both ends, *increasing* or *decreasing* if its ends differ and no inner point is above the better
end; each difference is paired and its 95 % interval is on one side of 0. Anything else is *flat*. The best point is
chosen by the same data, so that a peak is found a little too easily. Ends are theta = 1 and 8.

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
from parshall.studies.artefact import Answers, Artefact
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.claims import NAMES, claim, curve, percent
from parshall_studies.multiple_time_scale.grid import Cases, Point, Results
from parshall_studies.multiple_time_scale.network import PAPER
from parshall_studies.multiple_time_scale.setting import LEVELS, Setting

PEAK = PAPER["threshold_peak"]
_SHAPES = {
    5.0: ((PEAK, 1, 1), (PEAK, LEVELS, 1)),
    2.5: ((LEVELS, 1, 1), (LEVELS, PEAK, 1)),
    7.5: ((LEVELS, 1, -1), (LEVELS, PEAK, -1)),
}
"""By load in Mbit/s: two thresholds, and the published sign of the difference of their throughputs."""
_MIDDLE_MBPS = 5.0
FIGURES = {"reno": ("fig6", ("congestion_avoidance",)), "tcp_rate": ("fig7", ("congestion_avoidance", "both"))}
"""By control: artefact, and which couplings are drawn against the threshold."""
_RESAMPLED = 1000


def steered(
    setting: Setting, control: str, load_mbps: float, theta: int, coupling: str = "congestion_avoidance"
) -> Point:
    """A connection that is aggressive up to a threshold; 0: the plain control, or with its slow start steered."""
    parameters = setting.threshold(theta)
    if coupling != "congestion_avoidance":
        parameters = (*(parameters or ()), ("coupling", coupling))
    return grid.point(setting, control, parameters, load_mbps=load_mbps, rtt_ms=setting.threshold_rtt_ms)


def slow_start(setting: Setting, load_mbps: float) -> Point:
    """TCP Rate of which only slow start is steered."""
    return steered(setting, "tcp_rate", load_mbps, 0, "slow_start")


def _points(setting: Setting, control: str) -> Iterator[Point]:
    for load in _SHAPES:
        yield steered(setting, control, load, 0)
        for coupling in FIGURES[control][1]:
            if coupling == "congestion_avoidance" or setting.drawn:
                yield from (steered(setting, control, load, each, coupling) for each in setting.thresholds)


def _fig6_points(setting: Setting) -> Cases:
    """Reno at each load and threshold."""
    return grid.cases(_points(setting, "reno"), setting)


def _fig7_points(setting: Setting) -> Cases:
    """TCP Rate at each load and threshold, and Reno, with which it is compared."""
    beside = [steered(setting, "reno", _MIDDLE_MBPS, each) for each in (0, 1, PEAK, LEVELS)]
    only = [slow_start(setting, load) for load in _SHAPES] if setting.drawn else []
    return grid.cases([*_points(setting, "tcp_rate"), *beside, *only], setting)


def _signs(found: Results, setting: Setting, control: str) -> Iterator[Claim]:
    for load, compared in _SHAPES.items():
        for more, less, published in compared:
            name = f"throughput of {NAMES[control]} at θ = {more} less that at {less}, {load:g} Mbit/s"
            change = found.over(*(steered(setting, control, load, each) for each in (more, less)))
            yield claim(FIGURES[control][0], name, published, change, "%")


def _fig6_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Shapes, that θ = 4 is better than not to steer (§5.2.2), and where the curve of Fig. 6 (a) peaks."""
    found = grid.results(answers)
    plain = found.over(*(steered(setting, "reno", _MIDDLE_MBPS, each) for each in (PEAK, 0)))
    name = f"throughput of Reno at θ = {PEAK} less the plain control's, {_MIDDLE_MBPS:g} Mbit/s"
    best, low, high = peak(setting.thresholds, _rows(found, setting, "reno", _MIDDLE_MBPS))
    step = float(np.diff(setting.thresholds).max())
    return [
        *_signs(found, setting, "reno"),
        claim("§5.2.2", name, 1, plain, "%"),
        equal(
            "fig6",
            "best threshold of Reno at 5 Mbit/s",
            float(PEAK),
            Interval(float(best), low, high, 1),
            within=Tolerance((step - 1) / 2, "half of the thresholds between those that are tried"),
            note=f"of {', '.join(str(each) for each in setting.thresholds)}; interval over seeds drawn again",
        ),
    ]


def _fig7_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Shapes; higher and more curved than Fig. 6 (§5.2.2); what is coupled (§3.6.1)."""
    found = grid.results(answers)

    def at(control: str, theta: int) -> Point:
        return steered(setting, control, _MIDDLE_MBPS, theta)

    def curvature(control: str) -> NDArray[np.float64]:
        gains = {theta: found.gain(at(control, theta)) for theta in (1, PEAK, LEVELS)}
        return np.asarray(gains[PEAK] - (gains[1] + gains[LEVELS]) / 2)

    name = f"curvature, gain at θ = {PEAK} less the mean of those at 1 and 8: TCP Rate's less Reno's, 5 Mbit/s"
    higher = f"throughput of TCP Rate at θ = {PEAK} less Reno's, 5 Mbit/s"
    claims = [
        *_signs(found, setting, "tcp_rate"),
        claim("fig7", higher, 1, found.over(at("tcp_rate", PEAK), at("reno", PEAK)), "%"),
        claim("fig7", name, 1, curvature("tcp_rate") - curvature("reno"), "%"),
    ]
    if setting.drawn:
        name = (
            f"gain of TCP Rate by congestion avoidance at θ = {PEAK} less that by slow start, {_MIDDLE_MBPS:g} Mbit/s"
        )
        more = found.over(at("tcp_rate", PEAK), slow_start(setting, _MIDDLE_MBPS))
        claims.append(claim("§3.6.1", name, 1, more, "%"))
    return claims


def shape(rows: Sequence[NDArray[np.float64]]) -> str:
    """The shape of a curve with a vector of seeds a point.

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
    """The peak of the mean curve, and its 95 % interval over seeds drawn again (percentile bootstrap).

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
    found: Results, setting: Setting, control: str, load: float, coupling: str = "congestion_avoidance"
) -> list[NDArray[np.float64]]:
    return [found.goodput(steered(setting, control, load, each, coupling)) for each in setting.thresholds]


def _fig6_section(answers: Answers, setting: Setting) -> Section:
    """Fig. 6, drawn as the gain over the plain control."""
    return _section(answers, setting, "reno")


def _fig7_section(answers: Answers, setting: Setting) -> Section:
    """Fig. 7, drawn as the gain over the plain control."""
    return _section(answers, setting, "tcp_rate")


def _section(answers: Answers, setting: Setting, control: str) -> Section:
    found = grid.results(answers)
    artefact, couplings = FIGURES[control]
    figure, name = artefact.replace("fig", "Fig. "), NAMES[control]
    thetas = [float(theta) for theta in setting.thresholds]
    drawn, rows = [], []
    for letter, load in zip("abc", (5.0, 2.5, 7.5), strict=True):
        plain = found.goodput(steered(setting, control, load, 0))
        marks: list[Mark] = [Guide(0.0, "plain")]
        for number, coupling in enumerate(couplings):
            of = _rows(found, setting, control, load, coupling)
            words = coupling.replace("_", " ")
            marks += curve(thetas, [grid.over_mean(row, plain) for row in of], words, number, 100.0)
            rows.append((words, f"{load:g}", f"{plain.mean():.3f}", *(f"{row.mean():.3f}" for row in of), shape(of)))
        if len(couplings) > 1:
            only = grid.over_mean(found.goodput(slow_start(setting, load)), plain)
            marks.append(Guide(100 * float(only.mean()), "slow start"))
            rows.append(("slow start", f"{load:g}", f"{plain.mean():.3f}", *[percent(only)] * len(thetas), ""))
        caption = (
            f"{name} at an RTT of {setting.threshold_rtt_ms} ms beside clients of {load:g} Mbit/s, A = 6; θ = "
            f"{setting.thresholds[-1]}: always aggressive. Differences are of the same seeds; bars are 95 % intervals."
        )
        panel = Panel(marks, Axis("aggressiveness threshold θ"), Axis("gain over the plain control", "%"))
        drawn.append(Chart(f"{artefact}{letter}", f"{figure} ({letter}): {load:g} Mbit/s", Plot([panel], caption)))
    header = ("steered", "load (Mbit/s)", "plain", *(f"θ = {theta}" for theta in setting.thresholds), "shape")
    return Section(
        f"Threshold curves of {name}",
        (
            "How selective must aggressiveness be? Means over seeds, Mbit/s. The source's answer: where resources are "
            "plentiful, aggressive at any contention; where they are scarce, at none; between both, at the lower half.",
        ),
        [Table("", header, rows, numbers=range(1, len(header) - 1))],
        drawn,
    )


FIG6 = Artefact("fig6", _fig6_points, _fig6_claims, _fig6_section)
FIG7 = Artefact("fig7", _fig7_points, _fig7_claims, _fig7_section)
