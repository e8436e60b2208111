"""A run in which some flows got next to nothing says so on its page."""

from __future__ import annotations

import html
from typing import Any

import polars as pl
import pytest

import parshall as ps
from parshall.instruments.simulation import Run
from parshall.report import page_html
from parshall.report.starved import starved
from parshall.scenario import Scenario

STEEP = {"name": "multiple_time_scale", "control": "reno", "aggressiveness": 6.0}


def run(receive_window: str, processing_time: str = "0 s") -> Run:
    """An endless connection, whose access link buffers without end, beside clients in a strictly periodic network."""
    common: dict[str, Any] = {
        "rtt": "30 ms",
        "access_rate": "10 Mbit/s",
        "packet_size": "1000 B",
        "congestion_control": "reno",
        "recovery": "reno",
        "initial_window": "2 packets",
    }
    steep = {"congestion_control": STEEP, "receive_window": receive_window, "start": {"uniform": "1 s"}}
    workload = {
        "name": "on_off",
        "size": {"name": "pareto", "mean": "300 kB", "tail_index": 1.05},
        "off": {"name": "exponential", "mean": "2 s"},
    }
    return ps.run(
        Scenario.from_document(
            {
                "duration": "300 s",
                "warm_up": "30 s",
                "seed": 4,
                "processing_time": processing_time,
                "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "64 packets"}},
                "flows": [
                    {**common, "name": "steep", **steep},
                    {**common, "name": "clients", "count": 8, "start": {"uniform": "2 s"}, "workload": workload},
                ],
            }
        ),
        workers=1,
    )


def test_flows_that_find_no_place_in_the_queue_are_named() -> None:
    made = run("unlimited")
    assert made.flows is not None
    shares = dict(made.flows.group_by("group").agg(pl.col("goodput_bps").sum()).iter_rows())
    assert shares["clients"] < 0.01 * shares["steep"], "the seed was chosen for that"
    (said,) = starved(made)
    assert said.startswith("clients: 8 of 8")
    assert "a flow of steep had" in said
    page = page_html(made)
    assert "Flows were locked out." in page
    assert html.escape(said, quote=False) in page


def test_nothing_is_said_where_all_get_something() -> None:
    made = run("32 packets")
    assert starved(made) == []
    assert "Flows were locked out." not in page_html(made)
    assert starved(run("unlimited", "1 packet")) == []


@pytest.mark.parametrize(("queue", "starve"), [("drop_tail", True), ("fq_codel", False)])
def test_flows_that_all_starve_beside_datagrams_are_named(queue: str, starve: bool) -> None:
    """Among themselves they have equal shares of next to nothing."""
    datagrams = {"name": "flood", "workload": {"name": "cbr", "rate": "15 Mbit/s"}}
    tcp = {"name": "tcp", "count": 4, "congestion_control": "reno"}
    made = ps.run(
        Scenario.from_document(
            {
                "duration": "60 s",
                "warm_up": "10 s",
                "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": queue, "limit": "20 packets"}},
                "flows": [{"rtt": "30 ms", **group} for group in (datagrams, tcp)],
            }
        ),
        workers=1,
    )
    sentences = starved(made)
    if not starve:
        assert sentences == []
        return
    (sentence,) = sentences
    assert sentence.startswith("tcp: 4 of 4")
    assert "a flow of flood had" in sentence
    assert "No ACK holds its datagrams back" in sentence
