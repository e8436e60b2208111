"""Requests and responses, simulated: times against arithmetic, records, and what crosses which link."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import parshall as ps
from parshall.foundations.errors import ScenarioError

WORKLOAD = {
    "name": "request_response",
    "request": "460 B",
    "response": {"name": "constant", "value": "1 packet"},
    "think": {"name": "constant", "value": "100 ms"},
}
GROUP = {"name": "asking", "rtt": "40 ms", "workload": WORKLOAD}


def simulated(*flows: dict[str, Any], reverse: dict[str, Any] | None = None, **more: Any) -> ps.Run:
    bottleneck: dict[str, Any] = {"rate": "10 Mbit/s", "delay": "5 ms"}
    if reverse is not None:
        bottleneck["reverse"] = reverse
    document = {"name": "exchanges", "duration": "5 s", "processing_time": "0 s", "bottleneck": bottleneck}
    return ps.run(ps.Scenario.from_document({**document, "flows": list(flows), **more}), workers=1)


def exchanges(run: ps.Run) -> pl.DataFrame:
    assert run.transfers is not None
    took = (pl.col("completion_s") - pl.col("start_s")).alias("took_s")
    return run.transfers.with_columns(took).sort("flow", "transfer")


def bits_s(size: int, rate_bps: float) -> float:
    return 8 * size / rate_bps


@pytest.mark.parametrize(
    ("direction", "request_bps", "response_bps"),
    [("forward", None, 10e6), ("forward", 2e6, 10e6), ("reverse", 10e6, 2e6)],
)
def test_an_exchange_takes_a_round_trip_and_the_time_of_its_packets(
    direction: str, request_bps: float | None, response_bps: float
) -> None:
    """Of 500 bytes one way and 1500 the other, behind the ACK of the request; an uncontended way back takes no time."""
    reverse = None if request_bps is None else {"rate": "2 Mbit/s"}
    run = simulated({**GROUP, "direction": direction}, reverse=reverse)
    rows = exchanges(run)
    expected = 0.040 + bits_s(40 + 1500, response_bps) + (bits_s(500, request_bps) if request_bps else 0.0)
    complete = rows.filter(pl.col("completion_s").is_not_null())
    assert complete["took_s"].to_list() == pytest.approx([expected] * complete.height, abs=1e-9)
    assert rows["transfer"].to_list() == list(range(rows.height))
    assert set(rows["size_bytes"]) == {1460}
    starts = rows["start_s"].to_numpy()
    assert starts[1:] - starts[:-1] == pytest.approx([expected + 0.1] * (rows.height - 1), abs=1e-9)
    assert run.flows.height == 1, "clients have no row of their own"
    assert run.flows["goodput_bps"][0] == pytest.approx(complete.height * 1460 * 8 / 5)


def test_requests_are_real_packets_of_the_way_back() -> None:
    """A request of 100 kB waits in the queue of the way back, loses packets there, and takes what the link takes."""
    workload = {**WORKLOAD, "request": "100 kB"}
    queue = {"name": "drop_tail", "limit": "8 packets"}
    run = simulated({**GROUP, "workload": workload}, reverse={"rate": "2 Mbit/s", "queue": queue})
    rows = exchanges(run).drop_nulls("completion_s")
    links = dict(run.links.select("link", "dropped_packets").iter_rows())
    forwarded = dict(run.links.select("link", "forwarded_bytes").iter_rows())
    reverse = next(name for name in links if "reverse" in name)
    assert links[reverse] > 0, "a slow start of 69 packets does not fit"
    assert rows["took_s"].min() > 0.040 + bits_s(100_000, 2e6)
    assert forwarded[reverse] > rows.height * 100_000
    assert rows.height >= 5


def test_a_response_waits_behind_others_in_the_bottleneck() -> None:
    alone = exchanges(simulated(GROUP))["took_s"].drop_nulls().mean()
    shared = exchanges(simulated(GROUP, {"name": "bulk", "rtt": "40 ms"}))["took_s"].drop_nulls().mean()
    assert isinstance(alone, float)
    assert isinstance(shared, float)
    assert shared > 1.2 * alone


def test_sizes_and_times_are_drawn() -> None:
    sizes = {"name": "pareto", "mean": "20 kB", "tail_index": 1.5}
    think = {"name": "exponential", "mean": "50 ms"}
    group = {**GROUP, "count": 10, "workload": {**WORKLOAD, "response": sizes, "think": think}}
    run = simulated(group, duration="20 s")
    rows = exchanges(run)
    thought = rows.select((pl.col("start_s") - pl.col("completion_s").shift(1).over("flow")).alias("s"))[
        "s"
    ].drop_nulls()
    assert thought.len() > 1000
    assert thought.mean() == pytest.approx(0.05, rel=0.1)
    assert rows["size_bytes"].min() == pytest.approx(20_000 / 3, abs=20), "the smallest value of this law"
    assert rows["size_bytes"].n_unique() > 500


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [("request", "0 B", "request"), ("response", None, "response"), ("think", {"name": "constant"}, "think")],
)
def test_what_is_wrong_is_named(key: str, value: Any, said: str) -> None:
    workload = {name: each for name, each in {**WORKLOAD, key: value}.items() if each is not None}
    with pytest.raises(ScenarioError, match=said):
        simulated({**GROUP, "workload": workload})
