"""Adaptive RED: the average queue is in the middle of its thresholds however many flows there are, and RED's is not.

Floyd, Gummadi & Shenker 2001, §4.4: the queueing delay that operators ask for comes without choosing parameters for
the load.
"""

from __future__ import annotations

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
