"""Figs 11 and 12: throughput with A fixed, and with A found while running.

What A does over time (Fig. 11 itself) is not recorded by runs: missing. Its equilibrium is checked by what it is for:
the throughput that it leads to, for each nu.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from parshall.report.document import Drawn, Section
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot
from parshall.stats.confidence import mean_interval
from parshall.studies.check import Check
from parshall.studies.multiple_time_scale.claims import curve, signed
from parshall.studies.multiple_time_scale.grid import Point, Results, Size
from parshall.studies.multiple_time_scale.network import INTERVAL_S
from parshall.studies.multiple_time_scale.published import ADJUSTMENTS, BEST_AGGRESSIVENESS


def static(size: Size, largest: int) -> Point:
    """A fixed; TCP Rate, as Fig. 12. 1: the plain control."""
    parameters = (("aggressiveness", float(largest)),) if largest > 1 else None
    return Point(1.05, 5.0, size.rtts_ms[-1], "tcp_rate", parameters)


def dynamic(size: Size, adjustment: float) -> Point:
    """A found while running."""
    parameters = (("metacontrol", True), ("adjustment", adjustment))
    return Point(1.05, 5.0, size.rtts_ms[-1], "tcp_rate", parameters)


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    yield from (static(size, each) for each in (1, *size.aggressiveness))
    yield from (dynamic(size, each) for each in ADJUSTMENTS)


def _best(found: Results, size: Size) -> tuple[int, NDArray[np.float64]]:
    rows = {each: found.goodput(static(size, each)) for each in (1, *size.aggressiveness)}
    largest = max(rows, key=lambda each: float(rows[each].mean()))
    return largest, rows[largest]


def checks(found: Results, size: Size) -> Iterator[Check]:
    """The best A, and how near to it the metacontrol comes."""
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
            f"{adjustment * size.duration_s / INTERVAL_S:.3g} in a run at most",
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
            f"in {size.duration_s:g} s there are {size.duration_s / INTERVAL_S:g} intervals. How A moves (Fig. 11) is "
            "not recorded.",
        ),
        figures=[Drawn("fig12", "Throughput against A (Fig. 12)", plot)],
    )
