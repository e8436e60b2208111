"""The score: who is better at what, and how sure that is.

Every statement that one control is better than another is a paired comparison: both had the same random numbers in
each repetition, and what is tested is the mean of the differences (of logarithms, where the quantity is a ratio of
times). The completion times of all pairs of controls in all cases are one family (`Differences`,
`parshall.analysis.stats.families`). Two controls that are not shown to differ have the same standing.

References: A. Law, Simulation Modeling and Analysis, 5th ed., 2015, §10.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Self, TypeVar

import polars as pl

from parshall.analysis.stats.confidence import Interval, mean_interval, paired_difference
from parshall.analysis.stats.estimates import within
from parshall.analysis.stats.families import Pair, judged
from parshall.analysis.stats.verdict import AT_LEAST, Verdict
from parshall.results.quantities.definition import Quantity
from parshall_studies import transport
from parshall_studies.benchmark.benchmark import CaseResult, Result

Key = TypeVar("Key")


@dataclass(frozen=True)
class Measure:
    """One column of the score: a quantity, and how it is printed.

    Parameters
    ----------
    quantity
        The column of `measures` or `fairness` with its key.
    unit
        That of what is printed: the values multiplied by `factor`.
    """

    quantity: Quantity
    unit: str
    factor: float

    @property
    def key(self) -> str:
        """The column."""
        return self.quantity.key

    @property
    def label(self) -> str:
        """For people."""
        return self.quantity.label


_PRINTED = {"s": ("s", 1.0), "bit/s": ("Mbit/s", 1e-6), "ratio": ("%", 100.0), "1": ("", 1.0)}
_MILLISECONDS = ("queueing_delay_s", "queueing_delay_p99_s")


def _printed(quantity: Quantity) -> Measure:
    return Measure(quantity, *(("ms", 1e3) if quantity.key in _MILLISECONDS else _PRINTED[quantity.unit]))


MEASURES: tuple[Measure, ...] = tuple(map(_printed, transport.MEASURES.values()))
"""Of a control alone; the first one decides the ranking."""

HARMS: tuple[Measure, ...] = tuple(Measure(each, "", 1.0) for each in transport.HARMS.values())
"""Of a control beside a rival."""

BY_KEY: dict[str, Measure] = {measure.key: measure for measure in (*MEASURES, *HARMS)}


@dataclass(frozen=True)
class Standing:
    """A control's place in a case: an order of the controls, and no claim, since no value is asked of any.

    Parameters
    ----------
    rank
        1 and up, by the mean.
    value
        The measure, in its printed unit.
    to_best
        Ratio to the first one's, with the interval of the paired comparison; None for the first one itself, and where
        ratios mean nothing.
    as_good
        Whether they are not shown to differ from the first, or not by as much as matters; None where chance is unknown
        (one repetition, or repetitions that are copies of each other).
    """

    control: str
    rank: int
    value: Interval
    to_best: Interval | None
    as_good: bool | None


def values(case: CaseResult, control: str, key: str) -> dict[int, float]:
    """A measure by repetition; nothing where a repetition does not have it: the others are those that went well."""
    return _of_all(case.alone.filter(pl.col("control") == control), key)


def harm_values(case: CaseResult, control: str, rival: str, key: str) -> dict[int, float]:
    """A harm by repetition; nothing where a repetition does not have it."""
    if case.harm.is_empty():
        return {}
    return _of_all(case.harm.filter((pl.col("control") == control) & (pl.col("rival") == rival)), key)


def _of_all(rows: pl.DataFrame, key: str) -> dict[int, float]:
    values = dict(rows.select("repetition", key).iter_rows())
    known = {int(n): float(value) for n, value in values.items() if value is not None and math.isfinite(value)}
    return known if len(known) == len(values) else {}


def interval(values: dict[int, float], factor: float = 1.0, least: float = -math.inf) -> Interval | None:
    """Mean and 95 % interval over the repetitions, cut to what is not below `least`; None without any."""
    return within(mean_interval([factor * value for value in values.values()]), least, math.inf) if values else None


def ratio(after: dict[int, float], before: dict[int, float]) -> Interval | None:
    """Geometric mean of `after`/`before` over paired repetitions; None where one is not positive.

    >>> ratio({0: 2.0, 1: 4.0}, {0: 1.0, 1: 2.0}).mean
    2.0
    """
    common = sorted(after.keys() & before.keys())
    if not common or any(each[n] <= 0 for n in common for each in (after, before)):
        return None
    logs = paired_difference([math.log(after[n]) for n in common], [math.log(before[n]) for n in common])
    return _exp(logs)


@dataclass(frozen=True)
class Differences:
    """The judgements of completion times of all pairs of controls in all cases, as one family.

    Parameters
    ----------
    signs
        By case, first and second control: as `signs`.
    """

    signs: Mapping[tuple[str, str, str], int | None]

    @classmethod
    def of(cls, cases: Iterable[CaseResult], controls: Sequence[str], at_least: float = AT_LEAST) -> Self:
        """Those of these cases and controls."""
        known = {
            (case.case.name, control): values(case, control, MEASURES[0].key) for case in cases for control in controls
        }
        names = dict.fromkeys(case for case, _ in known)
        pairs = {(case, a, b): (known[case, a], known[case, b]) for case in names for a, b in combinations(controls, 2)}
        return cls(signs(pairs, at_least))

    @classmethod
    def of_result(cls, result: Result) -> Self:
        """Those of all cases and controls of a result."""
        return cls.of(result.cases, result.controls, result.at_least)

    @property
    def tested(self) -> int:
        """How many are judged together: those of which chance is known."""
        return sum(each is not None for each in self.signs.values())

    def sign(self, case: CaseResult, first: str, second: str) -> int | None:
        """-1, 0 or 1: whether the first control is faster, not shown to differ, or slower; None: unknown."""
        key = (case.case.name, first, second)
        if key in self.signs:
            return self.signs[key]
        opposite = self.signs[case.case.name, second, first]
        return None if opposite is None else -opposite


Pairs = Mapping[Key, tuple[Mapping[int, float], Mapping[int, float]]]
"""Values by repetition, two and two."""


def verdicts(pairs: Pairs[Key], at_least: float = AT_LEAST) -> dict[Key, Verdict]:
    """The judgement of each pair's first values against the second, over common repetitions, as one family."""
    family = {}
    for key, (a, b) in pairs.items():
        common = sorted(a.keys() & b.keys())
        if common:
            family[key] = Pair.of_values({n: b[n] for n in common}, {n: a[n] for n in common})
    found = judged(family, at_least=at_least)
    return {key: found[key].verdict if key in found else Verdict.UNKNOWN for key in pairs}


def signs(pairs: Pairs[Key], at_least: float = AT_LEAST) -> dict[Key, int | None]:
    """Of a family of pairs of values by repetition: whether the first are smaller, larger, or not shown to differ.

    -1, 1 or 0; None where chance is unknown: of one common repetition or none, or without spread.

    Examples
    --------
    >>> values = {0: 1.0, 1: 2.0, 2: 3.0}
    >>> signs({"both": (values, {0: 0.9, 1: 1.91, 2: 2.9}), "one": ({0: 1.0}, {0: 2.0})})
    {'both': 1, 'one': None}
    """
    told = {Verdict.HIGHER: 1, Verdict.LOWER: -1, Verdict.UNKNOWN: None, Verdict.NO_SPREAD: None}
    return {key: told.get(verdict, 0) for key, verdict in verdicts(pairs, at_least).items()}


def ranking(case: CaseResult, controls: Sequence[str], differences: Differences) -> list[Standing]:
    """Controls by their completion times, the best first; those without a value are left out."""
    measure = MEASURES[0]
    known = {control: values(case, control, measure.key) for control in controls}
    means = {control: interval(by_repetition, measure.factor, 0.0) for control, by_repetition in known.items()}
    order = sorted((each.mean, index, control) for index, (control, each) in enumerate(means.items()) if each)
    standings: list[Standing] = []
    for rank, (_, _, control) in enumerate(order, 1):
        best = order[0][2]
        value = means[control]
        if value is None:
            continue
        if control == best:
            standings.append(Standing(control, rank, value, None, as_good=True))
            continue
        sign = differences.sign(case, control, best)
        standings.append(
            Standing(control, rank, value, ratio(known[control], known[best]), None if sign is None else sign == 0)
        )
    return standings


def relative(cases: Sequence[CaseResult], controls: Sequence[str], key: str = "completion_s") -> dict[str, Interval]:
    """Each control's measure over the geometric mean of all controls', averaged over the cases; 1 is average.

    The average over controls and cases is taken within a repetition, so the interval is that of paired values.
    """
    logs: dict[str, dict[int, list[float]]] = {control: {} for control in controls}
    for case in cases:
        known = {control: values(case, control, key) for control in controls}
        common = set.intersection(*(set(by_repetition) for by_repetition in known.values()))
        for n in sorted(common):
            row = {control: by_repetition[n] for control, by_repetition in known.items()}
            if min(row.values()) <= 0:
                continue
            mean = sum(math.log(value) for value in row.values()) / len(row)
            for control, value in row.items():
                logs[control].setdefault(n, []).append(math.log(value) - mean)
    return {
        control: _exp(mean_interval([sum(each) / len(each) for each in by_repetition.values()]))
        for control, by_repetition in logs.items()
        if by_repetition
    }


def wins(cases: Sequence[CaseResult], controls: Sequence[str], differences: Differences) -> dict[tuple[str, str], int]:
    """In how many cases the first control of a pair is shown to be faster than the second."""
    return {
        (first, second): sum(differences.sign(case, first, second) == -1 for case in cases)
        for first, second in permutations(controls, 2)
    }


def best_or_as_good(cases: Sequence[CaseResult], controls: Sequence[str], differences: Differences) -> dict[str, int]:
    """In how many cases each control is the first, or not shown to differ from the first."""
    counts = dict.fromkeys(controls, 0)
    for case in cases:
        for each in ranking(case, controls, differences):
            counts[each.control] += bool(each.as_good)
    return counts


def tied(cases: Sequence[CaseResult], first: str, others: Sequence[str], at_least: float = AT_LEAST) -> list[str]:
    """Those of the others whose times over all cases are not shown to differ from the first control's, as one family.

    The difference is that of the means over the cases of the logarithms, repetition by repetition.
    """
    ratios = {each: _log_ratios(cases, each, first) for each in others}
    # 1 is added on both sides: the threshold is a share of the second value.
    pairs = {each: ({n: 1 + log for n, log in logs.items()}, dict.fromkeys(logs, 1.0)) for each, logs in ratios.items()}
    found = signs(pairs, math.log1p(at_least))
    return [each for each in others if found[each] == 0]


def _log_ratios(cases: Sequence[CaseResult], control: str, other: str) -> dict[int, float]:
    """The mean over the cases of the logarithm of a control's completion time over another's, by repetition."""
    logs: dict[int, list[float]] = {}
    for case in cases:
        a, b = (values(case, each, MEASURES[0].key) for each in (control, other))
        for n in a.keys() & b.keys():
            logs.setdefault(n, []).append(math.log(a[n] / b[n]))
    return {n: sum(each) / len(each) for n, each in logs.items()}


def average(cases: Sequence[CaseResult], control: str, measure: Measure, rival: str | None = None) -> Interval | None:
    """A measure's mean over the cases that have it in every repetition, with the interval over the repetitions.

    None where a case does not have it because files were not complete: the others are those that went well.
    """
    per_case = [
        values(case, control, measure.key) if rival is None else harm_values(case, control, rival, measure.key)
        for case in cases
    ]
    known = [each for each in per_case if each]
    unfinished = any(
        not each and any(share < 1.0 for share in values(case, control, "finished").values())
        for case, each in zip(cases, per_case, strict=True)
    )
    if unfinished or not known:
        return None
    common = sorted(set.intersection(*(set(each) for each in known)))
    return interval({n: sum(each[n] for each in known) / len(known) for n in common}, measure.factor)


def _exp(logs: Interval) -> Interval:
    low, high = (None if end is None else math.exp(end) for end in (logs.low, logs.high))
    return Interval(math.exp(logs.mean), low, high, logs.n, logs.level)
