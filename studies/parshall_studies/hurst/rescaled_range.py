"""Rescaled range R/S (Hurst; Mandelbrot & Wallis): a block's range over its deviation grows as m^H.

| symbol | name here | unit |
| --- | --- | --- |
| R(m) | range of the sums of deviations from the block's mean, 0 included | |
| S(m) | the block's standard deviation | |

log of the mean of R/S over the blocks of m bins; blocks of equal values have no R/S and are left out. Its bias in short
blocks is notorious (up to 0.07) and taken out with fGn (`scaling`).

Range of scales: 16 bins to n/8.

References: H. Hurst, Long-term storage capacity of reservoirs, Trans. ASCE 116, 1951; B. Mandelbrot, J. Wallis,
Robustness of the rescaled range R/S, Water Resources Research 5(5), 1969.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst.estimate import Estimate, FloatArray
from parshall_studies.hurst.null import law_of_blocks
from parshall_studies.hurst.scaling import scaling_estimate
from parshall_studies.hurst.series import check_level, standardised


def rescaled_range(
    series: ArrayLike | Sequence[float],
    *,
    scales: tuple[int, int] | None = None,
    level: float = 0.95,
    diagnose: bool = True,
) -> Estimate:
    """H of `series` from the rescaled range of its blocks.

    Source: Mandelbrot & Wallis 1969.

    Parameters
    ----------
    series
        Values of equal bins, shape (n,), n >= 128.
    scales
        Smallest and largest block, bins; default 16 to n/8.
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
    >>> rescaled_range(fgn(2**14, 0.8, np.random.default_rng(3))).contains(0.8)
    True
    """
    check_level(level)
    return scaling_estimate(_LAW, standardised(series), scales, level, diagnose=diagnose)


def _log_range(x: FloatArray, size: int) -> FloatArray:
    count = x.shape[-1] // size
    blocks = x[:, : count * size].reshape(x.shape[0], count, size)
    deviations = blocks - blocks.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.mean(deviations**2, axis=-1))
    sums = np.cumsum(deviations, axis=-1, out=deviations)
    # The whole sum is 0, so that 0 is in the range.
    reach = sums.max(axis=-1) - sums.min(axis=-1)
    varied = spread > 1e-12
    many = varied.sum(axis=-1)
    if np.any(many == 0):
        raise StatisticsError(f"series: found equal values within each block of {size} bins; there is no range in them")
    ratio = np.divide(reach, spread, out=np.zeros_like(reach), where=varied)
    return np.asarray(np.log(ratio.sum(axis=-1) / many))


def _known_bias(m: FloatArray, n: int, h: float) -> FloatArray:  # noqa: ARG001
    """The deviation of m values of fGn around their own mean is too small: its square by 1 - m^(2H-2), on average."""
    return np.asarray(-np.log1p(-(m ** (2 * h - 2))) / 2)


_LAW = law_of_blocks("rescaled_range", "log2 of the mean R/S", _log_range, known_bias=_known_bias, longest=2**14)
