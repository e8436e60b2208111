"""A run in which some flows got next to nothing says so on its page."""

from __future__ import annotations

import html
from typing import Any

import polars as pl

import parshall as ps
from parshall.report import page_html
from parshall.report.starved import starved
from parshall.runs import Run
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
