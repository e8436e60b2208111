"""The time scale at which a network's traffic is worth predicting: T_L of multiple time scale congestion control.

| symbol | here | unit |
| --- | --- | --- |
| X^(m) | block sums of m bins | the series' |
| T = m times the bin | `Correlation.interval_s` | s |
| r(T) | `Correlation.correlation`: lag-1 autocorrelation of X^(m) | - |
| T_L | `TimeScale.interval_s` | s |

What one interval says of the next is r(T). Under long-range dependence r(T) hardly depends on T (it is 2^(2H-1) - 1 for
fractional Gaussian noise), and a shorter interval follows changes sooner; under short-range dependence r(T) vanishes as
T grows. So T_L is the *shortest* interval to which no other is known to be better: the first whose correlation is not
below what another one reaches less two standard errors. Where no correlation is significant, there is no T_L.

The source takes 2 s, because its traffic looked alike from 1 to 10 s and a short interval responds sooner (§2.2); it
gives no rule. T_L must exceed the feedback's time scale, "by an order of magnitude or more" (§3.1): no interval below
ten RTTs is considered.

Assumes: a stationary series. A correlation counts if it is above 1/sqrt(n) times the normal quantile of 5 % over the
number of intervals tried (Bonferroni). Its standard error is sqrt((1 - r^2)/n), that of a first-order autoregression;
with long memory it is larger, so that the choice leans to short intervals less than it should.

References: K. Park, T. Tuan, ACM TOMACS 10(2), 2000, §2.2 and §3.1; P. Brockwell, R. Davis, Time Series: Theory and
Methods, 2nd ed., 1991, §7.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from parshall.analysis.stats.confidence import StatisticsError

FEWEST_BLOCKS = 32
"""Of each series, at the longest interval considered."""

RTTS = 10.0
"""Shortest interval, in RTTs: "an order of magnitude or more"."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """The information that intervals of one length have about the next one.

    Parameters
    ----------
    interval_s
        Length of the intervals.
    correlation
        Of successive intervals.
    standard_error
        Of that.
    pairs
        Pairs of intervals that it rests on.
    significant
        Whether it is above what uncorrelated traffic shows.
    """

    interval_s: float
    correlation: float
    standard_error: float
    pairs: int
    significant: bool


@dataclass(frozen=True, slots=True)
class TimeScale:
    """The interval chosen, and what it was chosen from.

    Parameters
    ----------
    interval_s
        T_L; None if no correlation is shown at any interval considered.
    correlations
        By interval, shortest first.
    """

    interval_s: float | None
    correlations: tuple[Correlation, ...]

    @property
    def chosen(self) -> Correlation | None:
        """Return the row of the interval that was chosen."""
        return next((each for each in self.correlations if each.interval_s == self.interval_s), None)


def time_scale(
    series: ArrayLike | Sequence[ArrayLike], bin_s: float, *, rtt_s: float = 0.0, longest_s: float | None = None
) -> TimeScale:
    """Choose T_L from traffic measured in bins.

    Parameters
    ----------
    series
        Bytes (or packets, or a rate) by bin, shape (n,); or several such series of the same traffic, which are pooled.
    bin_s
        Width of a bin.
    rtt_s
        RTT of the connection that will be steered: shorter intervals than ten times that are not considered.
    longest_s
        Longest interval considered; also limited by the series, which must hold 32 intervals.

    Raises
    ------
    StatisticsError
        If the series is too short, is constant or holds values that are not finite, or `bin_s` is not positive.

    Examples
    --------
    Independent values predict nothing; a random walk does, at any interval, so that the shortest is taken:

    >>> rng = np.random.default_rng(1)
    >>> time_scale(rng.normal(size=4096), 0.1).interval_s is None
    True
    >>> time_scale(np.cumsum(rng.normal(size=4096)), 0.1).interval_s
    0.1
    >>> time_scale(np.cumsum(rng.normal(size=4096)), 0.1, rtt_s=0.05).interval_s
    0.5
    """
    if not (np.isfinite(bin_s) and bin_s > 0):
        raise StatisticsError(f"bin_s: found {bin_s}; accepted is a positive width in seconds")
    rows = _vectors(series)
    shortest = min(row.size for row in rows)
    least = max(1, int(np.ceil(RTTS * rtt_s / bin_s - 1e-9)))
    most = shortest // FEWEST_BLOCKS
    if longest_s is not None:
        most = min(most, int(np.floor(longest_s / bin_s + 1e-9)))
    if most < least:
        raise StatisticsError(
            f"series: found {shortest} bins of {bin_s:g} s; intervals of {least * bin_s:g} s or more need "
            f"{FEWEST_BLOCKS * least} bins, and longest_s must not be shorter"
        )
    steps = least * 2.0 ** (np.arange(0, 2 * np.log2(most / least) + 1e-9) / 2)
    blocks = sorted({*np.rint(steps).astype(int).tolist()})
    threshold = float(ndtri(1 - 0.05 / len(blocks)))
    correlations = tuple(_correlation(rows, m, bin_s, threshold) for m in blocks)
    candidates = [each for each in correlations if each.significant]
    if not candidates:
        return TimeScale(None, correlations)
    known = max(each.correlation - 2 * each.standard_error for each in candidates)
    chosen = next(each for each in candidates if each.correlation >= known)
    return TimeScale(chosen.interval_s, correlations)


def _vectors(series: ArrayLike | Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
    several = isinstance(series, list | tuple) and len(series) > 0 and np.ndim(series[0]) > 0
    try:
        rows = [np.asarray(row, dtype=np.float64) for row in (series if several else [series])]  # type: ignore[union-attr]
    except (TypeError, ValueError) as error:
        raise StatisticsError("series: accepted are numbers only") from error
    for row in rows:
        if row.ndim != 1:
            raise StatisticsError(
                f"series: found shape {row.shape}, accepted is a vector of numbers, or a list of these"
            )
        if not np.isfinite(row).all():
            raise StatisticsError("series: found values that are not finite")
        if row.size == 0 or np.ptp(row) == 0:
            raise StatisticsError("series: accepted is one that varies")
    return rows


def _correlation(rows: Sequence[NDArray[np.float64]], m: int, bin_s: float, threshold: float) -> Correlation:
    before, after = [], []
    for row in rows:
        sums = row[: row.size // m * m].reshape(-1, m).sum(axis=1)
        sums = sums - sums.mean()
        before.append(sums[:-1])
        after.append(sums[1:])
    x, y = np.concatenate(before), np.concatenate(after)
    scale = np.sqrt((x @ x) * (y @ y))
    r = float(x @ y / scale) if scale > 0 else 0.0
    error = float(np.sqrt(max(0.0, 1 - r * r) / x.size))
    return Correlation(m * bin_s, r, error, int(x.size), bool(r * np.sqrt(x.size) > threshold))
