"""Quantiles of the values of all repetitions together, and their confidence intervals.

| symbol | meaning |
| --- | --- |
| p | probability: 0.95 for the 95th percentile |
| k | number of repetitions; they are independent of each other |
| n_i, n | number of values in repetition i, and in all of them |
| F, q | the pooled empirical distribution, and its quantile at p |
| b_i | how many values of repetition i do not exceed q |
| d_i | k (b_i - p n_i) / n: what repetition i adds to the error of F(q) |

The quantile of a repetition with few values is biased: with one value each, every "percentile" is that value, and the
mean of them estimates the mean. So all values are pooled first. The interval is then made in one of two ways.

* **Order statistics**, where every repetition has one value, so that the values are independent: the number of values
  below the quantile is binomial, whatever their distribution, so two of the ordered values enclose it (David & Nagaraja
  2003, §7.1). The level is at least the nominal one.
* **Woodruff's interval**, where repetitions have several values, which share a network and are not independent: the
  interval of F(q) comes from the spread of d_i over the repetitions, and F takes both ends back to values (Woodruff
  1952). The interval of F(q) is Clopper & Pearson's with as many values as independent ones would have to be for that
  spread, less what k - 1 degrees of freedom cost (Korn & Graubard 1998). It asks nothing of how the values of one
  repetition depend on each other. Where these depend strongly (correlation 0.2) and a tail is asked of few
  (five repetitions of 100 values, p = 0.95), it covers 88 % instead of 95 %.

A bootstrap by repetition would be another way. It can only ever see k repetitions, and with the three to ten that are
common its intervals are too short (the tests measure both).

There is no quantile of fewer than 1 / min(p, 1 - p) values (20 for p = 0.95): it would be the largest or smallest of
them. There is no interval from a single repetition with several values, nor where the values do not reach far enough to
enclose the quantile (order statistics need 72 for p = 0.95, 6 for the median).

**Differences** of quantiles need a value a repetition. That is `Pooled.by_repetition`: q - d_i s, whose mean is q and
whose spread is that of q to first order (the influence function, Deville 1999). The slope s = dq/dp is the one that
makes Student's interval of them as wide as the quantile's own. They serve for paired and unpaired differences like any
other value of a repetition.

Binned values (`pooled_histogram_quantile`) are taken as evenly spread within their bin. An interval then holds the
whole bin in which the quantile is: nothing smaller was measured.

References: H. David, H. Nagaraja, Order Statistics, 3rd ed., 2003; R. Woodruff, J. Am. Stat. Assoc. 47, 1952; E. Korn,
B. Graubard, Survey Methodology 24(2), 1998; J.-C. Deville, Survey Methodology 25(2), 1999.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.stats.confidence import ONE_VALUE, Interval, StatisticsError
from parshall.foundations.distributions import beta_quantile, binomial_quantile, student_quantile

ORDER_STATISTICS = "order statistics"
WOODRUFF = "Woodruff"
TOO_FEW = "too few values"
TOO_FEW_REPETITIONS = "too few repetitions"
TOO_FEW_ENDED = "too few ended"
ONE_REPETITION = ONE_VALUE


@dataclass(frozen=True)
class Pooled:
    """A quantile of all values together.

    Parameters
    ----------
    interval
        The quantile (`mean`) and its interval; `n` is the number of values, `how` says how the interval was made, or
        why there is none.
    by_repetition
        A value a repetition, whose mean is the quantile and whose spread is that of the quantile; for differences.
        Empty where there is no interval.
    resolution
        Width of the bin in which the quantile is; 0 for exact values.
    """

    interval: Interval
    by_repetition: Mapping[int, float]
    resolution: float = 0.0


@dataclass(frozen=True)
class NoValue:
    """The reason why there is no estimate, though values were measured.

    Parameters
    ----------
    reason
        For people: ``61 % ended: no 95th percentile``, ``too few values: 12 of 20``.
    found, of
        How many of how many transfers ended; or how many values there are, of those that it needs.
    above
        What the quantile exceeds, with a confidence of 97.5 %, in its unit; None: nothing is known.
    """

    reason: str
    found: int
    of: int
    above: float | None = None

    @classmethod
    def too_few(cls, found: int, probability: float) -> Self | None:
        """That there are fewer values than a quantile needs; None where there are enough, or none at all.

        Examples
        --------
        >>> NoValue.too_few(12, 0.95).reason, NoValue.too_few(0, 0.95), NoValue.too_few(20, 0.95)
        ('too few values: 12 of 20', None, None)
        """
        least = least_values(probability)
        return cls(f"{TOO_FEW}: {found} of {least}", found, least) if 0 < found < least else None

    @property
    def is_of_values(self) -> bool:
        """True if there are too few values; else too few transfers ended."""
        return self.reason.startswith(TOO_FEW)


def least_values(probability: float) -> int:
    """Return the number of values that a quantile needs.

    Examples
    --------
    >>> [least_values(p) for p in (0.5, 0.95, 0.99)]
    [2, 20, 100]
    """
    return math.ceil(round(1 / min(probability, 1 - probability), 6))


def pooled_quantile(samples: Mapping[int, ArrayLike], probability: float, level: float = 0.95) -> Pooled | None:
    """The quantile of the values of all repetitions; `None` of too few (`least_values`).

    Parameters
    ----------
    samples
        The values of each repetition, shape (n_i,), in any unit.
    probability
        p, in (0, 1).
    level
        Confidence level, in (0, 1).

    Raises
    ------
    StatisticsError
        A value is not finite, or `probability` or `level` is out of bounds.

    Examples
    --------
    >>> found = pooled_quantile({n: [float(n)] for n in range(1, 101)}, 0.95)
    >>> found.interval.mean.__round__(6), found.interval.low, found.interval.high, found.interval.how
    (95.05, 90.0, 100.0, 'order statistics')
    """
    _check(probability, level)
    parts = {number: np.sort(np.asarray(values, dtype=np.float64)) for number, values in sorted(samples.items())}
    parts = {number: values for number, values in parts.items() if values.size}
    if not parts:
        return None
    pool = np.sort(np.concatenate(list(parts.values())))
    if not np.all(np.isfinite(pool)):
        raise StatisticsError(f"samples: found {float(pool[~np.isfinite(pool)][0])}, accepted are finite numbers")
    if pool.size < least_values(probability):
        return None
    value = float(np.quantile(pool, probability))
    sizes = np.array([values.size for values in parts.values()], dtype=np.float64)
    below = np.array([np.searchsorted(values, value, side="right") for values in parts.values()], dtype=np.float64)
    d = _deviations(below, sizes, probability)
    made = Linearised(list(parts), pool.size, d, probability, level, value, lambda p: float(np.quantile(pool, p)))
    return made.independent(pool) if pool.size == len(parts) else made.clustered()


def pooled_histogram_quantile(
    low: ArrayLike, high: ArrayLike, counts: Mapping[int, ArrayLike], probability: float, level: float = 0.95
) -> Pooled | None:
    """The same of binned values; `None` of too few.

    Parameters
    ----------
    low, high
        Ends of the bins, in increasing order, shape (m,), in any unit.
    counts
        How many values of each repetition are in each bin, shape (m,).
    probability, level
        As for `pooled_quantile`.

    Raises
    ------
    StatisticsError
        The bins overlap, or a number is out of bounds.

    Examples
    --------
    >>> found = pooled_histogram_quantile([0, 1], [1, 2], {n: [1000, 1000] for n in range(3)}, 0.75)
    >>> found.interval.mean, found.interval.low, found.interval.high
    (1.5, 1.0, 2.0)
    """
    from parshall.analysis.stats.histogram import histogram_quantiles  # noqa: PLC0415 - it imports this package's errors

    _check(probability, level)
    a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    parts = {number: np.asarray(each, dtype=np.float64) for number, each in sorted(counts.items())}
    parts = {number: each for number, each in parts.items() if each.sum() > 0}
    if not parts:
        return None
    total = np.sum(list(parts.values()), axis=0)
    if total.sum() < least_values(probability):
        return None

    def at(p: float) -> float:
        quantiles = histogram_quantiles(a, b, total, [min(max(p, 0.0), 1.0)])
        return math.nan if quantiles is None else float(quantiles[0])

    value = at(probability)
    sizes = np.array([each.sum() for each in parts.values()])
    share = np.clip((value - a) / np.where(b > a, b - a, 1.0), 0.0, 1.0)
    share = np.where(b > a, share, (a <= value).astype(np.float64))
    below = np.array([each @ share for each in parts.values()])
    d = _deviations(below, sizes, probability)
    made = Linearised(list(parts), int(sizes.sum()), d, probability, level, value, at)
    filled = total > 0
    bin_ = int(np.searchsorted(b[filled], value, side="left").clip(0, int(filled.sum()) - 1))
    return made.clustered((float(a[filled][bin_]), float(b[filled][bin_])))


@dataclass(frozen=True)
class Linearised:
    """The parts of an interval; the names are those of the module's table.

    Parameters
    ----------
    repetitions
        Their numbers, k of them.
    n
        How many values there are.
    d
        What each repetition adds to the error of F(q), centred, shape (k,).
    p, level, q
        Probability, confidence level, and the quantile.
    quantile
        The inverse of F; NaN where F does not reach so far.
    """

    repetitions: list[int]
    n: int
    d: NDArray[np.float64]
    p: float
    level: float
    q: float
    quantile: Callable[[float], float]
    most: float = math.inf
    """The most independent values that F(q) may count for, of which some were cut off."""

    def independent(self, pool: NDArray[np.float64]) -> Pooled:
        """David & Nagaraja 2003, §7.1: the interval is that of ranks, from the binomial distribution."""
        n, tail = self.n, (1 - self.level) / 2
        # The number of values below q is binomial: P(fewer than `first`) <= tail, P(`last` or more) <= tail.
        first = binomial_quantile(tail, n, self.p)
        last = binomial_quantile(1 - tail, n, self.p) + 1
        if first < 1 or last > n:
            return self._without(TOO_FEW)
        low, high = float(pool[first - 1]), float(pool[last - 1])
        interval = Interval(self.q, low, high, n, self.level, ORDER_STATISTICS)
        return Pooled(interval, self._by_repetition(low, high))

    def clustered(self, bin_: tuple[float, float] | None = None) -> Pooled:
        """Woodruff 1952, with the variance of a ratio over repetitions; at least as wide as `bin_`."""
        width = 0.0 if bin_ is None else bin_[1] - bin_[0]
        if len(self.repetitions) < 2:
            return self._without(ONE_REPETITION, width)
        if self.n < 2:
            return self._without(TOO_FEW, width)
        low_p, high_p = self.share()
        if low_p * self.n < 0.5 or (1 - high_p) * self.n < 0.5:
            reached = min(self.p, 1 - self.p) * self.n >= -math.log((1 - self.level) / 2)
            return self._without(TOO_FEW_REPETITIONS if reached else TOO_FEW, width)
        upper = self.quantile(high_p)
        if math.isnan(upper):
            return self._without(TOO_FEW_ENDED, width)
        low, high = min(self.quantile(low_p), self.q), max(upper, self.q)
        by_repetition = self._by_repetition(low, high)
        if bin_ is not None:
            low, high = min(low, bin_[0]), max(high, bin_[1])
        return Pooled(Interval(self.q, low, high, self.n, self.level, WOODRUFF), by_repetition, width)

    def share(self) -> tuple[float, float]:
        """The interval of F(q): Clopper & Pearson's with the effective number of values (Korn & Graubard 1998)."""
        error = self._error()
        t_k, t_n = (student_quantile((1 + self.level) / 2, size - 1) for size in (len(self.repetitions), self.n))
        variance = self.p * (1 - self.p)
        by_spread = variance / error**2 if error > 0 else math.inf
        effective = min(float(self.n), self.most, by_spread) * (t_n / t_k) ** 2
        seen, tail = self.p * effective, (1 - self.level) / 2
        low = beta_quantile(tail, seen, effective - seen + 1)
        return low, beta_quantile(1 - tail, seen + 1, effective - seen)

    def _error(self) -> float:
        k = len(self.repetitions)
        return math.sqrt(float(self.d @ self.d) / (k * (k - 1)))

    def _by_repetition(self, low: float, high: float) -> dict[int, float]:
        """Q - d_i s, with the slope s that makes Student's interval of them as wide as [low, high]."""
        reach = student_quantile((1 + self.level) / 2, len(self.repetitions) - 1) * self._error()
        slope = (high - low) / (2 * reach) if reach > 0 else 0.0
        return dict(zip(self.repetitions, (self.q - self.d * slope).tolist(), strict=True))

    def _without(self, reason: str, width: float = 0.0) -> Pooled:
        return Pooled(Interval(self.q, None, None, self.n, self.level, reason), {}, width)


def _deviations(below: NDArray[np.float64], sizes: NDArray[np.float64], p: float) -> NDArray[np.float64]:
    """d_i of the module's table, centred."""
    d = sizes.size * (below - p * sizes) / sizes.sum()
    return np.asarray(d - d.mean())


def _check(probability: float, level: float) -> None:
    for name, value in (("probability", probability), ("level", level)):
        if not 0 < value < 1:
            raise StatisticsError(f"{name}: found {value}, accepted is a number between 0 and 1 (both excluded)")
