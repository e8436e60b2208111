"""The square-root law against published constants and an independent simulation of the window."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parshall.analysis.models.inputs import ModelInputError
from parshall.analysis.models.square_root import (
    aimd_window,
    independent_losses_constant,
    independent_losses_window,
    square_root_window,
)

losses = st.floats(1e-8, 0.1)


def test_large_deviations_paper_gives_8_66_packets_at_two_percent() -> None:
    # Loiseau et al. 2010, §4.1: sqrt(3/(2 p)) = 8.66
    assert float(square_root_window(0.02)) == pytest.approx(8.66, abs=0.005)


@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("p", [1e-6, 1e-4, 1e-2])
def test_mathis_and_padhye_write_the_same_law(p: float, b: int) -> None:
    rtt_s = 0.1
    padhye_rate = 1 / (rtt_s * math.sqrt(2 * b * p / 3))
    assert float(square_root_window(p, packets_per_ack=b)) / rtt_s == pytest.approx(padhye_rate, rel=1e-12)
    assert float(square_root_window(p)) == pytest.approx(1.22 / math.sqrt(p), rel=5e-3)


# RFC 3649, table 1, and RFC 9438, table 1: "12, 38, 120, ..." with 1.2 for sqrt(3/2).
@pytest.mark.parametrize(
    ("p", "published"), [(1e-2, 12), (1e-3, 38), (1e-4, 120), (1e-5, 379), (1e-6, 1200), (1e-8, 12000)]
)
def test_published_windows_of_standard_tcp(p: float, published: int) -> None:
    ours = float(square_root_window(p))
    assert ours == pytest.approx(published, rel=0.025)
    assert math.floor(ours * 1.2 / math.sqrt(1.5) + 0.06) == published


def test_constant_of_independent_losses_is_that_of_ott_kemperman_and_mathis() -> None:
    assert independent_losses_constant() == pytest.approx(1.3098, abs=1e-4)


def test_independent_losses_agree_with_a_simulated_window() -> None:
    """W grows by 1/W a packet and halves at a coin of probability p; the mean is over time (1/W a packet)."""
    p, chains, packets = 1e-3, 4000, 20_000
    random = np.random.default_rng(1)
    window = np.full(chains, 40.0)
    time = sent = 0.0
    for i in range(packets):
        if i >= packets // 4:
            sent += chains
            time += float((1 / window).sum())
        lost = random.random(chains) < p
        window = np.where(lost, window / 2, window + 1 / window)
    assert sent / time == pytest.approx(float(independent_losses_window(p)), rel=0.01)


def test_periodic_losses_agree_with_the_sawtooth_they_come_from() -> None:
    """Any AIMD: sum the packets of one tooth and invert for p."""
    for increase, decrease in [(1.0, 0.5), (3 * 0.3 / 1.7, 0.7), (32.0, 0.875)]:
        top = 10_000.0
        rounds = (1 - decrease) * top / increase
        packets = rounds * (1 + decrease) / 2 * top
        window = aimd_window(1 / packets, increase=increase, decrease=decrease)
        assert float(window) == pytest.approx(packets / rounds, rel=1e-12)


def test_friendly_aimd_has_renos_window_for_any_decrease() -> None:
    for beta in (0.3, 0.5, 0.7, 0.9):  # RFC 9438 §4.3
        window = aimd_window(1e-4, increase=3 * (1 - beta) / (1 + beta), decrease=beta)
        assert float(window) == pytest.approx(float(square_root_window(1e-4)), rel=1e-12)


@given(losses, losses)
def test_more_loss_gives_a_smaller_window(p: float, q: float) -> None:
    low, high = sorted((p, q))
    for window in (square_root_window, independent_losses_window):
        assert float(window(high)) <= float(window(low))


@given(losses)
def test_delayed_acks_cost_a_factor_sqrt_2(p: float) -> None:
    for window in (square_root_window, independent_losses_window):
        assert float(window(p, packets_per_ack=2)) == pytest.approx(float(window(p)) / math.sqrt(2), rel=1e-12)


@pytest.mark.parametrize("loss", [0, 1, -0.1, 2, math.nan, math.inf, [0.1, 0.0], []])
def test_impossible_losses_are_refused(loss: object) -> None:
    with pytest.raises(ModelInputError, match="loss: found"):
        square_root_window(loss)  # type: ignore[arg-type]


def test_arrays_keep_their_shape() -> None:
    assert square_root_window(np.full((2, 3), 0.01)).shape == (2, 3)
