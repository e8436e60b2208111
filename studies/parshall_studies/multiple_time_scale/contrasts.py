"""The source's claims that are comparisons, each as a weighted sum over points whose sign was published.

One list for all readings: the figures' modules check them in the base reading, `reconstruction` in the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claims import Claim
from parshall_studies.multiple_time_scale.claims import CONTROLS, NAMES, STEERED, claim
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.network import BASE_RTT_MS, PAPER
from parshall_studies.multiple_time_scale.readings import BASE, LEVELS, Parameters, Reading

_THRESHOLD_PEAK = PAPER["threshold_peak"]
_TAIL_INDICES = PAPER["tail_indices"]
_BEST_AGGRESSIVENESS = PAPER["best_aggressiveness"]
_ADJUSTMENTS = PAPER["adjustments"]
_TOTAL_PEAK = PAPER["total_peak"]

FloatArray = NDArray[np.float64]
Of = Literal["throughput", "gain", "tracking", "oscillation"]
LOW_MS, HIGH_MS = BASE_RTT_MS, 450
"""The ends of Figs 8 and 9."""
COUNTS = (2, _TOTAL_PEAK, 18)
"""Connections of Table III: its ends, and where the total peaks."""


@dataclass(frozen=True)
class Term:
    """One point's part of a sum."""

    weight: float
    of: Of
    point: Point

    def points(self) -> Iterator[Point]:
        """What must be simulated for it."""
        yield self.point
        if self.of == "gain":
            yield self.point.plain

    def values(self, results: Results) -> FloatArray:
        """By seed, shape (seeds,)."""
        if self.of == "throughput":
            return self.weight * results.goodput(self.point)
        if self.of == "oscillation":
            return self.weight * np.array([late.std() for late in results.late_slopes(self.point)])
        return self.weight * (results.gain(self.point) if self.of == "gain" else results.tracking(self.point))


Terms = tuple[Term, ...]
TermsOf = Callable[[Reading, Size], Terms]
At = Callable[[Reading, int], Point]
"""A point in a reading at an RTT in ms."""


@dataclass(frozen=True)
class Contrast:
    """A claim: the sum of these terms has this sign.

    Parameters
    ----------
    figure
        The part of the source to which it belongs, in words: one row of the reconstruction's table.
    depends
        Parameters of the source that it says nothing of, which can change it.
    """

    artefact: str
    figure: str
    quantity: str
    published: int
    terms: TermsOf
    depends: tuple[str, ...]

    def points(self, reading: Reading, size: Size) -> Iterator[Point]:
        """What must be simulated for it."""
        for term in self.terms(reading, size):
            yield from term.points()

    def differences(self, results: Results, reading: Reading, size: Size) -> FloatArray:
        """By seed; throughput relative to the mean of what is subtracted."""
        terms = self.terms(reading, size)
        total: FloatArray = np.sum([term.values(results) for term in terms], axis=0)
        less = -sum(float(term.values(results).mean()) for term in terms if term.of == "throughput" and term.weight < 0)
        return total / less if less else total

    def check(self, results: Results, size: Size, reading: Reading = BASE) -> Claim:
        """On all seeds."""
        differences = self.differences(results, reading, size)
        return claim(self.artefact, self.quantity, self.published, differences, self.unit, reading=reading.name)

    @property
    def unit(self) -> str:
        """Of the differences."""
        return "" if self.artefact in ("fig8a", "fig8b", "fig11") else "%"


NETWORK = ("window limit", "buffer", "access link", "timers")
MODULE = (*NETWORK, "quantiser")


def contrasts(*artefacts: str) -> list[Contrast]:
    """Those of some artefacts."""
    return [each for each in CONTRASTS if each.artefact in artefacts]


def _less(of: Of, more: Point, *less: Point) -> Terms:
    """A point less the mean of others."""
    return (Term(1.0, of, more), *(Term(-1.0 / len(less), of, each) for each in less))


def _thresholds() -> Iterator[Contrast]:
    """Figs 6 and 7, by pairs of thresholds: the first one, the peak and the last one."""
    peak, last = _THRESHOLD_PEAK, LEVELS
    pairs = {
        5.0: ("(a): unimodal, peak at 4", ((peak, 1, 1), (peak, last, 1))),
        2.5: ("(b): increasing", ((last, 1, 1), (last, peak, 1))),
        7.5: ("(c): decreasing", ((last, 1, -1), (last, peak, -1))),
    }
    for artefact, control in (("fig6", "reno"), ("fig7", "tcp_rate")):
        depends = (*MODULE, "threshold", *(("TCP Rate's decrease",) if control == "tcp_rate" else ()))
        for load, (shape, compared) in pairs.items():
            for more, less, published in compared:
                name = f"throughput of {NAMES[control]} at θ = {more} less that at {less}, {load:g} Mbit/s"
                terms = _pair_of_thresholds(control, load, more, less)
                yield Contrast(artefact, f"Fig. {artefact[-1]} {shape}", name, published, terms, depends)


def _pair_of_thresholds(control: str, load_mbps: float, more: int, less: int) -> TermsOf:
    def terms(reading: Reading, size: Size) -> Terms:  # noqa: ARG001 - as others
        first, second = (reading.point(control, reading.threshold(each), load_mbps=load_mbps) for each in (more, less))
        return _less("throughput", first, second)

    return terms


def _higher_and_more_curved() -> Iterator[Contrast]:
    """Fig. 7 beside Fig. 6 (§5.2.2)."""
    figure = "Fig. 7: higher and more curved than Fig. 6"
    depends = (*MODULE, "threshold", "TCP Rate's decrease")

    def at(reading: Reading, control: str, theta: int) -> Point:
        return reading.point(control, reading.threshold(theta))

    def higher(reading: Reading, size: Size) -> Terms:  # noqa: ARG001 - as others
        return _less("throughput", at(reading, "tcp_rate", _THRESHOLD_PEAK), at(reading, "reno", _THRESHOLD_PEAK))

    def curved(reading: Reading, size: Size) -> Terms:  # noqa: ARG001 - as others
        weights = {1: -0.5, _THRESHOLD_PEAK: 1.0, LEVELS: -0.5}
        return tuple(
            Term(sign * weight, "gain", at(reading, control, theta))
            for control, sign in (("tcp_rate", 1.0), ("reno", -1.0))
            for theta, weight in weights.items()
        )

    name = f"throughput of TCP Rate at θ = {_THRESHOLD_PEAK} less Reno's, 5 Mbit/s"
    yield Contrast("fig7", figure, name, 1, higher, depends)
    name = (
        f"curvature, gain at θ = {_THRESHOLD_PEAK} less the mean of those at 1 and 8: TCP Rate's less Reno's, 5 Mbit/s"
    )
    yield Contrast("fig7", figure, name, 1, curved, depends)


def _at_rtt(control: str, parameters: Parameters | None = None) -> At:
    def at(reading: Reading, rtt_ms: int) -> Point:
        return reading.point(control, parameters, rtt_ms=rtt_ms)

    return at


def _mean_over_rtts(of: Of, more: At, less: At | None = None) -> TermsOf:
    """A point's mean over RTTs, less that of another."""
    signed = [(1.0, more), *([] if less is None else [(-1.0, less)])]

    def terms(reading: Reading, size: Size) -> Terms:
        share = 1.0 / len(size.rtts_ms)
        return tuple(Term(sign * share, of, at(reading, rtt)) for rtt in size.rtts_ms for sign, at in signed)

    return terms


def _with_rtt(of: Of, at: At) -> TermsOf:
    """A point at the longest RTT less that at the shortest."""

    def terms(reading: Reading, size: Size) -> Terms:  # noqa: ARG001 - as others
        return _less(of, at(reading, HIGH_MS), at(reading, LOW_MS))

    return terms


def _tracking() -> Iterator[Contrast]:
    """Fig. 8."""
    depends = (*NETWORK, "RTT")
    for worse, better in pairwise(CONTROLS):
        name = f"correlation of {NAMES[better]} less that of {NAMES[worse]}, mean over RTTs"
        order = _mean_over_rtts("tracking", _at_rtt(better), _at_rtt(worse))
        yield Contrast("fig8a", "Fig. 8 (a): TCP Rate tracks best, then Vegas", name, -1, order, _rate(depends, better))
    for control in CONTROLS:
        plain, steered = _at_rtt(control), _at_rtt(control, STEERED)
        name = f"correlation of {NAMES[control]} at {HIGH_MS} ms less that at {LOW_MS} ms"
        longer = _with_rtt("tracking", plain)
        yield Contrast("fig8a", "Fig. 8 (a): worse at longer RTTs", name, 1, longer, _rate(depends, control))
        name = f"correlation of {NAMES[control]}, steered less plain, mean over RTTs"
        change = _mean_over_rtts("tracking", steered, plain)
        figure = "Fig. 8 (b): better when steered"
        yield Contrast("fig8b", figure, name, -1, change, _rate((*depends, "quantiser"), control))


def _gains() -> Iterator[Contrast]:
    """Fig. 9."""
    depends = (*MODULE, "RTT")
    for control in CONTROLS:
        steered = _at_rtt(control, STEERED)
        name = f"gain of {NAMES[control]}, mean over RTTs"
        mean = _mean_over_rtts("gain", steered)
        yield Contrast("fig9", "Fig. 9: gains are positive", name, 1, mean, _rate(depends, control))
        name = f"gain of {NAMES[control]} at {HIGH_MS} ms less that at {LOW_MS} ms"
        grows = _with_rtt("gain", steered)
        yield Contrast("fig9", "Fig. 9: gains grow with the RTT", name, 1, grows, _rate(depends, control))
    for less, more in pairwise(CONTROLS):
        name = f"gain of {NAMES[more]} less that of {NAMES[less]}, mean over RTTs"
        order = _mean_over_rtts("gain", _at_rtt(more, STEERED), _at_rtt(less, STEERED))
        yield Contrast("fig9", "Fig. 9: TCP Rate gains most, then Vegas", name, 1, order, _rate(depends, more))


def _tails() -> Iterator[Contrast]:
    """Fig. 10, and what §5.4 says of the plain control."""
    heavy, light = _TAIL_INDICES[0], _TAIL_INDICES[-1]
    for control in CONTROLS:

        def twice(reading: Reading, size: Size, control: str = control) -> Terms:  # noqa: ARG001 - as others
            first, second = (reading.point(control, STEERED, tail_index=alpha) for alpha in (heavy, light))
            return Term(1.0, "gain", first), Term(-PAPER["tail_ratio"], "gain", second)

        name = f"gain of {NAMES[control]} at α = {heavy:g} less twice that at {light:g}"
        figure = "Fig. 10: twice the gain under heavier tails"
        yield Contrast("fig10", figure, name, 1, twice, _rate(MODULE, control))

    def level(reading: Reading, size: Size) -> Terms:  # noqa: ARG001 - as others
        first, second = (reading.point("reno", tail_index=alpha) for alpha in (light, heavy))
        return _less("throughput", first, second)

    name = f"throughput of plain Reno at α = {light:g} less that at {heavy:g}"
    yield Contrast("§5.4", "§5.4: lighter tails leave more throughput", name, 1, level, NETWORK)


def _best_aggressiveness() -> Iterator[Contrast]:
    """Fig. 12: the curve of TCP Rate rises to A = 6, and falls."""
    best = int(_BEST_AGGRESSIVENESS)
    for other in (1, 10):

        def terms(reading: Reading, size: Size, other: int = other) -> Terms:
            return _less("throughput", fixed(reading, size, best), fixed(reading, size, other))

        name = f"throughput of TCP Rate at A = {best} less that at {other}"
        yield Contrast("fig12", "Fig. 12: best A at 6", name, 1, terms, (*MODULE, "TCP Rate's decrease"))


def _metacontrol() -> Iterator[Contrast]:
    """Fig. 11: A oscillates more the larger nu is; Fig. 12: the metacontrol gains over the plain control."""
    depends = (*MODULE, "TCP Rate's decrease", "metacontrol's block")
    for small, large in pairwise(_ADJUSTMENTS):

        def oscillation(reading: Reading, size: Size, small: float = small, large: float = large) -> Terms:
            return _less("oscillation", followed(reading, size, large), followed(reading, size, small))

        name = f"oscillation of A for ν = {large:g} less that for {small:g}"
        yield Contrast("fig11", "Fig. 11: A oscillates more the larger ν", name, 1, oscillation, depends)
    for adjustment in _ADJUSTMENTS:

        def more(reading: Reading, size: Size, adjustment: float = adjustment) -> Terms:
            return _less("throughput", followed(reading, size, adjustment), fixed(reading, size, 1))

        name = f"throughput of TCP Rate with metacontrol, ν = {adjustment:g}, less the plain control's"
        yield Contrast("fig12", "Fig. 12: the metacontrol gains", name, 1, more, depends)


def followed(reading: Reading, size: Size, adjustment: float) -> Point:
    """TCP Rate with A found while running, with the course of A (Figs 11 and 12)."""
    parameters = (("metacontrol", True), ("adjustment", adjustment))
    return _followed(reading.point("tcp_rate", parameters, series=True), size)


def fixed(reading: Reading, size: Size, largest: int) -> Point:
    """TCP Rate with A fixed (Fig. 12); 1: the plain control."""
    parameters = (("aggressiveness", float(largest)),) if largest > 1 else None
    return _followed(reading.point("tcp_rate", parameters), size)


def _followed(point: Point, size: Size) -> Point:
    """For as long as A is followed: it begins at 1, and what it costs to get away from there is a part of a run."""
    duration_s = None if size.course_s == size.duration_s else size.course_s
    return replace(point, duration_s=duration_s, normalised_s=size.single_s)


def several(reading: Reading, size: Size, count: int) -> Point:
    """So many connections of Reno on 20 Mbit/s (§5.7)."""
    wider = replace(reading, network=replace(reading.network, rate_mbps=20.0))
    lasts_s = size.single_s if count in COUNTS else size.several_s
    return replace(wider.point("reno", STEERED, count=count), normalised_s=lasts_s)


def _totals() -> Iterator[Contrast]:
    """Table III."""
    few, _, many = COUNTS
    for more, less, published, figure in (
        (_TOTAL_PEAK, few, 1, "Table III: the total grows to 6 connections"),
        (many, _TOTAL_PEAK, -1, "Table III: the total falls from 6 on"),
    ):

        def terms(reading: Reading, size: Size, more: int = more, less: int = less) -> Terms:
            return _less("throughput", several(reading, size, more), several(reading, size, less))

        yield Contrast("table3", figure, f"total of {more} connections less that of {less}", published, terms, MODULE)


def _rate(depends: tuple[str, ...], control: str) -> tuple[str, ...]:
    return (*depends, "TCP Rate's decrease") if control == "tcp_rate" else depends


CONTRASTS: tuple[Contrast, ...] = (
    *_thresholds(),
    *_higher_and_more_curved(),
    *_tracking(),
    *_gains(),
    *_tails(),
    *_best_aggressiveness(),
    *_metacontrol(),
    *_totals(),
)


def figures() -> Mapping[str, list[Contrast]]:
    """By the part of the source to which they belong."""
    by_figure: dict[str, list[Contrast]] = {}
    for each in CONTRASTS:
        by_figure.setdefault(each.figure, []).append(each)
    return by_figure
