"""Conditions on a series, which hold before anything is estimated from it.

All estimators work on the standardised series (mean 0, standard deviation 1): the Hurst parameter depends on
neither, and numbers far from 1 lose digits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst.estimate import FloatArray

SHORTEST = 128
"""Fewest values of a series; fewer leave no range of scales."""

_ROUNDING = 1e-12
"""Standard deviations below this part of the largest value are what rounding leaves of a constant."""


def standardised(series: ArrayLike | Sequence[float], shortest: int = SHORTEST) -> FloatArray:
    """`series` with mean 0 and standard deviation 1, shape (n,).

    Raises
    ------
    StatisticsError
        If it is no list of numbers, is shorter than `shortest`, holds a value that is not finite, or is constant.

    Examples
    --------
    >>> z = standardised([0.0, 2.0] * 64)
    >>> float(z.min()), float(z.max())
    (-1.0, 1.0)
    >>> standardised([1.0] * 128)
    Traceback (most recent call last):
    ...
    parshall.analysis.stats.confidence.StatisticsError: series: found the value 1.0 only; accepted is a series that
    varies, \
a constant has no Hurst parameter
    """
    try:
        x = np.asarray(series, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError("series: accepted are numbers only") from error
    if x.ndim != 1:
        raise StatisticsError(f"series: found shape {x.shape}, accepted is a vector of numbers")
    bad = np.flatnonzero(~np.isfinite(x))
    if bad.size:
        raise StatisticsError(f"series: found {x[bad[0]]} at index {bad[0]}, accepted are finite numbers")
    if x.size < shortest:
        raise StatisticsError(f"series: found {x.size} values, accepted are {shortest} or more")
    largest = float(np.max(np.abs(x)))
    scaled = x / largest if largest > 0 else x
    deviations = scaled - scaled.mean()
    spread = float(np.sqrt(np.mean(deviations**2)))
    if spread <= _ROUNDING:
        raise StatisticsError(
            f"series: found the value {float(x[0])} only; accepted is a series that varies, "
            "a constant has no Hurst parameter"
        )
    return np.asarray(deviations / spread)


def aggregated(x: FloatArray, size: int) -> FloatArray:
    """Means of consecutive blocks of `size` values along the last axis; a remainder at the end is left out.

    Park & Tuan 2000, §2.1: X^(m).

    Examples
    --------
    >>> aggregated(np.array([1.0, 3.0, 5.0, 7.0, 9.0]), 2).tolist()
    [2.0, 6.0]
    """
    blocks = x.shape[-1] // size
    return np.asarray(x[..., : blocks * size].reshape(*x.shape[:-1], blocks, size).mean(axis=-1))


def at_most(x: FloatArray, length: int) -> tuple[FloatArray, int]:
    """`x` aggregated just so much that no more than `length` values are left, and by how much."""
    size = -(-x.size // length)
    return (aggregated(x, size), size) if size > 1 else (x, 1)


def check_level(level: float) -> None:
    """Refuse a confidence level outside (0, 1).

    Raises
    ------
    StatisticsError
        `level` is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise StatisticsError(f"level: found {level}, accepted is a number between 0 and 1 (both excluded)")
