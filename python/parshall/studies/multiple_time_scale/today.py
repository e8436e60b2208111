"""Does it still pay? CUBIC with SACK and an initial window of 10 at 1 Gbit/s, beside clients of the same kind.

The clients' files are as heavy-tailed as the source's and bring half of the capacity; the buffer is the bandwidth-delay
product of their RTT. What the clients lose is the harm of steering.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from parshall.report.document import Section, Table
from parshall.stats.confidence import mean_interval
from parshall.studies.check import Check
from parshall.studies.multiple_time_scale.claims import NAMES, STEERED, beyond, signed
from parshall.studies.multiple_time_scale.grid import Point, Results, Size
from parshall.studies.multiple_time_scale.rtt import blind

RTTS_MS = (30, 150)
CONTROLS = ("cubic", "reno")
BUFFER = 2500
"""1 Gbit/s times 30 ms, in packets of 1500 bytes."""


def steered(control: str, rtt_ms: int) -> Point:
    """A steered connection of today's kind."""
    return Point(1.05, 500.0, rtt_ms, control, STEERED, rate_mbps=1000.0, buffer=BUFFER, modern=True)


def _points() -> Iterator[Point]:
    return (steered(control, rtt) for control in CONTROLS for rtt in RTTS_MS)


def points(size: Size) -> Iterator[Point]:  # noqa: ARG001 - as the other parts
    """Everything that is shown."""
    for point in _points():
        yield from (point, point.plain, blind(point))


def _harm(found: Results, point: Point) -> np.ndarray:
    """Relative change of the clients' throughput, by seed."""
    with_it, without = (
        np.array([each.background_mbps for each in found.found[each_point]]) for each_point in (point, point.plain)
    )
    return np.asarray(with_it / without - 1)


def checks(found: Results, size: Size) -> Iterator[Check]:  # noqa: ARG001 - as the other parts
    """Gains, and what the clients lose."""
    for point in _points():
        name = f"{NAMES[point.control]} (SACK) at 1 Gbit/s, RTT {point.rtt_ms} ms"
        yield beyond(f"gain of {name}", found.gain(point))
        yield beyond(f"clients' throughput beside steered {name}", _harm(found, point))


def section(found: Results, size: Size) -> Section:
    """The paragraph and the table."""
    rows, said = [], []
    for point in _points():
        without = found.goodput(blind(point))
        over = signed(mean_interval((found.goodput(point) - without) / without), "%")
        gain, harm = signed(mean_interval(found.gain(point)), "%"), signed(mean_interval(_harm(found, point)), "%")
        delay = [np.mean([each.queueing_delay_ms for each in found.found[one]]) for one in (point.plain, point)]
        loss = [np.mean([each.loss_rate for each in found.found[one]]) for one in (point.plain, point)]
        rows.append(
            (
                NAMES[point.control],
                f"{point.rtt_ms}",
                f"{found.goodput(point.plain).mean():.1f}",
                gain,
                over,
                harm,
                f"{delay[0]:.2f} to {delay[1]:.2f}",
                f"{loss[0]:.2g} to {loss[1]:.2g}",
            )
        )
        said.append(f"{NAMES[point.control]} at {point.rtt_ms} ms {gain}, the clients {harm}")
    header = (
        "control",
        "RTT (ms)",
        "plain (Mbit/s)",
        "gain",
        "gain over the mean slope",
        "clients' throughput",
        "queueing delay (ms)",
        "loss rate",
    )
    return Section(
        "Does it still pay?",
        (
            f"At 1 Gbit/s, with CUBIC clients of 500 Mbit/s, SACK and initial windows of 10 ({size.fast_seeds} seeds "
            f"of {size.fast_duration_s:g} s): " + "; ".join(said) + ".",
        ),
        [Table("", header, rows, numbers=range(1, 8))],
    )
