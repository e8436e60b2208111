"""Estimators that read H off the growth of a statistic with the scale: variance-time, R/S, DFA. What they share.

| symbol | name here | unit |
| --- | --- | --- |
| m | `scales` | bins |
| S(m) | `statistic` | grows as m^e |
| e(H) = H + c | `Law.offset` | exponent; c = 0, or -1 for the standard deviation of block means |
| s | `raw` | slope of log S(m) against log m by least squares, less c |
| mu(H), sigma(H) | `null` | mean and standard deviation of s, were the series fGn of that H |
| n | | length of the series |

The slope is taken over up to 24 scales that are equally spaced on the logarithmic axis. Small samples bias it, and the
values at different scales are correlated, so the regression's own standard error means nothing. Instead the estimate is
the H at which fGn has this slope on average, mu(H) = s, and the interval is the set of all H at which it would not be
surprising, abs(s - mu(H)) <= z sigma(H): test inversion, in which bias and spread are those at each H that is tried,
not those at the estimate. Both come from synthetic fGn (`null`).

References: M. Taqqu, V. Teverovsky, W. Willinger, Estimators for long-range dependence: an empirical study, Fractals
3(4), 1995; J. Carpenter, Test inversion bootstrap confidence intervals, Journal of the Royal Statistical Society B
61(1), 1999; A. Davison, D. Hinkley, Bootstrap Methods and their Application, 1997, §5.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.stats import norm

from parshall_studies.hurst.diagnostics import warnings_about
from parshall_studies.hurst.estimate import Diagram, Estimate, FloatArray, Scales
from parshall_studies.hurst.null import KNOTS, Law, Slope, scales_of, slope_of_fgn, slope_weights

_FINE = 1e-3


def scaling_estimate(
    law: Law, z: FloatArray, scales: tuple[int, int] | None, level: float, *, diagnose: bool
) -> Estimate:
    """H by `law` of the standardised series `z`, shape (n,).

    Raises
    ------
    StatisticsError
        If `scales` are out of range or the statistic does not exist.
    """
    m, chosen = scales_of(law, z.size, scales)
    y = np.array([float(law.statistic(z[np.newaxis], size)[0]) for size in m])
    raw = float(slope_weights(m) @ y) - law.offset
    quantile = float(norm.ppf((1 + level) / 2))
    h, error, interval = inverted(raw, quantile, lambda at: slope_of_fgn(law, m, z.size, at))
    x = np.log2(m)
    slope = raw + law.offset
    intercept = float(y.mean() / math.log(2.0) - slope * x.mean())
    points = Diagram(x, y / math.log(2.0), np.ones(x.size, np.bool_), slope, intercept, law.name)
    warnings = warnings_about(z, h, diagnose=diagnose)
    used = Scales(float(m[0]), float(m[-1]), len(m), chosen)
    return Estimate(law.method, h, error, level, z.size, used, warnings, points, interval)


def inverted(raw: float, quantile: float, of: Callable[[float], Slope]) -> tuple[float, float, tuple[float, float]]:
    """The H at which the mean slope is `raw`, its standard error, and the H at which `raw` is within the quantiles.

    Source: Carpenter 1999, with a normal distribution for the slope's.

    Parameters
    ----------
    raw
        The slope found.
    quantile
        Of the standard normal distribution.
    of
        Mean and standard deviation of the slope at an H in `KNOTS`.

    Examples
    --------
    >>> h, error, (low, high) = inverted(0.68, 2.0, lambda h: Slope(0.8 * h, 0.04))
    >>> round(h, 3), round(error, 3), round(low, 3), round(high, 3)
    (0.85, 0.05, 0.75, 0.95)
    """
    nearest = int(np.argmin([abs(knot - raw) for knot in KNOTS]))
    first, last = max(nearest - 1, 0), min(nearest + 1, len(KNOTS) - 1)
    known = {index: of(KNOTS[index]) for index in range(first, last + 1)}
    # Further knots until the interval is between them.
    while first > 0 and known[first].mean + quantile * known[first].deviation > raw:
        first -= 1
        known[first] = of(KNOTS[first])
    while last < len(KNOTS) - 1 and known[last].mean - quantile * known[last].deviation < raw:
        last += 1
        known[last] = of(KNOTS[last])
    knots = np.array(KNOTS[first : last + 1])
    means = np.array([known[index].mean for index in range(first, last + 1)])
    deviations = np.array([known[index].deviation for index in range(first, last + 1)])
    h = np.arange(knots[0], knots[-1] + _FINE / 2, _FINE)
    mean = np.asarray(PchipInterpolator(knots, means)(h))
    deviation = np.asarray(PchipInterpolator(knots, deviations)(h))
    estimate = _where(h, mean, raw)
    low = _where(h, mean + quantile * deviation, raw)
    high = _where(h, mean - quantile * deviation, raw)
    error = float(np.interp(estimate, h, deviation) / np.interp(estimate, h, np.gradient(mean, h)))
    return estimate, error, (min(low, estimate), max(high, estimate))


def _where(h: FloatArray, curve: NDArray[np.float64], value: float) -> float:
    """The H at which a growing curve has a value; beyond the curve's ends it is a straight line."""
    growing = np.maximum.accumulate(curve)
    for end, inner in ((0, h.size // 10), (-1, -1 - h.size // 10)):
        slope = (growing[end] - growing[inner]) / (h[end] - h[inner])
        if (value - growing[end]) * (1 if end else -1) > 0:
            return float(h[end] + (value - growing[end]) / max(slope, _FINE))
    return float(np.interp(value, growing, h))
