"""The benchmark simulated and on Linux, side by side: what real hosts can do of it, and whether both say the same.

Both have the same scenarios, and applications draw the same random numbers, repetition by repetition, so comparisons
are paired, and the differences between the completion times of both are one family
(`parshall.analysis.stats.families`).

MPI and web servers of others are no part of it: PA exchanges its messages, and WM serves its files, by Parshall's own
senders on the kernel's sockets. The study `itb` has both, of one pair of hosts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.families import LEVEL
from parshall.analysis.stats.verdict import Verdict
from parshall.foundations.errors import InputError
from parshall.foundations.numbers import with_half_width
from parshall.report.document import Section, Table
from parshall.scenario.schema.problems import quoted
from parshall_studies.benchmark import score
from parshall_studies.benchmark.benchmark import RIVALS, CaseResult, Result
from parshall_studies.benchmark.building import Case
from parshall_studies.benchmark.discrimination import differ

_TIME = score.MEASURES[0]


@dataclass(frozen=True)
class Beside:
    """A control in a case: completion times in s, and Linux over the simulator.

    Parameters
    ----------
    verdict
        What Linux shows against the simulator.
    """

    case: str
    control: str
    simulated: Interval
    emulated: Interval
    ratio: Interval | None
    verdict: Verdict


@dataclass(frozen=True)
class Orders:
    """Pairs of controls in cases: what both instruments say of who is faster.

    Parameters
    ----------
    same, opposite
        Pairs that both tell apart, in the same order or not.
    one
        Pairs that only one of them tells apart.
    neither
        Pairs that none does.
    """

    same: int
    opposite: int
    one: int
    neither: int


def on_hosts(names: Sequence[str], available: set[str]) -> tuple[list[str], list[str]]:
    """Those controls that real hosts can have, and those that are left out.

    Raises
    ------
    InputError
        None is left, or a rival is missing.
    """
    kept = [name for name in names if name in available]
    if not kept or not available.issuperset(RIVALS):
        raise InputError(f"--cc: found {quoted(names)}; this kernel has {quoted(sorted(available))}")
    return kept, [name for name in names if name not in available]


def check_hosts(cases: Sequence[Case], *, simulated: bool) -> None:
    """Refuse what only real hosts, or only hosts of Linux, can be told.

    Raises
    ------
    InputError
        A simulation was asked for.
    """
    if any(case.factors.hystart is not None and not case.linux for case in cases):
        raise InputError(
            "--factor hystart: the benchmark's own TCP has the standard slow start; "
            "accepted: with --instrument emulate or both, whose hosts have the TCP of Linux"
        )
    if simulated and any(case.factors.tcp_slow_start_after_idle is not None for case in cases):
        raise InputError(
            "--factor tcp_slow_start_after_idle: simulated hosts always slow down after an idle time; "
            "accepted: with --instrument emulate"
        )


def beside(simulated: Result, emulated: Result) -> list[Beside]:
    """Each control in each case that both have."""
    times = {
        (ours.case.name, control): tuple(score.values(each, control, _TIME.key) for each in (ours, theirs))
        for ours, theirs in zip(simulated.cases, emulated.cases, strict=True)
        for control in emulated.controls
    }
    verdicts = score.verdicts({key: (b, a) for key, (a, b) in times.items()}, emulated.at_least)
    rows = []
    for (case, control), (a, b) in times.items():
        means = [score.interval(each, _TIME.factor, 0.0) for each in (a, b)]
        if means[0] is None or means[1] is None:
            continue
        rows.append(Beside(case, control, means[0], means[1], score.ratio(b, a), verdicts[case, control]))
    return rows


def orders(simulated: Result, emulated: Result) -> Orders:
    """Whether both have the same order of controls."""
    counts = {"same": 0, "opposite": 0, "one": 0, "neither": 0}
    differences = [score.Differences.of_result(each) for each in (simulated, emulated)]
    for cases in zip(simulated.cases, emulated.cases, strict=True):
        for first, second in combinations(emulated.controls, 2):
            a, b = (_faster(each, first, second, of) for each, of in zip(cases, differences, strict=True))
            counts["neither" if a == b == 0 else "same" if a == b else "opposite" if a * b else "one"] += 1
    return Orders(**counts)


def _faster(case: CaseResult, first: str, second: str, differences: score.Differences) -> int:
    """-1 or 1: which control is told to be faster; 0: they are not told apart."""
    a, b = (score.values(case, control, _TIME.key) for control in (first, second))
    if not differ(a, b, differences.sign(case, first, second)):
        return 0
    return -1 if sum(a.values()) / len(a) < sum(b.values()) / len(b) else 1


def section(simulated: Result, emulated: Result, kernel: str) -> Section:
    """The comparison, for the page."""
    pairs, compared = orders(simulated, emulated), beside(simulated, emulated)
    rows = [
        (
            each.case,
            f"`{each.control}`",
            _cell(each.simulated),
            _cell(each.emulated),
            _cell(each.ratio),
            each.verdict.text(emulated.at_least),
        )
        for each in compared
    ]
    header = ("case", "control", "simulated (s)", f"{kernel} (s)", "Linux over simulated", "")
    text = (
        "Completion times of the same scenarios with the same random numbers: simulated with TCP as Linux has it, and "
        f"with the TCP of {kernel} over the same network in real time. No result of an invalid emulation is used: "
        "the emulation was repeated.",
        f"Of the pairs of controls in a case, both tell {pairs.same} apart in the same order and {pairs.opposite} in "
        f"the opposite one; only one of them tells {pairs.one} apart, none {pairs.neither}.",
        "What Linux has against the simulator is judged together: those called higher or lower hold at a false "
        f"discovery rate of {100 * LEVEL:g} %.",
    )
    return Section("Simulated and on Linux", text, [Table("Mean completion time", header, rows, numbers=(2, 3, 4))])


def _cell(value: Interval | None) -> str:
    return "" if value is None else with_half_width(value.mean, value.half_width or 0.0)
