"""A shaper delays what exceeds its rate: in the long run exactly the rate leaves, after a pause one burst at once."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

RATE_BPS = 10e6
BURST_BYTES = 60_000
TAIL = {"name": "drop_tail", "limit": "100 packets"}
SHAPER = {"name": "shaper", "rate": "10 Mbit/s", "burst": "60 kB", "queue": TAIL}


def scenario(rate: str, queue: Any, flows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "duration": "60 s",
        "processing_time": "20 us",
        "bottleneck": {"rate": rate, "queue": queue},
        "flows": [{"rtt": "40 ms", **flows}],
        **more,
    }


def test_what_leaves_is_the_rate_and_one_burst(simulate: Any) -> None:
    cbr = {"workload": {"name": "cbr", "rate": "20 Mbit/s"}}
    totals = simulate(scenario("100 Mbit/s", SHAPER, cbr)).summary["links"][0]
    allowed = (RATE_BPS * 60 / 8 + BURST_BYTES) / 1500
    # The first packet is there within a round trip, and the last one may miss its tokens by a byte.
    assert allowed - RATE_BPS / 8 * 0.040 / 1500 - 2 <= totals["forwarded"] <= allowed
    after = simulate(scenario("100 Mbit/s", SHAPER, cbr, warm_up="10 s")).summary["links"][0]
    assert after["forwarded"] == pytest.approx(RATE_BPS * 50 / 8 / 1500, abs=1)


def test_a_burst_within_the_bucket_does_not_wait(simulate: Any) -> None:
    # 40 packets at once are 60 kB: they take the link's time only; 20 more take the shaper's.
    def last_leaves_s(packets: int) -> float:
        transfer = {
            "workload": {"name": "transfer", "size": f"{packets} packets"},
            "initial_window": "100 packets",
            "congestion_control": "reno",
        }
        probes = {"transfers": True}
        run = simulate(scenario("100 Mbit/s", SHAPER, transfer, duration="10 s", probes=probes))
        return float(run.transfers["completion_s"][0] - run.transfers["start_s"][0]) - 0.040

    service_s = 1500 * 8 / 100e6
    # The host takes 20 us at most for each packet, and they stay in order.
    assert last_leaves_s(40) == pytest.approx(40 * service_s, abs=40e-6)
    more_s = (20 * 1500 - 40 * service_s * RATE_BPS / 8) * 8 / RATE_BPS
    assert last_leaves_s(60) == pytest.approx(40 * service_s + more_s + service_s, abs=40e-6 + 1e-3)


@pytest.mark.parametrize("inner", ["codel", "fq_codel"])
def test_it_is_a_link_of_its_rate(simulate: Any, inner: str) -> None:
    """With a burst of one packet: TCP behind it is as behind a link of that rate with the same queue."""
    cubic = {"count": 4, "congestion_control": "cubic"}
    shaper = {"name": "shaper", "rate": "10 Mbit/s", "burst": "1500 B", "queue": inner}
    found = [
        (run.flows["goodput_bps"].sum(), run.link["mean_queueing_delay_s"])
        for run in (
            simulate(scenario("10 Gbit/s", shaper, cubic, warm_up="10 s")),
            simulate(scenario("10 Mbit/s", inner, cubic, warm_up="10 s")),
        )
    ]
    # What waits at the head for its tokens counts as waiting: that is the transmission time on the slow link, 1.2 ms.
    assert found[0][0] == pytest.approx(found[1][0], rel=0.02)
    assert found[0][1] - 0.0012 == pytest.approx(found[1][1], rel=0.2)


def test_a_queue_within_it_isolates_flows(simulate: Any) -> None:
    shaper = {"name": "shaper", "rate": "10 Mbit/s", "burst": "3 kB", "queue": "fq_codel"}
    flows = [
        {"name": "bulk", "rtt": "20 ms", "count": 2},
        {"name": "call", "rtt": "20 ms", "packet_size": "200 B", "workload": {"name": "cbr", "rate": "100 kbit/s"}},
    ]
    probes = {"latency": True}
    run = simulate(scenario("100 Mbit/s", shaper, {}, warm_up="5 s", probes=probes) | {"flows": flows})
    delay = dict(run.table("groups").select("group", "mean_one_way_delay_s").iter_rows())
    assert delay["call"] - 0.010 < 2 * 0.0012
    assert delay["bulk"] > delay["call"]
    assert run.flows.filter(pl.col("group") == "call")["packets_dropped"].sum() == 0
