"""One flow of each control against ns-2's port of the Linux controls (TCP/Linux, about 2.6.22): goodput.

Under random loss, goodput goes with 1/sqrt(p) and the stored runs are short (200 losses), so both sides are brought to
the nominal p by the losses they had. Of the two known differences of those controls from their papers, CUBIC's (the
version of 2005 to 2007) stays within the tolerance here. Vegas' does not: that port grows by one packet every second
round trip where the paper says every one (seen in its window, sampled once an RTT), which under random loss divides
the window by sqrt(2).
"""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

VALUES = json.loads(Path(__file__).with_name("ns2_values.json").read_text())["single_flow"]
PAYLOAD_BITS = 8 * 1460


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


@pytest.mark.parametrize("run", VALUES["runs"], ids=name)
def test_goodput(simulate: Any, run: dict[str, Any]) -> None:
    seeds = (1, 2, 3) if run["p"] else (1,)
    ours = [simulate(scenario(run), seed=seed) for seed in seeds]
    goodput = fmean(one.flows["goodput_bps"][0] for one in ours) / PAYLOAD_BITS
    theirs = run["goodput_pps"]
    if run["p"]:
        goodput *= sqrt(fmean(one.link["loss_rate"] for one in ours) / run["p"])
        theirs *= sqrt(run["queue_loss"] / run["p"])
        if run["cca"] == "vegas":
            theirs *= sqrt(2)
    assert goodput == pytest.approx(theirs, rel=VALUES["tolerance"]["goodput_relative"])
