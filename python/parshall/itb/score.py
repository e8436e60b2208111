"""The score: who is better at what, and how sure that is.

Every statement that one control is better than another is a paired comparison: both had the same random numbers in
each repetition, and the interval is that of the differences (of logarithms, where the quantity is a ratio of times).
Where it holds zero, there is no telling, and both have the same standing; and where it is within the threshold of
practical importance (`at_least`), they are the same. `parshall.stats.verdict` decides.

With 95 % intervals one comparison in twenty is wrong by chance; the page says how many are made. With three
repetitions Student's t is 4.3, so only clear differences are found.

References: A. Law, Simulation Modeling and Analysis, 5th ed., 2015, §10.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import polars as pl

from parshall.itb.benchmark import CaseResult
from parshall.quantities import transport
from parshall.quantities.definition import Quantity
from parshall.stats.confidence import Interval, mean_interval, paired_difference
from parshall.stats.estimates import within
from parshall.stats.verdict import AT_LEAST, Verdict, verdict_of


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
    """A control's place in a case.

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
        Whether the comparison with the first cannot tell them apart, or not by as much as matters; None where it says
        nothing (one repetition, or repetitions that are copies of each other).
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


def ranking(
    case: CaseResult, controls: Sequence[str], measure: Measure = MEASURES[0], at_least: float = AT_LEAST
) -> list[Standing]:
    """Controls by a measure, the best first; those without a value are left out."""
    known = {control: values(case, control, measure.key) for control in controls}
    means = {control: interval(by_repetition, measure.factor, 0.0) for control, by_repetition in known.items()}
    sign = 1 if measure.quantity.better == "lower" else -1
    order = sorted((sign * each.mean, index, control) for index, (control, each) in enumerate(means.items()) if each)
    standings: list[Standing] = []
    for rank, (_, _, control) in enumerate(order, 1):
        best = order[0][2]
        value = means[control]
        if value is None:
            continue
        if control == best:
            standings.append(Standing(control, rank, value, None, as_good=True))
            continue
        compared = difference(known[control], known[best], at_least)
        standings.append(
            Standing(
                control, rank, value, ratio(known[control], known[best]), None if compared is None else compared == 0
            )
        )
    return standings


def difference(a: dict[int, float], b: dict[int, float], at_least: float = AT_LEAST) -> int | None:
    """-1, 0 or 1: whether `a` is smaller than, not to be told from (or as), or larger than `b`; None: unknown."""
    return _sign(a, b, at_least)


def _sign(a: dict[int, float], b: dict[int, float], at_least: float, scale: float | None = None) -> int | None:
    """`at_least` is a share of `scale`, or of `b`."""
    common = sorted(a.keys() & b.keys())
    if not common:
        return None
    difference = paired_difference([a[n] for n in common], [b[n] for n in common])
    of_a, of_b = (sum(each[n] for n in common) / len(common) for each in (a, b))
    verdict = verdict_of(difference, scale or of_b, of_a, at_least=at_least)
    if verdict in (Verdict.UNKNOWN, Verdict.NO_SPREAD):
        return None
    return {Verdict.HIGHER: 1, Verdict.LOWER: -1}.get(verdict, 0)


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


def wins(
    cases: Sequence[CaseResult], controls: Sequence[str], key: str = "completion_s", at_least: float = AT_LEAST
) -> dict[tuple[str, str], int]:
    """In how many cases the first control of a pair is smaller than the second, by paired comparison."""
    known = {control: [values(case, control, key) for case in cases] for control in controls}
    return {
        (first, second): sum(difference(a, b, at_least) == -1 for a, b in zip(known[first], known[second], strict=True))
        for first, second in permutations(controls, 2)
    }


def best_or_as_good(cases: Sequence[CaseResult], controls: Sequence[str], at_least: float = AT_LEAST) -> dict[str, int]:
    """In how many cases each control is the first, or the paired comparison cannot tell it from the first."""
    counts = dict.fromkeys(controls, 0)
    for case in cases:
        for each in ranking(case, controls, at_least=at_least):
            counts[each.control] += bool(each.as_good)
    return counts


def same_overall(cases: Sequence[CaseResult], first: str, second: str, at_least: float = AT_LEAST) -> bool:
    """Whether the paired comparison of two controls' times over all cases cannot tell them apart.

    The difference is that of the means over the cases of the logarithms, repetition by repetition.
    """
    logs: list[dict[int, list[float]]] = [{}, {}]
    for case in cases:
        known = [values(case, control, MEASURES[0].key) for control in (first, second)]
        for n in known[0].keys() & known[1].keys():
            for held, by_repetition in zip(logs, known, strict=True):
                held.setdefault(n, []).append(math.log(by_repetition[n]))
    means = [{n: sum(each) / len(each) for n, each in held.items()} for held in logs]
    return _sign(means[0], means[1], math.log1p(at_least), scale=1.0) == 0


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
