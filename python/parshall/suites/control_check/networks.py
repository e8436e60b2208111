"""The networks of the report card: one bottleneck, small enough that a card takes seconds.

| symbol | value |
| --- | --- |
| C | 12 Mbit/s, 1000 packets/s |
| RTT | 50 ms |
| C RTT | 50 packets |

Receivers' windows are 2000 packets: a control that never stops growing fills no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

RTT_S = 0.05
PACKET_BITS = 12_000
WARM_UP_S = 10

Control = str | dict[str, Any]
"""As a scenario names it."""


def network(
    flows: Sequence[dict[str, Any]],
    duration_s: float,
    *,
    rate: str = "12 Mbit/s",
    limit: str = "1 BDP",
    loss: float = 0.0,
    warm_up_s: float = WARM_UP_S,
    samples_s: float | None = None,
) -> dict[str, Any]:
    """A scenario: `flows` at a drop-tail bottleneck that loses packets with probability `loss`."""
    return {
        "duration": f"{duration_s} s",
        "warm_up": f"{warm_up_s} s",
        "bottleneck": {
            "rate": rate,
            "queue": {"name": "drop_tail", "limit": limit},
            "loss": {"name": "bernoulli", "probability": loss} if loss else "none",
        },
        "probes": {
            "flow_samples": False if samples_s is None else f"{samples_s} s",
            "link_samples": False,
            "latency": False,
            "transfers": False,
        },
        "flows": list(flows),
    }


def flow(name: str, control: Control, **keys: Any) -> dict[str, Any]:
    """A group of flows that send without end."""
    return {
        "name": name,
        "rtt": f"{RTT_S} s",
        "congestion_control": control,
        "receive_window": "2000 packets",
        **keys,
    }
