"""The slow convergence of the mean of heavy-tailed values, and its effect on a load.

| symbol | argument | unit |
| --- | --- | --- |
| alpha | `tail_index` | -, above 1 |
| m | `count` | values |

For 1 < alpha < 2 the sum of m Pareto values, centred and divided by b (m/C)^(1/alpha), tends to a stable law of index
alpha, totally skewed to the right, with C = (1 - alpha)/(Gamma(2 - alpha) cos(pi alpha/2)). Its quantiles give the
interval in which the sample mean lies; it is not symmetric: the mean is mostly underestimated, and sometimes grossly
overestimated. For alpha >= 2 the normal law is used with the sample variance of the Pareto distribution, for alpha =
2 with its logarithmic growth.

References: M. Crovella, L. Lipsky, Long-lasting transient conditions in simulations with heavy-tailed workloads, WSC
1997; Park & Tuan 2000, §4.3; G. Samorodnitsky, M. Taqqu, Stable Non-Gaussian Random Processes, 1994, §1.2 and §1.8.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gamma, ndtri

from parshall.analysis.stats.confidence import StatisticsError

_FEW, _SIMULATED = 5000, 10_000_000


def mean_interval_of_pareto(tail_index: float, count: int, level: float = 0.95) -> tuple[float, float]:
    """Return the range of the mean of `count` Pareto values with probability `level`, as parts of the true mean.

    Source: Samorodnitsky & Taqqu 1994, §1.8; for up to 5000 values, where the limit is far, a simulation.

    Parameters
    ----------
    tail_index
        Above 1.
    count
        How many values.
    level
        Probability; the rest is split equally between the two sides.

    Raises
    ------
    StatisticsError
        If an argument is out of range.

    Examples
    --------
    >>> low, high = mean_interval_of_pareto(1.5, 10_000)
    >>> bool(0.8 < low < 1 < high < 1.5)
    True
    """
    tail_index_above_one(tail_index)
    if count < 1:
        raise StatisticsError(f"count: found {count}, accepted is 1 or more")
    if not 0 < level < 1:
        raise StatisticsError(f"level: found {level}, accepted is a number between 0 and 1 (both excluded)")
    ends = ((1 - level) / 2, (1 + level) / 2)
    smallest = (tail_index - 1) / tail_index
    if count <= _FEW:
        series = _SIMULATED // count
        uniform = np.random.default_rng(19_760_102).random(series * count)  # 1 - U is never 0, U may be
        draws = smallest * (1 - uniform) ** (-1 / tail_index)
        draws = draws.reshape(series, count).mean(axis=1)
        return float(np.quantile(draws, ends[0])), float(np.quantile(draws, ends[1]))
    if tail_index < 1.98:
        constant = (1 - tail_index) / (gamma(2 - tail_index) * np.cos(np.pi * tail_index / 2))
        scale = smallest * count ** (1 / tail_index - 1) * constant ** (-1 / tail_index)
        from scipy.stats import levy_stable  # noqa: PLC0415 - it takes a while to load

        low, high = (float(levy_stable.ppf(end, tail_index, 1.0)) for end in ends)
        return float(max(smallest, 1 + scale * low)), float(1 + scale * high)
    if tail_index <= 2.02:
        variance = smallest**2 * np.log(count)
    else:
        variance = min(1 / (tail_index * (tail_index - 2)), smallest**2 * np.log(count) / 2 + 1)
    half = float(ndtri(ends[1]) * np.sqrt(variance / count))
    return max(smallest, 1 - half), 1 + half


def tail_index_above_one(tail_index: float) -> None:
    """Refuse a tail index with which the mean is infinite.

    Raises
    ------
    StatisticsError
        It is not a finite number above 1.
    """
    if not 1 < tail_index < np.inf:
        raise StatisticsError(
            f"tail_index: found {tail_index}, accepted is a finite number above 1; with 1 or less the mean is infinite"
        )
