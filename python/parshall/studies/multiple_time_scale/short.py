"""Table II: short connections, whose table of counts is known beforehand, or learnt first; and tables that are shared.

| case | table |
| --- | --- |
| I | known beforehand |
| II | learnt in 300 s before the connection is steered and measured |
| III | learnt in 30 s |

The source does not say the control, the RTT, or where the table of Case I comes from. Here: Reno at the largest RTT;
levels between fixed ends for all cases, since a table means nothing without its levels; their upper end and the counts
of Case I from connections of the mean slope on backgrounds of other seeds. All cases are compared with one plain
connection per seed, in the same time of the same background.

What Case I assumes, sharing brings about: several flows of connections one after another to the same destination, each
too short to learn. Each has a table of its own, or inherits that of the connection before it in its flow, or all use
the destination's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from parshall.report.document import Section, Table
from parshall.stats.confidence import mean_interval
from parshall.studies.check import Check
from parshall.studies.multiple_time_scale import grid
from parshall.studies.multiple_time_scale.claims import STEERED, beyond, claim, signed
from parshall.studies.multiple_time_scale.grid import Point, Results, Size
from parshall.studies.multiple_time_scale.network import HEADER_BYTES, INTERVAL_S, PACKET_BYTES
from parshall.studies.multiple_time_scale.published import LEARNING_S, SHORT_GAINS
from parshall.studies.multiple_time_scale.rtt import BLIND
from parshall.studies.study import Progress

LEVELS = 8
START_S = 30.0
"""When the connections start: the clients are in full swing."""
TRANSFERS = (400.0, 4.0)
"""Of connections one after another: packets on average, and seconds between two. At 450 ms each takes about 10 s."""
FLOWS = 4
"""Of such connections, to one destination."""
SHARED = {
    "none": "each with a table of its own",
    "flow": "that inherit the last one's",
    "group": "that share one table",
}


@dataclass(frozen=True)
class Prior:
    """What is known beforehand: the upper end of the levels, and counts of their pairs."""

    peak: float
    counts: tuple[float, ...]


def training(size: Size) -> Point:
    """Connections from which a table is made."""
    return Point(1.05, 5.0, size.rtts_ms[-1], "reno", BLIND, series=True, duration_s=2 * max(size.short_s))


def prior(series: list[NDArray[np.float64]]) -> Prior:
    """A table from what connections delivered by interval, packets.

    The upper end is the largest throughput but for the highest 2 %: one lucky interval should not decide.

    Examples
    --------
    >>> found = prior([np.array([10.0, 90.0] * 200)])
    >>> found.peak, sum(found.counts)
    (45.0, 399.0)
    >>> found.counts[7 * 8], found.counts[7]  # level 8, little throughput, is followed by level 1, and that by level 8
    (200.0, 199.0)
    """
    peak = float(np.quantile(np.concatenate(series), 0.98)) / INTERVAL_S
    counts = np.zeros((LEVELS, LEVELS))
    for row in series:
        above = np.minimum((row / (peak * INTERVAL_S) * LEVELS).astype(int), LEVELS - 1)
        levels = LEVELS - 1 - above
        np.add.at(counts, (levels[:-1], levels[1:]), 1)
    return Prior(peak, tuple(counts.ravel().tolist()))


def case(size: Size, name: str, known: Prior) -> Point:
    """The steered connection of a case."""
    fixed = (("quantiser", "fixed_range"), ("peak", known.peak))
    own = (("prior", known.counts),) if name == "I" else (("learning", f"{LEARNING_S[name]} s"),)
    return replace(plain(size), parameters=(*STEERED, *fixed, *own))


def plain(size: Size) -> Point:
    """The connection without steering: long enough for all cases."""
    duration_s = START_S + max(LEARNING_S.values()) + max(size.short_s) + 2 * INTERVAL_S
    start = (("start", f"{START_S:g} s"),)
    return Point(1.05, 5.0, size.rtts_ms[-1], "reno", series=True, duration_s=duration_s, tcp=start)


def one_after_another(size: Size, *, shared: str | None) -> Point:
    """Short connections to one destination, by who shares a table (a key of `SHARED`); None: plain."""
    parameters = None if shared is None else (*STEERED, ("shared", shared))
    return Point(1.05, 5.0, size.rtts_ms[-1], "reno", parameters, count=FLOWS, transfers=TRANSFERS)


def points(size: Size) -> Iterator[Point]:
    """What does not need a table."""
    yield plain(size)
    yield from (one_after_another(size, shared=each) for each in (None, *SHARED))


def simulated(found: Results, size: Size, progress: Progress) -> tuple[Results, Prior]:
    """The cases, whose table comes first."""
    progress("table of Case I")
    seeds = partial(replace, size, seeds=5)
    trained = grid.simulated([training(size)], seeds(), progress, first_seed=size.seeds + 1)
    payload = PACKET_BYTES - HEADER_BYTES
    series = [np.diff(each.delivered) / payload for each in trained.found[training(size)]]
    known = prior([row[row.size // 10 :] for row in series])
    made = grid.simulated((case(size, name, known) for name in LEARNING_S), size, progress, found.backgrounds)
    return made, known


def _delivered(results: Results, point: Point, learning_s: float, duration_s: float) -> NDArray[np.float64]:
    """Payload delivered in the time that counts, by seed."""
    first = round((START_S + learning_s) / INTERVAL_S)
    last = first + round(duration_s / INTERVAL_S)
    return np.array([each.delivered[last] - each.delivered[first] for each in results.found[point]])


def _published_order(one: str, other: str, duration_s: int) -> int:
    """Which case gains more in Table II: it is I, III, II at 100 and 2000 s, and I, II, III between."""
    column = grid.SIZES["paper"].short_s.index(duration_s)
    return 1 if SHORT_GAINS[one][column] > SHORT_GAINS[other][column] else -1


class ShortConnections:
    """What was found."""

    def __init__(self, found: Results, size: Size, progress: Progress) -> None:
        self._found = found
        self._size = size
        self._cases, self._known = simulated(found, size, progress)

    def gain(self, name: str, duration_s: float) -> NDArray[np.float64]:
        """Of a case at a duration, by seed."""
        learning_s = LEARNING_S[name]
        without = _delivered(self._found, plain(self._size), learning_s, duration_s)
        with_it = _delivered(self._cases, case(self._size, name, self._known), learning_s, duration_s)
        return np.asarray((with_it - without) / without, dtype=np.float64)

    def checks(self) -> Iterator[Check]:
        """Table II and its order; sharing."""
        size = self._size
        gains = {(name, each): self.gain(name, each) for name in LEARNING_S for each in size.short_s}
        for (name, duration_s), values in gains.items():
            ours = mean_interval(values)
            yield Check(
                "table2",
                f"gain of Case {name}, {duration_s} s",
                SHORT_GAINS[name][grid.SIZES["paper"].short_s.index(duration_s)],
                ours.mean,
                ours.low,
                ours.high,
                0.05,
                signed(ours, "%"),
            )
        for duration_s in size.short_s:
            for better, worse in (("I", "III"), ("III", "II")):
                yield claim(
                    "table2",
                    f"gain of Case {better} less that of {worse} at {duration_s} s",
                    _published_order(better, worse, duration_s),
                    gains[better, duration_s] - gains[worse, duration_s],
                    "%",
                )
        first, last = size.short_s[0], size.short_s[-1]
        for name in ("II", "III"):
            yield claim(
                "table2",
                f"gain of Case {name} at {last} s less that at {first} s",
                1,
                gains[name, last] - gains[name, first],
                "%",
            )
        for shared, words in SHARED.items():
            yield beyond(f"gain of short connections {words}", self._apart(shared, None))
        for shared in ("flow", "group"):
            yield beyond(
                f"gain of short connections {SHARED[shared]} over a table of their own", self._apart(shared, "none")
            )

    def _apart(self, shared: str | None, other: str | None) -> NDArray[np.float64]:
        with_it, without = (self._found.goodput(one_after_another(self._size, shared=each)) for each in (shared, other))
        return np.asarray((with_it - without) / without, dtype=np.float64)

    def _said(self, shared: str | None, other: str | None) -> str:
        return signed(mean_interval(self._apart(shared, other)), "%")

    def section(self) -> Section:
        """The table."""
        rows = [
            (
                f"Case {name}",
                *(signed(mean_interval(self.gain(name, each)), "%") for each in self._size.short_s),
            )
            for name in LEARNING_S
        ]
        published = [
            (f"Case {name}, published", *(f"{value:+.1%}" for value in SHORT_GAINS[name][: len(self._size.short_s)]))
            for name in LEARNING_S
        ]
        header = ("", *(f"{each} s" for each in self._size.short_s))
        mean_packets, pause_s = TRANSFERS
        return Section(
            "Short connections",
            (
                f"Gain of a steered Reno connection at an RTT of {self._size.rtts_ms[-1]} ms over a plain one in the "
                "same time: with a table known beforehand (Case I), after learning for 300 s (II) or for 30 s (III). "
                f"Levels are equal parts of 0 to {self._known.peak:.0f} packets/s.",
                f"Sharing: {FLOWS} flows of connections of {mean_packets:g} packets on average, {pause_s:g} s apart, "
                f"to one destination. Each with a table of its own, they gain {self._said('none', None)} over plain "
                f"ones; where each inherits that of the one before it in its flow {self._said('flow', None)}, and with "
                f"one table for the destination {self._said('group', None)}. Sharing itself brings "
                f"{self._said('flow', 'none')} and {self._said('group', 'none')}.",
            ),
            [Table("Table II", header, [*rows, *published], numbers=range(1, len(header)))],
        )
