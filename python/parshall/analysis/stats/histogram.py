"""Quantiles of binned data, such as the `delay_histogram` records.

| symbol | argument | unit |
| --- | --- | --- |
| [a_i, b_i) | `low`, `high` | any, the same for both |
| n_i | `counts` | values in the bin |

Values are taken as evenly spread within their bin, so that a quantile is wrong by less than one bin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.stats.confidence import StatisticsError


def histogram_quantiles(
    low: ArrayLike, high: ArrayLike, counts: ArrayLike, probabilities: ArrayLike
) -> NDArray[np.float64] | None:
    """Quantiles of binned data, in the unit of the bins; `None` if all bins are empty.

    Parameters
    ----------
    low, high
        Ends of the bins, in increasing order, shape (n,); gaps are allowed, overlaps are not.
    counts
        How many values are in each bin, shape (n,).
    probabilities
        Which quantiles, each in [0, 1], shape (m,).

    Raises
    ------
    StatisticsError
        If the bins overlap or a count or probability is out of bounds.

    Examples
    --------
    >>> histogram_quantiles([0, 1], [1, 2], [10, 10], [0.25, 0.5, 1]).tolist()
    [0.5, 1.0, 2.0]
    """
    a, b, n = _bins(low, high, counts)
    q = np.asarray(probabilities, dtype=np.float64)
    if not np.all((q >= 0) & (q <= 1)):
        raise StatisticsError("probabilities: accepted are numbers from 0 to 1")
    filled = n > 0
    if not np.any(filled):
        return None
    a, b, n = a[filled], b[filled], n[filled]
    upto = np.cumsum(n)
    target = q * upto[-1]
    bin_ = np.searchsorted(upto, target, side="left").clip(0, n.size - 1)
    part = (target - (upto[bin_] - n[bin_])) / n[bin_]
    return np.asarray(a[bin_] + part * (b[bin_] - a[bin_]))


def _bins(
    low: ArrayLike, high: ArrayLike, counts: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    a, b, n = (np.asarray(x, dtype=np.float64) for x in (low, high, counts))
    if not a.shape == b.shape == n.shape or a.ndim != 1:
        raise StatisticsError(f"bins: found shapes {a.shape}, {b.shape}, {n.shape}, accepted are equal ones")
    if np.any(b < a) or np.any(a[1:] < b[:-1]):
        raise StatisticsError("bins: accepted are increasing bins that do not overlap")
    if not np.all(np.isfinite(n)) or np.any(n < 0):
        raise StatisticsError("counts: accepted are numbers of 0 and more")
    return a, b, n
