"""Hill's estimator of the tail index, its plot, and how much of the sample is tail.

| symbol | argument | unit |
| --- | --- | --- |
| X_(1) >= X_(2) >= ... | the sample in descending order | any |
| k | `k` | values above the threshold |
| alpha | `tail_index` | - |

1/alpha is the mean of log(X_(i)/X_(k+1)) over the k largest; its standard error is alpha/sqrt k. With `k` not given,
the largest k is taken (of 64 on a logarithmic grid) for which log(X_(i)/X_(k+1)) passes as exponential: Lilliefors'
test, the distance to an exponential of the same mean, at 5 % (1.094/sqrt k, less what finite samples take off). A
sample that is Pareto throughout is then used throughout.

Deviations: Lilliefors' test with Stephens' finite-sample form of its 5 % point, instead of looking for a flat part of
the plot.

References: B. Hill, A simple general approach to inference about the tail of a distribution, Annals of Statistics
3(5), 1975; M. Stephens, EDF statistics for goodness of fit, JASA 69, 1974.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from parshall.stats.confidence import StatisticsError
from parshall.stats.tails.sample import FloatArray, descending

_FEWEST_IN_TAIL = 30
_CANDIDATES = 64


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
    """

    tail_index: float
    ci: tuple[float, float]
    threshold: float
    k: int
    n: int
    level: float
    warning: str | None = None


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
    >>> from parshall.stats.synthesis import pareto
    >>> found = hill(pareto(np.random.default_rng(2), 100_000, 1000.0, 1.5))
    >>> found.ci[0] < 1.5 < found.ci[1], found.k > 50_000
    (True, True)
    """
    x = descending(sample)
    logs = np.log(x)
    if k is not None:
        if not 1 < k < x.size:
            raise StatisticsError(f"k: found {k}, accepted is a number from 2 to {x.size - 1}")
        return _estimate(x, logs, k, level, None)
    for candidate in _grid(x.size)[::-1]:
        if _passes(logs, int(candidate)):
            return _estimate(x, logs, int(candidate), level, None)
    warning = "no power law: even the largest values are not distributed as one"
    return _estimate(x, logs, int(_grid(x.size)[0]), level, warning)


def hill_plot(sample: ArrayLike | Sequence[float], *, points: int = 200, level: float = 0.95) -> HillPlot:
    """Hill's estimate for every number of largest values, thinned to `points` on a logarithmic grid.

    Source: Hill 1975.

    Raises
    ------
    StatisticsError
        As `hill`.

    Examples
    --------
    >>> from parshall.stats.synthesis import pareto
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


def _grid(n: int) -> NDArray[np.int64]:
    return np.unique(np.geomspace(_FEWEST_IN_TAIL, n - 1, _CANDIDATES).round().astype(np.int64))


def _passes(logs: FloatArray, k: int) -> bool:
    """Whether the k largest values pass as a Pareto tail."""
    excess = (logs[:k] - logs[k])[::-1]
    mean = float(excess.mean())
    if mean <= 0:
        return False
    model = -np.expm1(-excess / mean)
    rank = np.arange(1, k + 1)
    distance = float(np.max(np.maximum(rank / k - model, model - (rank - 1) / k)))
    # Stephens 1974, table 1: (D - 0.2/n)(sqrt n + 0.26 + 0.5/sqrt n) exceeds 1.094 in 5 %.
    return bool((distance - 0.2 / k) * (np.sqrt(k) + 0.26 + 0.5 / np.sqrt(k)) <= 1.094)


def _estimate(x: FloatArray, logs: FloatArray, k: int, level: float, warning: str | None) -> TailIndex:
    mean = float((logs[:k] - logs[k]).mean())
    if mean <= 0:
        raise StatisticsError(f"sample: found {k + 1} equal largest values, accepted is a sample whose tail varies")
    index = 1 / mean
    half = float(ndtri((1 + level) / 2)) * index / np.sqrt(k)
    return TailIndex(index, (float(index - half), float(index + half)), float(x[k]), k, x.size, level, warning)
