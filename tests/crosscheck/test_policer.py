"""A policer lets its rate pass and no more, without a queue; TCP loses more behind it than behind a queue of that rate.

The latter is what Flach et al. (SIGCOMM 2016) measured: connections that are policed lose several times as much.
"""

from __future__ import annotations

from typing import Any

RATE_BPS = 10e6
BURST_BYTES = 60_000
POLICER = {"name": "policer", "rate": "10 Mbit/s", "burst": "60 kB", "limit": "1000 packets"}
SHAPER = {"name": "drop_tail", "limit": "60 kB"}


def scenario(rate: str, queue: dict[str, Any], flows: dict[str, Any], duration_s: float = 60) -> dict[str, Any]:
    return {
        "duration": f"{duration_s} s",
        "processing_time": "20 us",
        "bottleneck": {"rate": rate, "queue": queue},
        "flows": [{"rtt": "40 ms", **flows}],
    }


def test_what_passes_is_the_rate_and_one_burst(simulate: Any) -> None:
    run = simulate(scenario("100 Mbit/s", POLICER, {"workload": {"name": "cbr", "rate": "20 Mbit/s"}}))
    totals = run.summary["links"][0]
    allowed = (RATE_BPS * 60 / 8 + BURST_BYTES) / 1500
    # The first packet is there within a round trip, and the last one may miss its tokens by a byte.
    assert allowed - RATE_BPS / 8 * 0.040 / 1500 - 2 <= totals["forwarded"] <= allowed
    assert run.link["max_queue_packets"] <= 1


def test_policed_tcp_loses_more_than_shaped_tcp(simulate: Any) -> None:
    reno = {"congestion_control": "reno", "count": 4}
    policed = simulate(scenario("100 Mbit/s", POLICER, reno))
    shaped = simulate(scenario("10 Mbit/s", SHAPER, reno))
    assert policed.link["loss_rate"] > 1.5 * shaped.link["loss_rate"]
    assert policed.link["mean_queueing_delay_s"] < 0.01 * shaped.link["mean_queueing_delay_s"]
    assert policed.flows["throughput_bps"].sum() < RATE_BPS * 1.01
