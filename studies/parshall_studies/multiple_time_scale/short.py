"""Table II: short connections, whose table of counts is known beforehand, or learnt first; and tables that are shared.

| case | table |
| --- | --- |
| I | known beforehand |
| II | learnt in 300 s before the connection is steered and measured |
| III | learnt in 30 s |

The source does not say the control, the RTT, or where the table of Case I comes from. Here levels are between fixed
ends for all cases, since a table means nothing without its levels; their upper end and the counts of Case I are of
connections of the mean slope on backgrounds of other seeds. All cases are compared with one plain connection per seed,
in the same time of the same background. What is printed is one run, and is compared with the interval in which one run
of ours falls; the text's claims on the cases are signs.

What Case I assumes, sharing brings about: several flows of connections one after another to the same destination, each
too short to learn. Each has a table of its own, or inherits that of the connection before it in its flow, or all use
the destination's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from parshall.analysis.stats.claim_rules import one_run, reported
from parshall.analysis.stats.claims import Claim
from parshall.report.document import Section, Table
from parshall.studies.artefact import Answers, Artefact
from parshall.studies.study import Case
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.claims import BEYOND, NAMES, beyond, claim, percent
from parshall_studies.multiple_time_scale.grid import Cases, FloatArray, Normalised, Point, Results
from parshall_studies.multiple_time_scale.measure import Measured
from parshall_studies.multiple_time_scale.network import HEADER_BYTES, INTERVAL_S, PACKET_BYTES, PAPER
from parshall_studies.multiple_time_scale.setting import BLIND, LEVELS, STEERED, Setting

CASES = PAPER["learning_s"]
"""Seconds in which a case learns."""
START_S = 30.0
"""The start of the connections: the clients are in full swing."""
_TRAINED = 5
"""Connections from which a table is made."""
TRANSFERS, FEW = (400.0, 4.0), (6.0, 0.5)
"""Of connections one after another, and of connections of a few segments: packets on average, and seconds between two.
At 450 ms each of the first takes about 10 s."""
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
    """A table that is known beforehand: the upper end of the levels, and counts of their pairs."""

    peak: float
    counts: tuple[float, ...]


def prior(series: Sequence[FloatArray]) -> Prior:
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


def known(trained: Sequence[Measured]) -> Prior:
    """The table that connections make after their first tenth."""
    payload = PACKET_BYTES - HEADER_BYTES
    series = [np.diff(each.delivered) / payload for each in trained]
    return prior([row[row.size // 10 :] for row in series])


def plain(setting: Setting) -> Point:
    """The connection without steering: long enough for all cases."""
    duration_s = START_S + max(CASES.values()) + max(setting.short_s) + 2 * INTERVAL_S
    start = (("start", f"{START_S:g} s"),)
    made = grid.point(setting, setting.short_control, rtt_ms=setting.short_rtt_ms, series=True, tcp=start)
    return replace(made, duration_s=duration_s)


def _points(setting: Setting) -> Cases:
    """The plain connection, connections from which a table is made, and the cases, whose table comes first."""
    made = grid.cases([plain(setting)], setting)
    others = replace(setting, seeds=_TRAINED, first_seed=setting.first_seed + setting.seeds)
    learning = replace(
        plain(setting), parameters=(*BLIND, *setting.module), tcp=(), duration_s=2 * max(setting.short_s)
    )
    trained = grid.cases([learning], others)
    table = Case("table of Case I", known, (tuple(trained[learning, number] for number in range(_TRAINED)),))
    for name in CASES:
        for number in range(setting.seeds):
            arguments = (plain(setting), name, table, made[plain(setting).key, number])
            made[name, number] = Case(f"Case {name}", in_case, arguments)
    return made


def in_case(without: Point, name: str, table: Prior, normalised: Normalised) -> Measured:
    """The steered connection of a case."""
    fixed = (("quantiser", "fixed_range"), ("peak", table.peak))
    own = (("prior", table.counts),) if name == "I" else (("learning", f"{CASES[name]} s"),)
    return grid.on_background(replace(without, parameters=(*STEERED, *fixed, *own)), normalised, 0.0)


def _gains(answers: Answers, setting: Setting) -> dict[tuple[str, int], FloatArray]:
    """By case and duration, over the mean of the plain ones, by seed."""

    def delivered(runs: Sequence[Measured], learning_s: float, duration_s: float) -> FloatArray:
        first = round((START_S + learning_s) / INTERVAL_S)
        last = first + round(duration_s / INTERVAL_S)
        return np.array([each.delivered[last] - each.delivered[first] for each in runs])

    without = grid.results(answers).runs[plain(setting)]
    gains = {}
    for name, learning_s in CASES.items():
        with_it = [answers[name, number] for number in range(setting.seeds)]
        for each in setting.short_s:
            gains[name, each] = grid.over_mean(*(delivered(runs, learning_s, each) for runs in (with_it, without)))
    return gains


def _claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Table II and its order."""
    gains = _gains(answers, setting)
    made = []
    for (name, duration_s), values in gains.items():
        published = dict(zip(PAPER.entries["short_gains"].at or (), PAPER["short_gains"][name], strict=True))
        quantity, within = f"gain of Case {name}, {duration_s} s", PAPER.within("last_digit")
        made.append(one_run("table2", quantity, published[duration_s], values, within=within, note=percent(values)))
    for better, worse in (("I", "II"), ("I", "III"), ("II", "III")):
        apart = np.mean([gains[better, each] - gains[worse, each] for each in setting.short_s], axis=0)
        made.append(claim("table2", f"gain of Case {better} less that of {worse}, mean over durations", 1, apart, "%"))
    first, last = setting.short_s[0], setting.short_s[-1]
    for name in ("II", "III"):
        grows = gains[name, last] - gains[name, first]
        made.append(claim("table2", f"gain of Case {name} at {last} s less that at {first} s", 1, grows, "%"))
    return made


def _section(answers: Answers, setting: Setting) -> Section:
    gains = _gains(answers, setting)
    rows = [(f"Case {name}", *(percent(gains[name, each]) for each in setting.short_s)) for name in CASES]
    rows += [
        (f"Case {name}, published", *(f"{value:+.1%}" for value in PAPER["short_gains"][name][: len(setting.short_s)]))
        for name in CASES
    ]
    header = ("", *(f"{each} s" for each in setting.short_s))
    return Section(
        "Short connections",
        (
            f"Gain of a steered connection of {NAMES[setting.short_control]} at an RTT of {setting.short_rtt_ms} ms "
            "over a plain one in the same time: with a table known beforehand (Case I), after learning for 300 s (II) "
            "or for 30 s (III). Single runs differ by so much that one run cannot order the cases.",
        ),
        [Table("Table II", header, rows, numbers=range(1, len(header)))],
    )


TABLE2 = Artefact("table2", _points, _claims, _section)


# --- tables that are shared, beyond the source ---


def one_after_another(
    setting: Setting, rtt_ms: int, shared: str | None, transfers: tuple[float, float] = TRANSFERS
) -> Point:
    """Short connections of Reno to one destination, by who shares a table (a key of `SHARED`); None: plain."""
    parameters = None if shared is None else (*STEERED, ("shared", shared))
    return grid.point(setting, "reno", parameters, rtt_ms=rtt_ms, count=FLOWS, transfers=transfers)


def _rtts(setting: Setting) -> tuple[int, int]:
    return setting.rtts_ms[0], setting.rtts_ms[-1]


def _shared_points(setting: Setting) -> Cases:
    """Connections of both sizes, by who shares, at the ends of the RTTs."""
    who = (None, *SHARED)
    made = (
        one_after_another(setting, *each)
        for rtt in _rtts(setting)
        for shared in who
        for each in ((rtt, shared), (rtt, shared, FEW))
    )
    return grid.cases(made, setting)


def _completion(found: Results, setting: Setting, rtt_ms: int, shared: str | None) -> FloatArray:
    """Mean completion time of a few segments by seed, s; NaN where not all ended."""
    row = found.runs[one_after_another(setting, rtt_ms, shared, FEW)]
    return np.array([each.completion_s for each in row], dtype=np.float64)


def _apart(found: Results, setting: Setting, rtt_ms: int, shared: str, other: str | None) -> FloatArray:
    return found.over(*(one_after_another(setting, rtt_ms, each) for each in (shared, other)))


def _longer(found: Results, setting: Setting, rtt_ms: int, shared: str) -> FloatArray:
    """Relative change of the completion time."""
    with_it, without = (_completion(found, setting, rtt_ms, each) for each in (shared, None))
    return np.asarray(with_it / without - 1)


def _shared_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Gains of sharing; the source has none of it."""
    return list(_shared(grid.results(answers), setting))


def _shared(found: Results, setting: Setting) -> Iterator[Claim]:
    for rtt_ms in _rtts(setting):
        for shared, label in SHARED.items():
            gain = _apart(found, setting, rtt_ms, shared, None)
            yield beyond(f"gain of short connections {label}, RTT {rtt_ms} ms", gain)
            name = f"completion time of a few segments over plain, {label}, RTT {rtt_ms} ms"
            change = _longer(found, setting, rtt_ms, shared)
            known = np.isfinite(change).all()
            yield beyond(name, change) if known else reported(BEYOND, name, None, NOT_ALL_ENDED)
            if shared != "none":
                name = f"gain of short connections {label} over a table of their own, RTT {rtt_ms} ms"
                yield beyond(name, _apart(found, setting, rtt_ms, shared, "none"))


def _shared_section(answers: Answers, setting: Setting) -> Section:
    found = grid.results(answers)
    rows = []
    for rtt_ms in _rtts(setting):
        for shared, label in ((None, "plain"), *SHARED.items()):
            gain, own, change = "", "", ""
            if shared is not None:
                gain, longer = (
                    percent(_apart(found, setting, rtt_ms, shared, None)),
                    _longer(found, setting, rtt_ms, shared),
                )
                own = "" if shared == "none" else percent(_apart(found, setting, rtt_ms, shared, "none"))
                change = percent(longer) if np.isfinite(longer).all() else NOT_ALL_ENDED
            times_s = _completion(found, setting, rtt_ms, shared)
            ms = f"{times_s.mean() * 1e3:.1f}" if np.isfinite(times_s).all() else NOT_ALL_ENDED
            rows.append((f"{rtt_ms}", label, gain, own, ms, change))
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
    prose = ("A transfer of a few segments ends in slow start, which no table changes.",)
    return Section("Tables that are shared", prose, [Table(caption, header, rows, numbers=(0, 2, 3, 4, 5))])


SHARING = Artefact("sharing", _shared_points, _shared_claims, _shared_section)
