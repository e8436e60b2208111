"""Detrended fluctuation analysis (Peng et al.): the cumulative sum's distance from a line in each block grows as m^H.

| symbol | name here | unit |
| --- | --- | --- |
| y | `profile` | cumulative sum of deviations from the mean |
| F(m) | root mean square of y around a least-squares polynomial in blocks of m bins | |
| | `order` | degree of the polynomial |

Degree 1 takes out a constant level of the series in each block; a trend of degree k - 1 of the series is invisible with
degree k.

Range of scales: 16 bins to n/8.

References: C.-K. Peng et al., Mosaic organization of DNA nucleotides, Physical Review E 49(2), 1994; J. Kantelhardt
et al., Detecting long-range correlations with detrended fluctuation analysis, Physica A 295, 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst.estimate import Estimate, FloatArray
from parshall_studies.hurst.null import law_of_blocks
from parshall_studies.hurst.scaling import scaling_estimate
from parshall_studies.hurst.series import check_level, standardised


def dfa(
    series: ArrayLike | Sequence[float],
    *,
    order: int = 1,
    scales: tuple[int, int] | None = None,
    level: float = 0.95,
    diagnose: bool = True,
) -> Estimate:
    """H of `series` by detrended fluctuation analysis.

    Source: Peng et al. 1994; Kantelhardt et al. 2001, §2.

    Parameters
    ----------
    series
        Values of equal bins, shape (n,), n >= 128.
    order
        Degree of the polynomials, 1 to 3.
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
    >>> dfa(fgn(2**14, 0.8, np.random.default_rng(3))).contains(0.8)
    True
    """
    check_level(level)
    if order not in _LAWS:
        raise StatisticsError(f"order: found {order}, accepted are 1, 2 and 3")
    return scaling_estimate(_LAWS[order], standardised(series), scales, level, diagnose=diagnose)


def _log_fluctuation(order: int, x: FloatArray, size: int) -> FloatArray:
    count = x.shape[-1] // size
    # A block's cumulative sum differs from the whole series' by a constant, which the polynomial takes out.
    profile = np.cumsum(x[:, : count * size].reshape(x.shape[0], count, size), axis=-1)
    profile -= profile.mean(axis=-1, keepdims=True)
    fitted = profile @ _polynomials(size, order)
    left = np.einsum("abc,abc->ab", profile, profile) - np.einsum("abc,abc->ab", fitted, fitted)
    square = np.maximum(left, 0).mean(axis=-1) / size
    if np.any(square <= 1e-24):
        raise StatisticsError(f"series: found no fluctuation in blocks of {size} bins; there is no scaling in them")
    return np.asarray(np.log(square) / 2)


@lru_cache(maxsize=256)
def _polynomials(size: int, order: int) -> FloatArray:
    """Orthonormal polynomials of degrees 1 to `order` at 1 .. `size`, shape (size, order)."""
    t = np.linspace(-1, 1, size)
    basis, _ = np.linalg.qr(np.stack([t**degree for degree in range(order + 1)], axis=1))
    return np.asarray(basis[:, 1:])


_LAWS = {
    order: law_of_blocks("dfa", "log2 of the fluctuation", partial(_log_fluctuation, order)) for order in (1, 2, 3)
}
