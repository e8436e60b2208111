"""Deficit round robin: equal shares in bytes, whatever the sizes of packets and however much is offered.

Shreedhar & Varghese 1995: the difference of what two flows with packets waiting are sent is bounded, so that rates
are the same.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

TAIL = {"name": "drop_tail", "limit": "100 packets"}
DRR = {"name": "drr", "limit": "100 packets"}


def shares(simulate: Any, queue: dict[str, Any]) -> dict[str, float]:
    """Throughput of large packets at 1.5 times the link's rate, small ones at 0.8 and a flow that needs less, bit/s."""
    flows = [
        {"name": name, "rtt": "20 ms", "packet_size": size, "workload": {"name": "cbr", "rate": rate}}
        for name, size, rate in (
            ("large", "1500 B", "30 Mbit/s"),
            ("small", "300 B", "16 Mbit/s"),
            ("thin", "500 B", "2 Mbit/s"),
        )
    ]
    run = simulate(
        {
            "duration": "20 s",
            "warm_up": "2 s",
            "processing_time": "20 us",
            "bottleneck": {"rate": "20 Mbit/s", "queue": queue},
            "flows": flows,
        }
    )
    return dict(run.flows.select("group", pl.col("throughput_bps")).iter_rows())


def test_flows_get_equal_shares_in_bytes(simulate: Any) -> None:
    fair = shares(simulate, DRR)
    assert fair == pytest.approx({"large": 9e6, "small": 9e6, "thin": 2e6}, rel=0.01)
    # A queue for all serves as is offered: neither is the thin flow spared, nor do the others get the same.
    tail = shares(simulate, TAIL)
    assert tail["thin"] < 1.5e6
    assert abs(tail["large"] - tail["small"]) > 1e6
