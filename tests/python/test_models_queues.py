"""Queues against textbook values, each other, and simulated waiting times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parshall.analysis.models.inputs import ModelInputError
from parshall.analysis.models.queues import Queue, md1, md1k, mg1, mm1, mm1k


def number(value: float | None) -> float:
    assert value is not None
    return value


@pytest.mark.parametrize(("load", "waiting"), [(0.5, 0.5), (0.8, 3.2), (0.9, 8.1), (0.95, 18.05)])
def test_mm1_and_md1(load: float, waiting: float) -> None:
    assert number(mm1(load, 1).mean_queue_packets) == pytest.approx(waiting)
    assert number(md1(load, 1).mean_queue_packets) == pytest.approx(waiting / 2)


def test_wait_is_littles_law() -> None:
    for queue in (mm1(300, 400), md1k(300, 400, 5), mm1k(600, 400, 5)):
        accepted = queue.utilisation * 400 * (1 - number(queue.loss))
        assert number(queue.mean_wait_s) * accepted == pytest.approx(number(queue.mean_queue_packets))


@pytest.mark.parametrize("finite", [mm1k, md1k])
def test_large_buffers_do_not_matter(finite: object) -> None:
    infinite = mm1 if finite is mm1k else md1
    for load in (0.3, 0.7, 0.9):
        queue = finite(load, 1, 400)  # type: ignore[operator]
        assert number(queue.mean_queue_packets) == pytest.approx(number(infinite(load, 1).mean_queue_packets), rel=1e-8)
        assert number(queue.loss) < 1e-12


def test_erlang_loss_of_one_place() -> None:
    for load in (0.2, 1.0, 3.0):  # insensitive to the law of the service time
        assert number(mm1k(load, 1, 1).loss) == pytest.approx(load / (1 + load))
        assert number(md1k(load, 1, 1).loss) == pytest.approx(load / (1 + load))


def test_overload_loses_the_excess() -> None:
    for finite in (mm1k, md1k):
        queue = finite(3.0, 1, 200)
        assert number(queue.loss) == pytest.approx(2 / 3, abs=1e-9)
        assert 197 < number(queue.mean_queue_packets) < 199


def test_mm1k_at_load_one_is_uniform() -> None:
    queue = mm1k(5, 5, 4)
    assert number(queue.loss) == pytest.approx(0.2)
    assert number(queue.mean_queue_packets) == pytest.approx((0 + 0 + 1 + 2 + 3) / 5)


def test_md1k_stays_accurate_in_large_buffers() -> None:
    deep = md1k(0.999, 1, 5000)
    assert number(deep.mean_queue_packets) < number(md1(0.999, 1).mean_queue_packets)
    assert number(deep.mean_queue_packets) == pytest.approx(number(md1(0.999, 1).mean_queue_packets), rel=0.01)
    assert number(md1k(50.0, 1, 1000).loss) == pytest.approx(0.98, abs=1e-6)


@pytest.mark.parametrize("exponential", [True, False])
def test_waits_agree_with_lindleys_recursion(exponential: bool) -> None:
    random = np.random.default_rng(7)
    n, load = 400_000, 0.6
    gaps = random.exponential(1 / load, n)
    services = random.exponential(1, n) if exponential else np.ones(n)
    steps = services[:-1] - gaps[1:]
    walk = np.concatenate([[0.0], np.cumsum(steps)])
    waits = walk - np.minimum.accumulate(walk)
    model = mm1(load, 1) if exponential else md1(load, 1)
    assert float(waits.mean()) == pytest.approx(number(model.mean_wait_s), rel=0.05)


@pytest.mark.parametrize("capacity", [2, 5, 10])
def test_finite_queues_agree_with_a_simulation(capacity: int) -> None:
    """Arrivals to a queue of fixed services: dropped when `capacity` are present."""
    random = np.random.default_rng(11)
    load, n = 0.9, 200_000
    departures: list[float] = []
    head = dropped = 0
    now = 0.0
    for gap in random.exponential(1 / load, n):
        now += float(gap)
        while head < len(departures) and departures[head] <= now:
            head += 1
        if len(departures) - head >= capacity:
            dropped += 1
            continue
        departures.append(max(now, departures[-1] if departures else 0.0) + 1)
    assert dropped / n == pytest.approx(number(md1k(load, 1, capacity).loss), rel=0.1)


@given(loads=st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)), cv2=st.floats(0, 50))
def test_waiting_grows_with_load_and_with_variability(loads: tuple[float, float], cv2: float) -> None:
    low, high = sorted(loads)
    light, heavy = mg1(low, 1, service_cv2=cv2), mg1(high, 1, service_cv2=cv2)
    assert number(light.mean_queue_packets) <= number(heavy.mean_queue_packets)
    assert number(md1(low, 1).mean_queue_packets) <= number(light.mean_queue_packets) + 1e-12


@given(load=st.floats(0.01, 5), capacity=st.integers(1, 60))
def test_finite_queues_keep_their_bounds(load: float, capacity: int) -> None:
    queues: list[Queue] = [mm1k(load, 1, capacity), md1k(load, 1, capacity)]
    for queue in queues:
        assert 0 <= number(queue.loss) < 1
        assert -1e-12 <= number(queue.mean_queue_packets) <= capacity - 1 + 1e-9
        assert load * (1 - number(queue.loss)) <= 1 + 1e-9  # no more is served than the server can
    assert number(queues[1].loss) <= number(queues[0].loss) + 1e-12  # less variable, less lost


def test_overload_without_a_limit_is_out_of_range() -> None:
    for queue in (mm1(2, 1), md1(1, 1), mg1(1.5, 1, service_cv2=3)):
        assert not queue.in_range
        assert queue.mean_queue_packets is queue.mean_wait_s is queue.loss is None
        assert "grows for ever" in (queue.reason or "")
    assert "infinite" in (mg1(0.5, 1, service_cv2=float("inf")).reason or "")


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(ModelInputError, match="arrivals_per_s"):
        mm1(0, 1)
    with pytest.raises(ModelInputError, match="capacity_packets"):
        mm1k(1, 1, 0)
    with pytest.raises(ModelInputError, match="capacity_packets"):
        md1k(1, 1, 10**6)
    with pytest.raises(ModelInputError, match="service_cv2"):
        mg1(1, 2, service_cv2=-1)
