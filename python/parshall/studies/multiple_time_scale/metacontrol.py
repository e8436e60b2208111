"""Figs 11 and 12: how A moves, and throughput with A fixed and with A found while running.

The equilibrium A* is the mean of A over the second half of a run. The source's reading of Fig. 11 has three parts: it
is about 6, it is the same for each nu, and only the oscillation around it grows with nu.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from parshall.report.document import Drawn, Section
from parshall.report.plot import Axis, Guide, Line, Mark, Panel, Plot, Style
from parshall.stats.confidence import mean_interval
from parshall.studies.check import Check
from parshall.studies.multiple_time_scale.claims import claim, curve, signed
from parshall.studies.multiple_time_scale.grid import Point, Results, Size
from parshall.studies.multiple_time_scale.network import INTERVAL_S
from parshall.studies.multiple_time_scale.published import ADJUSTMENTS, BEST_AGGRESSIVENESS


def static(size: Size, largest: int) -> Point:
    """A fixed; TCP Rate, as Fig. 12. 1: the plain control."""
    parameters = (("aggressiveness", float(largest)),) if largest > 1 else None
    return Point(1.05, 5.0, size.rtts_ms[-1], "tcp_rate", parameters)


def dynamic(size: Size, adjustment: float) -> Point:
    """A found while running, as long as with A fixed."""
    course = followed(size, adjustment)
    return course if size.course_s == size.duration_s else replace(course, series=False, duration_s=None)


def followed(size: Size, adjustment: float) -> Point:
    """The same for longer, with the course of A."""
    parameters = (("metacontrol", True), ("adjustment", adjustment))
    point = Point(1.05, 5.0, size.rtts_ms[-1], "tcp_rate", parameters)
    return replace(point, series=True, duration_s=size.course_s)


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    yield from (static(size, each) for each in (1, *size.aggressiveness))
    for each in ADJUSTMENTS:
        yield from (dynamic(size, each), followed(size, each))


def _best(found: Results, size: Size) -> tuple[int, NDArray[np.float64]]:
    rows = {each: found.goodput(static(size, each)) for each in (1, *size.aggressiveness)}
    largest = max(rows, key=lambda each: float(rows[each].mean()))
    return largest, rows[largest]


def _late(found: Results, size: Size, adjustment: float) -> list[NDArray[np.float64]]:
    """A in the second half of each seed's run."""
    rows = (np.array(each.slopes) for each in found.found[followed(size, adjustment)])
    return [row[row.size // 2 :] for row in rows]


def _course_checks(found: Results, size: Size) -> Iterator[Check]:
    """Fig. 11."""
    means = {each: np.array([row.mean() for row in _late(found, size, each)]) for each in ADJUSTMENTS}
    spreads = {each: np.array([row.std() for row in _late(found, size, each)]) for each in ADJUSTMENTS}
    for adjustment in ADJUSTMENTS:
        settled = mean_interval(means[adjustment])
        yield Check(
            "fig11",
            f"equilibrium of A, ν = {adjustment:g}",
            BEST_AGGRESSIVENESS,
            settled.mean,
            settled.low,
            settled.high,
            1.0,
            f"mean of A in the second half of {size.course_s:g} s; between seeds its standard deviation is "
            f"{means[adjustment].std(ddof=1):.3g}",
        )
    for small, large in pairwise(ADJUSTMENTS):
        apart = mean_interval(means[large] - means[small])
        yield Check(
            "fig11",
            f"equilibrium of A for ν = {large:g} less that for {small:g}",
            0.0,
            apart.mean,
            apart.low,
            apart.high,
            0.0,
            f"published: a common one; {signed(apart)}",
        )
        yield claim(
            "fig11", f"oscillation of A for ν = {large:g} less that for {small:g}", 1, spreads[large] - spreads[small]
        )


def checks(found: Results, size: Size) -> Iterator[Check]:
    """How A moves, the best A, and how near to it the metacontrol comes."""
    yield from _course_checks(found, size)
    largest, best = _best(found, size)
    steps = (1, *size.aggressiveness)
    yield Check(
        "fig12",
        "best static A of TCP Rate",
        BEST_AGGRESSIVENESS,
        float(largest),
        None,
        None,
        float(np.diff(steps).max()) / 2,
        f"of {', '.join(str(each) for each in steps)}" + ("; the largest tried" if largest == steps[-1] else ""),
    )
    for adjustment in ADJUSTMENTS:
        ratio = mean_interval(found.goodput(dynamic(size, adjustment)) / best)
        yield Check(
            "fig12",
            f"throughput with metacontrol, ν = {adjustment:g}, over that of the best static A",
            1.0,
            ratio.mean,
            ratio.low,
            ratio.high,
            0.05,
            f"{signed(mean_interval(found.goodput(dynamic(size, adjustment)) / best - 1), '%')}; from 1, A can move by "
            f"{adjustment * size.duration_s / INTERVAL_S:,g} in a run at most",
        )


def section(found: Results, size: Size) -> Section:
    """The figure."""
    steps = [1, *size.aggressiveness]
    marks: list[Mark] = [
        *curve([float(each) for each in steps], [found.goodput(static(size, each)) for each in steps], "A fixed", 0)
    ]
    for adjustment in ADJUSTMENTS:
        mean = float(found.goodput(dynamic(size, adjustment)).mean())
        marks.append(Guide(mean, f"metacontrol, ν = {adjustment:g}"))
    panel = Panel(marks, Axis("largest slope A"), Axis("reliable throughput", "Mbit/s"))
    plot = Plot([panel], f"TCP Rate at an RTT of {size.rtts_ms[-1]} ms; A = 1 is the plain control.")
    return Section(
        "Metacontrol",
        (
            "The metacontrol begins at A = 1 and moves A by ν an interval, so that short runs say little of a small ν: "
            f"in {size.duration_s:g} s there are {size.duration_s / INTERVAL_S:g} intervals. How A moves is followed "
            f"for {size.course_s:g} s.",
        ),
        figures=[
            Drawn("fig11", "How A moves (Fig. 11)", _course(found, size)),
            Drawn("fig12", "Throughput against A (Fig. 12)", plot),
        ],
    )


def _course(found: Results, size: Size) -> Plot:
    panels = []
    for adjustment in ADJUSTMENTS:
        row = found.found[followed(size, adjustment)]
        length = min(len(each.slopes) for each in row)
        courses = np.array([each.slopes[:length] for each in row])
        at = (np.arange(length) * INTERVAL_S).tolist()
        marks: list[Mark] = [
            Line(at, courses[0].tolist(), "the first seed", Style(0, thin=True)),
            Line(at, courses.mean(axis=0).tolist(), f"mean of {len(row)} seeds", Style(1)),
            Guide(BEST_AGGRESSIVENESS, "published equilibrium"),
        ]
        panels.append(Panel(marks, Axis("time", "s"), Axis(f"A, ν = {adjustment:g}"), height=0.5))
    return Plot(panels, f"TCP Rate at an RTT of {size.rtts_ms[-1]} ms; A begins at 1.")
