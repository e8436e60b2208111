"""Estimators that read H off the growth of a statistic with the scale: variance-time, R/S, DFA. What they share.

| symbol | name here | unit |
| --- | --- | --- |
| m | `scales` | bins |
| S(m) | `statistic` | grows as m^e |
| e(H) = H + c | `Law.offset` | exponent; c = 0, or -1 for the standard deviation of block means |
| n | | length of the series |

H is the slope of log S(m) against log m by least squares, over up to 24 scales that are equally spaced on the
logarithmic axis. The values at different scales are correlated, so the regression's own standard error means nothing,
and small samples bias the slope. Both are therefore taken from fGn: 64 synthetic series of that H (parametric
bootstrap; the random numbers are always the same ones). H is corrected for the bias, twice, since the bias depends on
H.

Series longer than 8192 do not need synthetic ones as long: the fluctuation of log S(m) depends on n/m, and what the
finite blocks do to its mean on m (R/S, DFA) or on n/m (variances around an estimated mean), which `Law.bias_along`
says. Fluctuations at relative scales finer than the synthetic ones have are taken to be as large as at their finest:
intervals of very long series are a little too wide.

References: M. Taqqu, V. Teverovsky, W. Willinger, Estimators for long-range dependence: an empirical study, Fractals
3(4), 1995; A. Davison, D. Hinkley, Bootstrap Methods and their Application, 1997, ch. 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from parshall.stats.confidence import StatisticsError
from parshall.stats.hurst.diagnostics import warnings_about
from parshall.stats.hurst.estimate import Diagram, Estimate, FloatArray, Scales
from parshall.stats.synthesis.gaussian import fgn

_POINTS = 24
_LONGEST = 8192
_SERIES = 64
_SEED = 19_510_401
_APART = 0.1

Statistic = Callable[[FloatArray, int], FloatArray]
"""log S(m) of each series: shapes (series, n) -> (series,)."""


@dataclass(frozen=True)
class Law:
    """How a statistic grows, and over which scales by default.

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
    bias_along
        Whether the bias of log S depends on ``m`` or on ``n/m``.
    chosen
        The default range in words.
    """

    method: str
    name: str
    statistic: Statistic
    offset: float
    smallest: Callable[[int], int]
    least: int
    blocks: int
    bias_along: Literal["m", "n/m"]
    chosen: str


def scaling_estimate(
    law: Law, z: FloatArray, scales: tuple[int, int] | None, level: float, *, diagnose: bool
) -> Estimate:
    """H by `law` of the standardised series `z`, shape (n,).

    Raises
    ------
    StatisticsError
        If `scales` are out of range or the statistic does not exist.
    """
    m, chosen = _scales(law, z.size, scales)
    y = np.array([float(law.statistic(z[np.newaxis], int(size))[0]) for size in m])
    weights = _slope_weights(m)
    raw = float(weights @ y) - law.offset
    # raw = h + bias(h), with the bias linear between two values of h; the random numbers are the same at both.
    at = float(np.clip(raw, 0.05, 0.98 - _APART))
    bias, deviation = _of_fgn(law, m, z.size, at)
    growth = (_of_fgn(law, m, z.size, at + _APART)[0] - bias) / _APART
    h = at + (raw - at - bias) / (1 + growth)
    error = deviation / (1 + growth)
    log2_m = np.log2(m)
    intercept = float(y.mean() / math.log(2.0) - (raw + law.offset) * log2_m.mean())
    points = Diagram(log2_m, y / math.log(2.0), np.ones(m.size, np.bool_), raw + law.offset, intercept, law.name)
    warnings = warnings_about(z, h, diagnose=diagnose)
    used = Scales(float(m[0]), float(m[-1]), m.size, chosen)
    return Estimate(law.method, h, error, level, z.size, used, warnings, points)


def _scales(law: Law, n: int, asked: tuple[int, int] | None) -> tuple[NDArray[np.int64], str]:
    largest = n // law.blocks
    low, high = (min(law.smallest(n), largest // 4), largest) if asked is None else asked
    if not law.least <= low or not high <= largest or high < 2 * low:
        raise StatisticsError(
            f"scales: found {low} to {high} bins; accepted are {law.least} to {largest}, "
            "the second at least twice the first"
        )
    m = np.unique(np.geomspace(low, high, _POINTS).round().astype(np.int64))
    return m, law.chosen if asked is None else "as asked"


def _slope_weights(m: NDArray[np.int64]) -> FloatArray:
    """What the slope of log S against log m gives to each point."""
    x = np.log(m) - np.log(m).mean()
    return np.asarray(x / (x @ x))


def _of_fgn(law: Law, m: NDArray[np.int64], n: int, h: float) -> tuple[float, float]:
    """Bias and standard error of the slope over scales `m` of fGn of length `n`."""
    length = min(n, _LONGEST)
    paths = fgn(length, h, np.random.default_rng(_SEED), series=_SERIES)
    inner = m if length == n else _scales(law, length, (law.least, length // law.blocks))[0]
    logs = np.stack([law.statistic(paths, int(size)) for size in inner], axis=1)
    bias = logs.mean(axis=0) - (h + law.offset) * np.log(inner)
    fluctuation = logs - logs.mean(axis=0)
    weights = _slope_weights(m)
    if length == n:
        at_m, moving = bias, fluctuation
    else:
        relative, own = np.log(inner / length), np.log(m / n)
        along = (np.log(m), np.log(inner)) if law.bias_along == "m" else (own, relative)
        at_m = np.interp(along[0], along[1], bias)
        moving = np.stack([np.interp(own, relative, each) for each in fluctuation])
    return float(weights @ at_m), float(np.std(moving @ weights, ddof=1))
