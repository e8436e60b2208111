"""Jain's fairness index: how equally flows share.

J = (sum x)^2 / (n sum x^2) is 1 when all n shares are equal and k/n when k of them are equal and the others
0. It does not depend on the unit.

References: R. Jain, D. Chiu, W. Hawe, A quantitative measure of fairness, DEC TR-301, 1984.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.stats.confidence import StatisticsError


def jain(x: ArrayLike | Sequence[float]) -> float | None:
    """Jain's index of the shares `x`, in [1/n, 1]; `None` where it is undefined: no share, or all 0.

    Parameters
    ----------
    x
        One non-negative number a flow, e.g. goodput, bit/s; shape (n,).

    Raises
    ------
    StatisticsError
        If a share is negative or not a finite number.

    Examples
    --------
    >>> jain([1.0, 1.0, 0.0, 0.0])
    0.5
    >>> jain([0.0, 0.0]) is None
    True
    """
    shares = np.asarray(x, dtype=np.float64)
    if not np.all(np.isfinite(shares)) or np.any(shares < 0):
        raise StatisticsError("x: accepted are finite numbers of 0 and more")
    if shares.size == 0 or not np.any(shares > 0):
        return None
    scaled = shares / shares.max()
    return min(1.0, float(scaled.sum() ** 2 / (scaled.size * (scaled**2).sum())))
