"""Deficit round robin and strict priority beside those of ns-2.35 (benches/ns2/queues.tcl)."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest

RATE_BPS = 20e6
RTT_S = 0.04
SEEDS = (1, 2, 3)

TAIL = {"name": "drop_tail", "limit": "101 packets"}  # ns-2 does not count the packet in transmission
QUEUES: dict[str, dict[str, Any]] = {
    # ns-2 limits bytes: 100 packets of 1500.
    "drr": {"name": "drr", "limit": "150 kB", "quantum": "1500 B"},
    "priority": {"name": "priority", "bands": [TAIL, TAIL], "band_of": [1, 1, 1, 1, 1, 0, 0, 0]},
}


def scenario(queue: str, flows: list[float]) -> dict[str, Any]:
    groups = [
        {
            "name": f"flow{number}",
            "dscp": "CS0" if number else "EF",
            "rtt": f"{RTT_S} s",
            "packet_size": f"{size:.0f} B",
            "workload": {
                "name": "poisson",
                "rate": f"{rate:.0f} bit/s",
                "size": {"name": "constant", "value": f"{size:.0f} B"},
            },
        }
        for number, (rate, size) in enumerate(zip(flows[::2], flows[1::2], strict=True))
    ]
    return {
        "duration": "120 s",
        "warm_up": "10 s",
        "bottleneck": {"rate": "20 Mbit/s", "delay": "1 ms", "queue": QUEUES[queue]},
        "probes": {"flow_samples": False, "link_samples": False, "transfers": False, "latency": True},
        "flows": groups,
    }


def measured(run: Any, flows: list[float]) -> list[tuple[float, float, float]]:
    """Bytes/s, share dropped and mean wait of each flow."""
    rows = run.flows.sort("flow").select("throughput_bps", "loss_rate", "mean_one_way_delay_s").rows()
    path_s = [RTT_S / 2 + 8 * size / RATE_BPS for size in flows[1::2]]
    return [(rate / 8, loss, delay - own) for (rate, loss, delay), own in zip(rows, path_s, strict=True)]


def test_as_ns2(simulate: Any, ns2_values: dict[str, Any]) -> None:
    """Tolerances are three standard deviations of what means of three seeds differ by, as both draw their own arrivals.

    A rate is the mean of 55,000 packets or more a seed, which scatter by 0.4 %; the losses and waits of ns-2's seeds
    scatter by 0.7 %.
    """
    for case in ns2_values["queues_ns2"]["cases"]:
        flows = case["flows"]
        ours = [measured(simulate(scenario(case["queue"], flows), seed=seed), flows) for seed in SEEDS]
        for flow in range(len(flows) // 2):
            (rate, loss, wait), (their_rate, their_loss, their_wait) = (
                [fmean(run[flow][value] for run in runs) for value in range(3)] for runs in (ours, case["runs"])
            )
            name = f"{case['queue']} {flows}, flow {flow}"
            assert rate == pytest.approx(their_rate, rel=0.01), name
            assert loss == pytest.approx(their_loss, rel=0.015), name
            assert wait == pytest.approx(their_wait, rel=0.025), name
