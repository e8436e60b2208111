"""Whittle's estimator for fractional Gaussian noise.

The most precise of the estimators where the series is fGn at all scales, and biased where it is not.

Symbols, range and references: `parshall_studies.hurst.whittle`, `parshall_studies.long_memory`.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from parshall_studies.hurst.estimate import Estimate
from parshall_studies.hurst.whittle import Normalisation, whittle
from parshall_studies.long_memory import FgnSpectrum


def whittle_fgn(
    series: ArrayLike | Sequence[float],
    *,
    normalisation: Normalisation = "beran",
    level: float = 0.95,
    diagnose: bool = True,
) -> Estimate:
    """H of `series` as fractional Gaussian noise, by Whittle's likelihood over all frequencies.

    Source: Beran 1994, §6.1.

    Parameters
    ----------
    series
        Values of equal bins, shape (n,), n >= 128.
    normalisation
        ``beran`` or ``mean``: how the scale is taken out; see `parshall_studies.hurst.whittle`.
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
    >>> import numpy as np
    >>> from parshall_studies.synthesis import fgn
    >>> estimate = whittle_fgn(fgn(4096, 0.8, np.random.default_rng(1)))
    >>> estimate.contains(0.8), round(estimate.standard_error, 3)
    (True, 0.01)
    """
    return whittle("whittle_fgn", FgnSpectrum, series, level, normalisation=normalisation, diagnose=diagnose)
