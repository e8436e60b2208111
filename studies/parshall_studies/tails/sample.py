"""Conditions on a sample, which hold before its tail is examined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.stats.confidence import StatisticsError

FloatArray = NDArray[np.float64]

FEWEST = 100


def descending(sample: ArrayLike | Sequence[float]) -> FloatArray:
    """`sample` from its largest value on, shape (n,).

    Raises
    ------
    StatisticsError
        If there are fewer than 100 values, one is not a finite number above 0, or all are the same.
    """
    try:
        x = np.asarray(sample, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError("sample: accepted are numbers only") from error
    if x.ndim != 1 or x.size < FEWEST:
        raise StatisticsError(f"sample: found shape {x.shape}, accepted is a vector of {FEWEST} or more numbers")
    bad = np.flatnonzero(~(np.isfinite(x) & (x > 0)))
    if bad.size:
        raise StatisticsError(f"sample: found {x[bad[0]]} at index {bad[0]}, accepted are finite numbers above 0")
    ordered = np.sort(x)[::-1]
    if ordered[0] == ordered[-1]:
        raise StatisticsError(f"sample: found the value {ordered[0]} only, accepted is a sample that varies")
    return np.asarray(ordered)
