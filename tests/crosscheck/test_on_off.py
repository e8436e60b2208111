"""Closed-loop ON/OFF sources against ns-2.35: loss, queueing delay, throughput, and rate against size.

ns-2's own mean transfer size is far from 1000 packets at a tail index of 1.1 (376 in one run): those runs carry another
load, so ours must only be on the same side of the others.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

VALUES = json.loads(Path(__file__).with_name("ns2_values.json").read_text())["on_off"]
TOLERANCE = VALUES["tolerance"]
FEWEST_IN_BIN = 100


# Not reproduced. The tolerance stays; an `xfail` that passes is a failure, so whoever finds the cause will notice.
SMALL_WINDOWS = (
    "500 sources share windows of about two packets and one RTT: who times out is decided by ties to the packet "
    "(loss over 1000 packets 0.0405 against 0.0343, 18 %; rates over 100 packets 20 to 32 % higher)"
)
START_UP = (
    "nothing is lost after the warm-up, so each source's rate is that of the ssthresh it kept from the start-up, "
    "and how ns-2's sources were started is not recorded (delay 1.27 against 2.20 ms, rates 15 % lower)"
)
NOT_REPRODUCED = {
    "test_as_ns2": {
        "n=500-buffer=1000-alpha=1.5": SMALL_WINDOWS,
        "n=500-buffer=1000-alpha=2.5": SMALL_WINDOWS,
        "n=45-buffer=1000-alpha=2.5-cached": START_UP,
    },
    "test_rate_against_size": {
        "n=500-buffer=100-alpha=1.5": SMALL_WINDOWS,
        "n=500-buffer=100-alpha=2.5": SMALL_WINDOWS,
        "n=45-buffer=1000-alpha=2.5-cached": START_UP,
    },
}


def runs(test: str) -> list[Any]:
    """The stored runs whose load is ours, each with its mark for `test`."""
    known = NOT_REPRODUCED[test]
    return [
        pytest.param(
            run,
            id=name(run),
            marks=[pytest.mark.xfail(strict=True, reason=known[name(run)])] if name(run) in known else [],
        )
        for run in VALUES["runs"]
        if run["alpha"] > 1.1
    ]


def name(run: dict[str, Any]) -> str:
    cached = "-cached" if run["ssthresh_cached"] else ""
    return f"n={run['n']}-buffer={run['buf']}-alpha={run['alpha']}{cached}"


def scenario(run: dict[str, Any]) -> dict[str, Any]:
    return {
        "duration": "100 s",
        "warm_up": "20 s",
        "bottleneck": {
            "rate": "1 Gbit/s",
            "queue": {"name": "drop_tail", "limit": f"{run['buf']} packets"},
        },
        "flows": [
            {
                "count": run["n"],
                "rtt": "10 ms",
                "access_rate": "1 Gbit/s",
                "congestion_control": "reno",
                "recovery": "reno",
                "delayed_ack": False,
                "timestamps": False,
                "initial_window": "2 packets",
                "initial_rto": "3 s",
                "handshake": True,
                "byte_counting": False,
                "rto_granularity": "10 ms",
                "ssthresh_cached": run["ssthresh_cached"],
                "workload": {
                    "name": "on_off",
                    "size": {"name": "pareto", "mean": "1000 packets", "tail_index": run["alpha"]},
                    "off": {"name": "exponential", "mean": "0.2 s"},
                },
            }
        ],
        "probes": {"flow_samples": False, "link_samples": False, "transfers": True},
    }


@pytest.mark.parametrize("run", runs("test_as_ns2"))
def test_as_ns2(simulate: Any, run: dict[str, Any]) -> None:
    ours = simulate(scenario(run))
    link = ours.link
    assert link["loss_rate"] == pytest.approx(run["loss"], rel=TOLERANCE["loss_relative"], abs=4 * run["loss_se"])
    delay = link["mean_queueing_delay_s"] * 1e3
    assert delay == pytest.approx(
        run["queueing_delay_ms"],
        rel=TOLERANCE["mean_queueing_delay_relative"],
        abs=4 * run["queueing_delay_ms_se"],
    )
    throughput = link["forwarded_bytes"] * 8 / 80 / 1e6
    assert throughput == pytest.approx(
        run["throughput_Mbps"], rel=TOLERANCE["throughput_relative"], abs=4 * run["throughput_Mbps_se"]
    )


@pytest.mark.parametrize("run", runs("test_rate_against_size"))
def test_rate_against_size(simulate: Any, run: dict[str, Any]) -> None:
    ours = simulate(scenario(run))
    transfers = ours.transfers.filter(pl.col("completion_s").is_not_null(), pl.col("start_s") >= 20)
    seconds = pl.col("completion_s") - pl.col("start_s")
    packets = pl.col("size_bytes") / 1460
    rates = transfers.select(packets=packets.ceil(), rate=packets.ceil() * 1500 * 8 / 1e6 / seconds)
    compared = 0
    for theirs, above in zip(run["bins"], run["bins"][1:], strict=False):
        in_bin = rates.filter(pl.col("packets") >= theirs["lo"], pl.col("packets") < above["lo"])
        if min(theirs["n"], in_bin.height) >= FEWEST_IN_BIN:
            mean = in_bin["rate"].mean()
            assert mean == pytest.approx(theirs["mean_rate_Mbps"], rel=TOLERANCE["rate_bin_relative"]), theirs["lo"]
            compared += 1
    assert compared >= 3
