"""What the gain depends on beyond the readings of the source: T_L, what is steered, and slopes below the control's own.

Each variant is compared with the plain control, and with the connection whose slope is always (A + a)/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.report.document import Section, Table
from parshall_studies.multiple_time_scale.claims import STEERED, beyond, signed
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.rtt import blind

INTERVALS = ("1 s", "5 s", "10 s")


def variants(size: Size) -> dict[str, Point]:
    """Reno, steered in different ways, by name."""
    low, high = size.rtts_ms[0], size.rtts_ms[-1]
    usual = Point(1.05, 5.0, high, "reno", STEERED)
    named = {f"usual, RTT {rtt} ms": replace(usual, rtt_ms=rtt) for rtt in (low, high)}
    for interval in INTERVALS:
        named[f"T_L = {interval}, RTT {high} ms"] = replace(usual, parameters=(*STEERED, ("interval", interval)))
    held_back = (*STEERED, ("conservativeness", 0.5))
    named[f"conservative: slope 0.5 at the highest contention, RTT {high} ms"] = replace(usual, parameters=held_back)
    for coupling in ("slow_start", "both"):
        label = coupling.replace("_", " ")
        named[f"coupled to {label}, RTT {high} ms"] = replace(usual, parameters=(*STEERED, ("coupling", coupling)))
    return named


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for point in variants(size).values():
        yield from (point, point.plain, blind(point))


def checks(results: Results, size: Size) -> Iterator[Claim]:
    """The gain over the plain control by variant; the source has none of them."""
    for name, point in variants(size).items():
        yield beyond(f"gain of Reno, {name}", results.gain(point))


def section(results: Results, size: Size) -> Section:
    """The table."""
    rows = []
    for name, point in variants(size).items():
        rows.append(
            (
                name,
                f"{results.goodput(point.plain).mean():.3f}",
                signed(mean_interval(results.gain(point)), "%"),
                signed(mean_interval(results.over(point, blind(point))), "%"),
                f"{np.mean(results.tracking(point.plain)):.2f}",
            )
        )
    header = ("variant", "plain (Mbit/s)", "gain", "gain over the mean slope", "correlation, plain")
    return Section(
        "What the gain depends on",
        ("Reno beside clients of 5 Mbit/s, tail index 1.05; usual are T_L = 2 s and congestion avoidance alone.",),
        [Table("", header, rows, numbers=(1, 2, 3, 4))],
    )
