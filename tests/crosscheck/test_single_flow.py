"""One flow of each control against ns-2's port of the Linux controls (TCP/Linux): goodput."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

VALUES = json.loads(Path(__file__).with_name("ns2_values.json").read_text())["single_flow"]


def name(run: dict[str, Any]) -> str:
    path = f"p={run['p']:g}" if run["p"] else f"buffer={run['buf_pkts']}"
    return f"{run['cca']}-{path}"


def scenario(run: dict[str, Any]) -> dict[str, Any]:
    loss = {"name": "bernoulli", "probability": run["p"]} if run["p"] else "none"
    return {
        "duration": f"{run['dur']} s",
        "warm_up": f"{run['warm']} s",
        "bottleneck": {
            "rate": f"{run['rate']:.0f} bit/s",
            "queue": {"name": "drop_tail", "limit": f"{run['buf_pkts']} packets"},
            "loss": loss,
        },
        "flows": [
            {
                "rtt": f"{run['rtt_ms']} ms",
                "congestion_control": run["cca"],
                "recovery": "sack",
                "prr": False,
                "timestamps": True,
                "delayed_ack": False,
                "initial_window": "2 packets",
                "handshake": True,
                "byte_counting": False,
                "rto_granularity": "10 ms",
            }
        ],
    }


# Not reproduced: at p = 1e-3 ns-2's port of Linux 2.6.22's Vegas stays at 32 packets (640 packets/s). Ours follows
# the paper: with an empty queue it grows a packet a round trip and halves at a loss, as Reno does (812 packets/s;
# Reno there: 864).
KNOWN_TO_DIFFER = {"vegas-p=0.001"}


def marked(run: dict[str, Any]) -> Any:
    reason = "Linux's Vegas answers losses differently from the paper that ours follows"
    marks = [pytest.mark.xfail(strict=True, reason=reason)] if name(run) in KNOWN_TO_DIFFER else []
    return pytest.param(run, id=name(run), marks=marks)


@pytest.mark.parametrize("run", [marked(run) for run in VALUES["runs"]])
def test_goodput(simulate: Any, run: dict[str, Any]) -> None:
    ours = simulate(scenario(run))
    payload_bits = 8 * 1460
    goodput_pps = ours.flows["goodput_bps"][0] / payload_bits
    assert goodput_pps == pytest.approx(run["goodput_pps"], rel=VALUES["tolerance"]["goodput_relative"])
