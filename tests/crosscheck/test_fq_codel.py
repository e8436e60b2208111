"""FQ-CoDel: flows are isolated from each other, share equally, and every packet is accounted for."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import polars as pl
import pytest

PACKET_S = 1500 * 8 / 20e6


def jain(rates: pl.Series) -> float:
    return float(rates.sum()) ** 2 / (len(rates) * float((rates**2).sum()))


def scenario(queue: Any, **more: Any) -> dict[str, Any]:
    """Four bulk flows of unequal RTTs, and a ping-pong of small transfers."""
    sparse = {
        "name": "sparse",
        "rtt": "20 ms",
        "workload": {
            "name": "on_off",
            "size": {"name": "constant", "value": "1 packet"},
            "off": {"name": "exponential", "mean": "50 ms"},
        },
    }
    return {
        "duration": "60 s",
        "warm_up": "10 s",
        "bottleneck": {"rate": "20 Mbit/s", "queue": queue},
        "flows": [
            {"name": "bulk", "count": 4, "rtt": {"first": "20 ms", "step": "40 ms"}, "congestion_control": "reno"},
            sparse,
        ],
        **more,
    }


TAIL = {"name": "drop_tail", "limit": "400 packets"}


def _sparse(run: Any) -> pl.DataFrame:
    return run.transfers.filter((pl.col("group") == "sparse") & (pl.col("start_s") > 10)).with_columns(
        took_s=pl.col("completion_s") - pl.col("start_s")
    )


def test_a_sparse_flow_keeps_its_delay_beside_bulk_flows(simulate: Any) -> None:
    probes = {"flow_samples": False, "link_samples": False, "transfers": True}
    tail, fair = (_sparse(simulate(scenario(queue, probes=probes))) for queue in (TAIL, "fq_codel"))
    assert len(fair) > 500
    # A round trip is 20 ms and the packet's own transmission. It waits for the packet in transmission, and for the
    # turns of new flows: rarely for more than that.
    alone = 0.020 + PACKET_S
    assert fair["took_s"].min() == pytest.approx(alone)
    assert fair["took_s"].median() < alone + PACKET_S
    assert fair["took_s"].quantile(0.99) < alone + 3 * PACKET_S
    # Without it, it waits behind the bulk flows.
    assert tail["took_s"].median() > alone + 0.05


def test_bulk_flows_share_equally_whatever_their_rtt(simulate: Any) -> None:
    tail, codel, fair = (
        [
            jain(run.flows.filter(pl.col("group") == "bulk")["goodput_bps"])
            for run in (simulate(scenario(queue), seed=seed) for seed in range(1, 6))
        ]
        for queue in (TAIL, "codel", "fq_codel")
    )
    # Not 1: a Reno flow of 140 ms does not fill its share from a queue of 5 ms.
    assert min(fair) > 0.95
    assert max(codel) < 0.85
    # A full queue of 240 ms makes RTTs alike, and runs differ (standard deviation 0.05): five of them have a mean that
    # is known to 0.02, and it is 0.12 lower.
    assert fmean(tail) < fmean(fair) - 0.05


def test_the_limit_takes_from_the_fattest_queue(simulate: Any) -> None:
    # Datagrams at twice the link's rate and a flow of 1 Mbit/s: only the former lose packets, although both share one
    # limit.
    flows = [
        {"name": "flood", "rtt": "20 ms", "workload": {"name": "cbr", "rate": "40 Mbit/s"}},
        {"name": "thin", "rtt": "20 ms", "workload": {"name": "cbr", "rate": "1 Mbit/s"}},
    ]
    queue = {"name": "fq_codel", "limit": "50 packets", "target": "1 s", "interval": "1 s"}
    # Without a warm-up, so that flows and link count the same losses.
    run = simulate(scenario(queue, flows=flows, warm_up="0 s"))
    rows = {row["group"]: row for row in run.flows.iter_rows(named=True)}
    assert rows["thin"]["packets_dropped"] == 0
    assert rows["thin"]["throughput_bps"] == pytest.approx(1e6, rel=0.01)
    assert rows["flood"]["throughput_bps"] == pytest.approx(19e6, rel=0.01)
    assert run.link["max_queue_packets"] <= 50
    totals = run.summary["links"][0]
    assert totals["arrivals"] == totals["forwarded"] + totals["dropped"] + totals["queued"]
    assert rows["flood"]["packets_dropped"] == totals["dropped"]


def test_marks_by_default(simulate: Any) -> None:
    document = scenario("fq_codel")
    document["flows"] = [{**document["flows"][0], "ecn": True}]
    run = simulate(document)
    assert run.link["marked_packets"] > 0
    assert run.link["dropped_packets"] == 0
    assert run.flows["ecn_reductions"].min() > 0
    assert jain(run.flows["goodput_bps"]) > 0.95


def test_data_and_acks_of_many_flows_over_several_links(simulate: Any) -> None:
    links = [{"name": name, "rate": "20 Mbit/s", "queue": "fq_codel"} for name in ("forth", "further", "back")]
    there, back = ["forth", "further"], ["back"]
    flows = [
        {"name": "there", "count": 5, "rtt": "50 ms", "path": there, "reverse_path": back},
        {"name": "return", "count": 5, "rtt": "50 ms", "path": back, "reverse_path": there},
    ]
    run = simulate({"duration": "30 s", "warm_up": "5 s", "links": links, "flows": flows})
    for totals in run.summary["links"]:
        assert totals["arrivals"] == totals["forwarded"] + totals["dropped"] + totals["queued"]
    goodput = run.flows["goodput_bps"]
    # Headers take 2.7 % of the link, and ACKs of the other direction as much; CoDel keeps queues short for the rest.
    assert goodput[:5].sum() > 0.9 * 20e6 * (1460 - 40) / 1500
    assert goodput[5:].sum() > 0.9 * 20e6 * (1460 - 40) / 1500
    assert jain(goodput) > 0.98
