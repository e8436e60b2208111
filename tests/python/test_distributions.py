"""Quantiles and tails of distributions, beside those of scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from parshall.foundations.distributions import beta_quantile, binomial_quantile, student_quantile, student_tails

probabilities = st.floats(1e-4, 1 - 1e-4)
parameters = st.floats(-1, 5).map(lambda exponent: 10**exponent)
# Both are solved from incomplete beta functions whose relative error is 1e-9 where a parameter is 1e5.
PRECISION = {"rel": 1e-7, "abs": 1e-12}


@given(probabilities, parameters)
def test_quantiles_of_students_t(probability: float, freedom: float) -> None:
    expected = special.stdtrit(freedom, probability)
    assert student_quantile(probability, freedom) == pytest.approx(expected, **PRECISION)


@given(st.floats(-1e3, 1e3), parameters)
def test_tails_of_students_t(value: float, freedom: float) -> None:
    expected = 2 * special.stdtr(freedom, -abs(value))
    assert student_tails(value, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(probabilities, parameters)
def test_the_tails_of_a_quantile(probability: float, freedom: float) -> None:
    """Whichever way it is asked: the extension's quantile and the tails beyond it."""
    assert student_tails(student_quantile(1 - probability / 2, freedom), freedom) == pytest.approx(
        probability, rel=1e-6
    )


@given(probabilities, parameters, parameters)
def test_quantiles_of_the_beta_distribution(probability: float, a: float, b: float) -> None:
    expected = special.betaincinv(a, b, probability)
    assert beta_quantile(probability, a, b) == pytest.approx(expected, **PRECISION)


@given(probabilities, st.integers(0, 3000), st.floats(0, 1))
def test_quantiles_of_the_binomial_distribution(probability: float, trials: int, success: float) -> None:
    found = binomial_quantile(probability, trials, success)
    at_most = special.bdtr(np.array([found - 1.0, found]), trials, success)
    rounding = 1e-9
    assert at_most[1] >= probability - rounding
    assert found == 0 or at_most[0] < probability + rounding


@pytest.mark.parametrize(("probability", "freedom"), [(0, 5), (1, 5), (float("nan"), 5), (0.5, 0), (0.5, float("inf"))])
def test_what_has_no_quantile_is_refused(probability: float, freedom: float) -> None:
    with pytest.raises(ValueError, match="found"):
        student_quantile(probability, freedom)
