"""SFB: a flow that does not react is held to a small rate, and those that react share the rest (Feng et al. 2001)."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

RATE_BPS = 40e6
FLOWS = 20
SFB = {"name": "sfb", "limit": "400 packets", "penalty_rate": "200 kbit/s"}


def scenario(queue: Any, udp: str | None, **more: Any) -> dict[str, Any]:
    flows = [
        {
            "name": "tcp",
            "count": FLOWS,
            "rtt": {"first": "40 ms", "step": "1 ms"},
            "start": {"uniform": "1 s"},
            "congestion_control": "reno",
            **more,
        }
    ]
    if udp is not None:
        flows.append({"name": "udp", "rtt": "40 ms", "workload": {"name": "cbr", "rate": udp}})
    return {
        "duration": "60 s",
        "warm_up": "20 s",
        "processing_time": "20 us",
        "bottleneck": {"rate": f"{RATE_BPS / 1e6} Mbit/s", "queue": queue},
        "flows": flows,
    }


def throughput(run: Any) -> dict[str, float]:
    """Of all flows of a group, bit/s."""
    return dict(run.flows.group_by("group").agg(pl.col("throughput_bps").sum()).iter_rows())


@pytest.mark.parametrize("udp", ["10 Mbit/s", "40 Mbit/s"])
def test_a_flow_that_does_not_react_is_held_to_a_small_rate(simulate: Any, udp: str) -> None:
    fair = throughput(simulate(scenario(SFB, udp)))
    red = throughput(simulate(scenario({"name": "red", "limit": "400 packets"}, udp)))
    # Whatever it offers, it gets no more than twice a fair share, 3.8 Mbit/s: its probability falls while its bins are
    # empty only.
    assert fair["udp"] < 2 * RATE_BPS / (FLOWS + 1)
    assert fair["tcp"] + fair["udp"] > 0.99 * RATE_BPS
    # RED drops a share of what it offers, the same as of others.
    assert red["udp"] > 2.5 * fair["udp"]


def test_flows_that_react_keep_their_shares(simulate: Any) -> None:
    run = simulate(scenario(SFB, "40 Mbit/s"))
    rates = run.flows.filter(pl.col("group") == "tcp")["throughput_bps"]
    assert float(rates.sum()) ** 2 / (FLOWS * float((rates**2).sum())) > 0.9


def test_marks_take_the_place_of_drops(simulate: Any) -> None:
    run = simulate(scenario(SFB, None, ecn=True))
    assert run.link["marked_packets"] > 100
    # A packet is still dropped where all its bins hold `bin_limit`.
    assert run.link["dropped_packets"] < 0.05 * run.link["marked_packets"]
    assert run.link["utilisation"] > 0.97
