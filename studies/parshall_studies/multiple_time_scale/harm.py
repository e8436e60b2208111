"""What steering does to others: endless connections of Reno and of CUBIC beside it, on the source's own network.

The source shows that steered connections are fair to each other (Fig. 13), and does not say what plain ones lose
beside them. Here one connection, steered or plain, runs beside an endless one of Reno and one of CUBIC with the same
RTT, and the 32 clients of 5 Mbit/s. Every difference is between runs of the same seed. At 1 Gbit/s: `today`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.verdict import sign_of
from parshall.report.description import listed
from parshall.report.document import Section, Table
from parshall_studies.multiple_time_scale.claims import NAMES, STEERED, beyond, signed
from parshall_studies.multiple_time_scale.grid import Point, Results, Size

CONTROLS = ("reno", "cubic")
COMPETING = ("reno", "cubic")


def steered(control: str, rtt_ms: int) -> Point:
    """A steered connection beside two that are not."""
    return Point(1.05, 5.0, rtt_ms, control, STEERED, competing=COMPETING)


def _all(size: Size) -> Iterator[Point]:
    return (steered(control, rtt) for control in CONTROLS for rtt in (size.rtts_ms[0], size.rtts_ms[-1]))


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for point in _all(size):
        yield from (point, point.plain)


def losses(results: Results, point: Point) -> dict[str, np.ndarray]:
    """Relative changes for the others, by who or what: the clients, each competing connection, loss and delay."""

    def of(control: str) -> np.ndarray:
        return results.change(point, lambda each: each.competing_mbps[control])

    return {
        "clients": results.change(point, lambda each: each.background_mbps),
        **{f"competing {NAMES[control]}": of(control) for control in point.competing},
        "loss rate": results.change(point, lambda each: each.loss_rate),
        "queueing delay": results.change(point, lambda each: each.queueing_delay_ms),
    }


def checks(results: Results, size: Size) -> Iterator[Claim]:
    """What the others lose; the source has none of it."""
    for point in _all(size):
        name = f"{NAMES[point.control]} at {point.rtt_ms} ms"
        yield beyond(f"gain of {name} beside endless Reno and CUBIC", results.gain(point))
        for who, change in losses(results, point).items():
            yield beyond(f"{who} beside steered {name}", change)


def section(results: Results, size: Size) -> Section:
    """The table."""
    rows = [row(results, point) for point in _all(size)]
    return Section(
        "What steering does to others",
        (
            "One connection beside an endless one of Reno, an endless one of CUBIC with the same RTT, and the clients "
            "of 5 Mbit/s: changes when it is steered.",
            answer(results, size),
        ),
        [Table("", HEADER, rows, numbers=range(1, len(HEADER)))],
    )


def answer(results: Results, size: Size) -> str:
    """Who loses what shows."""
    shares, network = changes(results, list(_all(size)))
    taken, given, costs = shown_changes(shares, -1), shown_changes(shares, 1), shown_changes(network, 1)
    return " ".join(
        (
            f"What it takes from others: {taken}." if taken else "Nobody loses anything that shows.",
            f"Who gains by it: {given}." if given else "Nobody else gains.",
            f"What the network pays: {costs}." if costs else "Neither loss rate nor queueing delay grows.",
        )
    )


HEADER = (
    "steered",
    "RTT (ms)",
    "plain (Mbit/s)",
    "gain",
    "clients",
    "competing Reno",
    "competing CUBIC",
    "loss rate",
    "queueing delay",
)


def row(results: Results, point: Point) -> tuple[str, ...]:
    """Of the table: the gain, and the changes for the others."""
    return (
        NAMES[point.control],
        f"{point.rtt_ms}",
        f"{results.goodput(point.plain).mean():.3g}",
        signed(mean_interval(results.gain(point)), "%"),
        *(signed(mean_interval(change), "%") for change in losses(results, point).values()),
    )


_NETWORK = ("loss rate", "queueing delay")
Changes = list[tuple[str, NDArray[np.float64]]]


def changes(results: Results, points: Sequence[Point]) -> tuple[Changes, Changes]:
    """For the others: their throughput, and what the network does to them."""
    shares: Changes = []
    network: Changes = []
    for point in points:
        for who, change in losses(results, point).items():
            (network if who in _NETWORK else shares).append((f"{who} beside {where(point)}", change))
    return shares, network


def shown_changes(changes: Changes, sign: int) -> str:
    """Those that show, in that direction; empty without any."""
    return listed(
        [f"{name} {signed(mean_interval(row), '%')}" for name, row in changes if sign_of(mean_interval(row)) == sign]
    )


def where(point: Point) -> str:
    """Which connection is steered, in words."""
    return f"{NAMES[point.control]} at {point.rtt_ms} ms"
