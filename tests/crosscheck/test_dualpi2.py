"""DualPI2: flows of both kinds share the link about equally, and those of L4S hardly wait (RFC 9332 §2.1 and §2.5).

The scalable controls are DCTCP, which answers the share of marks, as RFC 9331 asks for, and Prague, which is made
for it.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

import polars as pl
import pytest

RTT_S = 0.020
TARGET_S = 0.015
RAMP_END_S = 0.0012


def scenario(classic: int, scalable: int, *, rate: str = "40 Mbit/s", queue: Any = "dualpi2", **more: Any) -> Any:
    flows = [
        {"name": "classic", "count": classic, "rtt": f"{RTT_S} s", "congestion_control": "reno"},
        {"name": "l4s", "count": scalable, "rtt": f"{RTT_S} s", "congestion_control": "dctcp", "l4s": True, **more},
    ]
    return {
        "duration": "60 s",
        "warm_up": "20 s",
        "processing_time": "20 us",
        "probes": {"flow_samples": False, "link_samples": False, "transfers": False, "latency": True},
        "bottleneck": {"rate": rate, "queue": queue},
        "flows": [group for group in flows if group["count"]],
    }


def rates(run: Any) -> dict[str, float]:
    """Mean goodput of a flow of each group, bit/s."""
    return dict(run.flows.group_by("group").agg(pl.col("goodput_bps").mean()).iter_rows())


def queueing(run: Any, group: str, column: str = "mean_one_way_delay_s") -> float:
    """Delay of a group's packets beyond propagation, s."""
    row = run.table("groups").row(by_predicate=pl.col("group") == group, named=True)
    return float(row[column]) - RTT_S / 2


@pytest.mark.parametrize("scheduler", ["weighted", "time_shifted"])
@pytest.mark.parametrize(
    ("rate", "classic", "scalable"), [("40 Mbit/s", 1, 1), ("120 Mbit/s", 2, 2), ("40 Mbit/s", 1, 4)]
)
def test_flows_share_about_equally(simulate: Any, scheduler: str, rate: str, classic: int, scalable: int) -> None:
    queue = {"name": "dualpi2", "scheduler": scheduler}
    runs = [simulate(scenario(classic, scalable, rate=rate, queue=queue), seed=seed) for seed in (1, 2)]
    # Within a factor of two is what §2.1 aims at with k = 2.
    assert 0.5 < fmean(rates(run)["l4s"] / rates(run)["classic"] for run in runs) < 2
    for run in runs:
        assert run.link["utilisation"] > 0.97
        # No L4S packet is dropped, and few wait longer than where all are marked. (A packet takes 0.3 ms.)
        assert run.flows.filter(pl.col("group") == "l4s")["packets_dropped"].sum() == 0
        assert queueing(run, "l4s", "one_way_delay_p99_s") < RAMP_END_S + 0.0006
        assert queueing(run, "classic") == pytest.approx(TARGET_S, rel=0.25)


def test_without_ect1_the_scalable_control_starves_the_other(simulate: Any) -> None:
    run = simulate(scenario(1, 1, l4s=False))
    assert rates(run)["l4s"] > 5 * rates(run)["classic"]
    # Both are in the Classic queue.
    assert queueing(run, "l4s") > 0.01


def test_l4s_alone_is_held_at_the_ramp(simulate: Any) -> None:
    run = simulate(scenario(0, 4))
    assert 0.0004 < queueing(run, "l4s") < RAMP_END_S
    assert run.link["utilisation"] > 0.97
    assert run.link["dropped_packets"] == 0


def test_classic_alone_is_held_at_the_target(simulate: Any) -> None:
    run = simulate(scenario(4, 0))
    assert queueing(run, "classic") == pytest.approx(TARGET_S, rel=0.2)
    assert run.link["utilisation"] > 0.97


def test_what_does_not_answer_is_dropped_and_the_target_holds(simulate: Any) -> None:
    """Overload (§4.2.3): datagrams at 1.2 times the rate lose a sixth, however large the buffer is."""
    document = scenario(1, 0)
    document["flows"] = [{"rtt": f"{RTT_S} s", "workload": {"name": "cbr", "rate": "48 Mbit/s"}}]
    run = simulate(document)
    assert run.link["loss_rate"] == pytest.approx(1 / 6, rel=0.03)
    assert run.link["mean_queueing_delay_s"] == pytest.approx(TARGET_S, rel=0.05)


def prague(rtt: str, classic: str | None, **keys: Any) -> Any:
    """Prague, beside a flow of another control or alone."""
    document = scenario(1 if classic else 0, 1)
    for group in document["flows"]:
        group["rtt"] = rtt
        group["congestion_control"] = classic if group["name"] == "classic" else "prague"
        group.pop("l4s", None)  # that is Prague's default
    document["flows"][-1].update(keys)
    return document


@pytest.mark.parametrize("classic", ["reno", "cubic"])
@pytest.mark.parametrize("rtt", ["10 ms", "20 ms", "50 ms"])
def test_prague_shares_about_equally_and_hardly_waits(simulate: Any, classic: str, rtt: str) -> None:
    runs = [simulate(prague(rtt, classic), seed=seed) for seed in (1, 2)]
    assert 0.5 < fmean(rates(run)["l4s"] / rates(run)["classic"] for run in runs) < 2.3
    for run in runs:
        assert run.link["utilisation"] > 0.96
        assert run.flows.filter(pl.col("group") == "l4s")["packets_dropped"].sum() == 0
        row = run.table("groups").row(by_predicate=pl.col("group") == "l4s", named=True)
        assert row["one_way_delay_p99_s"] - float(rtt.removesuffix(" ms")) / 2000 < RAMP_END_S + 0.0006


def test_short_rtts_of_prague_get_no_more_than_the_reference_rtt(simulate: Any) -> None:
    def ratio(control: str) -> float:
        document = scenario(0, 1)
        short = {**document["flows"][0], "name": "short", "congestion_control": control, "rtt": "5 ms"}
        document["flows"] = [short, {**short, "name": "long", "rtt": "25 ms"}]
        found = rates(simulate(document))
        return found["short"] / found["long"]

    assert 0.6 < ratio("prague") < 1.6
    assert ratio("dctcp") > 4
