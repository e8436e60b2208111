"""Quantiles of distributions, as confidence intervals need them.

`scipy.special` has them too, for arrays; it takes a quarter of the time of a short `parshall run` to load.

References: Abramowitz & Stegun, Handbook of Mathematical Functions, 1964, 26.5 and 26.7.
"""

from __future__ import annotations

from parshall import _core


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
