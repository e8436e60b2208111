"""Quantiles of durations of which some had not ended when their run did: Kaplan and Meier's curve over repetitions.

| symbol | meaning |
| --- | --- |
| x_j | how long transfer j took, or how long it had been under way when its run ended (it is *censored*) |
| n | number of transfers, of all repetitions together |
| Y(u) | how many had neither ended nor been censored before u: those at risk |
| d(u) | how many ended after exactly u |
| h(u) | d(u) / Y(u), the hazard |
| F(t) | 1 - product over u <= t of (1 - h(u)): the share that has ended within t (Kaplan & Meier 1958) |
| q | the quantile at probability p |

**The quantile** is the inverse of F. Where all ended, F is the empirical distribution, and the quantile and its
interval are those of `parshall.analysis.stats.quantiles.pooled_quantile`. Where some did not, its rule of interpolation
stays (number 7 of Hyndman & Fan 1996): it is taken where F reaches (1 + (n - 1) p) / n, and F rises to the share at
each duration within 1 / n. There is no quantile where F does not reach that far: `NoValue` says how many ended, and
which duration the quantile exceeds with a confidence of 97.5 %.

**The interval** is Woodruff's. Where all ended, each transfer adds (1 if x_j <= q, else 0) - p to the error of n F(q);
else it adds its influence on F,

    (1 - F(q)) n * sum over u <= q of (ended_j [x_j = u] - h(u) [x_j >= u]) / (Y(u) (1 - h(u)))

(Reid 1981), which is the same where all ended. The sum over a repetition takes the place of the number of its values
below q; the sum of squares over independent transfers is Greenwood's variance. So nothing is asked of how the transfers
of one repetition depend on each other. Far out, where few are still at risk, that variance is too small; so F(q) never
counts for more than Y(q) / (1 - F just before q) independent values (Peto et al. 1977), which are n where all ended. A
quantile for which these are too few (`parshall.analysis.stats.quantiles.least_values`) was not reached: the last one of
which it was known how long it takes does not stand for all that were cut off before.

**What it assumes.** How long a transfer could be watched must say nothing of how long it takes. That is true where the
end of the run is fixed and transfers begin at times of their own. It is not where a run ends with some of its transfers
(`ends_with`) and others are cut off, and only roughly where the next transfer of a flow begins when one has ended: a
slow flow begins fewer, and those are cut off earlier.

**Order.** A transfer that does not end, in place of one that did, never lowers F's quantiles. Nor does one that ended
later, unless another was censored between both durations: what is known of that one is then shared by fewer.

References: E. Kaplan, P. Meier, J. Am. Stat. Assoc. 53, 1958; B. Efron, 5th Berkeley Symposium 4, 1967; N. Reid, Annals
of Statistics 9(1), 1981; R. Hyndman, Y. Fan, American Statistician 50(4), 1996; R. Brookmeyer, J. Crowley, Biometrics
38, 1982 (a quantile's interval by inverting that of F); R. Peto et al., British Journal of Cancer 35(1), 1977;
R. Woodruff, J. Am. Stat. Assoc. 47, 1952.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.stats.confidence import StatisticsError
from parshall.analysis.stats.quantiles import Linearised, NoValue, Pooled, least_values, pooled_quantile

FloatArray = NDArray[np.float64]

_ROUNDING = 1e-12
"""Of a share: so far below it F may be by the order of multiplications."""


@dataclass(frozen=True)
class Durations:
    """Duration of each transfer, or the time until it was cut off.

    Parameters
    ----------
    lasted
        Shape (n,), in any unit.
    ended
        Whether it ended, shape (n,).

    Raises
    ------
    StatisticsError
        The shapes differ, or a duration is not finite or below 0.
    """

    lasted: FloatArray
    ended: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.lasted.shape != self.ended.shape or self.lasted.ndim != 1:
            raise StatisticsError(
                f"durations: found the shapes {self.lasted.shape} and {self.ended.shape}; accepted: one list each, "
                "equally long"
            )
        wrong = self.lasted[~(np.isfinite(self.lasted) & (self.lasted >= 0))]
        if wrong.size:
            raise StatisticsError(f"durations: found {float(wrong[0])}; accepted: finite numbers, 0 or more")

    @classmethod
    def of(cls, lasted: ArrayLike, ended: ArrayLike) -> Durations:
        """The same of any sequences."""
        return cls(np.asarray(lasted, dtype=np.float64), np.asarray(ended, dtype=np.bool_))

    @property
    def all_ended(self) -> bool:
        """True if no duration was cut off."""
        return bool(self.ended.all())


class KaplanMeier:
    """The share that has ended within t, of durations of which some were cut off.

    Parameters
    ----------
    durations
        Of all repetitions together, one at least.

    Examples
    --------
    >>> curve = KaplanMeier(Durations.of([1.0, 2.0, 2.5, 4.0], [True, True, False, True]))
    >>> curve.at_s.tolist(), curve.share.tolist(), curve.reached
    ([1.0, 2.0, 4.0], [0.25, 0.5, 1.0], 1.0)
    """

    def __init__(self, durations: Durations) -> None:
        self.n = durations.lasted.size
        self.ended = int(durations.ended.sum())
        self._ascending = np.sort(durations.lasted)
        at, events = np.unique(durations.lasted[durations.ended], return_counts=True)
        self.at_s: FloatArray = at
        """Durations after which any ended, ascending, shape (m,)."""
        # One that is cut off after exactly u was still at risk then.
        self._at_risk = (self.n - np.searchsorted(self._ascending, at, side="left")).astype(np.float64)
        self._hazard = events / self._at_risk
        self.share: FloatArray = np.asarray(1.0 - np.cumprod(1.0 - self._hazard), dtype=np.float64)
        """F after each of them, shape (m,)."""

    @property
    def reached(self) -> float:
        """The share up to which F is known."""
        return float(self.share[-1]) if self.share.size else 0.0

    def share_at(self, lasted: float) -> float:
        """F(t)."""
        place = int(np.searchsorted(self.at_s, lasted, side="right"))
        return float(self.share[place - 1]) if place else 0.0

    def independent_at(self, lasted: float) -> float:
        """Return the largest number of independent values behind F(t): those at risk over the share not ended."""
        before = int(np.searchsorted(self.at_s, lasted, side="left"))
        survived = 1.0 - (float(self.share[before - 1]) if before else 0.0)
        at_risk = self.n - int(np.searchsorted(self._ascending, lasted, side="left"))
        return at_risk / survived if survived > 0.0 else float(self.n)

    def quantile(self, probability: float) -> float:
        """The duration within which a share, in [0, 1], has ended; NaN where the curve does not reach that far."""
        level = (1.0 + (self.n - 1.0) * probability) / self.n
        if level > self.reached + _ROUNDING:
            return math.nan
        return float(np.interp(level, *self._ramps))

    def known_quantile(self, probability: float) -> float | None:
        """The same; None where it is not reached, or by too few (`least_values`)."""
        value, least = self.quantile(probability), least_values(probability)
        known = self.n >= least and math.isfinite(value) and self.independent_at(value) >= least * (1.0 - _ROUNDING)
        return value if known else None

    def drawn(self, most: int) -> tuple[FloatArray, FloatArray]:
        """At most so many points of the curve: durations, and shares in [0, 1], up to where it ends."""
        if not self.ended:
            return np.empty(0), np.empty(0)
        # The first to end has a share of 1 / n at least.
        top = min(1.0, (self.n * self.reached - 1.0) / (self.n - 1.0)) if self.n > 1 else 1.0
        shares = np.linspace(0.0, max(top, 0.0), max(min(self.ended, most), 2))
        levels = np.minimum((1.0 + (self.n - 1.0) * shares) / self.n, self.reached)
        return np.interp(levels, *self._ramps), shares

    @cached_property
    def _ramps(self) -> tuple[FloatArray, FloatArray]:
        """Shares and durations between which quantiles are interpolated: within 1/n F has risen to each duration."""
        before = np.concatenate([[0.0], self.share[:-1]])
        shares = np.stack([np.minimum(before + 1.0 / self.n, self.share), self.share], axis=1).ravel()
        return shares, np.repeat(self.at_s, 2)

    def influence(self, durations: Durations, lasted: float) -> FloatArray:
        """The influence of each duration on n F(t), shape (n,): Reid 1981; the sum over all is 0."""
        known = int(np.searchsorted(self.at_s, lasted, side="right"))
        survived = 1.0 - self.share_at(lasted)
        if known == 0 or survived <= 0.0:
            return np.zeros(durations.lasted.size)
        at, hazard = self.at_s[:known], self._hazard[:known]
        weight = survived * self.n / (self._at_risk[:known] * (1.0 - hazard))
        expected = np.concatenate([[0.0], np.cumsum(weight * hazard)])
        place = np.searchsorted(at, durations.lasted, side="right")
        happened = durations.ended & (durations.lasted <= lasted)
        own = np.where(happened, weight[np.maximum(place, 1) - 1], 0.0)
        return np.asarray(own - expected[place])


def shares(durations: Durations) -> FloatArray:
    """The share of all that the curve gives each duration, shape (n,): 0 of one that was cut off; their sum is 1.

    What is left beyond the last end is given to the longest duration (Efron 1967), so that a mean over these shares is
    that of all, where what was cut off took no longer than that.

    Examples
    --------
    >>> shares(Durations.of([1.0, 2.0, 2.5, 4.0], [True, True, False, True])).tolist()
    [0.25, 0.25, 0.0, 0.5]
    """
    lasted = durations.lasted
    ended = durations.ended | (lasted == lasted.max())
    curve = KaplanMeier(Durations(lasted, ended))
    place = np.minimum(np.searchsorted(curve.at_s, lasted), curve.at_s.size - 1)
    jumps = np.diff(curve.share, prepend=0.0) / np.unique(lasted[ended], return_counts=True)[1]
    return np.where(ended, jumps[place], 0.0)


def pooled_censored_quantile(
    samples: Mapping[int, Durations], probability: float, level: float = 0.95
) -> Pooled | NoValue | None:
    """The quantile of the durations of all repetitions together.

    Parameters
    ----------
    samples
        The durations of each repetition.
    probability
        p, in (0, 1).
    level
        Confidence level, in (0, 1).

    Returns
    -------
    `NoValue` where fewer than that share are known to have ended, or of too few durations (`least_values`); None of
    none.

    Raises
    ------
    StatisticsError
        `probability` or `level` is out of bounds.

    Examples
    --------
    >>> ended = Durations.of([1.0, 2.0, 3.0, 4.0], [True, True, True, True])
    >>> cut_off = Durations.of([1.0, 2.0, 3.0, 9.0], [True, True, True, False])
    >>> pooled_censored_quantile({0: ended, 1: ended}, 0.5).interval.mean
    2.5
    >>> pooled_censored_quantile({0: ended, 1: cut_off}, 0.5).interval.mean
    2.5
    >>> pooled_censored_quantile({n: cut_off for n in range(5)}, 0.95).reason
    '75 % ended: no 95th percentile'
    """
    parts = {number: each for number, each in sorted(samples.items()) if each.lasted.size}
    too_few = NoValue.too_few(sum(each.lasted.size for each in parts.values()), probability)
    if too_few is not None:
        return too_few
    if all(each.all_ended for each in parts.values()):
        return pooled_quantile({number: each.lasted for number, each in parts.items()}, probability, level)
    pool = together(parts.values())
    curve = KaplanMeier(pool)
    value = curve.known_quantile(probability)
    if value is None:
        above = _lower_bound(parts, curve, probability, level)
        return NoValue(not_reached(curve.ended, curve.n, probability), curve.ended, curve.n, above)
    return _linearised(parts, curve, value, probability, level).clustered()


def together(parts: Iterable[Durations]) -> Durations:
    """Durations of several repetitions as one."""
    every = list(parts)
    return Durations(np.concatenate([each.lasted for each in every]), np.concatenate([each.ended for each in every]))


def not_reached(ended: int, of: int, probability: float | None) -> str:
    """Return the reason why there is no quantile, or (`probability` is None) no mean.

    Examples
    --------
    >>> not_reached(61, 100, 0.95), not_reached(1, 3, 0.5), not_reached(199, 200, None)
    ('61 % ended: no 95th percentile', '33 % ended: no median', '99 % ended: no mean')
    """
    percent = 100 * ended / of
    # Never "100 %" of what did not all end.
    shown = min(round(percent), 99) if percent >= 1 or ended == 0 else 1
    statistic = "mean" if probability is None else "median" if probability == 0.5 else _ordinal(probability)
    return f"{shown} % ended: no {statistic}"


def _ordinal(probability: float) -> str:
    return f"{100 * probability:g}th percentile"


def _linearised(
    parts: Mapping[int, Durations], curve: KaplanMeier, lasted: float, probability: float, level: float
) -> Linearised:
    """The parts of an interval of F(t); k d_i / n is the share of repetition i in its error."""
    # Where F jumps over p, the deviation from p is shared out by the numbers of transfers, as where all ended.
    jump = curve.share_at(lasted) - probability
    added = [float(curve.influence(each, lasted).sum()) + jump * each.lasted.size for each in parts.values()]
    deviations = len(parts) * np.array(added) / curve.n
    return Linearised(
        list(parts),
        curve.n,
        deviations - deviations.mean(),
        probability,
        level,
        lasted,
        curve.quantile,
        curve.independent_at(lasted),
    )


def _lower_bound(parts: Mapping[int, Durations], curve: KaplanMeier, probability: float, level: float) -> float | None:
    """A duration that the quantile exceeds: the interval of F is below p there (Brookmeyer & Crowley 1982).

    None of one repetition, whose spread is not known, and where there is no such duration.
    """
    k = len(parts)
    if k < 2:
        return None
    if not curve.ended:
        # Of k repetitions none had a transfer that ended while half of its transfers were watched.
        seen = min(float(np.median(each.lasted)) for each in parts.values())
        return seen if 1.0 - ((1.0 - level) / 2) ** (1.0 / k) < probability else None

    def below(place: int) -> bool:
        share = float(curve.share[place])
        if share >= probability:
            return False
        return _linearised(parts, curve, float(curve.at_s[place]), share, level).share()[1] < probability

    low, high = -1, curve.at_s.size  # `below` holds at low and not at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return float(curve.at_s[low]) if low >= 0 else None
