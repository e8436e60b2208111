"""A bench's dumbbell as numbers, read from its scenario so that no other simulator needs a second description."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parshall import _core

PS_PER_S = 1e12


@dataclass(frozen=True)
class Network:
    """Equal long-lived TCP flows over one DropTail bottleneck."""

    flows: int
    rate_bps: int
    buffer_packets: int
    packet_bytes: int
    access_bps: int
    rtt_s: float
    """Of the first flow."""
    rtt_step_s: float
    start_spread_s: float
    duration_s: float
    sack: bool


def read(path: Path) -> Network:
    """The network of a scenario in benches/scenarios; those all have this shape, and anything else is an error."""
    scenario = tomllib.loads(path.read_text())
    bottleneck = scenario["bottleneck"]
    (group,) = scenario["flows"]
    if bottleneck["queue"]["name"] != "drop_tail" or group["congestion_control"] != "reno" or "workload" in group:
        raise ValueError(f"{path}: the benches compare bulk Reno flows over DropTail")
    rtt = group["rtt"] if isinstance(group["rtt"], dict) else {"first": group["rtt"], "step": "0 s"}
    return Network(
        flows=group["count"],
        rate_bps=_core.parse_quantity("rate", bottleneck["rate"]),
        buffer_packets=_core.parse_quantity("packets", bottleneck["queue"]["limit"]),
        packet_bytes=_core.parse_quantity("bytes", group["packet_size"]),
        access_bps=_core.parse_quantity("rate", group["access_rate"]),
        rtt_s=_seconds(rtt["first"]),
        rtt_step_s=_seconds(rtt["step"]),
        start_spread_s=_seconds(group["start"]["uniform"]),
        duration_s=_seconds(scenario["duration"]),
        sack={"sack": True, "newreno": False}[group["recovery"]],
    )


def _seconds(text: str) -> float:
    return _core.parse_quantity("duration", text) / PS_PER_S


def keys(network: Network, duration_s: float) -> dict[str, Any]:
    """The options that the ns-2 and the ns-3 script have in common."""
    return {
        "n": network.flows,
        "rate": network.rate_bps,
        "buffer": network.buffer_packets,
        "pkt": network.packet_bytes,
        "access": network.access_bps,
        "rtt": network.rtt_s,
        "step": network.rtt_step_s,
        "spread": network.start_spread_s,
        "dur": duration_s,
    }
