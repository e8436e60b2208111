"""Generators in closed loop: what comes out has the mean and the Hurst parameter that were asked for."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.stats import kstest

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.closed_loop import long_memory_mean, verify
from parshall_studies.hurst import whittle_farima, whittle_fgn
from parshall_studies.long_memory import farima_autocovariance, fgn_autocovariance
from parshall_studies.synthesis import farima, fgn, mg_infinity, on_off, pareto


@pytest.mark.parametrize(("make", "r"), [(fgn, fgn_autocovariance), (farima, farima_autocovariance)])
@pytest.mark.parametrize("h", [0.3, 0.5, 0.9])
def test_gaussian_series_have_their_autocovariance(make, r, h: float) -> None:  # type: ignore[no-untyped-def]
    """Around the known mean 0, over 4000 series: exact for any length, also one that is no power of two."""
    x = make(97, h, np.random.default_rng(1), series=4000)
    sample = x.T @ x / 4000
    expected = r(np.abs(np.subtract.outer(np.arange(97), np.arange(97))).ravel(), h).reshape(97, 97)
    error = np.sqrt((expected**2 + expected[0, 0] ** 2) / 4000)
    assert np.max(np.abs(sample - expected) / error) < 5.5
    assert kstest(x[:, 50] / np.sqrt(expected[0, 0]), "norm").pvalue > 1e-3


@pytest.mark.parametrize("h", [0.55, 0.75, 0.95])
def test_gaussian_series_in_closed_loop(h: float) -> None:
    rng = np.random.default_rng(2)
    assert whittle_fgn(fgn(2**15, h, rng), level=0.999).contains(h)
    assert whittle_farima(farima(2**15, h, rng), level=0.999).contains(h)


@pytest.mark.parametrize("tail_index", [1.2, 1.4, 1.6])
@pytest.mark.parametrize("kind", ["on_off", "mg_infinity"])
def test_traffic_in_closed_loop(kind: str, tail_index: float) -> None:
    h = (3 - tail_index) / 2
    for seed in (1, 2, 3):
        rng = np.random.default_rng(seed)
        if kind == "on_off":
            x, mean = on_off(2**16, 200, rng, mean_on=4, mean_off=12, tail_index=tail_index, rate=2.0), 100.0
        else:
            x, mean = mg_infinity(2**16, rng, arrivals=20, mean_duration=5, tail_index=tail_index), 100.0
        loop = verify(x, h=h, mean=mean, level=0.999)
        assert loop.h_holds, loop.estimate
        assert loop.mean_holds, loop.interval


def test_a_wrong_scale_is_noticed() -> None:
    """The location parameter taken for the mean: what a generator got wrong for years."""
    tail_index = 1.4
    x = on_off(
        2**15, 200, np.random.default_rng(1), mean_on=4 * tail_index / (tail_index - 1), mean_off=12, tail_index=1.4
    )
    assert not verify(x, h=0.8, mean=50.0).mean_holds


def test_on_off_with_light_tails_is_not_long_range_dependent() -> None:
    x = on_off(2**17, 40, np.random.default_rng(1), mean_on=4, mean_off=12, tail_index=4.0)
    assert not verify(x, h=0.8, mean=10.0).h_holds
    assert verify(x, h=0.5, mean=10.0).mean_holds


def test_stationary_from_the_start() -> None:
    starts = np.array(
        [on_off(1, 50, np.random.default_rng(s), mean_on=4, mean_off=12, tail_index=1.5)[0] for s in range(400)]
    )
    assert starts.mean() == pytest.approx(12.5, abs=4 * np.sqrt(50 * 0.25 * 0.75 / 400))
    sessions = np.array(
        [mg_infinity(1, np.random.default_rng(s), arrivals=2, mean_duration=5, tail_index=1.5)[0] for s in range(400)]
    )
    assert sessions.mean() == pytest.approx(10, abs=4 * np.sqrt(10 / 400))


def test_pareto_values() -> None:
    x = pareto(np.random.default_rng(1), 20_000, 10.0, 2.5)
    assert kstest(x, "pareto", args=(2.5, 0, 6.0)).pvalue > 1e-3


def test_the_same_generator_gives_the_same_series() -> None:
    assert np.array_equal(fgn(100, 0.8, np.random.default_rng(3)), fgn(100, 0.8, np.random.default_rng(3)))


def test_intervals_of_means_of_long_memory_cover() -> None:
    series = fgn(2048, 0.85, np.random.default_rng(4), series=200)
    assert sum(bool(long_memory_mean(x, 0.85).contains(0.0)) for x in series) >= 176


def test_many_points_in_little_time() -> None:
    """2^22 here; 2^24 takes 6.8 s of a core (docs/self_similar.md)."""
    started = time.process_time()
    assert fgn(2**22, 0.8, np.random.default_rng(1)).size == 2**22
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: fgn(10, 1.0, rng), "h: found 1.0"),
        (lambda rng: fgn(0, 0.7, rng), "n: found 0"),
        (lambda rng: farima(10, float("nan"), rng), "h: found nan"),
        (lambda rng: fgn(10, 0.7, rng, series=0), "series: found 0"),
        (lambda rng: on_off(10, 3, rng, mean_on=1, mean_off=1, tail_index=1.0), "with 1 or less the mean is infinite"),
        (lambda rng: on_off(10, 0, rng, mean_on=1, mean_off=1, tail_index=1.5), "sources: found 0"),
        (lambda rng: mg_infinity(10, rng, arrivals=-1, mean_duration=1, tail_index=1.5), "arrivals: found -1"),
        (lambda _: long_memory_mean([1.0, 2.0] * 100, 1.0), "h: found 1.0"),
    ],
)
def test_bad_arguments_are_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(StatisticsError, match=message):
        call(np.random.default_rng(1))
