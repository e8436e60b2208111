r"""Poisson datagrams into one link: the closed forms of M/M/1, M/D/1 and M/M/1/K.

Kleinrock, *Queueing Systems 1* (1975), chapters 3 and 5. With load rho and mean service time 1/mu, the mean number
waiting (without the one in service) is Lq = rho^2 (1 + c^2) / (2 (1 - rho)), c^2 being the squared coefficient of
variation of the service time; the mean wait is Lq/lambda; in M/M/1, P(wait > t) = rho exp(-mu (1 - rho) t).
"""

from __future__ import annotations

from math import log
from typing import Any

import pytest

RATE_BPS = 10_000_000
MEAN_BYTES = 1000
SERVICE_S = MEAN_BYTES * 8 / RATE_BPS


def scenario(load: float, size: dict[str, Any], packets: float, buffer: str = "10000000 packets") -> dict[str, Any]:
    duration_s = packets * SERVICE_S / load
    return {
        "duration": f"{duration_s * 1.05:.3f} s",
        "warm_up": f"{duration_s * 0.05:.3f} s",
        "bottleneck": {"rate": f"{RATE_BPS} bit/s", "queue": {"name": "drop_tail", "limit": buffer}},
        "flows": [
            {
                "rtt": "10 ms",
                "workload": {"name": "poisson", "rate": f"{RATE_BPS * load:.0f} bit/s", "size": size},
            }
        ],
    }


EXPONENTIAL = {"name": "exponential", "mean": f"{MEAN_BYTES} B"}
CONSTANT = {"name": "constant", "value": f"{MEAN_BYTES} B"}


# The simulated mean's own standard error is about 1 % at load 0.8 and 2 % at 0.9 (M/M/1), half that for M/D/1.
@pytest.mark.parametrize(
    ("load", "size", "cv2", "tolerance"),
    [
        (0.5, EXPONENTIAL, 1, 0.02),
        (0.8, EXPONENTIAL, 1, 0.04),
        (0.9, EXPONENTIAL, 1, 0.08),
        (0.5, CONSTANT, 0, 0.02),
        (0.8, CONSTANT, 0, 0.02),
        (0.9, CONSTANT, 0, 0.04),
    ],
    ids=["mm1-0.5", "mm1-0.8", "mm1-0.9", "md1-0.5", "md1-0.8", "md1-0.9"],
)
def test_mean_queue(simulate: Any, load: float, size: dict[str, Any], cv2: float, tolerance: float) -> None:
    link = simulate(scenario(load, size, packets=3e6)).link
    waiting = load**2 * (1 + cv2) / (2 * (1 - load))
    assert link["utilisation"] == pytest.approx(load, rel=0.005)
    assert link["mean_queue_packets"] == pytest.approx(waiting, rel=tolerance)
    assert link["mean_queueing_delay_s"] == pytest.approx(waiting * SERVICE_S / load, rel=tolerance)
    # Poisson arrivals see time averages.
    assert link["mean_queue_at_arrival_packets"] == pytest.approx(link["mean_queue_packets"], rel=tolerance)
    assert link["dropped_packets"] == 0


def test_waiting_time_distribution(simulate: Any) -> None:
    load = 0.8
    link = simulate(scenario(load, EXPONENTIAL, packets=3e6)).link
    for key, probability in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
        quantile = -SERVICE_S / (1 - load) * log((1 - probability) / load)
        assert link[f"queueing_delay_{key}_s"] == pytest.approx(quantile, rel=0.05), key


@pytest.mark.parametrize("places", [1, 2, 10])
def test_blocking(simulate: Any, places: int) -> None:
    """M/M/1/K: the share of arrivals that find K packets in the system, the one in service included."""
    load = 0.9
    link = simulate(scenario(load, EXPONENTIAL, packets=1e6, buffer=f"{places} packets")).link
    blocked = (1 - load) * load**places / (1 - load ** (places + 1))
    assert link["loss_rate"] == pytest.approx(blocked, rel=0.02)
