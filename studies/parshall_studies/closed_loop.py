"""Closed-loop verification of generators: the mean and the Hurst parameter of what came out, against those asked for.

| symbol | name here | unit |
| --- | --- | --- |
| s_m | standard deviation of the means of N = n/m blocks of m values | of the values |
| s_m N^(H-1) | standard error of the mean of the series | |

The mean of a long-range dependent series converges as n^(H-1), not as n^(-1/2): the usual interval is far too short.
s_m around the series' own mean is too small by the factor sqrt(1 - N^(2H-2)), which is taken out.

H is estimated by local Whittle from the n^0.4 lowest frequencies: sources have dependence of their own at the scale
of their ON times, and with tail indices near 2 it outweighs the power law up to scales a hundred times as long.

References: J. Beran, Statistics for Long-Memory Processes, 1994, §8.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from parshall.analysis.stats.confidence import Interval, StatisticsError
from parshall_studies.hurst import Estimate, local_whittle
from parshall_studies.hurst.series import aggregated, check_level, standardised

_BLOCKS = 64
_EXPONENT, _FEWEST_FREQUENCIES = 0.4, 8


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """The series that was asked for, and the one that was reached.

    Parameters
    ----------
    h, mean
        Asked for.
    estimate
        H of the series, and its interval.
    interval
        Mean of the series, and its interval at that H.
    """

    h: float
    mean: float
    estimate: Estimate
    interval: Interval

    @property
    def h_holds(self) -> bool:
        """Whether the H asked for is in the interval of the estimate."""
        return self.estimate.contains(self.h)

    @property
    def mean_holds(self) -> bool:
        """Whether the mean asked for is in the interval of the mean."""
        return bool(self.interval.contains(self.mean))


def long_memory_mean(series: ArrayLike | Sequence[float], h: float, level: float = 0.95) -> Interval:
    """Mean of a long-range dependent series, and its interval.

    Source: Beran 1994, §8.2.

    Parameters
    ----------
    series
        Values of equal bins, shape (n,), n >= 128.
    h
        Its Hurst parameter, in [0.5, 1).

    Raises
    ------
    StatisticsError
        If a value is not finite, the series is constant or too short, or `h` or `level` out of range.

    Examples
    --------
    >>> from parshall_studies.synthesis import fgn
    >>> x = fgn(4096, 0.9, np.random.default_rng(4))
    >>> usual = 2 * 1.96 / np.sqrt(4096)
    >>> interval = long_memory_mean(x, 0.9)
    >>> bool(interval.contains(0.0)), bool(interval.high - interval.low > 10 * usual)
    (True, True)
    """
    check_level(level)
    if not 0.5 <= h < 1:
        raise StatisticsError(f"h: found {h}, accepted is a number from 0.5 to below 1")
    standardised(series)
    x = np.asarray(series, dtype=np.float64)
    means = aggregated(x, x.size // min(_BLOCKS, x.size // 2))
    count = means.size
    spread = float(means.std(ddof=0) / np.sqrt(1 - count ** (2 * h - 2)))
    half = float(stats.t.ppf((1 + level) / 2, count - 1)) * spread * float(count ** (h - 1))
    mean = float(x.mean())
    return Interval(mean, mean - half, mean + half, count, level)


def verify(series: ArrayLike | Sequence[float], *, h: float, mean: float, level: float = 0.99) -> ClosedLoop:
    """Compare a generated series with what was asked of its generator.

    Parameters
    ----------
    series
        What was generated, shape (n,), n >= 128.
    h, mean
        What was asked for.
    level
        Confidence level of both intervals.

    Raises
    ------
    StatisticsError
        As `long_memory_mean`.

    Examples
    --------
    >>> from parshall_studies.synthesis import on_off
    >>> x = on_off(2**16, 50, np.random.default_rng(1), mean_on=4, mean_off=12, tail_index=1.4)
    >>> loop = verify(x, h=0.8, mean=12.5)
    >>> loop.h_holds, loop.mean_holds
    (True, True)
    """
    z = standardised(series)
    frequencies = max(_FEWEST_FREQUENCIES, int(z.size**_EXPONENT))
    estimate = local_whittle(z, frequencies=frequencies, level=level)
    return ClosedLoop(h, mean, estimate, long_memory_mean(series, h, level))
