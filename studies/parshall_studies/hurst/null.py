"""The slope of a scaling statistic under the hypothesis of fractional Gaussian noise: its mean and spread.

| symbol | name here | unit |
| --- | --- | --- |
| m | `scales` | bins |
| log S(m) | `Law.statistic` | |
| e(H) = H + c | `Law.offset` | |
| b(m) = E log S(m) - e(H) log m | | bias, up to a constant |

Both are those of synthetic series of that H (parametric bootstrap; the random numbers are always the same ones, at
every H too): 256 of up to 4096 values; for R/S, whose ratio forgets the size of its blocks more slowly, 128 of up to
16,384.

Series longer than these do not need synthetic ones as long. fGn is self-similar, so the fluctuation of log S(m) depends
on n/m alone, but for what finite blocks do, which dies out as m grows; it is interpolated in log n/m. Scales relatively
finer than the synthetic ones have fluctuate as the finest do, times (m/n)^(1/2) on: where blocks hardly depend on each
other, variances are those of means over so many blocks. Where they do (variance-time, H > 3/4), they fall as
(m/n)^(2-2H) instead.

The bias depends on m (R/S, DFA) or, for variances around an estimated mean, on the number of blocks. The part of it
that is known, `Law.known_bias`, is taken apart; beyond the synthetic scales the rest is a + c m^-H, the order of what a
range loses between the points where it is looked at. That the mean slope is known from so many series only, and is
carried to larger scales, is part of the spread.

References: see `parshall_studies.hurst.scaling`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst.estimate import FloatArray
from parshall_studies.synthesis.gaussian import fgn

KNOTS = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""H of the synthetic series; between them mean and spread are interpolated."""

_POINTS = 24
_SERIES, _FEWEST_SERIES = 256, 128
_VALUES = 2**20
_SEED = 19_510_401

Statistic = Callable[[FloatArray, int], FloatArray]
"""log S(m) of each series: shapes (series, n) -> (series,)."""


Bias = Callable[[FloatArray, int, float], FloatArray]
"""b(m) of scales m, shape (k,), in a series of n values, were it fGn of H."""


@dataclass(frozen=True)
class Law:
    """The growth of a statistic with scale, and the scales of its fit by default.

    Parameters
    ----------
    method, name
        The estimator's name, and the statistic in words.
    statistic
        log S(m).
    offset
        c in S(m) ~ m^(H + c).
    smallest
        Smallest scale by default, a function of n; and of all: what `scales` may not go below.
    blocks
        Fewest blocks at the largest scale.
    depends_on
        What the bias of log S depends on: ``m``, or ``blocks`` as a variance around an estimated mean.
    known_bias
        The part of b(m) that is known.
    chosen
        The default range in words.
    longest
        Length of the longest synthetic series.
    """

    method: str
    name: str
    statistic: Statistic
    offset: float
    smallest: Callable[[int], int]
    least: int
    blocks: int
    depends_on: Literal["m", "blocks"]
    known_bias: Bias
    chosen: str
    longest: int = 4096


def no_bias(m: FloatArray, n: int, h: float) -> FloatArray:  # noqa: ARG001
    """Nothing is known of the bias."""
    return np.zeros(m.size)


def law_of_blocks(
    method: str, name: str, statistic: Statistic, *, known_bias: Bias = no_bias, longest: int = 4096
) -> Law:
    """The law of a statistic that grows as m^H and is computed in each block alone: over 16 bins to n/8."""
    return Law(
        method=method,
        name=name,
        statistic=statistic,
        offset=0.0,
        smallest=lambda n: 16,  # noqa: ARG005
        least=8,
        blocks=8,
        depends_on="m",
        known_bias=known_bias,
        chosen="16 bins to an eighth of the series",
        longest=longest,
    )


class Slope(NamedTuple):
    """Mean and standard deviation of the slope, the offset taken off."""

    mean: float
    deviation: float


def scales_of(law: Law, n: int, asked: tuple[int, int] | None) -> tuple[tuple[int, ...], str]:
    """The scales for a series of `n` values, and how they were chosen.

    Raises
    ------
    StatisticsError
        If those asked for are out of range.
    """
    largest = n // law.blocks
    low, high = (max(law.least, min(law.smallest(n), largest // 4)), largest) if asked is None else asked
    if not law.least <= low or not high <= largest or high < 2 * low:
        raise StatisticsError(
            f"scales: found {low} to {high} bins; accepted are {law.least} to {largest}, "
            "the second at least twice the first"
        )
    spaced = np.geomspace(low, high, _POINTS).round().astype(np.int64)
    return tuple(np.unique(spaced).tolist()), law.chosen if asked is None else "as asked"


def slope_weights(m: tuple[int, ...]) -> FloatArray:
    """Return the weight of each point in the slope of log S against log m."""
    x = np.log(m) - np.log(m).mean()
    return np.asarray(x / (x @ x))


@lru_cache(maxsize=1024)
def slope_of_fgn(law: Law, m: tuple[int, ...], n: int, h: float) -> Slope:
    """The slope over scales `m` of fGn of length `n`."""
    length = min(n, law.longest)
    inner = m if length == n else scales_of(law, length, (law.least, length // law.blocks))[0]
    bias, fluctuation = _synthetic(law, inner, length, h)
    sizes, weights = np.array(m, dtype=np.float64), slope_weights(m)
    # How far the mean slope itself may be off: it is that of so many series.
    spread = fluctuation
    if length < n:
        theirs = np.array(inner, dtype=np.float64)
        own, known = np.log(sizes / n), np.log(theirs / length)

        def carried(values: FloatArray) -> FloatArray:
            if law.depends_on == "blocks":
                return np.asarray(np.interp(own, known, values))
            return np.interp(np.log(sizes), np.log(theirs), values) + _beyond(sizes, theirs, values, h)

        bias = carried(bias)
        # `carried` is linear.
        spread = fluctuation @ np.stack([carried(each) for each in np.eye(theirs.size)])
        power = min(0.5, 2 - 2 * h) if law.depends_on == "blocks" else 0.5
        damped = np.exp(power * np.minimum(own - known[0], 0))
        fluctuation = damped * np.stack([np.interp(own, known, each) for each in fluctuation])
    mean = h * np.log(sizes) + law.known_bias(sizes, n, h) + bias
    own_error = np.std(fluctuation @ weights, ddof=1)
    mean_error = np.std(spread @ weights, ddof=1) / math.sqrt(len(spread))
    return Slope(float(weights @ mean), float(np.hypot(own_error, mean_error)))


def _beyond(m: FloatArray, known: FloatArray, bias: FloatArray, h: float) -> FloatArray:
    """Return the uncertainty of the bias at scales beyond the largest known one: c m^-H, by its larger half."""
    larger = known[known.size // 2 :]
    c = np.polyfit(larger**-h, bias[-larger.size :], 1)[0]
    return np.asarray(c * (np.maximum(m, known[-1]) ** -h - known[-1] ** -h))


@lru_cache(maxsize=128)
def _synthetic(law: Law, m: tuple[int, ...], n: int, h: float) -> tuple[FloatArray, FloatArray]:
    """The bias that is not known, shape (scales,), and fluctuations, shape (series, scales), of synthetic series."""
    series = min(_SERIES, max(_FEWEST_SERIES, _VALUES // n))
    paths = fgn(n, h, np.random.default_rng(_SEED), series=series)
    logs = np.stack([law.statistic(paths, size) for size in m], axis=1)
    mean = logs.mean(axis=0)
    sizes = np.array(m, dtype=np.float64)
    return mean - (h + law.offset) * np.log(sizes) - law.known_bias(sizes, n, h), logs - mean
