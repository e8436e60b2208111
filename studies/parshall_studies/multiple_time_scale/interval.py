"""T_L chosen from the clients' measured traffic, rather than given: what is chosen, and whether it gains.

The source takes 2 s by eye (§2.2) and leaves a rule open. The rule here is that of
`parshall_studies.time_scale`: the shortest interval that predicts as well as any, at least ten RTTs of the
clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Line, Mark, Panel, Plot, Points, Style
from parshall.studies.study import Case
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.background import Normalised
from parshall_studies.multiple_time_scale.claims import STEERED, beyond, signed
from parshall_studies.multiple_time_scale.grid import Point, Size
from parshall_studies.multiple_time_scale.measure import Measured
from parshall_studies.multiple_time_scale.network import ALONE_BIN_S, BASE_RTT_MS, INTERVAL_S
from parshall_studies.time_scale import TimeScale, time_scale

LONGEST_S = 20.0
"""Of the intervals considered."""


def usual(size: Size, tail_index: float) -> Point:
    """Steered Reno with T_L = 2 s, at the largest RTT."""
    return Point(tail_index, 5.0, size.rtts_ms[-1], "reno", STEERED)


def points(size: Size) -> Iterator[Point]:
    """What T_L is compared on."""
    for alpha in (size.tail_indices[0], size.tail_indices[-1]):
        yield from (usual(size, alpha), usual(size, alpha).plain)


def of_backgrounds(backgrounds: Sequence[Normalised]) -> TimeScale:
    """T_L from what the clients of all seeds carry alone."""
    series = [np.array(each.alone.levels) for each in backgrounds]
    return time_scale(series, ALONE_BIN_S, rtt_s=BASE_RTT_MS / 1000, longest_s=LONGEST_S)


def cases(size: Size, backgrounds: grid.Cases) -> grid.Cases:
    """T_L at each end of the tail indices, and steering with it; `backgrounds` has those of the points."""
    made: grid.Cases = {}
    for alpha in (size.tail_indices[0], size.tail_indices[-1]):
        point = usual(size, alpha)
        seeds = range(size.number(point.key))
        clients = [backgrounds[point.key, number] for number in seeds]
        scale = made["scale", alpha] = Case("T_L from the correlation", of_backgrounds, (tuple(clients),))
        for number in seeds:
            arguments = (point, scale, clients[number], size.duration(point.key))
            made[("chosen", alpha), number] = Case("with that T_L", _with_chosen, arguments)
    return made


def _with_chosen(point: Point, scale: TimeScale, normalised: Normalised, duration_s: float) -> Measured | None:
    """None where there is nothing to predict."""
    if scale.interval_s is None:
        return None
    interval_s = max(scale.interval_s, point.rtt_ms / 1000)  # the module refuses less than the RTT
    chosen = replace(point, parameters=(*STEERED, ("interval", f"{interval_s:g} s")))
    return grid.on_background(chosen, normalised, duration_s)


class ChosenInterval:
    """What was found."""

    def __init__(self, answers: Mapping[tuple[Any, Any], Any], size: Size) -> None:
        self._results = grid.results(answers)
        alphas = (size.tail_indices[0], size.tail_indices[-1])
        self._scales: dict[float, TimeScale] = {alpha: answers["scale", alpha] for alpha in alphas}
        self._usual = {alpha: usual(size, alpha) for alpha in alphas}
        self._chosen = {
            alpha: np.array([answers[("chosen", alpha), number].goodput_mbps for number in range(size.seeds)])
            for alpha in alphas
            if self._scales[alpha].interval_s is not None
        }

    def _gain(self, alpha: float) -> NDArray[np.float64]:
        """Over the plain control."""
        without = self._results.goodput(self._usual[alpha].plain)
        return np.asarray((self._chosen[alpha] - without) / without)

    def checks(self) -> Iterator[Claim]:
        """What is chosen, and what it gains."""
        for alpha, scale in self._scales.items():
            best = max(scale.correlations, key=lambda each: each.correlation)
            yield reported(
                "beyond the source",
                f"T_L from the correlation at α = {alpha:g}, s (0: nothing to predict)",
                exactly(scale.interval_s or 0.0),
                f"the largest correlation is {best.correlation:.2f} at {best.interval_s:g} s",
            )
            if alpha in self._chosen:
                yield beyond(f"gain of Reno with that T_L, α = {alpha:g}", self._gain(alpha))
                change = self._gain(alpha) - self._results.gain(self._usual[alpha])
                yield beyond(f"gain of Reno with that T_L less that with {INTERVAL_S:g} s, α = {alpha:g}", change)

    def section(self) -> Section:
        """The figure."""
        marks: list[Mark] = []
        rows = []
        for number, (alpha, scale) in enumerate(self._scales.items()):
            at = [each.interval_s for each in scale.correlations]
            values = [each.correlation for each in scale.correlations]
            low = [each.correlation - each.standard_error for each in scale.correlations]
            high = [each.correlation + each.standard_error for each in scale.correlations]
            marks += [
                Line(at, values, "", Style(number, thin=True)),
                Points(at, values, f"α = {alpha:g}", Style(number), low, high),
            ]
            if alpha in self._chosen:
                gain = signed(mean_interval(self._gain(alpha)), "%")
                rows.append(f"At α = {alpha:g} T_L = {scale.interval_s:g} s, with which Reno gains {gain}")
            else:
                rows.append(f"At α = {alpha:g} no interval says anything of the next")
        axes = Axis("interval T", "s"), Axis("correlation of successive intervals")
        caption = "Correlation of the clients' traffic in successive intervals; bars are standard errors."
        return Section(
            "T_L from the measured correlation",
            (
                "T_L need not be guessed: it is the shortest interval that says as much of the next one as any, at "
                "least ten RTTs of the clients. " + ". ".join(rows) + ".",
            ),
            figures=[Chart("time-scale", "What an interval says of the next", Plot([Panel(marks, *axes)], caption))],
        )
