"""Hill's estimator of the tail index, its plot, and how much of the sample is tail.

| symbol | argument | unit |
| --- | --- | --- |
| X_(1) >= X_(2) >= ... | the sample in descending order | any |
| k | `k` | values above the threshold |
| alpha | `tail_index` | - |

1/alpha is the mean of log(X_(i)/X_(k+1)) over the k largest; its standard error is alpha/sqrt k. With `k` not given,
what is left of the body is estimated too, and k chosen (`parshall_studies.tails.second_order`): the interval
then carries the choice, and is more than twice as wide. With `k` given it is Hill's for that k, which says nothing of
the choice (`TailIndex.carries_choice`).

Measured with k chosen: 200 samples of 5000 values, 95 % intervals; and Hill's with the largest k that passes
Lilliefors'
test, as many choose it:

| sample | bias | standard deviation | covered | warned | Hill's covered |
| --- | --- | --- | --- | --- | --- |
| Pareto 1.2 | -0.003 | 0.057 | 92.0 % | 5.0 % | 95.0 % |
| Pareto 1.5 | -0.004 | 0.071 | 92.0 % | 5.0 % | 95.0 % |
| Pareto 2.5 | +0.008 | 0.108 | 93.0 % | 4.5 % | 92.5 % |
| Lomax 1.5 | -0.030 | 0.103 | 93.0 % | 1.5 % | 10.5 % |
| abs(t_2) | +0.031 | 0.146 | 95.0 % | 21.0 % | 19.5 % |
| Burr, P(X > x) = (1 + x^2)^-0.75 | +0.025 | 0.106 | 95.5 % | 3.0 % | 31.5 % |
| lognormal, sigma 2 | no tail index | | | 100 % | |

Lognormals and exponentials have no tail index, but any sample gives an estimate: if one fits at least as well,
`warning` says so
(`parshall_studies.tails.rivals`).

References: B. Hill, A simple general approach to inference about the tail of a distribution, Annals of Statistics
3(5), 1975.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.tails import rivals, second_order
from parshall_studies.tails.sample import FloatArray, descending


@dataclass(frozen=True, slots=True)
class TailIndex:
    """A tail index, its interval, and the tail that it rests on.

    Parameters
    ----------
    tail_index
        alpha: P(X > x) falls as x^-alpha.
    ci
        Confidence interval of `level`.
    threshold
        Where the tail begins, in the unit of the sample.
    k, n
        How many values are above the threshold, and in the sample.
    level
        Confidence level.
    warning
        What speaks against a power law; None if nothing was found.
    carries_choice
        Whether `ci` allows for k, or the threshold, having been chosen by the sample. If not, it is that of a
        given one,
        and too narrow where the tail is not exactly Pareto.
    """

    tail_index: float
    ci: tuple[float, float]
    threshold: float
    k: int
    n: int
    level: float
    warning: str | None = None
    carries_choice: bool = False


@dataclass(frozen=True, slots=True)
class HillPlot:
    """Estimates against the number of largest values used, with their intervals; each of shape (points,)."""

    k: NDArray[np.int64]
    tail_index: FloatArray
    low: FloatArray
    high: FloatArray


def hill(sample: ArrayLike | Sequence[float], k: int | None = None, *, level: float = 0.95) -> TailIndex:
    """Tail index of `sample` from its `k` largest values.

    Source: Hill 1975, eq. (2.3).

    Parameters
    ----------
    sample
        Numbers above 0, shape (n,), n >= 100.
    k
        How many of the largest values to use, 1 < k < n; default: as the module says.
    level
        Confidence level.

    Raises
    ------
    StatisticsError
        If a value is not a finite number above 0, there are too few, all are the same, or `k` is out of range.

    Examples
    --------
    >>> from parshall_studies.synthesis import pareto
    >>> found = hill(pareto(np.random.default_rng(2), 100_000, 1000.0, 1.5))
    >>> found.ci[0] < 1.5 < found.ci[1], found.k, found.warning
    (True, 50000, None)
    """
    x = descending(sample)
    logs = np.log(x)
    if k is not None:
        if not 1 < k < x.size:
            raise StatisticsError(f"k: found {k}, accepted is a number from 2 to {x.size - 1}")
        return _estimate(x, logs, k, level, None)
    order = second_order.tail(logs)
    if order is None:
        raise StatisticsError("sample: found a tail lighter than any power law's, accepted is a heavy-tailed sample")
    half = float(ndtri((1 + level) / 2)) * order.error
    low, high = order.gamma + half, order.gamma - half
    ci = 1 / low, 1 / high if high > 0 else np.inf
    warning = None if order.passes else "no power law: even the largest values are not distributed as one"
    index, threshold = 1 / order.gamma, float(x[order.k])
    return TailIndex(index, ci, threshold, order.k, x.size, level, warning or rivals.warning(x), carries_choice=True)


def hill_plot(sample: ArrayLike | Sequence[float], *, points: int = 200, level: float = 0.95) -> HillPlot:
    """Hill's estimate for every number of largest values, thinned to `points` on a logarithmic grid.

    Source: Hill 1975.

    Raises
    ------
    StatisticsError
        As `hill`.

    Examples
    --------
    >>> from parshall_studies.synthesis import pareto
    >>> plot = hill_plot(pareto(np.random.default_rng(2), 10_000, 1000.0, 1.5))
    >>> bool(plot.low[-1] < 1.5 < plot.high[-1])
    True
    """
    x = descending(sample)
    logs = np.log(x)
    k = np.unique(np.geomspace(10, x.size - 1, points).round().astype(np.int64))
    spacing = np.cumsum(logs)[k - 1] / k - logs[k]
    k, spacing = k[spacing > 0], spacing[spacing > 0]
    index = 1 / spacing
    half = ndtri((1 + level) / 2) * index / np.sqrt(k)
    return HillPlot(k, index, index - half, index + half)


def _estimate(x: FloatArray, logs: FloatArray, k: int, level: float, warning: str | None) -> TailIndex:
    mean = float((logs[:k] - logs[k]).mean())
    if mean <= 0:
        raise StatisticsError(f"sample: found {k + 1} equal largest values, accepted is a sample whose tail varies")
    index = 1 / mean
    half = float(ndtri((1 + level) / 2)) * index / np.sqrt(k)
    return TailIndex(index, (float(index - half), float(index + half)), float(x[k]), k, x.size, level, warning)
