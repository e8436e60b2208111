"""CAKE: flows share equally whatever their RTT, sparse ones hardly wait, and a pause gives no burst.

The claims are those of Høiland-Jørgensen, Täht & Morton (LANMAN 2018).
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

RATE_BPS = 10e6
PACKET_S = 1500 * 8 / RATE_BPS
RTT_S = 0.040
CAKE = {"name": "cake", "rate": "10 Mbit/s"}


def scenario(queue: Any, *flows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "duration": "60 s",
        "warm_up": "10 s",
        "processing_time": "20 us",
        "bottleneck": {"rate": "100 Mbit/s", "queue": queue},
        "probes": {"flow_samples": False, "link_samples": False, "transfers": False, "latency": True},
        "flows": [{"rtt": f"{RTT_S} s", **group} for group in flows],
        **more,
    }


def bulk(count: int = 4, **more: Any) -> dict[str, Any]:
    return {"name": "bulk", "count": count, "congestion_control": "cubic", **more}


def datagrams(name: str, rate: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "workload": {"name": "cbr", "rate": rate}, **more}


def delays(run: Any) -> dict[str, float]:
    """Mean queueing delay of each group, s."""
    return dict(run.table("groups").select("group", pl.col("mean_one_way_delay_s") - RTT_S / 2).iter_rows())


def throughput(run: Any) -> dict[str, float]:
    return dict(run.flows.group_by("group").agg(pl.col("throughput_bps").sum()).iter_rows())


def test_flows_share_equally_and_a_sparse_one_hardly_waits(simulate: Any) -> None:
    rtt = {"rtt": {"first": "20 ms", "step": "40 ms"}}
    call = datagrams("call", "100 kbit/s", packet_size="200 B")
    run = simulate(scenario(CAKE, bulk(**rtt), call))
    rates = run.flows.filter(pl.col("group") == "bulk")["throughput_bps"]
    assert float(rates.sum()) ** 2 / (4 * float((rates**2).sum())) > 0.97
    assert sum(throughput(run).values()) == pytest.approx(RATE_BPS, rel=0.02)
    # It waits for the packet before it, and for no other queue.
    assert delays(run)["call"] < 1.5 * PACKET_S
    assert run.flows.filter(pl.col("group") == "call")["packets_dropped"].sum() == 0


def test_without_a_burst_the_rate_is_exact(simulate: Any) -> None:
    flood = datagrams("flood", "20 Mbit/s")
    totals = simulate(scenario(CAKE, flood)).summary["links"][0]
    assert totals["forwarded"] == pytest.approx(RATE_BPS * 50 / 8 / 1500, abs=1)
    # With 44 bytes of overhead in ATM cells: 1544 bytes are 33 cells, 1749 bytes.
    over = simulate(scenario(CAKE | {"overhead": "44 B", "framing": "atm"}, flood)).summary["links"][0]
    assert over["forwarded"] == pytest.approx(RATE_BPS * 50 / 8 / 1749, abs=1)


def test_a_flood_gets_its_share_only_and_blue_keeps_it_short(simulate: Any) -> None:
    limit = {"limit": "100 packets"}
    run = simulate(scenario(CAKE | limit, bulk(), datagrams("flood", "20 Mbit/s")))
    shares = throughput(run)
    assert shares["flood"] == pytest.approx(RATE_BPS / 5, rel=0.1)
    assert shares["bulk"] == pytest.approx(RATE_BPS * 4 / 5, rel=0.1)
    assert delays(run)["bulk"] < 0.030


def test_a_tin_is_first_up_to_its_rate(simulate: Any) -> None:
    def shares(call: str, background: str = "CS1") -> tuple[dict[str, float], dict[str, float]]:
        flows = (bulk(2), datagrams("call", call, dscp="EF"), bulk(2, dscp=background, name="background"))
        run = simulate(scenario(CAKE, *flows))
        return throughput(run), delays(run)

    # A quarter of the rate is for latency-sensitive traffic first. Bulk traffic gets a sixteenth and what others leave
    rates, waited = shares("2 Mbit/s")
    assert rates["call"] == pytest.approx(2e6, rel=0.01)
    assert waited["call"] < 2 * PACKET_S
    assert 0.95 * RATE_BPS / 16 < rates["background"] < RATE_BPS / 10
    # Above its quarter it is served only when others have had theirs.
    rates, _ = shares("8 Mbit/s")
    assert rates["call"] == pytest.approx(RATE_BPS / 4, rel=0.15)
    assert rates["bulk"] > 0.6 * RATE_BPS


def test_one_tin_for_all(simulate: Any) -> None:
    queue = CAKE | {"tins": "besteffort"}
    run = simulate(scenario(queue, bulk(1, dscp="CS1") | {"name": "background"}, bulk(1)))
    rates = throughput(run)
    assert rates["background"] == pytest.approx(rates["bulk"], rel=0.1)
