"""How predictions read a resolved scenario: spreads of RTTs, links."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parshall.instruments.prediction import network

PS = 10**12


def link(rate_bps: float = 48e6, packets: int = 100, name: str = "a") -> dict[str, Any]:
    limit = {"packets": packets}
    return {
        "name": name,
        "rate": {"constant": int(rate_bps)},
        "queue": {"name": "drop_tail", "limit": limit},
        "loss": {"name": "none"},
    }


def flows(**changes: Any) -> dict[str, Any]:
    return {
        "name": "flows0",
        "count": 1,
        "path": [0],
        "reverse_path": [],
        "rtt_ps": {"constant": PS // 10},
        "access_bps": None,
        "start_ps": {"constant": 0},
        "packet_bytes": 1500,
        "header_bytes": 40,
        "tcp": {"ack_size": 40},
        "congestion_control": {"name": "reno"},
        "workload": {"name": "bulk"},
        "marker": {"name": "none"},
        **changes,
    }


def scenario(groups: list[dict[str, Any]], links: list[dict[str, Any]]) -> dict[str, Any]:
    return {"duration_ps": PS, "warm_up_ps": 0, "links": links, "flows": groups}


@pytest.mark.parametrize(
    ("spread", "mean_s"),
    [
        ({"constant": PS // 10}, 0.1),
        ({"linear": {"first": PS // 10, "step": PS // 1000}}, 0.1 + 0.001 * (2000 - 1) / 2),
        ({"list": [PS // 10] * 1000 + [3 * PS // 10] * 1000}, 0.2),
        ({"uniform": {"low": 0, "high": PS}}, 0.5),
        ({"distribution": {"of": {"name": "exponential", "mean": 0.1}, "min_ps": 0}}, 0.1),
    ],
)
def test_many_flows_are_represented_by_few(spread: dict[str, Any], mean_s: float) -> None:
    read = network.read(scenario([flows(count=2000, rtt_ps=spread)], [link(rate_bps=1e15)]))
    (group,) = read.groups
    assert group.base_rtt_s.size <= network.MOST_POINTS
    assert float(group.weights.sum()) == pytest.approx(2000)
    assert float(group.base_rtt_s @ group.weights) / 2000 == pytest.approx(mean_s, rel=5e-3)


@given(count=st.integers(1, network.MOST_POINTS), first=st.integers(1, 10**12), step=st.integers(0, 10**10))
def test_few_flows_are_represented_by_themselves(count: int, first: int, step: int) -> None:
    spread = {"linear": {"first": first, "step": step}}
    (group,) = network.read(scenario([flows(count=count, rtt_ps=spread)], [link(rate_bps=1e18)])).groups
    expected = (first + np.arange(count) * step) / PS
    assert group.base_rtt_s == pytest.approx(expected, rel=1e-9)


def test_rtts_hold_the_transmission_of_packets_and_acks() -> None:
    links = [link(12e6, name="there"), link(4e6, name="back")]
    (group,) = network.read(scenario([flows(reverse_path=[1], access_bps=24_000_000)], links)).groups
    assert float(group.base_rtt_s[0]) == pytest.approx(0.1 + 0.001 + 0.0005 + 40 * 8 / 4e6)


def test_links_read_their_loss_rate_and_buffer() -> None:
    bursts = {"name": "gilbert_elliott", "good_to_bad": 0.01, "bad_to_good": 0.09, "loss_good": 0.0, "loss_bad": 0.5}
    specs = [
        {**link(12e6, 101), "loss": bursts},
        {**link(), "rate": {"trace": [0, 1, 1, 2]}, "queue": {"name": "drop_tail", "limit": {"bytes": 15_000}}},
    ]
    read = network.read(scenario([flows(path=[0, 1])], specs))
    first, second = read.links
    assert first.loss == pytest.approx(0.05)
    assert not first.independent_losses
    assert first.buffer_s(1500) == pytest.approx(0.1)
    assert first.buffer_packets() == 101
    assert second.varies
    assert second.rate_bps == pytest.approx(4 * 12_000 / 0.002)
    assert second.buffer_s(1500) == pytest.approx(9 * 12_000 / second.rate_bps)
    assert second.buffer_packets() is None
