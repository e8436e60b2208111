"""Quantiles and moments of the distributions that a resolved scenario names.

A law is a mapping such as `{"name": "pareto", "mean": 1000.0, "tail_index": 1.5}`, as crates/workload
documents it; values are in bytes or seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, gamma, inf
from typing import Any

import numpy as np
from scipy.special import ndtri

from parshall.models.inputs import FloatArray

Law = Mapping[str, Any]


class UnknownLawError(ValueError):
    """A distribution of which nothing is known here."""


def mean(law: Law) -> float:
    """Mean of the law.

    Raises
    ------
    UnknownLawError
        If its name is not known.

    Examples
    --------
    >>> mean({"name": "uniform", "low": 1.0, "high": 3.0})
    2.0
    """
    return _moment(law, 1)


def cv2(law: Law) -> float:
    """Squared coefficient of variation, variance over squared mean; infinite where the variance is.

    Raises
    ------
    UnknownLawError
        If its name is not known.

    Examples
    --------
    >>> cv2({"name": "exponential", "mean": 8.0})
    1.0
    >>> cv2({"name": "pareto", "mean": 8.0, "tail_index": 1.5})
    inf
    """
    return max(0.0, _moment(law, 2) / mean(law) ** 2 - 1)


def quantiles(law: Law, probabilities: FloatArray) -> FloatArray:
    """Quantiles of the law at `probabilities` in (0, 1).

    Raises
    ------
    UnknownLawError
        If its name is not known.

    Examples
    --------
    >>> quantiles({"name": "pareto", "mean": 3.0, "tail_index": 1.5}, np.array([0.5])).round(4).tolist()
    [1.5874]
    """
    u = probabilities
    match law:
        case {"name": "constant", "value": value}:
            return np.full_like(u, value)
        case {"name": "uniform", "low": low, "high": high}:
            return np.asarray(low + (high - low) * u)
        case {"name": "exponential", "mean": m}:
            return np.asarray(-m * np.log1p(-u))
        case {"name": "pareto", "mean": m, "tail_index": a}:
            return np.asarray(m * (a - 1) / a * (1 - u) ** (-1 / a))
        case {"name": "bounded_pareto", "minimum": low, "maximum": high, "tail_index": a}:
            return np.asarray(low * (1 - u * (1 - (low / high) ** a)) ** (-1 / a))
        case {"name": "lognormal", "mean": m, "sigma": s}:
            return np.asarray(m * np.exp(s * ndtri(u) - s * s / 2))
        case {"name": "weibull", "mean": m, "shape": k}:
            return np.asarray(m / gamma(1 + 1 / k) * (-np.log1p(-u)) ** (1 / k))
        case {"name": "hyperexponential", "mean": m, "cv2": c}:
            return _hyperexponential(m, c, u)
        case {"name": "empirical", "points": points}:
            return _empirical(np.asarray(points, dtype=np.float64), u)
        case _:
            raise UnknownLawError(f"the distribution {law.get('name')!r} is not known to the models")


def _moment(law: Law, k: int) -> float:
    """E[X^k], k = 1 or 2."""
    match law:
        case {"name": "constant", "value": value}:
            return float(value) ** k
        case {"name": "uniform", "low": low, "high": high}:
            return float((low + high) / 2 if k == 1 else (low * low + low * high + high * high) / 3)
        case {"name": "exponential", "mean": m}:
            return float(k * m**k)
        case {"name": "pareto", "mean": m, "tail_index": a}:
            return inf if a <= k else float((m * (a - 1) / a) ** k * a / (a - k))
        case {"name": "bounded_pareto", "minimum": low, "maximum": high, "tail_index": a}:
            return _bounded_pareto(low, high, a, k)
        case {"name": "lognormal", "mean": m, "sigma": s}:
            return float(m**k * exp(k * (k - 1) / 2 * s * s))
        case {"name": "weibull", "mean": m, "shape": shape}:
            return float(m**k * gamma(1 + k / shape) / gamma(1 + 1 / shape) ** k)
        case {"name": "hyperexponential", "mean": m, "cv2": c}:
            return float(m if k == 1 else m * m * (1 + c))
        case {"name": "empirical", "points": points}:
            x, p = np.asarray(points, dtype=np.float64).T
            low, high, weight = np.append(x[0], x[:-1]), x, np.diff(p, prepend=0.0)
            within = (low + high) / 2 if k == 1 else (low * low + low * high + high * high) / 3
            return float(weight @ within)
        case _:
            raise UnknownLawError(f"the distribution {law.get('name')!r} is not known to the models")


def _bounded_pareto(low: float, high: float, a: float, k: int) -> float:
    ratio = low / high
    scale = a * low**k / (1 - ratio**a)
    if abs(a - k) < 1e-9:
        return float(scale * np.log(high / low))
    return float(scale * (1 - ratio ** (a - k)) / (a - k))


def _hyperexponential(m: float, c: float, u: FloatArray) -> FloatArray:
    """Two exponentials with balanced means; the distribution function is inverted by bisection."""
    imbalance = np.sqrt((c - 1) / (c + 1))
    short = (1 + imbalance) / 2
    rates = np.array([2 * short, 2 * (1 - short)]) / m
    low, high = np.zeros_like(u), -np.log1p(-u) / rates[1]
    for _ in range(100):
        x = (low + high) / 2
        above = short * np.exp(-rates[0] * x) + (1 - short) * np.exp(-rates[1] * x) > 1 - u
        low, high = np.where(above, x, low), np.where(above, high, x)
    return np.asarray((low + high) / 2)


def _empirical(points: FloatArray, u: FloatArray) -> FloatArray:
    """Straight between the points; where the distribution function is flat, the end of the gap."""
    x, p = points.T
    at = np.searchsorted(p, u, side="left").clip(0, p.size - 1)
    before = np.maximum(at - 1, 0)
    span = p[at] - p[before]
    part = np.divide(u - p[before], span, out=np.ones_like(u), where=span > 0)
    return np.asarray(np.where(at == 0, x[0], x[before] + part * (x[at] - x[before])))
