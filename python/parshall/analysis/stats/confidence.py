"""Confidence intervals of means: over repetitions, of paired and unpaired differences.

| symbol | meaning |
| --- | --- |
| n | number of independent values, such as repetitions |
| s | their standard deviation, with n - 1 |
| t | quantile (1 + level)/2 of Student's t with n - 1 degrees of freedom |

The interval is mean -+ t s/sqrt(n). It holds for normal values, and for the mean of many others by the
central limit theorem; heavy-tailed values need many. One value has a mean and no interval: `low` and `high`
are `None`. Values that are not numbers (`None`, NaN) are an error: leaving them out silently would change
what is estimated.

References: A. Law, Simulation Modeling and Analysis, 5th ed., 2015, §9.4 and §10.2; B. Welch, Biometrika 34,
1947.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.foundations.distributions import student_quantile
from parshall.foundations.errors import InputError

STUDENT = "t"
ONE_VALUE = "one repetition"


class StatisticsError(InputError):
    """Values from which the statistic cannot be computed."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its confidence interval, in the unit of the values.

    Parameters
    ----------
    mean
        The estimate: a mean, or a quantile (`parshall.analysis.stats.quantiles`).
    low, high
        Ends of the interval; `None` where the spread is unknown.
    n
        How many values it rests on.
    level
        Confidence level, e.g. 0.95.
    how
        How the interval was made (``t``: Student's), or why there is none.
    of
        How many repetitions there are, where only `n` of them have a value; else None.
    """

    mean: float
    low: float | None
    high: float | None
    n: int
    level: float = 0.95
    how: str = STUDENT
    of: int | None = None

    @property
    def value(self) -> float:
        """The estimate, under the name that ranges (`parshall.analysis.stats.ranges`) have for theirs."""
        return self.mean

    @property
    def half_width(self) -> float | None:
        """Half of the interval's length; `None` without an interval.

        Examples
        --------
        >>> Interval(1.0, 0.5, 1.5, n=4).half_width
        0.5
        """
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def contains(self, value: float) -> bool | None:
        """True if `value` is in the interval; `None` without an interval.

        Examples
        --------
        >>> Interval(1.0, 0.5, 1.5, n=4).contains(2)
        False
        """
        return None if self.low is None or self.high is None else self.low <= value <= self.high


def mean_interval(values: ArrayLike | Sequence[float], level: float = 0.95) -> Interval:
    """Mean of independent values and its Student-t interval.

    Source: Law 2015, §9.4.1.

    Parameters
    ----------
    values
        One value a repetition, shape (n,).
    level
        Confidence level, in (0, 1).

    Raises
    ------
    StatisticsError
        If there is no value, one is not a finite number, or `level` is not in (0, 1).

    Examples
    --------
    >>> interval = mean_interval([9.0, 10.0, 11.0])
    >>> interval.mean, round(interval.low, 3), round(interval.high, 3)
    (10.0, 7.516, 12.484)
    >>> mean_interval([9.0])
    Interval(mean=9.0, low=None, high=None, n=1, level=0.95, how='one repetition', of=None)
    """
    x = _numbers("values", values)
    _check_level(level)
    mean = float(np.mean(x))
    if x.size == 1:
        return Interval(mean, None, None, 1, level, ONE_VALUE)
    standard_error = float(np.std(x, ddof=1)) / np.sqrt(x.size)
    return _around(mean, standard_error, x.size - 1, x.size, level)


def prediction_interval(values: ArrayLike | Sequence[float], level: float = 0.95) -> Interval:
    """Mean of independent values, and the interval in which one more of them falls.

    For normal values, mean -+ t s sqrt(1 + 1/n): what a single run of somebody else is compared with.

    Source: Hahn & Meeker, Statistical Intervals, 1991, §4.8.

    Parameters
    ----------
    values
        One value a run, shape (n,), n at least 2.
    level
        Probability that the next value is within, in (0, 1).

    Raises
    ------
    StatisticsError
        If there are fewer than two values, or as `mean_interval`.

    Examples
    --------
    >>> interval = prediction_interval([9.0, 10.0, 11.0])
    >>> interval.mean, round(interval.low, 3), round(interval.high, 3)
    (10.0, 5.032, 14.968)
    """
    x = _numbers("values", values)
    _check_level(level)
    if x.size == 1:
        raise StatisticsError("values: found 1, accepted are 2 or more: one run has no spread")
    spread = float(np.std(x, ddof=1)) * float(np.sqrt(1 + 1 / x.size))
    return _around(float(np.mean(x)), spread, x.size - 1, x.size, level)


def paired_difference(
    after: ArrayLike | Sequence[float], before: ArrayLike | Sequence[float], level: float = 0.95
) -> Interval:
    """Mean of `after` - `before` for pairs that share their random numbers (same seed, same repetition).

    Source: Law 2015, §10.2.1.

    Raises
    ------
    StatisticsError
        If the lengths differ, or as `mean_interval`.

    Examples
    --------
    >>> paired_difference([2.0, 3.1, 4.0], [1.0, 2.0, 3.0]).mean.__round__(6)
    1.033333
    """
    a, b = _numbers("after", after), _numbers("before", before)
    if a.size != b.size:
        raise StatisticsError(f"pairs: found {a.size} and {b.size} values, accepted is as many of each")
    return mean_interval(a - b, level)


def compared(
    after: Mapping[int, float], before: Mapping[int, float], *, common_numbers: bool
) -> tuple[list[float], list[float], bool]:
    """Return the values to compare, and whether they are pairs: of repetitions with the same random numbers.

    Examples
    --------
    >>> compared({0: 2.0, 1: 3.0}, {1: 1.0}, common_numbers=True)
    ([3.0], [1.0], True)
    >>> compared({0: 2.0, 1: 3.0}, {1: 1.0}, common_numbers=False)
    ([2.0, 3.0], [1.0], False)
    """
    common = sorted(after.keys() & before.keys())
    if common_numbers and common:
        return [after[n] for n in common], [before[n] for n in common], True
    return list(after.values()), list(before.values()), False


def welch_difference(
    after: ArrayLike | Sequence[float], before: ArrayLike | Sequence[float], level: float = 0.95
) -> Interval:
    """Mean of `after` - `before` for independent values, whose variances may differ.

    `n` is the smaller number of values.

    Source: Welch 1947; Law 2015, §10.2.2.

    Raises
    ------
    StatisticsError
        As `mean_interval`.

    Examples
    --------
    >>> welch_difference([10.0, 12.0], [1.0, 2.0, 3.0]).mean
    9.0
    """
    a, b = _numbers("after", after), _numbers("before", before)
    _check_level(level)
    difference, n = float(np.mean(a) - np.mean(b)), min(a.size, b.size)
    if n == 1:
        return Interval(difference, None, None, 1, level, ONE_VALUE)
    variance_a, variance_b = np.var(a, ddof=1) / a.size, np.var(b, ddof=1) / b.size
    variance = float(variance_a + variance_b)
    if variance == 0:
        return Interval(difference, difference, difference, n, level)
    freedom = welch_freedom((float(variance_a), float(variance_b)), (a.size, b.size))
    return _around(difference, np.sqrt(variance), freedom, n, level)


def welch_freedom(variances: tuple[float, float], counts: tuple[int, int]) -> float:
    """Degrees of freedom of the difference of two independent means.

    Near those of the mean that varies most: many values of the other one do not make the difference better known.

    Parameters
    ----------
    variances
        Of the two means: the squares of their standard errors, which are not both 0.
    counts
        How many values each is the mean of: two at least where its variance is not 0.

    Source: Welch 1947, the Welch-Satterthwaite equation; Law 2015, §10.2.2.

    Examples
    --------
    >>> welch_freedom((1.0, 1.0), (3, 3)), round(welch_freedom((0.01, 1.0), (40, 3)), 2)
    (4.0, 2.04)
    """
    return sum(variances) ** 2 / sum(one**2 / (n - 1) for one, n in zip(variances, counts, strict=True) if one)


def _around(mean: float, standard_error: float, freedom: float, n: int, level: float) -> Interval:
    half = float(student_quantile((1 + level) / 2, freedom) * standard_error)
    return Interval(mean, mean - half, mean + half, n, level)


def _numbers(name: str, values: ArrayLike | Sequence[float]) -> NDArray[np.float64]:
    try:
        x = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"{name}: accepted are numbers only") from error
    if x.ndim != 1 or x.size == 0:
        raise StatisticsError(f"{name}: found shape {x.shape}, accepted is a list of at least one number")
    if not np.all(np.isfinite(x)):
        raise StatisticsError(f"{name}: found {float(x[~np.isfinite(x)][0])}, accepted are finite numbers")
    return x


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise StatisticsError(f"level: found {level}, accepted is a number between 0 and 1 (both excluded)")
