"""The fixed point of sessions and RIO routers: printed values, textbook limits, and what must hold of any network."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import parshall_studies.diffserv.solver as solver_module
from parshall.analysis.models.inputs import ModelInputError
from parshall.analysis.models.pftk import send_rate
from parshall.analysis.models.queues import mm1k
from parshall_studies.diffserv import (
    PRINTED,
    TABLES,
    Datagrams,
    Formulas,
    Router,
    Sessions,
    fixed_point,
    router_state,
    session_rates,
)
from parshall_studies.diffserv.response import _periods

# Malouch & Liu 2002, tables 1 (full), 2 (no), 3 (partial overlap): T, T_in, p_in, p_out, q.
PUBLISHED = {
    "table1": ((20, 100, 0.01, 20, 100, 0.06), (5927.97, 3764.09, 0.004134, 0.015095, 33.79)),
    "table2": ((60, 100, 0.01, 20, 60, 0.06), (5854.04, 3757.99, 0.000005, 0.023605, 21.70)),
    "table3": ((60, 100, 0.01, 20, 100, 0.06), (5936.85, 3766.17, 0.003145, 0.016698, 35.65)),
}


def hundred(access_delay_s: float = 0.016) -> Sessions:
    rtt_s = (100 + 2 * np.arange(100)) / 1000
    return Sessions(rtt_s, 40, 20, access_delay_s=access_delay_s)


@pytest.mark.parametrize("formulas", [TABLES, PRINTED])
@pytest.mark.parametrize("name", PUBLISHED)
def test_tables_of_the_source(name: str, formulas: Formulas) -> None:
    thresholds, (load, load_in, loss_in, loss_out, queue) = PUBLISHED[name]
    found = fixed_point(hundred(), Router(6000, *thresholds), formulas=formulas)
    assert found.converged
    assert found.residual < 1e-9
    assert found.load_per_s[0] == pytest.approx(load, rel=1e-3)
    assert found.load_in_per_s[0] == pytest.approx(load_in, rel=1e-2)
    assert found.loss_out[0] == pytest.approx(loss_out, rel=1e-2)
    assert found.queue_packets[0] == pytest.approx(queue, rel=1e-2)
    if loss_in < 1e-4:
        assert round(float(found.loss_in[0]), 6) == loss_in  # printed with one digit
    else:
        assert found.loss_in[0] == pytest.approx(loss_in, rel=1e-2)


def test_the_reading_of_the_tables_is_the_closer_one() -> None:
    thresholds, values = zip(*PUBLISHED.values(), strict=True)
    for formulas, most in ((TABLES, 0.002), (PRINTED, 0.0055)):
        worst = 0.0
        for each, (_, load_in, _, loss_out, queue) in zip(thresholds, values, strict=True):
            found = fixed_point(hundred(), Router(6000, *each), formulas=formulas)
            pairs = ((found.load_in_per_s, load_in), (found.loss_out, loss_out), (found.queue_packets, queue))
            worst = max(worst, *(abs(float(ours[0]) / printed - 1) for ours, printed in pairs))
        assert most / 2 < worst < most


def test_tables_need_the_access_delay() -> None:
    thresholds, (load, *_) = PUBLISHED["table1"]
    found = fixed_point(hundred(0.0), Router(6000, *thresholds))
    assert abs(found.load_per_s[0] / load - 1) > 1e-3


# --- the router


def test_tail_drop_is_mm1k() -> None:
    for load in (50.0, 90.0, 100.0, 150.0):
        state = router_state(Router.tail_drop(100, 7), 0.4 * load, 0.6 * load)
        textbook = mm1k(load, 100, 7)
        assert state.loss_in == pytest.approx(textbook.loss)
        assert state.loss_out == pytest.approx(textbook.loss)
        busy = state.utilisation
        assert state.queue_packets == pytest.approx((textbook.mean_queue_packets or 0) + busy)


def test_no_probability_is_tail_drop_whatever_min() -> None:
    step = router_state(Router(100, 3, 9, 0, 0, 9, 0), 60, 30)
    drop = router_state(Router.tail_drop(100, 9), 60, 30)
    assert step.state_probabilities == pytest.approx(drop.state_probabilities)


@given(
    thresholds=st.tuples(*[st.floats(1, 80)] * 4),
    probabilities=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    loads=st.tuples(st.floats(0, 500), st.floats(0.1, 500)),
)
def test_balance_of_the_queue(
    thresholds: tuple[float, ...], probabilities: tuple[float, float], loads: tuple[float, float]
) -> None:
    """What is let pass is what is served; classes see one queue; a birth-death chain balances state by state."""
    a, b, c, d = sorted(thresholds)
    router = Router(100, b, d, probabilities[0], a, c, probabilities[1])
    state = router_state(router, *loads)
    passed = loads[0] * (1 - state.loss_in) + loads[1] * (1 - state.loss_out)
    assert passed == pytest.approx(100 * state.utilisation, rel=1e-9)
    assert state.state_probabilities.sum() == pytest.approx(1)
    assert 0 <= state.queue_packets <= np.ceil(d)
    pi = state.state_probabilities
    ups, downs = pi[:-1], pi[1:] * 100
    assert np.all(downs <= ups * sum(loads) * (1 + 1e-9) + 1e-300)


# --- the session


@given(
    loss_out=st.floats(1e-6, 0.3),
    ratio=st.floats(0, 3),
    rho=st.floats(0.05, 300),
    burst=st.floats(1, 100),
    continuous=st.booleans(),
)
def test_each_period_ends_with_one_loss(
    loss_out: float, ratio: float, rho: float, burst: float, continuous: bool
) -> None:
    loss_in = max(min(ratio * loss_out, 0.5), 1e-12)
    arrays = [np.array([each]) for each in (loss_in, loss_out, rho, burst)]
    for period in _periods(*arrays, Formulas(continuous, count_timeouts=False)):
        if period.window[0] < 1e-4:
            continue  # the burst of a full bucket alone loses more than one packet
        assert loss_in * period.sent_in + loss_out * period.sent_out == pytest.approx(1, rel=1e-6)


@given(loss=st.floats(1e-5, 0.02), burst=st.floats(1, 50), share=st.floats(0.01, 3))
def test_equal_losses_need_no_buckets(loss: float, burst: float, share: float) -> None:
    """If both classes lose alike, marking changes nothing: the square-root law with timeouts."""
    rtt_s = 0.1
    law = float((1.5 / loss) ** 0.5 / rtt_s)
    reserved = share * law
    rates = session_rates(loss, loss, rtt_s, reserved, burst)
    window = (8 / (3 * loss)) ** 0.5
    assert rates.window_packets == pytest.approx(window, rel=1e-6)
    assert rates.window_after_timeout_packets == pytest.approx(window, rel=1e-6)
    total = float(rates.in_per_s + rates.out_per_s)
    assert total <= law * (1 + 1e-9)
    assert total == pytest.approx(float(send_rate(loss, rtt_s, rtt_s + 1)), rel=0.5)


@given(
    losses=st.tuples(st.floats(1e-6, 0.2), st.floats(1e-6, 0.2)),
    more=st.floats(1, 4),
    rho=st.floats(0.5, 100),
    burst=st.floats(1, 50),
)
def test_rates_fall_with_losses(losses: tuple[float, float], more: float, rho: float, burst: float) -> None:
    loss_in, loss_out = sorted(losses)
    here = session_rates(loss_in, loss_out, 0.1, rho / 0.1, burst)
    there = session_rates(loss_in, min(loss_out * more, 0.9), 0.1, rho / 0.1, burst)
    assert there.window_packets <= here.window_packets * (1 + 1e-9)


def test_the_printed_branch_jumps_and_ours_does_not() -> None:
    rho = np.linspace(1, 60, 20001)
    for formulas, low, high in ((TABLES, 0.0, 0.002), (PRINTED, 0.01, 1.0)):
        rates = session_rates(0.003, 0.015, 0.2, rho / 0.2, 20, formulas=formulas)
        steps = np.abs(np.diff(np.log(rates.in_per_s)))
        assert low <= steps.max() < high


# --- the fixed point


@st.composite
def networks(draw: st.DrawFn) -> tuple[Sessions, Router]:
    count = draw(st.integers(1, 30))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    capacity = 10 ** draw(st.floats(1.5, 5))
    in_max = draw(st.floats(1, 300))
    out_max = max(1.0, draw(st.floats(0.05, 1)) * in_max)
    router = Router(
        capacity,
        draw(st.floats(0, 1)) * in_max,
        in_max,
        draw(st.floats(0, 1)),
        draw(st.floats(0, 1)) * out_max,
        out_max,
        draw(st.floats(0, 1)),
    )
    access = draw(st.sampled_from([125.0, np.inf]))
    reserved = np.minimum(capacity / count * 10 ** draw(st.floats(-1, 0.5)), access)
    sessions = Sessions(random.uniform(0.005, 0.8, count), reserved, draw(st.floats(1, 40)), access_per_s=access)
    return sessions, router


@settings(max_examples=60, deadline=None)
@given(network=networks(), start=st.tuples(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6)))
def test_any_start_ends_at_the_same_point(network: tuple[Sessions, Router], start: tuple[float, float]) -> None:
    sessions, router = network
    here, there = fixed_point(sessions, router), fixed_point(sessions, router, start=start)
    assert here.converged
    assert there.converged
    assert there.load_per_s == pytest.approx(here.load_per_s, rel=1e-6)
    assert there.session_per_s == pytest.approx(here.session_per_s, rel=1e-5)


@settings(max_examples=60, deadline=None)
@given(network=networks())
def test_the_printed_formulas_have_a_fixed_point_or_say_not(network: tuple[Sessions, Router]) -> None:
    sessions, router = network
    found = fixed_point(sessions, router, formulas=PRINTED)
    assert found.converged == (found.residual <= 1e-9)
    assert found.converged or found.reasons()[()] == "no fixed point was found"


@settings(max_examples=60, deadline=None)
@given(network=networks())
def test_balance_of_the_network(network: tuple[Sessions, Router]) -> None:
    sessions, router = network
    found = fixed_point(sessions, router)
    assert found.session_per_s.sum() == pytest.approx(found.load_per_s[0], rel=1e-6)
    assert found.session_delivered_per_s.sum() == pytest.approx(found.carried_per_s[0], rel=1e-6)
    assert 0 < found.utilisation[0] <= 1 + 1e-9
    assert np.all(found.session_per_s <= np.asarray(sessions.access_per_s) * (1 + 1e-9))
    state = router_state(router, found.load_in_per_s[0], found.load_out_per_s[0])
    assert state.loss_in == pytest.approx(found.loss_in[0], rel=1e-5, abs=1e-12)
    assert state.loss_out == pytest.approx(found.loss_out[0], rel=1e-5, abs=1e-12)


@pytest.mark.slow
def test_later_ways_work_where_newton_is_not_let(monkeypatch: pytest.MonkeyPatch) -> None:
    router = Router(6000, *PUBLISHED["table1"][0])
    expected = fixed_point(hundred(), router).load_per_s
    monkeypatch.setattr(solver_module, "_newton", lambda *_: None)
    for substitutions in (0, 20000):
        monkeypatch.setattr(solver_module, "_SUBSTITUTIONS", substitutions)
        monkeypatch.setattr(solver_module, "_DAMPING", 0.01)
        found = fixed_point(hundred(), router, start=(10.0, 10.0), tolerance=1e-7)
        assert found.converged
        assert found.load_per_s == pytest.approx(expected, rel=1e-6)
        if substitutions:
            break


def test_without_iterations_it_says_so() -> None:
    router = Router(6000, *PUBLISHED["table1"][0])
    found = fixed_point(hundred(), [router, router], start=(10.0, 10.0), most_iterations=0)
    assert not found.converged
    assert found.residual > 1e-9
    assert found.reasons()[()] == "no fixed point was found"


def test_a_batch_is_its_parts() -> None:
    probabilities = np.array([[0.02, 0.06], [0.2, 1.0]])
    router = Router(6000, 20, 100, 0.01, 20, 100, probabilities)
    together = fixed_point(hundred(), router)
    assert together.load_per_s.shape == (2, 2, 1)
    assert together.session_per_s.shape == (2, 2, 100)
    assert together.converged.shape == (2, 2)
    for index in np.ndindex(2, 2):
        alone = fixed_point(hundred(), router.with_(out_probability=probabilities[index]))
        assert together.load_per_s[index] == pytest.approx(alone.load_per_s, rel=1e-8)
    rtt_s = np.stack([np.full(20, 0.1), np.full(20, 0.3)])
    sets = fixed_point(Sessions(rtt_s, 40, 20), Router.tail_drop(1000, 50))
    assert sets.session_per_s.shape == (2, 20)
    alone = fixed_point(Sessions(rtt_s[1], 40, 20), Router.tail_drop(1000, 50))
    assert sets.load_per_s[1] == pytest.approx(alone.load_per_s, rel=1e-8)


@given(factor=st.floats(1.05, 3))
@settings(max_examples=20, deadline=None)
def test_what_the_parameters_do(factor: float) -> None:
    base = Router(3000, 20, 100, 0.01, 20, 100, 0.06)
    sessions = Sessions(np.linspace(0.05, 0.3, 40), 40, 20)
    here = fixed_point(sessions, base)
    wider = fixed_point(sessions, base.with_(capacity_per_s=3000 * factor))
    assert wider.load_per_s > here.load_per_s
    assert wider.loss_out < here.loss_out
    stricter = fixed_point(sessions, base.with_(out_probability=0.06 * factor))
    assert stricter.queue_packets < here.queue_packets
    assert stricter.loss_in < here.loss_in
    crowded = fixed_point(Sessions(np.linspace(0.05, 0.3, int(40 * factor)), 40, 20), base)
    assert crowded.loss_out > here.loss_out
    assert crowded.queue_packets > here.queue_packets


# --- datagrams, access links, several routers


def test_datagrams_take_what_they_send() -> None:
    router = Router(1000, 20, 60, 0.05, 10, 60, 0.2)
    sessions = Sessions(np.linspace(0.05, 0.2, 20), 20, 10)
    alone = fixed_point(sessions, router)
    beside = fixed_point(sessions, router, datagrams=Datagrams.marked([300, 50], reserved_per_s=100))
    assert beside.load_in_per_s[0] == pytest.approx(beside.session_in_per_s.sum() + 150, rel=1e-6)
    assert beside.load_out_per_s[0] == pytest.approx(beside.session_out_per_s.sum() + 200, rel=1e-6)
    assert beside.session_delivered_per_s.sum() < alone.session_delivered_per_s.sum() - 200
    nothing = fixed_point(sessions, router, datagrams=Datagrams(0.0, 0.0))
    assert nothing.load_per_s == pytest.approx(alone.load_per_s, rel=1e-9)


def test_access_links_that_hold_everybody_leave_the_router_empty() -> None:
    sessions = Sessions(np.full(10, 0.1), 40, 20, access_per_s=50)
    found = fixed_point(sessions, Router.tail_drop(10000, 50))
    assert found.session_per_s == pytest.approx(np.full(10, 50.0))
    assert np.all(found.session_in_per_s <= 50.0)
    assert found.loss_in[0] < 1e-12
    windows = fixed_point(Sessions(np.full(10, 0.1), 40, 20, window_limit_packets=4), Router.tail_drop(10000, 50))
    assert windows.session_per_s == pytest.approx(4 / windows.session_rtt_s)


def test_a_second_router_that_is_wide_does_not_matter() -> None:
    router = Router(1000, 20, 60, 0.05, 10, 60, 0.2)
    sessions = Sessions(np.linspace(0.05, 0.2, 20), 20, 10)
    alone = fixed_point(sessions, router)
    two = fixed_point(sessions, [router, Router.tail_drop(1e9, 100)])
    assert two.converged
    assert two.load_per_s[0] == pytest.approx(alone.load_per_s[0], rel=1e-4)
    assert two.load_per_s[1] == pytest.approx(two.carried_per_s[0], rel=1e-9)  # what the first lets pass


def test_who_crosses_more_routers_gets_less() -> None:
    """A parking lot: session 0 crosses both links, the others one each."""
    crosses = np.array([[True, True]] + [[True, False]] * 15 + [[False, True]] * 15)
    sessions = Sessions(np.full(31, 0.1), 20, 10, crosses=crosses)
    router = Router(800, 20, 60, 0.05, 10, 60, 0.2)
    found = fixed_point(sessions, [router, router])
    assert found.converged
    rates = found.session_per_s
    assert rates[0] < 0.8 * rates[1:].min()
    assert found.session_loss_out[0] == pytest.approx(1 - np.prod(1 - found.loss_out), rel=1e-9)
    through = found.session_in_per_s[0] * (1 - found.loss_in[0])
    assert found.load_in_per_s[1] == pytest.approx(found.session_in_per_s[16:].sum() + through, rel=1e-6)


def test_sessions_without_reservations_are_all_out() -> None:
    found = fixed_point(Sessions(np.linspace(0.05, 0.2, 20)), Router(1000, 20, 60, 0.05, 10, 60, 0.2))
    assert found.converged
    assert found.session_in_per_s == pytest.approx(np.zeros(20), abs=1e-9)
    counted = fixed_point(
        Sessions(np.linspace(0.05, 0.2, 20)), Router(1000, 20, 60, 0.05, 10, 60, 0.2), formulas=PRINTED
    )
    assert np.all(counted.session_in_per_s > 0)  # what is sent during timeouts


# --- bad input


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"in_min": 120}, "in_min, in_max: found 120 above 100"),
        ({"out_min": 80, "out_max": 70}, "out_min, out_max: found 80 above 70"),
        ({"out_max": 130}, "out_max, in_max: found 130 above 100"),
        ({"in_probability": 1.2}, "in_probability: found 1.2, accepted is a probability from 0 to 1"),
        ({"out_probability": -0.1}, "out_probability: found -0.1"),
        ({"out_probability": np.nan}, "out_probability: found nan"),
        ({"capacity_per_s": 0}, "capacity_per_s: found 0.0"),
        ({"in_max": np.inf}, "in_max: found inf"),
        ({"in_probability": [0.1, 0.2], "out_probability": [0.1, 0.2, 0.3]}, "broadcast"),
    ],
)
def test_bad_routers(changes: dict[str, object], message: str) -> None:
    good = {"in_min": 20, "in_max": 100, "in_probability": 0.01, "out_min": 20, "out_max": 60, "out_probability": 0.06}
    with pytest.raises(ModelInputError, match=message):
        Router(**({"capacity_per_s": 6000} | good | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reserved_per_s": 0}, "reserved_per_s: found 0, .*leave reserved_per_s and burst_packets out"),
        ({"burst_packets": 0}, "burst_packets: found 0, .*never holds a packet's token"),
        ({"burst_packets": None}, "a token bucket has both"),
        ({"reserved_per_s": 200}, "found 200 packets/s above the session's access rate of 125 packets/s"),
        ({"rtt_s": []}, "rtt_s: found nothing"),
        ({"rtt_s": [0.1, -0.1]}, "rtt_s: found -0.1"),
        ({"rtt_s": [0.1, 0.2], "reserved_per_s": [1, 2, 3]}, "broadcast"),
        ({"crosses": [[True, False]]}, r"of shape \(1, 2\), accepted is one of booleans of shape \(2, routers\)"),
        ({"crosses": [[True], [False]]}, "flow 1 crosses no router"),
    ],
)
def test_bad_sessions(changes: dict[str, object], message: str) -> None:
    good: dict[str, object] = {"rtt_s": [0.1, 0.2], "reserved_per_s": 40, "burst_packets": 20, "access_per_s": 125}
    with pytest.raises(ModelInputError, match=message):
        Sessions(**(good | changes))  # type: ignore[arg-type]


def test_bad_networks() -> None:
    sessions, router = Sessions([0.1, 0.2], 40, 20), Router.tail_drop(1000, 50)
    with pytest.raises(ModelInputError, match="routers: found none"):
        fixed_point(sessions, [])
    with pytest.raises(ModelInputError, match="found 1 columns, accepted is one a router: 2"):
        fixed_point(Sessions([0.1], 40, 20, crosses=[[True]]), [router, router])
    with pytest.raises(ModelInputError, match="nobody crosses router 1"):
        fixed_point(Sessions([0.1], 40, 20, crosses=[[True, False]]), [router, router])
    with pytest.raises(ModelInputError, match="start: found loads of 0"):
        fixed_point(sessions, router, start=(0.0, 0.0))
    with pytest.raises(ModelInputError, match="batches of shapes"):
        fixed_point(Sessions(np.full((3, 2), 0.1), 40, 20), Router.tail_drop([1000, 2000], 50))
    with pytest.raises(ModelInputError, match="in_per_s: found -1"):
        Datagrams(-1, 0)
    with pytest.raises(ModelInputError, match="loss_out"):
        session_rates(0.1, 1.0, 0.1, 40, 20)


def test_speed() -> None:
    """Far from what it takes, but near enough to notice a loop over sessions or parameter sets."""
    router = Router(6000, *PUBLISHED["table1"][0])
    fixed_point(hundred(), router)
    times = []
    for _ in range(3):
        began = time.process_time()
        fixed_point(hundred(), router)
        times.append(time.process_time() - began)
    assert min(times) < 0.02
    grid = router.with_(in_probability=np.linspace(0, 1, 10)[:, None], out_probability=np.linspace(0.001, 1, 100))
    began = time.process_time()
    found = fixed_point(hundred(), grid)
    assert time.process_time() - began < 3.0
    assert found.converged.all()
    many = 100_000
    began = time.process_time()
    crowd = fixed_point(
        Sessions(np.linspace(0.1, 0.3, many), 40, 20), Router(60.0 * many, 20, 100, 0.01, 20, 100, 0.06)
    )
    assert time.process_time() - began < 5.0
    assert crowd.converged
