"""Roots of functions of one variable."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parshall.analysis.models.roots import find_root


@given(st.floats(-5, 5), st.floats(0.1, 10), st.floats(0.1, 3))
def test_the_root_is_found_at_no_more_cost_than_by_bisection(root: float, scale: float, power: float) -> None:
    calls = 0

    def f(x: float) -> float:
        nonlocal calls
        calls += 1
        return math.copysign(abs(scale * (x - root)) ** power, x - root)

    low, high = -6.0, 7.0
    found = find_root(f, (low, f(low)), (high, f(high)), 1e-10)
    assert calls - 2 <= math.ceil(math.log2((high - low) / 2e-10)) + 1
    assert found == pytest.approx(root, abs=2e-10)


def test_ends_that_are_roots_and_ends_that_enclose_none() -> None:
    assert find_root(lambda x: x, (0.0, 0.0), (1.0, 1.0), 1e-9) == 0.0
    assert find_root(lambda x: x - 1, (0.0, -1.0), (1.0, 0.0), 1e-9) == 1.0
    with pytest.raises(ValueError, match=r"f\(1\) = 1 and f\(2\) = 4 have the same sign"):
        find_root(lambda x: x * x, (1.0, 1.0), (2.0, 4.0), 1e-9)
