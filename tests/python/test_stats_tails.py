"""Tail indices, sample means of heavy tails, and the normalisation of loads."""

from __future__ import annotations

import numpy as np
import pytest

from parshall.analysis.stats.confidence import StatisticsError
from parshall.analysis.stats.tails import mean_interval_of_pareto
from parshall_studies.synthesis import pareto
from parshall_studies.tails import error_exponent, hill, hill_plot, normalised, power_law, second_order, values_needed


@pytest.mark.parametrize("tail_index", [1.1, 1.5, 2.5])
@pytest.mark.parametrize("estimate", [hill, lambda x: power_law(x).tail])
def test_a_million_pareto_values(estimate, tail_index: float) -> None:  # type: ignore[no-untyped-def]
    found = estimate(pareto(np.random.default_rng(1), 10**6, 1000.0, tail_index))
    assert found.tail_index == pytest.approx(tail_index, abs=0.02)


def test_the_tail_is_found_under_a_body() -> None:
    """Exponential values of mean 1 with a Pareto tail of index 1.3 above 10."""
    covered = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = np.concatenate((rng.exponential(size=95_000), pareto(rng, 5000, 10 * 1.3 / 0.3, 1.3)))
        found = second_order.tail(np.log(np.sort(x)[::-1]))
        assert found is not None
        # Twice that was looked at, and the tail has 5000 values.
        assert 1000 < found.k < 3000
        covered += abs(found.gamma - 1 / 1.3) < 1.96 * found.error
    # 20 at 95 %: 15 or fewer in 0.3 % of cases.
    assert covered >= 16
    assert power_law(x).tail.tail_index == pytest.approx(1.3, abs=0.1)


def test_intervals_cover() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        low, high = hill(pareto(rng, 2000, 1.0, 1.5), k=1000).ci
        covered += low < 1.5 < high
    assert 180 <= covered <= 198


def test_a_light_tail_is_no_power_law() -> None:
    x = np.random.default_rng(4).exponential(size=100_000)
    found = power_law(x)
    rivals = {each.rival: each for each in found.against}
    assert found.tail.k < 50_000 or rivals["exponential"].ratio < 0
    plot = hill_plot(x)
    assert plot.tail_index[-1] < 0.5 * plot.tail_index[len(plot.k) // 2], "the plot has no flat part"


@pytest.mark.parametrize(("tail_index", "count"), [(1.2, 2000), (1.5, 2000), (1.8, 2000), (3.0, 2000), (1.5, 50)])
def test_sample_means_are_where_the_interval_says(tail_index: float, count: int) -> None:
    means = pareto(np.random.default_rng(5), 2000 * count, 1.0, tail_index).reshape(2000, count).mean(axis=1)
    low, high = mean_interval_of_pareto(tail_index, count)
    # The stable law is a limit: reached to within 2 % of probability on each side at 2000 values.
    assert np.mean(means < low) == pytest.approx(0.025, abs=0.02)
    assert np.mean(means > high) == pytest.approx(0.025, abs=0.02)


def test_errors_of_means_shrink_as_published() -> None:
    """Park & Tuan 2000, §4.3: as m^(1/alpha - 1)."""
    assert error_exponent(1.25) == pytest.approx(-0.2)
    widths = [np.subtract(*mean_interval_of_pareto(1.25, count)[::-1]) for count in (10**7, 10**9)]
    assert np.log(widths[1] / widths[0]) / np.log(100) == pytest.approx(-0.2, abs=0.02)
    assert values_needed(1.1, 0.1) > 1e9 > values_needed(1.7, 0.1)


def test_measured_loads_become_equal() -> None:
    """A finite sample with the same random numbers: its mean is brought to the mean of the distribution."""
    for tail_index in (1.05, 1.35, 1.95):

        def load(mean: float, tail_index: float = tail_index) -> float:
            offered = pareto(np.random.default_rng(6), 3000, mean, tail_index).mean()
            return float(offered / (1 + offered / 5000))

        found = normalised(load, target=700.0, start=1000.0)
        assert abs(found.error) <= 0.02
        assert found.measured == load(found.mean)


def test_an_unreachable_load_is_reported() -> None:
    found = normalised(lambda mean: min(mean, 50.0), target=100.0, start=10.0)
    assert found.measured == 50
    assert found.error == -0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hill([1.0, 2.0]), "found shape"),
        (lambda: hill([1.0] * 200), "found the value 1.0 only"),
        (lambda: hill([1.0, 0.0] * 100), "found 0.0 at index 1"),
        (lambda: hill([1.0, float("nan")] * 100), "found nan at index 1"),
        (lambda: hill(["a"] * 200), "numbers only"),
        (lambda: hill(np.arange(1, 201.0), k=200), "k: found 200, accepted is a number from 2 to 199"),
        (lambda: mean_interval_of_pareto(1.0, 100), "with 1 or less the mean is infinite"),
        (lambda: mean_interval_of_pareto(1.5, 0), "count: found 0"),
        (lambda: values_needed(1.5, 2), "relative_error: found 2"),
        (lambda: normalised(lambda _: float("nan"), 1, 1), "found a load of nan"),
        (lambda: normalised(lambda x: x, -1, 1), "target: found -1"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(StatisticsError, match=message):
        call()


@pytest.mark.parametrize(
    ("draw", "tail_index"),
    [
        (lambda rng: rng.pareto(1.5, 5000), 1.5),
        (lambda rng: np.abs(rng.standard_t(2, 5000)), 2.0),
        (lambda rng: rng.pareto(1.5, 5000) + 1, 1.5),
    ],
)
def test_intervals_carry_the_choice_of_k(draw, tail_index: float) -> None:  # type: ignore[no-untyped-def]
    """Lomax, |t_2|, Pareto: Hill's at the largest k that passes a test covers 8, 19 and 93 %."""
    rng = np.random.default_rng(11)
    found = [hill(draw(rng)) for _ in range(30)]
    covered = sum(each.ci[0] < tail_index < each.ci[1] for each in found)
    # 30 draws at 95 %: 25 or fewer in 1.6 % of cases.
    assert covered >= 25
    assert all(each.carries_choice for each in found)


def test_hill_at_a_given_k_says_what_its_interval_leaves_out() -> None:
    x = pareto(np.random.default_rng(3), 2000, 1.0, 1.5)
    assert not hill(x, k=1000).carries_choice
    assert not power_law(x).tail.carries_choice


@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_a_lognormal_is_noticed(sigma: float) -> None:
    x = np.random.default_rng(5).lognormal(0, sigma, 5000)
    for warning in (hill(x).warning, power_law(x).tail.warning):
        assert warning is not None
        assert "a lognormal fits" in warning


def test_an_exponential_is_noticed() -> None:
    warning = hill(np.random.default_rng(5).exponential(size=5000)).warning
    assert warning is not None
    assert "an exponential fits" in warning


def test_power_laws_are_seldom_called_lognormal() -> None:
    rng = np.random.default_rng(6)
    warned = [hill(sample).warning for _ in range(15) for sample in (rng.pareto(1.5, 5000), rng.pareto(1.5, 5000) + 1)]
    # 5 % by construction where a power law is exact: more than five of thirty in 0.3 % of cases.
    assert sum(each is not None for each in warned) <= 5
