"""Signs that contradict a stationary long-range dependent model: trend, level shift, change of variance.

Long-range dependence and non-stationarity look alike: a long-range dependent series has what seem trends and shifts at
all scales, and a trend or a shift makes every estimator report a large H. So each finding is a test with fGn as its
null hypothesis, not white noise:

| finding | statistic |
| --- | --- |
| trend | t of the regression on time |
| level shift | largest abs(mean before - mean after) sqrt(k (n-k)/n)/s, over the moments k of the middle 90 % |
| variance | abs log of the ratio of the variances of the halves, of the differenced series |

The series is aggregated to at most 512 blocks: what is looked for is slow. H of the null hypothesis is estimated by
`semiparametric_h` after the trend or the shift has been taken out (else it would hide itself) and raised by its
standard error, so that few findings are made where there is nothing to find. The distribution of the statistic under
fGn of that H comes from 999 synthetic series, kept for the next time. A finding is what fewer than 1 in 200 of them
exceed.

References: J. Beran, Statistics for Long-Memory Processes, 1994, §7.4 and §10; L. Giraitis, P. Kokoszka, R. Leipus,
Testing for long memory in the presence of a general trend, Journal of Applied Probability 38(4), 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from parshall_studies.hurst.estimate import FloatArray
from parshall_studies.hurst.low_frequencies import bandwidth, lowest_powers, semiparametric_h
from parshall_studies.hurst.series import at_most
from parshall_studies.synthesis.gaussian import fgn

_BLOCKS = 512
_SERIES = 999
_SEED = 19_510_402
_SIGNIFICANCE = 0.005
_SHORT = 512
_GRID = 0.02
"""H of the null hypothesis is rounded to this, so that its distributions can be kept."""
_MARGIN = 0.1
"""Added to the estimate: its standard error from 512 blocks, 0.07, and what taking out the shift takes from it."""

Statistic = Callable[[FloatArray], FloatArray]


def contradictions(z: FloatArray) -> tuple[str, ...]:
    """Return the signs that contradict the model, a sentence each; empty if there are none.

    Parameters
    ----------
    z
        The standardised series, shape (n,).
    """
    messages = []
    if z.size < _SHORT:
        messages.append(f"short: {z.size} values; intervals are asymptotic, {_SHORT} or more are advised")
    blocks, _ = at_most(z, _BLOCKS)
    h_trend = _null_h(_without_trend(blocks))
    h_shift = _null_h(_without_shift(blocks))
    if _exceeds(_trend, blocks, h_trend):
        messages.append(
            f"trend: the series moves by {_movement(blocks):+.2g} standard deviations from start to end, "
            f"more than a stationary series with H = {h_trend:.2f} does"
        )
    if _exceeds(_shift, blocks, h_shift):
        k = _shift_at(blocks)
        messages.append(
            f"level shift: by {blocks[k:].mean() - blocks[:k].mean():+.2g} standard deviations at "
            f"{k / blocks.size:.0%} of the series, more than a stationary series with H = {h_shift:.2f} has"
        )
    if _exceeds(_variance_change, blocks, min(h_trend, h_shift)):
        messages.append("variance: one half of the series varies more than the other; it is not stationary")
    return tuple(messages)


def not_below_one(h: float) -> tuple[str, ...]:
    """The warning that belongs to an estimate of 1 or more; empty below."""
    if h < 1:
        return ()
    return (
        f"H = {h:.2f} is not below 1: the series is not stationary, or its memory reaches beyond the scales looked at",
    )


def warnings_about(z: FloatArray, h: float, *, diagnose: bool) -> tuple[str, ...]:
    """The warnings of an estimate `h` of `z`: contradictions, if they are to be looked for, and `not_below_one`."""
    return (*contradictions(z), *not_below_one(h)) if diagnose else not_below_one(h)


def level_shift(z: FloatArray) -> FloatArray:
    """The level-shift statistic of each series, along the last axis. Larger: rather two levels than one."""
    return _shift(z)


def _exceeds(statistic: Statistic, blocks: FloatArray, h: float) -> bool:
    null = _null(statistic, blocks.size, h)
    return float(np.mean(null >= float(statistic(blocks)))) < _SIGNIFICANCE


@lru_cache(maxsize=256)
def _null(statistic: Statistic, n: int, h: float) -> FloatArray:
    return statistic(fgn(n, h, np.random.default_rng(_SEED), series=_SERIES))


def _null_h(z: FloatArray) -> float:
    h = float(semiparametric_h(lowest_powers(z, bandwidth(z.size, None)[0])))
    return float(np.clip(round((h + _MARGIN) / _GRID) * _GRID, 0.5, 0.98))


def _time(n: int) -> FloatArray:
    t = np.arange(n) - (n - 1) / 2
    return np.asarray(t / np.sqrt(t @ t))


def _trend(x: FloatArray) -> FloatArray:
    t = _time(x.shape[-1])
    slope = x @ t
    left = np.maximum(x.shape[-1] * x.var(axis=-1) - slope**2, np.finfo(float).tiny)
    return np.asarray(np.abs(slope) / np.sqrt(left))


def _without_trend(x: FloatArray) -> FloatArray:
    t = _time(x.size)
    return np.asarray(x - x.mean() - (x @ t) * t)


def _movement(x: FloatArray) -> float:
    t = _time(x.size)
    return float((x @ t) * (t[-1] - t[0]))


def _bridge(x: FloatArray) -> FloatArray:
    """abs(mean before - mean after) sqrt(k (n-k)/n) for k = 1 .. n-1, along the last axis."""
    n = x.shape[-1]
    k = np.arange(1, n)
    sums = np.cumsum(x - x.mean(axis=-1, keepdims=True), axis=-1)[..., :-1]
    scaled = np.abs(sums) * np.sqrt(n / (k * (n - k)))
    edge = n // 20
    scaled[..., :edge] = 0
    scaled[..., n - 1 - edge :] = 0
    return np.asarray(scaled)


def _shift(x: FloatArray) -> FloatArray:
    # Divided by the spread within the two levels, so that a shift does not grow the yardstick it is measured with.
    largest = _bridge(x).max(axis=-1)
    left = np.maximum(x.shape[-1] * x.var(axis=-1) - largest**2, np.finfo(float).tiny)
    return np.asarray(largest / np.sqrt(left))


def _shift_at(x: FloatArray) -> int:
    return int(_bridge(x).argmax()) + 1


def _without_shift(x: FloatArray) -> FloatArray:
    k = _shift_at(x)
    return np.concatenate((x[:k] - x[:k].mean(), x[k:] - x[k:].mean()))


def _variance_change(x: FloatArray) -> FloatArray:
    steps = np.diff(x, axis=-1)
    half = steps.shape[-1] // 2
    smallest = np.finfo(float).tiny
    first = np.maximum(np.mean(steps[..., :half] ** 2, axis=-1), smallest)
    second = np.maximum(np.mean(steps[..., half:] ** 2, axis=-1), smallest)
    return np.asarray(np.abs(np.log(first / second)))
