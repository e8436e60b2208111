"""Fig. 13 and Table III: several steered connections on a bottleneck of 20 Mbit/s.

The source's unit of throughput is not named, so that only shares are compared. All connections have the same path, so
that max-min fairness is equal shares: Table III's largest and smallest over the mean. The source's are of one run; ours
are means over seeds. It does not say the RTT, on which it depends how many connections fill the link: the totals are
measured at the shortest one too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from parshall.report.document import Section, Table
from parshall.stats.confidence import mean_interval
from parshall.stats.fairness import jain
from parshall.studies.check import Check
from parshall.studies.multiple_time_scale.claims import STEERED, beyond, claim
from parshall.studies.multiple_time_scale.grid import Point, Results, Size
from parshall.studies.multiple_time_scale.published import TABLE3_LARGEST, TABLE3_SMALLEST, TABLE3_TOTAL, TOTAL_PEAK

RATE_MBPS = 20.0


def steered(size: Size, count: int) -> Point:
    """So many connections of Reno, at the largest RTT."""
    return Point(1.05, 5.0, size.rtts_ms[-1], "reno", STEERED, count=count, rate_mbps=RATE_MBPS)


def near(size: Size, count: int) -> Point:
    """The same at the shortest RTT."""
    return replace(steered(size, count), rtt_ms=size.rtts_ms[0], duration_s=size.aside_s)


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for count in size.counts:
        for point in (steered(size, count), near(size, count)):
            yield from (point, point.plain)


def _jain(found: Results, point: Point) -> NDArray[np.float64]:
    return np.array([jain(each.each_mbps) or 0.0 for each in found.found[point]])


def checks(found: Results, size: Size) -> Iterator[Check]:
    """Rise, fall, and shares."""
    few, peak, many = size.counts[0], TOTAL_PEAK, size.counts[-1]
    total = {count: found.goodput(steered(size, count)) for count in (few, peak, many)}
    yield claim("table3", f"total of {peak} connections less that of {few}", 1, total[peak] - total[few], " Mbit/s")
    yield claim("table3", f"total of {many} connections less that of {peak}", -1, total[many] - total[peak], " Mbit/s")
    for count in size.counts[1:]:
        ratio = mean_interval(found.goodput(steered(size, count)) / found.goodput(steered(size, few)))
        yield Check(
            "table3",
            f"total of {count} connections over that of {few}",
            TABLE3_TOTAL[count] / TABLE3_TOTAL[few],
            ratio.mean,
            ratio.low,
            ratio.high,
            0.02,
        )
    for count in size.counts:
        yield from _shares(found, size, count)
    for count in size.counts[1:]:
        more = found.over(near(size, count), near(size, few))
        yield beyond(f"total of {count} connections less that of {few}, at {size.rtts_ms[0]} ms", more)
    for count in size.counts:
        change = mean_interval(_jain(found, steered(size, count)) - _jain(found, steered(size, count).plain))
        yield Check(
            "fig13",
            f"Jain's index of {count} connections, steered less plain",
            0.0,
            change.mean,
            change.low,
            change.high,
            0.02,
            "published: the same fairness as Reno's",
        )


def _shares(found: Results, size: Size, count: int) -> Iterator[Check]:
    """The spread of the shares."""
    each = np.array([one.each_mbps for one in found.found[steered(size, count)]])
    mean = TABLE3_TOTAL[count] / count
    for word, published, ours in (
        ("largest", TABLE3_LARGEST[count], each.max(axis=1)),
        ("smallest", TABLE3_SMALLEST[count], each.min(axis=1)),
    ):
        ratio = mean_interval(ours / each.mean(axis=1))
        name = f"{word} share of {count} connections over the mean"
        yield Check("table3", name, published / mean, ratio.mean, ratio.low, ratio.high, 0.02)


def section(found: Results, size: Size) -> Section:
    """The table."""
    rows = []
    for count in size.counts:
        for point in (each for one in (steered(size, count), near(size, count)) for each in (one, one.plain)):
            each = np.array([one.each_mbps for one in found.found[point]])
            rows.append(
                (
                    f"{count}",
                    "plain" if point.parameters is None else "steered",
                    f"{point.rtt_ms}",
                    f"{each.sum(axis=1).mean():.3f}",
                    f"{each.mean():.4f}",
                    f"{each.max(axis=1).mean():.4f}",
                    f"{each.min(axis=1).mean():.4f}",
                    f"{_jain(found, point).mean():.4f}",
                )
            )
    header = ("connections", "control", "RTT (ms)", "total (Mbit/s)", "mean", "largest", "smallest", "Jain's index")
    return Section(
        "Several steered connections",
        (
            "Reno, bottleneck of 20 Mbit/s, clients of 5 Mbit/s. Means over seeds.",
            "The published total changes little from 2 to 10 connections, which suggests that two fill the link. At "
            f"{size.rtts_ms[-1]} ms they are far from it; at {size.rtts_ms[0]} ms what limits the first few are the "
            "losses that their steep slopes bring (plain ones have more), and more of them still get more. That the "
            "total falls to 0.77 of that of two with 18 connections is seen at neither RTT.",
        ),
        [Table("Table III", header, rows, numbers=(0, 2, 3, 4, 5, 6, 7))],
    )
