r"""One Reno flow whose packets are lost independently: the mean window is 1.31/sqrt(p).

Ott, Kemperman and Mathis, *The stationary behavior of ideal TCP congestion avoidance* (1996), give the constant 1.3098
for the mean over time of a window that grows by one packet a round trip and halves at each loss, losses being a Poisson
process over the packets. The square-root formula's 1.22 = sqrt(3/2) takes them as periodic; it is 7 % lower, and
refused here.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

RANDOM, PERIODIC = 1.3098, sqrt(3 / 2)
RTT_S = 0.01


@pytest.mark.parametrize(("p", "losses"), [(1e-3, 4000), (1e-4, 2000), pytest.param(1e-5, 400, marks=pytest.mark.slow)])
def test_mean_window(simulate: Any, p: float, losses: int) -> None:
    expected = RANDOM / sqrt(p)
    duration_s = losses / p * RTT_S / expected
    run = simulate(
        {
            "duration": f"{1.1 * duration_s:.3f} s",
            "warm_up": f"{0.1 * duration_s:.3f} s",
            "bottleneck": {
                "rate": "1000 Gbit/s",
                "queue": {"name": "drop_tail", "limit": "1000000 packets"},
                "loss": {"name": "bernoulli", "probability": p},
            },
            "flows": [
                {
                    "rtt": f"{RTT_S * 1000:g} ms",
                    "congestion_control": "reno",
                    "recovery": "newreno",
                    "delayed_ack": False,
                    "initial_ssthresh": f"{expected:.0f} packets",
                }
            ],
        }
    )
    flow = run.flows.row(0, named=True)
    assert run.link["dropped_packets"] == 0
    assert run.link["medium_losses_packets"] > losses / 2
    assert flow["mean_cwnd_packets"] == pytest.approx(expected, rel=0.05)
    assert abs(flow["mean_cwnd_packets"] * sqrt(p) - RANDOM) < abs(flow["mean_cwnd_packets"] * sqrt(p) - PERIODIC)
    goodput_window = flow["goodput_bps"] * RTT_S / (8 * 1460)
    assert goodput_window == pytest.approx(expected, rel=0.05)
