"""Sessions as Markov chains: known limits, a simulation of the same session, and the numbers' own errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parshall.analysis.models.inputs import FloatArray
from parshall_studies.diffserv import REFINED, Datagrams, Router, Sessions, chain, fixed_point
from parshall_studies.diffserv.response import SessionRates

NONE = 1e-9
"""Tokens of a session without a bucket."""


def rates(loss_in: Any, loss_out: Any, rtt_s: Any = 0.1, **changed: Any) -> SessionRates:
    fields = {"rto_margin": 1.0, "reserved": NONE, "burst": NONE, "access": 1e9, "window_limit": 1e9, **changed}
    given = {name: np.atleast_2d(np.asarray(value, dtype=np.float64)) for name, value in fields.items()}
    losses = (np.atleast_2d(np.asarray(loss, dtype=np.float64)) for loss in (loss_in, loss_out))
    return chain.chain_rates(*losses, np.atleast_2d(np.asarray(rtt_s, dtype=np.float64)), **given)


def total(found: SessionRates) -> FloatArray:
    return np.asarray((found.in_per_s + found.out_per_s).ravel())


def test_rare_random_losses_give_the_known_constant() -> None:
    """Ott, Kemperman & Mathis 1996: 1.3098 for the fluid process; the rounds of recovery are of order sqrt(p)."""
    losses = np.array([1e-5, 1e-6, 1e-7])
    constants = total(rates(losses, losses)) * 0.1 * np.sqrt(losses)
    assert np.all(np.diff(constants) > 0)
    assert constants[-1] == pytest.approx(1.3098, rel=2e-3)


def test_without_losses_a_session_sends_what_its_limits_allow() -> None:
    assert total(rates(0.0, 0.0, access=125.0)) == pytest.approx(125.0, rel=1e-4)
    assert total(rates(0.0, 0.0, window_limit=20.0)) == pytest.approx(200.0, rel=1e-4)


def simulated_session(
    p_in: float, p_out: float, *, rtt_s: float, reserved: float, burst: float, rounds: int
) -> tuple[float, float]:
    """Rates of a session that is simulated packet by packet, in whole rounds: SACK, a timeout of RTT + 1 s."""
    draws = np.random.default_rng(5)
    tokens, window, now = burst, 10.0, 0.0
    sent = [0, 0]

    def send(packets: int, time_s: float) -> int:
        """Packets lost of those that are spread over a time."""
        nonlocal tokens, now
        lost, gap = 0, time_s / max(packets, 1)
        for _ in range(packets):
            tokens = min(burst, tokens + reserved * gap)
            within = tokens >= 1.0
            tokens -= within
            sent[not within] += 1
            lost += draws.random() < (p_in if within else p_out)
        now += time_s
        return lost

    recovering = False
    for _ in range(rounds):
        packets = int(window) + (draws.random() < window % 1.0)
        lost = send(packets, rtt_s)
        if not lost:
            window += not recovering
            recovering = False
            continue
        # The first loss is anywhere in the round: what follows it for a round trip is sent too.
        first = int(draws.integers(packets))
        lost += send(first, rtt_s * first / packets)
        window, recovering = max(window / 2.0, 1.0), True
        share_in = min(1.0, (tokens + reserved * rtt_s) / window)
        if draws.random() < 1.0 - (1.0 - share_in * p_in - (1.0 - share_in) * p_out) ** lost:
            send(int(window * (rtt_s + 1.0) / rtt_s), rtt_s + 1.0)
            send(int(window), rtt_s * np.log2(max(window / 2.0, 1.0)))
            window = max(window / 2.0, 1.0)
    return sent[0] / now, sent[1] / now


@pytest.mark.parametrize(
    ("p_in", "p_out", "rtt_s", "reserved", "burst"),
    [
        pytest.param(0.002, 0.02, 0.2, 40.0, 20.0, id="above its reservation"),
        pytest.param(0.001, 0.05, 0.3, 40.0, 10.0, id="near its reservation"),
        pytest.param(0.004, 0.05, 0.3, 100.0, 10.0, id="below its reservation"),
        pytest.param(0.005, 0.005, 0.1, 1.0, 1.0, id="one loss rate"),
    ],
)
def test_as_a_session_simulated_packet_by_packet(
    p_in: float, p_out: float, rtt_s: float, reserved: float, burst: float
) -> None:
    within, beyond = simulated_session(p_in, p_out, rtt_s=rtt_s, reserved=reserved, burst=burst, rounds=60_000)
    found = rates(p_in, p_out, rtt_s, reserved=reserved, burst=burst)
    # The simulation has whole packets and rounds where the chain is continuous: windows of ten packets and more, so
    # a few hundredths; its standard error is about 0.5 %.
    assert total(found)[0] == pytest.approx(within + beyond, rel=0.04)
    assert found.in_per_s[0, 0] == pytest.approx(within, rel=0.04, abs=0.01 * (within + beyond))


CASE = {"reserved": 40.0, "burst": 20.0, "access": 125.0}


def test_interpolation_between_rtts_is_as_good_as_each_by_itself() -> None:
    rtts_s = np.linspace(0.05, 0.8, 101)
    apart = 40.0 + np.append(np.zeros(100), 1e-9)  # no longer alike: each is computed by itself
    between = rates(0.001, 0.015, rtts_s, **CASE)
    alone = rates(0.001, 0.015, rtts_s, **{**CASE, "reserved": apart})
    assert total(between) == pytest.approx(total(alone), rel=3e-3)
    assert between.in_per_s == pytest.approx(alone.in_per_s, rel=3e-3)


def test_steps_are_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = np.array([0.0001, 0.001, 0.01])[:, None]
    rtts_s = np.array([0.05, 0.2, 0.8])
    coarse = rates(losses, 5.0 * losses, rtts_s, **CASE)
    for name, value in (("_STEPS", 64), ("_STARTS", 33), ("_LEVELS", 8)):
        monkeypatch.setattr(chain, name, value)
    fine = rates(losses, 5.0 * losses, rtts_s, **CASE)
    assert total(coarse) == pytest.approx(total(fine), rel=5e-3)


def test_a_session_within_its_reservation_has_all_packets_in() -> None:
    found = rates(0.01, 0.5, reserved=1000.0, burst=50.0)
    assert found.out_per_s[0, 0] == pytest.approx(0.0, abs=1e-9)
    assert total(found) == pytest.approx(total(rates(0.01, 0.01)), rel=1e-9)


def test_no_more_is_in_than_the_bucket_allows() -> None:
    found = rates(0.0005, 0.01, np.linspace(0.05, 0.5, 40), **CASE)
    interpolation = 1e-3
    assert np.all(found.in_per_s <= 40.0 * (1 + interpolation))
    assert np.all(total(found) <= 125.0 * (1 + interpolation))
    assert np.all(np.diff(total(found)) < 0)  # longer round trips, less


def test_the_fixed_point_is_found_from_any_start() -> None:
    sessions = Sessions(np.linspace(0.1, 0.3, 60), 40, 20, access_per_s=125)
    router = Router(3600, 20, 100, 0.01, 20, 100, np.array([0.06, 0.5]))
    found = fixed_point(sessions, router, formulas=REFINED)
    other = fixed_point(sessions, router, formulas=REFINED, start=(500.0, 50.0))
    assert np.all(found.converged)
    assert np.all(other.converged)
    assert other.load_per_s == pytest.approx(found.load_per_s, rel=1e-6)
    assert found.queue_packets[1, 0] < found.queue_packets[0, 0]
    assert found.reasons().tolist() == ["", ""]


def test_several_routers_and_datagrams() -> None:
    crosses = np.array([[True, True]] + [[True, False]] * 12 + [[False, True]] * 12)
    sessions = Sessions(np.full(25, 0.1), 20, 10, access_per_s=200, crosses=crosses)
    line = Router(700, 20, 60, 0.01, 10, 60, 0.1)
    found = fixed_point(sessions, [line, line], datagrams=Datagrams(30.0, 30.0), formulas=REFINED)
    assert found.converged
    assert found.session_delivered_per_s[0] < found.session_delivered_per_s[1:].min()
