"""Whittle's estimator for fARIMA(0, d, 0).

H = d + 1/2. fARIMA(0, d, 0) has more power than fGn at the highest frequencies relative to the lowest, so that the
two disagree on a series that is neither: on the Nile minima 0.899 against 0.837.

Symbols, range and references: `parshall_studies.hurst.whittle`, `parshall_studies.long_memory`.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from parshall_studies.hurst.estimate import Estimate
from parshall_studies.hurst.whittle import Normalisation, whittle
from parshall_studies.long_memory import FarimaSpectrum


def whittle_farima(
    series: ArrayLike | Sequence[float],
    *,
    normalisation: Normalisation = "beran",
    level: float = 0.95,
    diagnose: bool = True,
) -> Estimate:
    """H of `series` as fARIMA(0, d, 0), by Whittle's likelihood over all frequencies.

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
    >>> from parshall_studies.synthesis import farima
    >>> estimate = whittle_farima(farima(4096, 0.7, np.random.default_rng(1)))
    >>> estimate.contains(0.7), round(estimate.standard_error, 3)
    (True, 0.012)
    """
    return whittle("whittle_farima", FarimaSpectrum, series, level, normalisation=normalisation, diagnose=diagnose)
