"""Quantiles and tails of distributions, as confidence intervals and tests need them.

`scipy.special` has them too, for arrays; it takes a quarter of the time of a short `parshall run` to load.

References: Abramowitz & Stegun, Handbook of Mathematical Functions, 1964, 26.5 and 26.7; NIST Digital Library of
Mathematical Functions, 8.17; W. Lentz, Applied Optics 15(3), 1976 (continued fractions from their beginning).
"""

from __future__ import annotations

import math

from parshall import _core

_PRECISION = 1e-15
_TINY = 1e-300
"""In place of a denominator of 0 (Lentz 1976)."""


def student_quantile(probability: float, freedom: float) -> float:
    """The value below which a variable of Student's t distribution is with this probability.

    Parameters
    ----------
    probability
        Above 0 and below 1.
    freedom
        Degrees of freedom, above 0; not necessarily whole.

    Raises
    ------
    ValueError
        An argument is something else.

    Examples
    --------
    >>> round(student_quantile(0.975, 9), 6)
    2.262157
    """
    return _core.student_quantile(probability, freedom)


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The value below which a variable of the beta distribution is with this probability.

    Parameters
    ----------
    probability
        Above 0 and below 1.
    a, b
        The distribution's parameters, above 0.

    Raises
    ------
    ValueError
        An argument is something else.

    Examples
    --------
    >>> round(beta_quantile(0.975, 3, 18), 4)
    0.317
    """
    return _core.beta_quantile(probability, a, b)


def binomial_quantile(probability: float, trials: int, success: float) -> int:
    """The least number of successes that is not exceeded with this probability.

    Parameters
    ----------
    probability
        Above 0 and below 1.
    trials
        How many there are.
    success
        The probability of a success in each.

    Raises
    ------
    ValueError
        An argument is something else.

    Examples
    --------
    >>> binomial_quantile(0.975, 100, 0.5)
    60
    """
    return _core.binomial_quantile(probability, trials, success)


def student_tails(value: float, freedom: float) -> float:
    """The probability that a variable of Student's t distribution is as far from 0 as a value, on either side.

    Source: Abramowitz & Stegun 1964, 26.7.1.

    Parameters
    ----------
    value
        Finite.
    freedom
        Degrees of freedom, above 0; not necessarily whole.

    Examples
    --------
    >>> round(student_tails(2.262157, 9), 6), student_tails(0.0, 9)
    (0.05, 1.0)
    """
    square = value * value
    return _beta_share(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square))


def _beta_share(a: float, b: float, x: float, rest: float) -> float:
    """I_x(a, b), the regularised incomplete beta function; `rest` is 1 - x.

    Source: DLMF 8.17.4 (symmetry) and 8.17.22, whose fraction converges fast where x is below (a + 1) / (a + b + 2).
    """
    if x <= 0.0 or rest <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta_share(b, a, rest, x)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(scale) / (a * _beta_fraction(a, b, x))


def _beta_fraction(a: float, b: float, x: float) -> float:
    """1 + d_1 / (1 + d_2 / (1 + ...)) of DLMF 8.17.22, by Lentz's method."""
    fraction, above, below, step = 1.0, 1.0, 0.0, 0
    ratio = 0.0
    while abs(ratio - 1.0) > _PRECISION:
        step += 1
        m = step // 2
        if step % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        below = 1.0 / (1.0 + d * below or _TINY)
        above = 1.0 + d / above or _TINY
        ratio = above * below
        fraction *= ratio
    return fraction
