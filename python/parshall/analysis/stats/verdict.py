"""The verdict on an interval of differences: decided in one place, for runs, sweeps and benchmarks.

Where many differences are shown together, `parshall.analysis.stats.families` says which of them are significant.

A difference B - A is judged in this order:

| verdict | when |
| --- | --- |
| equal | all values are the same, and exact: those of a histogram's bins never are |
| unknown | there is no interval: `Interval.how` of the difference says why |
| the same | the whole interval is within a threshold around 0 (equivalence; the level is that of two one-sided tests) |
| no spread: unknown | the difference is the same in all repetitions, which may be copies of each other |
| higher, lower | the interval leaves out 0, and the difference is among those found of its family |
| no difference shown | else |

Where one side has no value, because too few transfers ended (`parshall.analysis.stats.censored`), but is known to be
above all of the other one's interval, the difference is shown; else both **cannot be compared** (`without_value`).

The threshold is of practical importance and not of statistics: a share of A's value below which nobody would act. What
was measured in bins is known to their width; the widths of both are added at both ends of the interval.

References: D. Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987 (equivalence by two one-sided tests).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from parshall.analysis.stats.confidence import ONE_VALUE, Interval, compared, paired_difference, welch_difference
from parshall.analysis.stats.quantiles import NoValue, Pooled
from parshall.analysis.stats.ranges import Number

AT_LEAST = 0.01
"""Share of A's value below which a difference does not matter, unless another is asked for."""

ROUNDING = 1e-9
"""Differences that are smaller, of the values' magnitude, come from the order of additions."""


class Verdict(StrEnum):
    """A verdict on B against A."""

    HIGHER = "higher"
    LOWER = "lower"
    NOT_SHOWN = "no difference shown"
    SAME = "the same"
    EQUAL = "equal"
    UNKNOWN = "unknown"
    NO_SPREAD = "no spread: unknown"
    ONLY_A = "only in A"
    ONLY_B = "only in B"
    NO_VALUE = "cannot be compared"

    def text(self, at_least: float, why: str = "") -> str:
        """As it is printed: ``the same within 1 %``, ``too few values: unknown``.

        Parameters
        ----------
        why
            Why there is no interval or no value.
        """
        if self is Verdict.SAME:
            return f"{self.value} within {100 * at_least:g} %"
        if self is Verdict.UNKNOWN and why:
            return f"{why}: {self.value}"
        return f"{self.value}: {why}" if self is Verdict.NO_VALUE and why else self.value


DIFFERENT = (Verdict.HIGHER, Verdict.LOWER)


def verdict_of(
    difference: Number,
    a: float,
    b: float,
    *,
    at_least: float = AT_LEAST,
    resolution: float = 0.0,
    significant: bool | None = None,
    exact: bool = False,
) -> Verdict:
    """Return the verdict on a difference B - A.

    Parameters
    ----------
    difference
        Its estimate and interval, or its range.
    a, b
        The values of both, in the same unit.
    at_least
        The threshold, as a share of `a`.
    resolution
        What the difference is known to at best: the widths of both values' bins.
    significant
        Where many differences are tested together, whether this one is among those found; else the interval decides.
    exact
        Whether both values are stated by models, so that no spread is expected.

    Examples
    --------
    >>> str(verdict_of(Interval(2.0, 1.0, 3.0, n=4), 10.0, 12.0))
    'higher'
    >>> verdict_of(Interval(0.02, 0.01, 0.03, n=4), 10.0, 10.02).text(0.01)
    'the same within 1 %'
    >>> str(verdict_of(Interval(2.0, 1.0, 3.0, n=4), 10.0, 12.0, resolution=2.0))
    'no difference shown'
    """
    rounding = ROUNDING * max(abs(a), abs(b))
    if difference.low is None or difference.high is None:
        return Verdict.UNKNOWN
    spread = has_spread(difference, a, b)
    if abs(difference.value) <= rounding and not spread and resolution == 0:
        return Verdict.EQUAL
    low, high = difference.low - resolution, difference.high + resolution
    if a != 0 and max(abs(low), abs(high)) <= at_least * abs(a):
        return Verdict.SAME
    if low <= 0 <= high:
        return Verdict.NOT_SHOWN
    if not spread and not exact:
        return Verdict.NO_SPREAD
    if significant is False:
        return Verdict.NOT_SHOWN
    return Verdict.HIGHER if difference.value > 0 else Verdict.LOWER


def why_none(difference: Number | None) -> str:
    """Return the reason why a difference has no interval; empty where it has one, and of ranges.

    Examples
    --------
    >>> why_none(Interval(2.0, None, None, n=1, how="one repetition")), why_none(Interval(2.0, 1.0, 3.0, n=4))
    ('one repetition', '')
    """
    return difference.how if isinstance(difference, Interval) and difference.low is None else ""


def is_unresolved(difference: Number, resolution: float) -> bool:
    """True if an interval of differences excludes 0 by less than the resolution of the values.

    Examples
    --------
    >>> one = Interval(2.0, 1.0, 3.0, n=4)
    >>> is_unresolved(one, 2.0), is_unresolved(one, 0.5), is_unresolved(one, 0.0)
    (True, False, False)
    """
    if difference.low is None or difference.high is None or difference.low <= 0 <= difference.high:
        return False
    return difference.low - resolution <= 0 <= difference.high + resolution


def has_spread(difference: Number, a: float, b: float) -> bool:
    """True if the interval of a difference of `a` and `b` is wider than rounding; False without ends.

    Examples
    --------
    >>> has_spread(Interval(1.0, 0.9, 1.1, n=3), 1.0, 2.0), has_spread(Interval(1.0, 1.0, 1.0 + 1e-15, n=3), 1.0, 2.0)
    (True, False)
    """
    if difference.low is None or difference.high is None:
        return False
    return difference.high - difference.low > ROUNDING * max(abs(a), abs(b))


def differed(a: Pooled, b: Pooled, *, common_numbers: bool) -> tuple[Interval, bool]:
    """B - A of two estimates with its interval, and whether repetitions were compared in pairs.

    Of a quantile without an interval the difference has none either.

    Parameters
    ----------
    common_numbers
        Whether repetitions of the same number drew the same random numbers.

    Examples
    --------
    >>> one, two = (Pooled(Interval(x, None, None, 1), {0: x}) for x in (1.0, 3.0))
    >>> differed(one, two, common_numbers=True)[0].mean
    2.0
    """
    if not a.by_repetition or not b.by_repetition:
        n, without = min(a.interval.n, b.interval.n), b if a.by_repetition else a
        return Interval(b.interval.mean - a.interval.mean, None, None, n, how=without.interval.how), False
    after, before, paired = compared(b.by_repetition, a.by_repetition, common_numbers=common_numbers)
    difference = (paired_difference if paired else welch_difference)(after, before)
    if difference.how == ONE_VALUE:
        difference = replace(difference, how=_why_one(a, b))
    return difference, paired


def _why_one(a: Pooled, b: Pooled) -> str:
    """Return the reason why two estimates have only one difference: a single value, or one repetition in common."""
    if min(len(a.by_repetition), len(b.by_repetition)) > 1:
        return "one common repetition"
    alone = [each.interval.how for each in (a, b) if len(each.by_repetition) == 1]
    return next((how for how in alone if how != ONE_VALUE), ONE_VALUE)


@dataclass(frozen=True)
class Judgement:
    """A difference B - A with its verdict.

    Parameters
    ----------
    difference
        B - A with its interval, or its range where a model states one of both.
    relative
        The difference over A's value; None if that is 0.
    paired
        Whether repetitions were compared one by one.
    verdict
        What the difference shows.
    matters
        Whether it is shown and reaches the threshold of practical importance.
    p_value, significant
        Of a difference in a family, and whether it is among those found; None if it is not a part of one.
    """

    difference: Number
    relative: float | None
    paired: bool
    verdict: Verdict
    matters: bool
    p_value: float | None = None
    significant: bool | None = None


def between(a: Pooled, b: Pooled, *, common_numbers: bool, at_least: float = AT_LEAST) -> Judgement:
    """Return the judgement of two estimates over repetitions, B against A, known to the width of both bins at best.

    The difference stands for itself; many are judged by `parshall.analysis.stats.families.judged`.

    Parameters
    ----------
    common_numbers
        Whether repetitions of the same number drew the same random numbers.
    at_least
        Share of A's value below which a difference does not matter.

    Examples
    --------
    >>> one = Pooled(Interval(10.0, 7.5, 12.5, n=3), {0: 9.0, 1: 10.0, 2: 11.0})
    >>> two = Pooled(Interval(20.0, 16.2, 23.8, n=3), {0: 18.5, 1: 20.0, 2: 21.5})
    >>> str(between(one, two, common_numbers=True).verdict)
    'higher'
    """
    difference, paired = differed(a, b, common_numbers=common_numbers)
    return judgement(difference, a, b, paired=paired, at_least=at_least)


def judgement(
    difference: Interval,
    a: Pooled,
    b: Pooled,
    *,
    paired: bool,
    at_least: float = AT_LEAST,
    p_value: float | None = None,
    significant: bool | None = None,
) -> Judgement:
    """The same of a difference that is known; `significant` is that of `verdict_of`."""
    of_a, of_b = a.interval.mean, b.interval.mean
    resolution = a.resolution + b.resolution
    verdict = verdict_of(difference, of_a, of_b, at_least=at_least, resolution=resolution, significant=significant)
    relative = difference.mean / abs(of_a) if of_a else None
    return Judgement(difference, relative, paired, verdict, matters(verdict, relative, at_least), p_value, significant)


@dataclass(frozen=True)
class WithoutValue:
    """The verdict on B against A where one of them, or both, have no value.

    Parameters
    ----------
    verdict
        `HIGHER` or `LOWER` where the side without a value is known to be above the other's interval; else `NO_VALUE`.
    reason
        Why there is no value, of that side; of both where neither has one.
    matters
        Whether a difference is shown and reaches the threshold of practical importance.
    """

    verdict: Verdict
    reason: str
    matters: bool = False


def without_value(
    a: Interval | NoValue, b: Interval | NoValue, *, at_least: float = AT_LEAST, names: tuple[str, str] = ("A", "B")
) -> WithoutValue:
    """Judge B against A where one of them at least has no value.

    Both bounds hold with 97.5 %, so that a difference is shown by chance in less than 1 of 20.

    Parameters
    ----------
    at_least
        Share of A's value below which a difference does not matter.
    names
        What both are called in the reason.

    Examples
    --------
    >>> slow = NoValue("61 % ended: no 95th percentile", 61, 100, above=9.0)
    >>> print(without_value(Interval(8.0, 7.5, 8.5, n=100), slow).verdict)
    higher
    >>> unknown = without_value(Interval(8.0, 7.5, 9.5, n=100), slow)
    >>> print(f"{unknown.verdict}: {unknown.reason}")
    cannot be compared: B: 61 % ended: no 95th percentile
    """
    lacking = [(name, each) for name, each in zip(names, (a, b), strict=True) if isinstance(each, NoValue)]
    reason = "; ".join(f"{name}: {each.reason}" for name, each in lacking)
    known = [each for each in (a, b) if isinstance(each, Interval)]
    above = lacking[0][1].above
    if len(known) != 1 or above is None or known[0].high is None or known[0].high >= above:
        return WithoutValue(Verdict.NO_VALUE, reason)
    verdict = Verdict.HIGHER if isinstance(b, NoValue) else Verdict.LOWER
    of_a = above if isinstance(a, NoValue) else known[0].mean
    return WithoutValue(verdict, reason, above - known[0].mean >= at_least * abs(of_a))


def sign_of(interval: Interval) -> int:
    """1 or -1 where an interval of differences is on one side of 0, else 0: a claim of a sign, without a threshold.

    An interval without a width shows no sign: the values may be copies of each other.

    Examples
    --------
    >>> sign_of(Interval(2.0, 1.0, 3.0, n=4)), sign_of(Interval(2.0, -1.0, 5.0, n=4))
    (1, 0)
    >>> sign_of(Interval(2.0, 2.0, 2.0, n=4))
    0
    """
    if interval.low is None or interval.high is None or interval.low <= 0 <= interval.high:
        return 0
    if interval.high - interval.low <= ROUNDING * abs(interval.mean):
        return 0
    return 1 if interval.low > 0 else -1


def reaches(a: float, b: float, at_least: float = AT_LEAST) -> bool:
    """True if two values without a spread differ by at least this share of the larger one."""
    return a != b and abs(b - a) >= at_least * max(abs(a), abs(b))


def matters(verdict: Verdict, relative: float | None, at_least: float = AT_LEAST) -> bool:
    """True if a difference is shown and reaches the threshold; against 0, any shown difference does."""
    return verdict in DIFFERENT and (relative is None or abs(relative) >= at_least)
