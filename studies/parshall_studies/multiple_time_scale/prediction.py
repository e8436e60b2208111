"""Whether prediction gains: the source's schedules against slopes that are always the same, at three loads and 30 ms.

The source compares a steered connection with the control that it wraps, and with one that is always aggressive. That
mixes two things: slopes that follow what is predicted, and slopes that are larger on average. So there are connections
with constant slopes here: what a schedule gains over the best of them, prediction gives. Which one is best is chosen on
the same seeds, which favours the constant slopes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.verdict import sign_of
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot
from parshall_studies.multiple_time_scale.claims import STEERED, beyond, claim, curve, signed
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.network import BASE_RTT_MS, PAPER
from parshall_studies.multiple_time_scale.readings import BASE, MEAN_SLOPE, always

_THRESHOLD_PEAK = PAPER["threshold_peak"]
_LOADS_MBPS = PAPER["loads_mbps"]

SLOPES = (1.0, 2.0, MEAN_SLOPE, 5.0, 6.0)
"""1: the plain control; 6: always aggressive."""
MIDDLE_MBPS = 5.0
SCHEDULES = {
    f"threshold, θ = {_THRESHOLD_PEAK}": BASE.threshold(_THRESHOLD_PEAK),
    "inverse linear": STEERED,
}
THRESHOLD = next(iter(SCHEDULES))


def constant(load_mbps: float, slope: float) -> Point:
    """Reno with a slope that is always the same."""
    return BASE.point("reno", None if slope == 1.0 else always(slope), load_mbps=load_mbps)


def scheduled(load_mbps: float, schedule: str) -> Point:
    """Reno steered by a schedule."""
    return BASE.point("reno", SCHEDULES[schedule], load_mbps=load_mbps)


def points(size: Size) -> Iterator[Point]:  # noqa: ARG001 - as the other parts
    """Everything that is shown."""
    for load in _LOADS_MBPS:
        yield from (constant(load, slope) for slope in SLOPES)
        yield from (scheduled(load, schedule) for schedule in SCHEDULES)


def best(results: Results, load_mbps: float) -> float:
    """The constant slope with the largest mean throughput."""
    return max(SLOPES, key=lambda slope: float(results.goodput(constant(load_mbps, slope)).mean()))


def over(results: Results, load_mbps: float, schedule: str, slope: float) -> NDArray[np.float64]:
    """Relative difference of a schedule to a constant slope, by seed."""
    return results.over(scheduled(load_mbps, schedule), constant(load_mbps, slope))


def checks(results: Results, size: Size) -> Iterator[Claim]:  # noqa: ARG001 - as the other parts
    """At the middle load neither abstaining nor always being aggressive (Fig. 6) is best; slopes between."""
    gain = over(results, MIDDLE_MBPS, THRESHOLD, 1.0)
    name = f"throughput of Reno at θ = {_THRESHOLD_PEAK} less the plain control's, {MIDDLE_MBPS:g} Mbit/s"
    yield claim("§5.2.2", name, 1, gain, "%")
    for load in _LOADS_MBPS:
        for schedule in SCHEDULES:
            for label, slope in (("the best", best(results, load)), ("the mean", MEAN_SLOPE)):
                name = f"gain of Reno ({schedule}) over {label} constant slope, {slope:g}, {load:g} Mbit/s"
                yield beyond(name, over(results, load, schedule, slope))


def section(results: Results, size: Size) -> Section:  # noqa: ARG001 - as the other parts
    """The answer, the table and a picture."""
    rows: list[tuple[str, ...]] = []
    for load in _LOADS_MBPS:
        for slope in SLOPES[1:]:
            gain = results.over(constant(load, slope), constant(load, 1.0))
            rows.append((f"{load:g}", f"always {slope:g}", signed(mean_interval(gain), "%"), "", ""))
        for schedule in SCHEDULES:
            texts = (over(results, load, schedule, slope) for slope in (1.0, MEAN_SLOPE, best(results, load)))
            rows.append((f"{load:g}", schedule, *(signed(mean_interval(each), "%") for each in texts)))
    header = (
        "load (Mbit/s)",
        "slope",
        "over the plain control",
        f"over always {MEAN_SLOPE:g}",
        "over the best constant slope",
    )
    marks: list[Mark] = [
        *curve(SLOPES, [results.goodput(constant(MIDDLE_MBPS, slope)) for slope in SLOPES], "constant slope", 0)
    ]
    marks += [
        Guide(float(results.goodput(scheduled(MIDDLE_MBPS, schedule)).mean()), schedule) for schedule in SCHEDULES
    ]
    panel = Panel(marks, Axis("slope, in slopes of Reno"), Axis("reliable throughput", "Mbit/s"))
    caption = f"Reno at {BASE_RTT_MS} ms beside clients of {MIDDLE_MBPS:g} Mbit/s; bars are 95 % intervals over seeds."
    return Section(
        "Does prediction gain?",
        (answer(results),),
        [Table("", header, rows, numbers=(0, 2, 3, 4))],
        [Chart("constant-slopes", "Predicted against constant slopes", Plot([panel], caption))],
    )


def answer(results: Results) -> str:
    """What prediction adds at the middle load."""
    slope = best(results, MIDDLE_MBPS)
    threshold, linear = (mean_interval(over(results, MIDDLE_MBPS, each, slope)) for each in SCHEDULES)
    verdict = {
        1: "so that prediction gains",
        0: "so that it does not show whether prediction gains",
        -1: "so that prediction loses",
    }
    return (
        f"At the middle load, {MIDDLE_MBPS:g} Mbit/s, the source's threshold schedule with θ = {_THRESHOLD_PEAK} has "
        f"{signed(threshold, '%')} over the best of the slopes that never change ({slope:g}), "
        f"{verdict[sign_of(threshold)]}. The inverse linear schedule has {signed(linear, '%')} over it."
    )
