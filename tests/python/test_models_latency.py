"""Completion times against counted rounds and the steady state."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parshall.analysis.models.inputs import ModelInputError
from parshall.analysis.models.latency import transfer_latency
from parshall.analysis.models.pftk import delivery_rate


@pytest.mark.parametrize("rounds", [1, 2, 5, 10])
@pytest.mark.parametrize("w1", [1, 2, 10])
def test_lossless_slow_start_takes_whole_rounds(rounds: int, w1: int) -> None:
    packets = w1 * (2**rounds - 1)
    latency = transfer_latency(packets, 0, 0.1, 0.2, initial_window=w1)
    assert float(latency.total_s) == pytest.approx(0.1 * rounds)
    assert float(latency.window_packets) == pytest.approx(w1 * 2 ** (rounds - 1))


def test_a_window_partly_used_takes_a_round_too() -> None:
    assert transfer_latency([1, 10, 11, 30, 31], 0, 0.1, 0.2).total_s == pytest.approx([0.1, 0.1, 0.2, 0.2, 0.3])
    assert float(transfer_latency(1, 0.01, 0.1, 0.2).slow_start_s) == 0.1


def test_window_limit_makes_the_rest_linear() -> None:
    # 10, 20, 40, 80, 80, 80: 310 packets in 6 rounds
    latency = transfer_latency(310, 0, 0.1, 0.2, window_limit_packets=80)
    assert float(latency.total_s) == pytest.approx(0.6)
    longer = transfer_latency(310 + 8000, 0, 0.1, 0.2, window_limit_packets=80)
    assert float(longer.total_s) - float(latency.total_s) == pytest.approx(10.0)


def test_delayed_acks_grow_by_half_a_round() -> None:
    # 4, 6, 9: 19 packets in 3 rounds
    assert float(transfer_latency(19, 0, 0.1, 0.2, initial_window=4, packets_per_ack=2).total_s) == pytest.approx(0.3)


def test_lone_first_packet_waits_for_its_delayed_ack() -> None:
    one = transfer_latency(10, 0, 0.1, 0.2, initial_window=1, delayed_ack_s=0.2)
    ten = transfer_latency(10, 0, 0.1, 0.2, initial_window=10, delayed_ack_s=0.2)
    assert float(one.delayed_ack_s) == 0.2
    assert float(ten.delayed_ack_s) == 0.0


def test_handshake_takes_a_round_trip_and_the_timeouts_of_lost_syns() -> None:
    lossless = transfer_latency(10, 0, 0.1, 0.2, handshake=True)
    assert float(lossless.handshake_s) == pytest.approx(0.1)
    # By enumeration: each side sends until a packet and what answers it pass; timeouts double from 1 s.
    p = 0.05
    failures = np.arange(60)
    mean_wait = float((p**failures * (1 - p)) @ (2.0**failures - 1))
    lossy = transfer_latency(10, p, 0.1, 0.2, handshake=True)
    assert float(lossy.handshake_s) == pytest.approx(0.1 + 2 * mean_wait, rel=1e-6)


def test_packets_of_slow_start_are_those_before_the_first_loss() -> None:
    p, d = 0.02, 100
    k = np.arange(d)
    expected = float((1 - p) ** k @ (p * k)) + (1 - p) ** d * d + 1  # source, eq. (5), and the lost one
    latency = transfer_latency(d, p, 0.1, 0.2, initial_window=1)
    window = expected / 2 + 0.5
    assert float(latency.window_packets) == pytest.approx(window, rel=1e-9)


def test_long_transfers_approach_the_steady_state() -> None:
    p, rtt_s, rto_s = 0.01, 0.1, 0.2
    times = transfer_latency([1e5, 1e6], p, rtt_s, rto_s).total_s
    assert 9e5 / float(times[1] - times[0]) == pytest.approx(float(delivery_rate(p, rtt_s, rto_s)), rel=1e-6)


@given(
    d=st.integers(1, 10_000),
    more=st.integers(0, 1000),
    p=st.one_of(st.just(0.0), st.floats(1e-7, 0.1)),
    rtt_s=st.floats(1e-3, 1),
)
def test_longer_transfers_take_longer(d: int, more: int, p: float, rtt_s: float) -> None:
    short, long = transfer_latency([d, d + more], p, rtt_s, max(0.2, rtt_s)).total_s
    assert 0 < short <= long * (1 + 1e-9)
    assert math.isfinite(long)


@given(d=st.integers(1, 10_000), losses=st.tuples(st.floats(1e-6, 0.1), st.floats(1e-6, 0.1)))
def test_transfers_that_lose_take_longer_than_without(d: int, losses: tuple[float, float]) -> None:
    # Up to one round trip: slow start is counted in whole rounds, and a rare loss ends it a fraction of a round earlier
    # (631 packets at p = 6e-5 are such a case).
    rtt_s = 0.1
    none, *some = transfer_latency(d, [0, *losses], rtt_s, 0.2).total_s
    assert min(some) >= none - rtt_s


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(ModelInputError, match="packets"):
        transfer_latency(0.5, 0, 0.1, 0.2)
    with pytest.raises(ModelInputError, match="with a handshake"):
        transfer_latency(10, 0.6, 0.1, 0.2, handshake=True)
