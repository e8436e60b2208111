"""Response functions and CUBIC against the tables of RFC 3649 and RFC 9438."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cubic_limit import Constants, limit_constants
from hypothesis import given
from hypothesis import strategies as st

from parshall.analysis.models import cubic
from parshall.analysis.models.cubic import cubic_independent_window, cubic_window
from parshall.analysis.models.inputs import ModelInputError
from parshall.analysis.models.response import response_window
from parshall.analysis.models.throughput import aimd_window, bic_window, evaluate, htcp_window

losses = st.floats(1e-9, 0.1)

# RFC 3649, table 2 (HighSpeed TCP); the same column is in RFC 9438, tables 1 and 2.
HIGHSPEED = {1e-3: 38, 1e-4: 263, 1e-5: 1795, 1e-6: 12280, 1e-7: 83981, 1e-8: 574356}

# RFC 9438, table 1 (RTT 0.1 s) and table 2 (RTT 0.01 s): C = 0.04, 0.4, 4.
CUBIC = {
    0.1: {
        1e-2: (12, 12, 12),
        1e-3: (38, 38, 59),
        1e-4: (120, 187, 333),
        1e-5: (593, 1054, 1874),
        1e-6: (3332, 5926, 10538),
        1e-7: (18740, 33325, 59261),
        1e-8: (105383, 187400, 333250),
    },
    0.01: {
        1e-2: (12, 12, 12),
        1e-3: (38, 38, 38),
        1e-4: (120, 120, 120),
        1e-5: (379, 379, 379),
        1e-6: (1200, 1200, 1874),
        1e-7: (3795, 5926, 10538),
        1e-8: (18740, 33325, 59261),
    },
}


@pytest.mark.parametrize(("p", "published"), HIGHSPEED.items())
def test_highspeed_windows_of_rfc_3649(p: float, published: int) -> None:
    # The RFC cuts 38.4 to 38 and rounds elsewhere.
    assert float(response_window("highspeed", p)) == pytest.approx(published, rel=2e-3, abs=0.7)


@pytest.mark.parametrize("rtt_s", CUBIC)
@pytest.mark.parametrize("p", CUBIC[0.1])
def test_cubic_windows_of_rfc_9438(rtt_s: float, p: float) -> None:
    for c, published in zip((0.04, 0.4, 4.0), CUBIC[rtt_s][p], strict=True):
        ours = float(cubic_window(p, rtt_s, c=c))
        in_cubic_region = float(cubic_window(p, rtt_s, c=c, reno_friendly=False)) == ours
        # The tables take 1.2 for Reno's sqrt(3/2).
        expected = ours if in_cubic_region else ours * 1.2 / math.sqrt(1.5)
        assert expected == pytest.approx(published, rel=5e-4, abs=0.6)


# RFC 9438, table 3: loss for a throughput in Mbit/s, 1500-byte packets, RTT 0.1 s.
@pytest.mark.parametrize(("mbps", "p"), [(100, 1.4e-5), (1000, 6.3e-7), (10_000, 2.9e-8)])
def test_cubic_rates_of_rfc_9438(mbps: float, p: float) -> None:
    assert float(cubic_window(p, 0.1)) / 0.1 * 12e3 == pytest.approx(mbps * 1e6, rel=0.03)


@pytest.fixture(scope="module")
def constants() -> Constants:
    return limit_constants(chains=1500, losses=200)


def test_independent_cubic_constant_is_that_of_poojary_and_sharma(constants: Constants) -> None:
    assert constants.cubic == pytest.approx(1.3004, rel=0.01)


def test_own_cubic_constants_come_from_the_same_chain(constants: Constants) -> None:
    assert constants.cubic_fast_convergence == pytest.approx(cubic.INDEPENDENT_FAST_CONVERGENCE, rel=0.01)
    assert constants.friendly == pytest.approx(cubic.INDEPENDENT_FRIENDLY, rel=0.01)


def test_friendly_region_under_independent_losses_agrees_with_a_packet_by_packet_window() -> None:
    """RFC 9438 §4.3: alpha until the window of the last loss, 1 above; here a packet at a time."""
    p, chains, packets = 2e-3, 3000, 12_000
    random = np.random.default_rng(5)
    alpha, beta = 3 * 0.3 / 1.7, 0.7
    window = np.full(chains, 30.0)
    prior = window.copy()
    sent = time = 0.0
    for i in range(packets):
        if i >= packets // 3:
            sent, time = sent + chains, time + float((1 / window).sum())
        lost = random.random(chains) < p
        prior = np.where(lost, window, prior)
        window = np.where(lost, beta * window, window + np.where(window < prior, alpha, 1) / window)
    assert sent / time == pytest.approx(cubic.INDEPENDENT_FRIENDLY / math.sqrt(p), rel=0.02)


def test_without_the_reno_friendly_region_the_cubic_one_is_left() -> None:
    assert float(cubic_window(0.01, 0.01, reno_friendly=False)) < float(cubic_window(0.01, 0.01))
    slow = cubic_independent_window(0.01, 0.01, reno_friendly=False)
    assert float(slow) < float(cubic_independent_window(0.01, 0.01))


def test_bic_row_is_a_linear_increase_of_s_max() -> None:
    # Xu, Harfoush & Rhee 2004: S_max = 32, decrease 1/8
    assert math.sqrt(32 * (2 - 1 / 8) / (2 / 8)) == pytest.approx(15.5, abs=0.02)
    assert evaluate("response_bic", loss=1e-4, rtt_s=0.1).in_range is False
    answer = evaluate("response_bic", loss=1e-8, rtt_s=0.1)
    assert answer.window_packets is not None
    assert float(answer.window_packets) == pytest.approx(155_000)
    # The whole cycle comes to the row as the window grows, from below.
    for loss, within in ((1e-6, 0.11), (1e-8, 0.02), (1e-10, 0.003)):
        ratio = float(bic_window(loss)) / (15.4919 / math.sqrt(loss))
        assert 1 - within < ratio < 1


def test_bic_that_takes_less_than_its_least_step_searches_for_nothing() -> None:
    """Its window comes back within a round trip: 1/p packets are one window, if that is above the 14 packets."""
    with np.errstate(all="raise"):
        assert bic_window([1e-2, 1e-3], kept=0.99999, s_min=1.0) == pytest.approx([100, 1000], rel=1e-3)


def test_htcp_is_reno_while_its_cycles_are_short() -> None:
    # Below a second, f = 1: W = 2 T/RTT, beta kept: AIMD with increase 2 (1 - beta).
    for kept in (0.5, 0.8):
        expected = float(aimd_window(0.02, increase=2 * (1 - kept), decrease=kept))
        assert float(htcp_window(0.02, 0.05, kept=kept)) == pytest.approx(expected, rel=1e-3)


def test_htcp_window_is_the_one_found_by_stepping_through_a_cycle() -> None:
    rtt, kept = 0.1, 0.5
    window = start = 200.0
    packets = seconds = 0.0
    while window < start / kept:
        late = max(seconds - 1, 0.0)
        window += 2 * (1 - kept) * (1 + 10 * late + late**2 / 4) * 1e-4 / rtt
        packets, seconds = packets + window * 1e-4 / rtt, seconds + 1e-4
    assert float(htcp_window(1 / packets, rtt, kept=kept)) == pytest.approx(packets * rtt / seconds, rel=1e-3)


def test_scalable_response_is_that_of_its_increase_and_decrease() -> None:
    # Kelly 2003: 0.01 cwnd a round trip, decrease 1/8: 1/p = W ln(8/7)/ln(1.01) packets
    fluid = math.log(8 / 7) and 1 / (1e-5 * math.log(8 / 7) / math.log(1.01))
    assert float(response_window("scalable", 1e-5)) == pytest.approx(fluid, rel=0.08)


@given(p=losses, q=losses)
def test_windows_fall_with_loss_and_are_never_below_renos(p: float, q: float) -> None:
    low, high = sorted((p, q))
    for name in ("reno", "bic", "highspeed", "scalable"):
        assert float(response_window(name, high)) <= float(response_window(name, low))
        assert float(response_window(name, p)) >= float(response_window("reno", p))


@given(p=losses, rtts=st.tuples(st.floats(1e-4, 2), st.floats(1e-4, 2)))
def test_cubic_rate_falls_with_rtt_and_its_window_does_not(p: float, rtts: tuple[float, float]) -> None:
    short, long = sorted(rtts)
    for window in (cubic_window, cubic_independent_window):
        w_short, w_long = float(window(p, short)), float(window(p, long))
        assert w_short <= w_long * (1 + 1e-12)
        assert w_long / long <= w_short / short * (1 + 1e-12)


def test_parameters_out_of_bounds_are_refused() -> None:
    with pytest.raises(ModelInputError, match=r"beta: found 1\.0"):
        cubic_window(0.01, 0.1, beta=1.0)
    with pytest.raises(ModelInputError, match="c: found -1"):
        cubic_window(0.01, 0.1, c=-1)
