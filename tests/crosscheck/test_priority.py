"""Strict priority: a band waits for those before it and for the packet in transmission, never for those behind."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

RATE_BPS = 20e6
PACKET_S = 1500 * 8 / RATE_BPS
RTT_S = 0.040


def scenario(queue: Any, *flows: dict[str, Any]) -> dict[str, Any]:
    return {
        "duration": "40 s",
        "warm_up": "5 s",
        "processing_time": "20 us",
        "bottleneck": {"rate": "20 Mbit/s", "queue": queue},
        "probes": {"flow_samples": False, "link_samples": False, "transfers": False, "latency": True},
        "flows": [{"rtt": f"{RTT_S} s", **group} for group in flows],
    }


def call(rate: str = "2 Mbit/s", **more: Any) -> dict[str, Any]:
    return {"name": "call", "dscp": "EF", "workload": poisson(rate), **more}


def poisson(rate: str) -> dict[str, Any]:
    return {"name": "poisson", "rate": rate, "size": {"name": "constant", "value": "1460 B"}}


def delays(run: Any, column: str = "mean_one_way_delay_s") -> dict[str, float]:
    """Queueing delay of each group, s."""
    rows = run.table("groups").select("group", pl.col(column) - RTT_S / 2 - PACKET_S)
    return dict(rows.iter_rows())


def test_the_first_bands_delay_does_not_hang_on_the_load_of_others(simulate: Any) -> None:
    few, many = (
        simulate(scenario("priority", call(), {"name": "bulk", "count": count, "congestion_control": "reno"}))
        for count in (2, 20)
    )
    # The others keep the link busy, so each packet waits for what is left of one in transmission, half of it, and for
    # calls before it: M/G/1 with priority (Kleinrock 1976, eq. 3.31) with load rho of its own: (1 / 2) / (1 - rho).
    own = 2e6 / RATE_BPS
    expected_s = PACKET_S / 2 / (1 - own)
    for run in (few, many):
        assert delays(run)["call"] == pytest.approx(expected_s, rel=0.1)
        assert delays(run, "one_way_delay_p99_s")["call"] < 4 * PACKET_S
        assert run.flows.filter(pl.col("group") == "call")["packets_dropped"].sum() == 0
    tail = simulate(scenario("drop_tail", call(), {"name": "bulk", "count": 20, "congestion_control": "reno"}))
    assert delays(tail)["call"] > 20 * expected_s


def test_the_last_band_has_what_is_left(simulate: Any) -> None:
    bulk = {"name": "bulk", "count": 4, "congestion_control": "reno"}
    run = simulate(scenario("priority", call("15 Mbit/s"), bulk))
    throughput = dict(run.flows.group_by("group").agg(pl.col("throughput_bps").sum()).iter_rows())
    assert throughput["call"] == pytest.approx(15e6, rel=0.02)
    assert throughput["bulk"] == pytest.approx(5e6, rel=0.05)
    starved = simulate(scenario("priority", call("22 Mbit/s"), bulk))
    assert starved.flows.filter(pl.col("group") == "bulk")["throughput_bps"].sum() < 0.1e6


def test_a_band_has_its_own_queue(simulate: Any) -> None:
    queue = {
        "name": "priority",
        "bands": [{"name": "drop_tail", "limit": "10 packets"}, "fq_codel"],
        "band_of": [1, 1, 1, 1, 1, 0, 0, 0],
    }
    thin = {"name": "thin", "rtt": "40 ms", "workload": poisson("500 kbit/s")}
    run = simulate(scenario(queue, call(), thin, {"name": "bulk", "count": 4}))
    waited = delays(run)
    # Within the last band, flows are isolated: the thin one waits for calls and for turns of new queues only.
    assert waited["call"] < waited["thin"] < 4 * PACKET_S
    assert waited["bulk"] > 2 * waited["thin"]
    assert run.link["utilisation"] > 0.97


def test_acks_have_the_code_point_of_their_flow(simulate: Any) -> None:
    def goodput(dscp: str) -> float:
        document = scenario("drop_tail", {"name": "down", "congestion_control": "reno", "dscp": dscp})
        document["bottleneck"]["reverse"] = {"rate": "1 Mbit/s", "queue": "priority"}
        up = {"name": "up", "direction": "reverse", "rtt": "40 ms", "count": 2, "congestion_control": "reno"}
        document["flows"].append(up)
        run = simulate(document)
        return float(run.flows.filter(pl.col("group") == "down")["goodput_bps"][0])

    # ACKs of 20 Mbit/s need some 0.5 Mbit/s; behind uploads they wait for a second.
    assert goodput("EF") > 17e6
    assert goodput("CS0") < 15e6
