"""Estimators against textbook values and their own definition of confidence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from parshall.analysis.stats.confidence import (
    Interval,
    StatisticsError,
    mean_interval,
    paired_difference,
    welch_difference,
)
from parshall.analysis.stats.fairness import jain
from parshall.analysis.stats.histogram import histogram_quantiles

finite = st.floats(-1e6, 1e6)
values = st.lists(finite, min_size=2, max_size=30)


def half(interval: Interval) -> float:
    assert interval.half_width is not None
    return interval.half_width


def test_students_t_of_a_textbook() -> None:
    # t(0.975, 9) = 2.262 and t(0.95, 4) = 2.132 (any table of Student's t)
    assert half(mean_interval([0, 1] * 5)) == pytest.approx(
        2.262 * np.std([0, 1] * 5, ddof=1) / math.sqrt(10), rel=1e-3
    )
    assert half(mean_interval([1, 2, 3, 4, 5], level=0.9)) == pytest.approx(2.132 * math.sqrt(2.5 / 5), rel=1e-3)


def test_one_value_gives_no_interval() -> None:
    interval = mean_interval([3.0])
    assert (interval.mean, interval.low, interval.high, interval.n) == (3.0, None, None, 1)
    assert interval.half_width is interval.contains(3.0) is None


def test_interval_covers_the_mean_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)
    covered = sum(mean_interval(random.normal(5, 2, size=4)).contains(5) is True for _ in range(2000))
    assert covered / 2000 == pytest.approx(0.95, abs=0.015)


@given(values, finite, st.floats(1e-3, 1e3))
def test_interval_moves_and_scales_with_its_values(x: list[float], shift: float, scale: float) -> None:
    assume(np.std(x) > 1e-3)
    before, after = mean_interval(x), mean_interval([scale * value + shift for value in x])
    assert after.mean == pytest.approx(scale * before.mean + shift, rel=1e-6, abs=1e-3)
    assert half(after) == pytest.approx(scale * half(before), rel=1e-3, abs=1e-6)


@given(values)
def test_higher_confidence_is_wider(x: list[float]) -> None:
    assert half(mean_interval(x, 0.99)) >= half(mean_interval(x, 0.9))


def test_pairs_that_move_together_have_a_certain_difference() -> None:
    random = np.random.default_rng(0)
    common = random.normal(100, 30, size=10)
    paired = paired_difference(common + 1 + random.normal(0, 0.1, 10), common)
    unpaired = welch_difference(common + 1, common)
    assert paired.contains(1)
    assert half(paired) < 0.02 * half(unpaired)


def test_welch_agrees_with_scipy() -> None:
    from scipy import stats

    random = np.random.default_rng(2)
    a, b = random.normal(1, 1, 8), random.normal(0, 4, 20)
    expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    ours = welch_difference(a, b)
    assert ours.low == pytest.approx(expected.low)
    assert ours.high == pytest.approx(expected.high)
    assert welch_difference([1.0, 1.0], [0.0, 0.0]).contains(1)
    assert welch_difference([1.0], [0.0, 2.0]).low is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: mean_interval([]),
        lambda: mean_interval([1.0, math.nan]),
        lambda: mean_interval([1.0, None]),  # type: ignore[arg-type]
        lambda: mean_interval(["a"]),
        lambda: mean_interval([1.0, 2.0], level=1.0),
        lambda: paired_difference([1.0], [1.0, 2.0]),
        lambda: jain([-1.0, 1.0]),
        lambda: jain([math.nan]),
        lambda: histogram_quantiles([0, 0.5], [1, 2], [1, 1], [0.5]),
        lambda: histogram_quantiles([0], [1], [1], [1.5]),
        lambda: histogram_quantiles([0], [1], [-1], [0.5]),
        lambda: histogram_quantiles([0, 1], [1], [1], [0.5]),
    ],
)
def test_no_data_is_an_error_and_not_a_zero(call: object) -> None:
    with pytest.raises(StatisticsError):
        call()  # type: ignore[operator]


def test_jain_of_the_paper() -> None:
    assert jain([1, 1, 1, 1]) == 1
    assert jain([1, 0, 0, 0]) == 0.25
    assert jain([5]) == 1
    assert jain([]) is jain([0, 0]) is None
    assert jain([1e-320, 1e-320]) == pytest.approx(1)
    assert jain([1e300, 1e300]) == pytest.approx(1)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=40), st.floats(0.01, 100))
def test_jain_is_between_one_nth_and_one_whatever_the_unit(x: list[float], unit: float) -> None:
    assume(max(x) > 1e-3)
    index = jain(x)
    assert index is not None
    assert 1 / len(x) - 1e-12 <= index <= 1
    assert jain([unit * share for share in x]) == pytest.approx(index, rel=1e-9)


@given(st.lists(st.floats(0, 0.999), min_size=1, max_size=200), st.floats(0, 1))
def test_histogram_quantile_is_within_a_bin_of_the_true_one(x: list[float], q: float) -> None:
    edges = np.linspace(0, 1, 21)
    counts, _ = np.histogram(x, edges)
    found = histogram_quantiles(edges[:-1], edges[1:], counts, [q])
    assert found is not None
    exact = float(np.quantile(x, q, method="inverted_cdf"))
    assert abs(float(found[0]) - exact) <= 0.05 + 1e-9


def test_histograms_without_data_have_no_value() -> None:
    assert histogram_quantiles([0, 1], [1, 2], [0, 0], [0.5]) is None
    gap = histogram_quantiles([0, 5], [1, 6], [1, 1], [0.5, 1.0])
    assert gap is not None
    assert gap.tolist() == [1.0, 6.0]
