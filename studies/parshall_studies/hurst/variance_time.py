"""Variance-time plot: the variance of block means falls as m^(2H-2).

| symbol | name here | unit |
| --- | --- | --- |
| X^(m) | block means of m bins | |
| S(m) = sqrt var X^(m) | | grows as m^(H-1) |

The variance around an estimated mean is too small, by the variance of the mean, which a long-range dependent series
has much of: the slope is corrected for that (`scaling`).

Range of scales: n^0.25 to n/20 bins; at least 20 blocks.

References: M. Taqqu, V. Teverovsky, W. Willinger, Fractals 3(4), 1995, §2.1; J. Beran, Statistics for Long-Memory
Processes, 1994, §4.4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst.estimate import Estimate, FloatArray
from parshall_studies.hurst.null import Law
from parshall_studies.hurst.scaling import scaling_estimate
from parshall_studies.hurst.series import aggregated, check_level, standardised


def variance_time(
    series: ArrayLike | Sequence[float],
    *,
    scales: tuple[int, int] | None = None,
    level: float = 0.95,
    diagnose: bool = True,
) -> Estimate:
    """H of `series` from the variances of its block means.

    Source: Taqqu, Teverovsky & Willinger 1995, §2.1.

    Parameters
    ----------
    series
        Values of equal bins, shape (n,), n >= 128.
    scales
        Smallest and largest block, bins; default n^0.25 to n/20.
    level
        Confidence level.
    diagnose
        Whether to look for trends, level shifts and the like (`warnings`).

    Raises
    ------
    StatisticsError
        If a value is not finite, the series is constant or too short, or an option is out of range.

    Examples
    --------
    >>> from parshall_studies.synthesis import fgn
    >>> variance_time(fgn(2**14, 0.8, np.random.default_rng(3))).contains(0.8)
    True
    """
    check_level(level)
    return scaling_estimate(_LAW, standardised(series), scales, level, diagnose=diagnose)


def _log_deviation(x: FloatArray, size: int) -> FloatArray:
    variance = aggregated(x, size).var(axis=-1, ddof=1)
    if np.any(variance <= 1e-24):
        raise StatisticsError(f"series: found equal means of all blocks of {size} bins; there is no scaling in them")
    return np.asarray(np.log(variance) / 2)


def _known_bias(m: FloatArray, n: int, h: float) -> FloatArray:
    """Log S(m) - (H - 1) log m of fGn, were the variance of k means around their own mean no random number."""
    k = n // m
    return np.asarray(np.log1p(-(k ** (2 * h - 2))) + np.log(k / (k - 1))) / 2


_LAW = Law(
    method="variance_time",
    name="log2 of the standard deviation of block means",
    statistic=_log_deviation,
    offset=-1.0,
    smallest=lambda n: int(n**0.25),
    least=1,
    blocks=20,
    depends_on="blocks",
    known_bias=_known_bias,
    chosen="n^0.25 bins to a 20th of the series",
)
