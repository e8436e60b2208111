"""Table II: short connections, whose table of counts is known beforehand, or learnt first; and tables that are shared.

| case | table |
| --- | --- |
| I | known beforehand |
| II | learnt in 300 s before the connection is steered and measured |
| III | learnt in 30 s |

The source does not say the control, or where the table of Case I comes from. Here: Reno at the source's own 30 ms;
levels between fixed ends for all cases, since a table means nothing without its levels; their upper end and the counts
of Case I from connections of the mean slope on backgrounds of other seeds. All cases are compared with one plain
connection per seed, in the same time of the same background. What is printed is one run, and is compared with the
interval in which one run of ours falls; the text's claims on the cases are signs.

What Case I assumes, sharing brings about: several flows of connections one after another to the same destination, each
too short to learn. Each has a table of its own, or inherits that of the connection before it in its flow, or all use
the destination's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import one_run, reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.report.document import Section, Table
from parshall.studies.study import Case
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.background import Normalised
from parshall_studies.multiple_time_scale.claims import STEERED, beyond, claim, signed
from parshall_studies.multiple_time_scale.grid import Point, Size
from parshall_studies.multiple_time_scale.measure import Measured
from parshall_studies.multiple_time_scale.network import (
    BASE_RTT_MS,
    FIRST_SEED,
    HEADER_BYTES,
    INTERVAL_S,
    PACKET_BYTES,
    PAPER,
)
from parshall_studies.multiple_time_scale.readings import BASE, BLIND, LEVELS

START_S = 30.0
"""When the connections start: the clients are in full swing."""
TRANSFERS = (400.0, 4.0)
"""Of connections one after another: packets on average, and seconds between two. At 450 ms each takes about 10 s."""
FEW = (6.0, 0.5)
"""The same of connections of a few segments."""
FLOWS = 4
"""Of such connections, to one destination."""
NOT_ALL_ENDED = "not all ended: no mean"
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
    return BASE.point("reno", BLIND, series=True, duration_s=2 * max(size.short_s))


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
    own = (("prior", known.counts),) if name == "I" else (("learning", f"{PAPER['learning_s'][name]} s"),)
    return replace(plain(size), parameters=(*STEERED, *fixed, *own))


def plain(size: Size) -> Point:
    """The connection without steering: long enough for all cases."""
    duration_s = START_S + max(PAPER["learning_s"].values()) + max(size.short_s) + 2 * INTERVAL_S
    start = (("start", f"{START_S:g} s"),)
    return BASE.point("reno", series=True, duration_s=duration_s, tcp=start)


def one_after_another(rtt_ms: int, *, shared: str | None, transfers: tuple[float, float] = TRANSFERS) -> Point:
    """Short connections to one destination, by who shares a table (a key of `SHARED`); None: plain."""
    parameters = None if shared is None else (*STEERED, ("shared", shared))
    return BASE.point("reno", parameters, rtt_ms=rtt_ms, count=FLOWS, transfers=transfers)


def few(rtt_ms: int, *, shared: str | None) -> Point:
    """The same of a few segments each."""
    return one_after_another(rtt_ms, shared=shared, transfers=FEW)


def points(size: Size) -> Iterator[Point]:
    """What does not need a table."""
    yield plain(size)
    for rtt_ms in (size.rtts_ms[0], size.rtts_ms[-1]):
        for each in (None, *SHARED):
            yield from (one_after_another(rtt_ms, shared=each), few(rtt_ms, shared=each))


def cases(size: Size, backgrounds: grid.Cases) -> grid.Cases:
    """The cases, whose table comes first; `backgrounds` has those of the points."""
    trained = grid.cases([training(size)], replace(size, seeds=5), FIRST_SEED + size.seeds)
    table = Case("table of Case I", known, (tuple(trained[training(size), number] for number in range(5)),))
    made: grid.Cases = {("table", None): table}
    for name in PAPER["learning_s"]:
        for number in range(size.seeds):
            arguments = (size, name, table, backgrounds[plain(size).key, number])
            made[name, number] = Case(f"Case {name}", _in_case, arguments)
    return made


def known(trained: Sequence[Measured]) -> Prior:
    """The table that connections make after their first tenth."""
    payload = PACKET_BYTES - HEADER_BYTES
    series = [np.diff(each.delivered) / payload for each in trained]
    return prior([row[row.size // 10 :] for row in series])


def _in_case(size: Size, name: str, table: Prior, normalised: Normalised) -> Measured:
    return grid.on_background(case(size, name, table), normalised, size.duration_s)


def _delivered(runs: Sequence[Measured], learning_s: float, duration_s: float) -> NDArray[np.float64]:
    """Payload delivered in the time that counts, by seed."""
    first = round((START_S + learning_s) / INTERVAL_S)
    last = first + round(duration_s / INTERVAL_S)
    return np.array([each.delivered[last] - each.delivered[first] for each in runs])


def _ms(times_s: NDArray[np.float64]) -> str:
    return f"{times_s.mean() * 1e3:.1f}" if np.isfinite(times_s).all() else NOT_ALL_ENDED


class ShortConnections:
    """What was found."""

    def __init__(self, answers: Mapping[tuple[Any, Any], Any], size: Size) -> None:
        self._results = grid.results(answers)
        self._size = size
        self._known: Prior = answers["table", None]
        self._cases = {name: [answers[name, number] for number in range(size.seeds)] for name in PAPER["learning_s"]}

    def gain(self, name: str, duration_s: float) -> NDArray[np.float64]:
        """Of a case at a duration, by seed."""
        learning_s = PAPER["learning_s"][name]
        without = _delivered(self._results.runs[plain(self._size)], learning_s, duration_s)
        with_it = _delivered(self._cases[name], learning_s, duration_s)
        return np.asarray((with_it - without) / without, dtype=np.float64)

    def checks(self) -> Iterator[Claim]:
        """Table II and its order; sharing."""
        size = self._size
        gains = {(name, each): self.gain(name, each) for name in PAPER["learning_s"] for each in size.short_s}
        for (name, duration_s), values in gains.items():
            yield one_run(
                "table2",
                f"gain of Case {name}, {duration_s} s",
                PAPER["short_gains"][name][grid.SIZES["paper"].short_s.index(duration_s)],
                values,
                within=PAPER.within("last_digit"),
                note=signed(mean_interval(values), "%"),
            )
        for better, worse in (("I", "II"), ("I", "III"), ("II", "III")):
            apart = np.mean([gains[better, each] - gains[worse, each] for each in size.short_s], axis=0)
            yield claim("table2", f"gain of Case {better} less that of {worse}, mean over durations", 1, apart, "%")
        first, last = size.short_s[0], size.short_s[-1]
        for name in ("II", "III"):
            yield claim(
                "table2",
                f"gain of Case {name} at {last} s less that at {first} s",
                1,
                gains[name, last] - gains[name, first],
                "%",
            )
        for rtt_ms in self._rtts:
            for shared, label in SHARED.items():
                yield beyond(f"gain of short connections {label}, RTT {rtt_ms} ms", self._apart(rtt_ms, shared, None))
                name = f"completion time of a few segments over plain, {label}, RTT {rtt_ms} ms"
                change = self._faster(rtt_ms, shared, None)
                known = np.isfinite(change).all()
                yield beyond(name, change) if known else reported("beyond the source", name, None, NOT_ALL_ENDED)
            for shared in ("flow", "group"):
                name = f"gain of short connections {SHARED[shared]} over a table of their own, RTT {rtt_ms} ms"
                yield beyond(name, self._apart(rtt_ms, shared, "none"))

    @property
    def _rtts(self) -> tuple[int, int]:
        return self._size.rtts_ms[0], self._size.rtts_ms[-1]

    def _apart(self, rtt_ms: int, shared: str | None, other: str | None) -> NDArray[np.float64]:
        with_it, without = (self._results.goodput(one_after_another(rtt_ms, shared=each)) for each in (shared, other))
        return np.asarray((with_it - without) / without, dtype=np.float64)

    def _completion(self, rtt_ms: int, shared: str | None) -> NDArray[np.float64]:
        """Mean completion time of a few segments by seed, s; NaN where not all ended."""
        row = self._results.runs[few(rtt_ms, shared=shared)]
        return np.array([each.completion_s for each in row], dtype=np.float64)

    def _faster(self, rtt_ms: int, shared: str | None, other: str | None) -> NDArray[np.float64]:
        """Relative change of the completion time."""
        return np.asarray(self._completion(rtt_ms, shared) / self._completion(rtt_ms, other) - 1, dtype=np.float64)

    def _sharing(self) -> Table:
        rows = []
        for rtt_ms in self._rtts:
            rows.append((f"{rtt_ms}", "plain", "", "", _ms(self._completion(rtt_ms, None)), ""))
            for shared, label in SHARED.items():
                change = self._faster(rtt_ms, shared, None)
                own = "" if shared == "none" else signed(mean_interval(self._apart(rtt_ms, shared, "none")), "%")
                rows.append(
                    (
                        f"{rtt_ms}",
                        label,
                        signed(mean_interval(self._apart(rtt_ms, shared, None)), "%"),
                        own,
                        _ms(self._completion(rtt_ms, shared)),
                        signed(mean_interval(change), "%") if np.isfinite(change).all() else NOT_ALL_ENDED,
                    )
                )
        header = (
            "RTT (ms)",
            "steered",
            "throughput over plain",
            "over a table of their own",
            "a few segments (ms)",
            "completion time over plain",
        )
        (long, pause_s), (short, gap_s) = TRANSFERS, FEW
        caption = (
            f"{FLOWS} flows of connections one after another to one destination: of {long:g} packets on average, "
            f"{pause_s:g} s apart, and of {short:g} packets, {gap_s:g} s apart"
        )
        return Table(caption, header, rows, numbers=(0, 2, 3, 4, 5))

    def section(self) -> Section:
        """The table."""
        rows = [
            (
                f"Case {name}",
                *(signed(mean_interval(self.gain(name, each)), "%") for each in self._size.short_s),
            )
            for name in PAPER["learning_s"]
        ]
        published = [
            (
                f"Case {name}, published",
                *(f"{value:+.1%}" for value in PAPER["short_gains"][name][: len(self._size.short_s)]),
            )
            for name in PAPER["learning_s"]
        ]
        header = ("", *(f"{each} s" for each in self._size.short_s))
        return Section(
            "Short connections",
            (
                f"Gain of a steered Reno connection at an RTT of {BASE_RTT_MS} ms over a plain one in the same time: "
                "with a table known beforehand (Case I), after learning for 300 s (II) or for 30 s (III). Levels are "
                f"equal parts of 0 to {self._known.peak:.0f} packets/s. Single runs differ by so much that one run "
                "cannot order the cases.",
                "A transfer of a few segments ends in slow start, which no table changes.",
            ),
            [Table("Table II", header, [*rows, *published], numbers=range(1, len(header))), self._sharing()],
        )
