"""The rate-based control over UDP (§3.6.4), with selective slope and selective level control (§3.1).

The source says that its results "when running on top of UDP are analogous to that of TCP" and omits them. So there is
no published value; the claim is a gain that is positive, and that grows with the RTT as TCP's does.

The shift of the level is half of the rate that the plain control reaches beside clients of 5 Mbit/s, about: the source
has no value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.report.document import Section, Table
from parshall_studies.multiple_time_scale.claims import STEERED, beyond, claim, signed
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.readings import BLIND

SHIFT = 150.0
"""Packets/s."""

LEVEL = (("coupling", "level"), ("shift", SHIFT))


def plain(rtt_ms: int) -> Point:
    """Datagrams at a rate that grows linearly and shrinks exponentially."""
    return Point(1.05, 5.0, rtt_ms, "rate_based", datagrams=True)


def variants(rtt_ms: int) -> dict[str, Point]:
    """How it is steered."""
    return {
        "selective slope control": replace(plain(rtt_ms), parameters=STEERED),
        "always the mean slope": replace(plain(rtt_ms), parameters=BLIND),
        "selective level control": replace(plain(rtt_ms), parameters=LEVEL),
    }


def _rtts(size: Size) -> tuple[int, int]:
    return size.rtts_ms[0], size.rtts_ms[-1]


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for rtt in _rtts(size):
        yield plain(rtt)
        yield from variants(rtt).values()


def checks(results: Results, size: Size) -> Iterator[Claim]:
    """Analogous to TCP: a gain, larger at a longer RTT; and level control, and what prediction adds."""
    low, high = _rtts(size)
    gains = {(rtt, name): results.gain(point) for rtt in (low, high) for name, point in variants(rtt).items()}
    slope, level, blind = "selective slope control", "selective level control", "always the mean slope"
    for rtt in (low, high):
        yield claim("§3.6.4", f"gain of datagrams with {slope}, RTT {rtt} ms", 1, gains[rtt, slope], "%")
    yield claim(
        "§3.6.4",
        f"gain of datagrams with {slope} at {high} ms less that at {low} ms",
        1,
        gains[high, slope] - gains[low, slope],
        "%",
    )
    for rtt in (low, high):
        yield beyond(f"gain of datagrams with {level}, RTT {rtt} ms", gains[rtt, level])
        over = results.over(variants(rtt)[slope], variants(rtt)[blind])
        yield beyond(f"gain of datagrams with {slope} over the same mean slope, RTT {rtt} ms", over)


def section(results: Results, size: Size) -> Section:
    """The table."""
    rows = []
    for rtt in _rtts(size):
        for name, point in {"plain": plain(rtt), **variants(rtt)}.items():
            others = np.array([[each.background_mbps, each.loss_rate] for each in results.runs[point]])
            before = np.array([[each.background_mbps, each.loss_rate] for each in results.runs[plain(rtt)]])
            harm = mean_interval(others[:, 0] / before[:, 0] - 1)
            rows.append(
                (
                    name,
                    f"{rtt}",
                    f"{results.goodput(point).mean():.3f}",
                    "" if name == "plain" else signed(mean_interval(results.gain(point)), "%"),
                    "" if name == "plain" else signed(harm, "%"),
                    f"{others[:, 1].mean():.3f}",
                    f"{results.tracking(point).mean():.2f}",
                )
            )
    header = (
        "datagrams",
        "RTT (ms)",
        "throughput (Mbit/s)",
        "gain",
        "clients' throughput",
        "loss rate of the link",
        "correlation with the clients",
    )
    return Section(
        "Rate-based control over UDP",
        (
            "A flow of datagrams whose rate grows by 100 packets/s each second and falls to 1/e in a second of losses "
            "(the receiver reports once a round trip), beside the clients of 5 Mbit/s. Slope control multiplies the "
            f"growth as it does TCP's; level control moves the rate by up to {SHIFT:g} packets/s.",
        ),
        [Table("", header, rows, numbers=range(1, 7))],
    )
