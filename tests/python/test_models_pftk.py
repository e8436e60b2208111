"""PFTK against its limits, published values, and a simulation of the process that it abstracts."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parshall.analysis.models import pftk
from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall.analysis.models.square_root import square_root_window

Rate = Callable[..., FloatArray]
RATES: list[Rate] = [pftk.send_rate, pftk.delivery_rate, pftk.approximate_rate]
rates = pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.__name__)
losses = st.floats(1e-7, 0.4)
times = st.floats(1e-3, 2)


@rates
@pytest.mark.parametrize("b", [1, 2])
def test_reduces_to_the_square_root_law_for_small_losses(rate: Rate, b: int) -> None:
    errors = []
    for p in (1e-4, 1e-6, 1e-8):
        law = float(square_root_window(p, packets_per_ack=b)) / 0.1
        errors.append(abs(float(rate(p, 0.1, 0.2, packets_per_ack=b)) / law - 1))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-3


# RFC 3448 §3.1 with b = 1 and t_RTO = 4 RTT, as 1/(RTT f(p)); 10^6 f(p) as Linux's CCID 3 tabulates it.
@pytest.mark.parametrize(("p", "published"), [(1e-4, 8172), (2e-3, 37172), (0.01, 89021), (0.05, 271305)])
def test_approximation_agrees_with_the_kernels_table(p: float, published: int) -> None:
    rtt_s = 0.08
    f = 1 / (rtt_s * float(pftk.approximate_rate(p, rtt_s, 4 * rtt_s)))
    assert 1e6 * f == pytest.approx(published, abs=1)


def test_source_approximates_the_timeout_probability_by_three_over_w() -> None:
    windows = np.array([3.0, 6.0, 12.0, 60.0])
    assert pftk.timeout_probability(1e-9, windows) == pytest.approx(np.minimum(1, 3 / windows), rel=1e-6)
    assert pftk.timeout_probability(1e-3, windows) == pytest.approx(np.minimum(1, 3 / windows), rel=0.1)


def test_backoff_factor_is_the_mean_length_of_a_timeout_sequence() -> None:
    for p in (0.01, 0.1, 0.3):
        n = np.arange(1, 400)
        length = np.where(n <= 6, 2.0**n - 1, 63 + 64.0 * (n - 6))  # L_k of the source, in T_0
        mean = float((p ** (n - 1.0) * (1 - p)) @ length)
        assert float(pftk.backoff_factor(p)) / (1 - p) == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("p", [1e-4, 1e-3, 1e-2])
def test_send_rate_agrees_with_a_simulation_of_its_process(p: float, b: int) -> None:
    simulated = simulate_process(p, rtt_s=0.1, rto_s=0.4, b=b, window_limit=math.inf)
    formula = float(pftk.send_rate(p, 0.1, 0.4, packets_per_ack=b))
    # The formula puts means into non-linear functions: 6 % too little as p -> 0, where 1.22 should be 1.31.
    assert formula == pytest.approx(simulated, rel=0.08)


@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("p", [1e-3, 2e-3])
def test_limited_send_rate_agrees_with_a_simulation_of_its_process(p: float, b: int) -> None:
    """With the window at its limit the means are exact, and long timeouts weigh as much as the rounds."""
    window_limit, rto_s = 6.0, 10.0
    simulated = simulate_process(p, rtt_s=0.1, rto_s=rto_s, b=b, window_limit=window_limit)
    formula = float(pftk.send_rate(p, 0.1, rto_s, packets_per_ack=b, window_limit_packets=window_limit))
    assert formula == pytest.approx(simulated, rel=0.02)
    assert formula < 0.98 * window_limit / 0.1


def simulate_process(p: float, *, rtt_s: float, rto_s: float, b: int, window_limit: float) -> float:
    """Packets sent a second: rounds of growing windows, the rest of a round lost with its first lost packet."""
    random = np.random.default_rng(3)
    log_survive = math.log1p(-p)
    window, sent, seconds = 10.0, 0.0, 0.0
    for _ in range(15_000):
        window = max(window / 2, 1.0)
        first_lost = math.ceil(math.log(1 - random.random()) / log_survive) or 1
        passed = 0.0
        while passed + window < first_lost:  # rounds without a loss
            passed += window
            seconds += rtt_s
            window = min(window + 1 / b, window_limit)
        acknowledged = first_lost - math.floor(passed) - 1  # of the round with the loss
        sent += passed + window + acknowledged
        seconds += 2 * rtt_s
        in_sequence = min(acknowledged, math.floor(math.log(1 - random.random()) / log_survive))
        if acknowledged < 3 or in_sequence < 3:  # too few duplicate ACKs
            timeouts = 1
            while random.random() < p:
                timeouts += 1
            sent += timeouts
            seconds += rto_s * (2**timeouts - 1 if timeouts <= 6 else 63 + 64 * (timeouts - 6))
    return sent / seconds


@rates
@given(p=losses, q=losses, rtt_s=times, rto_s=times)
def test_rate_falls_with_loss(rate: Rate, p: float, q: float, rtt_s: float, rto_s: float) -> None:
    low, high = sorted((p, q))
    assert float(rate(high, rtt_s, rto_s)) <= float(rate(low, rtt_s, rto_s)) * (1 + 1e-9)


@rates
@given(p=losses, rtts=st.tuples(times, times), rto_s=times)
def test_rate_falls_with_rtt(rate: Rate, p: float, rtts: tuple[float, float], rto_s: float) -> None:
    short, long = sorted(rtts)
    assert float(rate(p, long, rto_s)) <= float(rate(p, short, rto_s)) * (1 + 1e-9)


@rates
@given(p=losses, rtt_s=times, rto_s=times, window_limit=st.floats(1, 1e4))
def test_window_limit_is_respected(rate: Rate, p: float, rtt_s: float, rto_s: float, window_limit: float) -> None:
    limited = float(rate(p, rtt_s, rto_s, window_limit_packets=window_limit))
    # A round of a window, and what a timeout sequence sends: a packet a timeout.
    assert 0 < limited <= window_limit / rtt_s * (1 + 1e-9) + 2 / rto_s


@given(p=losses, rtt_s=times, rto_s=times)
def test_no_more_is_delivered_than_sent(p: float, rtt_s: float, rto_s: float) -> None:
    assert float(pftk.delivery_rate(p, rtt_s, rto_s)) <= float(pftk.send_rate(p, rtt_s, rto_s))


def test_limited_window_without_losses_is_a_window_a_round_trip() -> None:
    assert float(pftk.send_rate(1e-9, 0.1, 0.2, window_limit_packets=20)) == pytest.approx(200, rel=1e-4)


def test_impossible_times_are_refused() -> None:
    with pytest.raises(ModelInputError, match=r"rtt_s: found 0\.0"):
        pftk.send_rate(0.01, 0, 0.2)
    with pytest.raises(ModelInputError, match="rto_s: found nan"):
        pftk.send_rate(0.01, 0.1, math.nan)
    with pytest.raises(ModelInputError, match="window_limit_packets: found -1"):
        pftk.send_rate(0.01, 0.1, 0.2, window_limit_packets=-1)
