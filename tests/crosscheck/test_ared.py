"""Adaptive RED: the average queue is in the middle of its thresholds however many flows there are, and RED's is not.

Floyd, Gummadi & Shenker 2001, §4.4: the queueing delay that operators ask for comes without choosing parameters for
the load. And beside ns-2.35's own (benches/ns2/adaptive_red.tcl).
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest

TARGET_S = 0.020
PACKETS_S = 20e6 / (8 * 1500)
MIN_TH = round(TARGET_S * PACKETS_S / 2)
RED = {
    "name": "red",
    "limit": "200 packets",
    "min_threshold": f"{MIN_TH} packets",
    "max_threshold": f"{3 * MIN_TH} packets",
    "weight": 0.0006,  # 1 - exp(-1 / PACKETS_S), as Adaptive RED has it
}
ADAPTIVE = {"name": "ared", "limit": "200 packets", "target_delay": f"{TARGET_S} s"}


def delay_s(simulate: Any, queue: dict[str, Any], flows: int) -> float:
    run = simulate(
        {
            "duration": "100 s",
            "warm_up": "40 s",
            "processing_time": "20 us",
            "bottleneck": {"rate": "20 Mbit/s", "queue": queue},
            "flows": [
                {
                    "count": flows,
                    "rtt": {"first": "60 ms", "step": "2 ms"},
                    "start": {"uniform": ["0 s", "1 s"]},
                    "congestion_control": "reno",
                }
            ],
        }
    )
    assert run.link["utilisation"] > 0.9
    return float(run.link["mean_queueing_delay_s"])


def test_the_delay_does_not_depend_on_the_number_of_flows(simulate: Any) -> None:
    adaptive = {flows: delay_s(simulate, ADAPTIVE, flows) for flows in (20, 60, 120)}
    # From 0.4 to 0.6 of the way between the thresholds nothing changes: a tenth of the target to either side.
    assert adaptive == pytest.approx(dict.fromkeys(adaptive, TARGET_S), rel=0.1)
    plain = [delay_s(simulate, RED, flows) for flows in (20, 120)]
    assert plain[0] < 0.75 * TARGET_S
    assert plain[1] > 1.05 * TARGET_S


NS2 = {
    "congestion_control": "reno",
    "recovery": "newreno",
    "initial_window": "2 packets",
    "handshake": True,
    "byte_counting": False,
    "timestamps": False,
    "rto_granularity": "10 ms",
    "initial_rto": "3 s",
}
"""The defaults of ns-2's agents."""


@pytest.mark.parametrize("flows", [20, 60, 120])
def test_as_ns2(simulate: Any, ns2_values: dict[str, Any], flows: int) -> None:
    """Whether hits are spaced as in ns-2 (`wait_`) is no difference: max_p adapts to it."""
    stored = ns2_values["adaptive_red"]
    names = {"utilisation": "utilisation", "loss": "loss_rate", "mean_queue_packets": "mean_queue_packets"}
    theirs = [run for run in stored["runs"] if run["n"] == flows]
    ours = [
        simulate(
            {
                "duration": "140 s",
                "warm_up": "40 s",
                "seed": run["seed"],
                "processing_time": "600 us",
                "bottleneck": {"rate": "20 Mbit/s", "delay": "1 ms", "queue": ADAPTIVE},
                "flows": [
                    {
                        "count": flows,
                        "rtt": {"first": "60 ms", "step": "2 ms"},
                        "start": {"uniform": ["0 s", "1 s"]},
                        **NS2,
                    }
                ],
            }
        ).link
        for run in theirs
    ]
    for key, name in names.items():
        found, expected = fmean(each[name] for each in ours), fmean(run[key] for run in theirs)
        assert found == pytest.approx(expected, rel=stored["tolerance"][key]), key
