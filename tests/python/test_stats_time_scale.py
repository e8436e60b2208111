"""T_L from measured traffic: what is predictable is found, at the shortest interval that predicts as well as any."""

from __future__ import annotations

import numpy as np
import pytest

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.synthesis import fgn
from parshall_studies.time_scale import FEWEST_BLOCKS, time_scale


def first_order(n: int, rho: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = np.zeros(n)
    for i, shock in enumerate(rng.normal(size=n - 1), 1):
        x[i] = rho * x[i - 1] + shock
    return x


@pytest.mark.parametrize("h", [0.7, 0.85])
def test_the_correlation_of_fgn_is_the_same_at_all_scales(h: float) -> None:
    series = [fgn(2**14, h, np.random.default_rng(seed)) for seed in range(8)]
    found = time_scale(series, 0.5)
    expected = 2 ** (2 * h - 1) - 1
    for each in found.correlations:
        # The mean of a block is known worse than of independent values, which biases r down by about n^(2H-2).
        bias = (2**14 / each.interval_s * 0.5) ** (2 * h - 2)
        assert each.correlation == pytest.approx(expected, abs=4 * each.standard_error + bias), each
    assert found.interval_s is not None
    assert found.interval_s <= 4.0, "no interval is better than a short one"


def test_without_memory_there_is_nothing_to_predict() -> None:
    chosen = [time_scale(np.random.default_rng(seed).normal(size=4096), 1.0).interval_s for seed in range(100)]
    # 5 % wrong over all intervals tried, or less: of 100 more than 12 would be 3 standard deviations off.
    assert sum(each is not None for each in chosen) <= 12


def test_short_memory_predicts_at_short_intervals_only() -> None:
    found = time_scale([first_order(2**14, 0.9, seed) for seed in range(4)], 0.1)
    assert found.interval_s == 0.1
    assert found.correlations[0].correlation == pytest.approx(0.9, abs=0.02)
    assert found.correlations[-1].correlation < 0.1
    assert found.chosen == found.correlations[0]


def test_noise_on_a_slow_signal_makes_longer_intervals_better() -> None:
    """Bins of noise hide what comes and goes over 100 bins; sums show it."""
    rng = np.random.default_rng(7)
    slow = np.repeat(rng.normal(size=400), 100)
    found = time_scale(slow + 3 * rng.normal(size=slow.size), 0.1)
    assert found.interval_s is not None
    assert 0.5 <= found.interval_s <= 5.0


def test_ten_rtts_are_the_least_and_a_limit_is_kept() -> None:
    series = np.cumsum(np.random.default_rng(1).normal(size=2**13))
    found = time_scale(series, 0.1, rtt_s=0.2, longest_s=5.0)
    assert found.correlations[0].interval_s == pytest.approx(2.0)
    assert found.correlations[-1].interval_s <= 5.0
    assert all(each.pairs + 1 >= FEWEST_BLOCKS for each in found.correlations)


@pytest.mark.parametrize(
    ("series", "bin_s", "message"),
    [
        ([1.0, 2.0] * 10, 1.0, "found 20 bins of 1 s; intervals of 1 s or more need 32"),
        ([1.0] * 100, 1.0, "one that varies"),
        ([1.0, float("nan")] * 100, 1.0, "not finite"),
        ([[1.0, 2.0], [3.0, 4.0]] * 4, 1.0, "found 2 bins"),
        ([1.0, 2.0] * 100, 0.0, "bin_s: found 0.0"),
        (["a", "b"], 1.0, "numbers only"),
    ],
)
def test_what_is_refused(series: object, bin_s: float, message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        time_scale(series, bin_s)  # type: ignore[arg-type]
