"""Random scenarios whose captures are inferred, with the point at which each is captured.

`benches/infer.py` draws hundreds, tests/python/test_inferred_paths.py some.
"""

from __future__ import annotations

import random
from typing import Any

CONTROLS = ("reno", "cubic", "bbr", "bbr3", "vegas", "westwood", "htcp", "illinois")
REASONS = ("queue", "queue", "queue", "loss", "burst", "window", "application", "mix")
POINTS = ("sender", "before", "behind", "receiver")
"""At the sender, between it and the bottleneck, between the bottleneck and the receiver, at the receiver."""
CAPTURED = {"sender": "near", "before": "near", "behind": "bottleneck", "receiver": "far"}
"""The link on which each is captured."""
PACKETS = 120_000
"""A capture is so short that its path carries no more packets."""
LONGEST_S, LEAST_ROUNDS = 30.0, 40
PACKET_BITS = 12_000

Tables = dict[str, Any]


def drawn(draw: random.Random) -> Tables:
    """A scenario whose name has the reason why it is not faster, and the point of its capture."""
    rate_mbps, rtt_ms = 10 ** draw.uniform(0, 3), 5 * 60 ** draw.uniform(0, 1)
    product = rate_mbps * 1e3 * rtt_ms / PACKET_BITS
    reason, point = draw.choice(REASONS), draw.choice(POINTS)
    packets = max(10, round(draw.uniform(0.3, 2.0) * product))
    seconds = min(LONGEST_S, max(PACKETS * PACKET_BITS / (rate_mbps * 1e6), LEAST_ROUNDS * rtt_ms / 1e3))
    groups = [_group(draw, "a", rtt_ms, draw.choice((1, 1, 2, 4)))]
    bottleneck: Tables = {"name": "bottleneck", "rate": f"{rate_mbps:.4g} Mbit/s"}
    bottleneck["queue"] = {"name": "drop_tail", "limit": f"{packets} packets"}
    if reason in ("loss", "burst"):
        bottleneck["loss"] = _loss(draw, reason)
    if reason == "window":
        window = max(6000, round(draw.uniform(0.2, 0.7) * product * PACKET_BITS / 8))
        groups[0] |= {"receive_window": f"{window} B", "count": 1}
    if reason == "application":
        size = max(20_000, round(draw.uniform(0.02, 0.1) * rate_mbps * 1e6 / 8 * seconds))
        off = {"name": "exponential", "mean": f"{seconds / 40:.3g} s"}
        groups[0]["workload"] = {"name": "on_off", "size": {"name": "constant", "value": f"{size} B"}, "off": off}
    if reason == "mix":
        groups.append(_group(draw, "b", rtt_ms * draw.choice((1.0, 1.0, 2.0)), draw.choice((1, 2))))
        groups[0]["congestion_control"], groups[1]["congestion_control"] = draw.sample(CONTROLS, 2)
    return {
        "name": f"{reason} {point}",
        "duration": f"{seconds:.3f} s",
        "warm_up": "0 s",
        "seed": draw.randrange(1000),
        "links": _links(bottleneck, rtt_ms, point),
        "flows": groups,
        "probes": {"pcap": [CAPTURED[point]], "flow_samples": False, "link_samples": False},
    }


def _group(draw: random.Random, name: str, rtt_ms: float, count: int) -> Tables:
    return {
        "name": name,
        "rtt": f"{rtt_ms:.3f} ms",
        "congestion_control": draw.choice(CONTROLS),
        "tcp": "linux",
        "handshake": True,
        "header_size": "52 B",
        "count": count,
        "start": {"uniform": "0.5 s"},
        "path": ["near", "bottleneck", "far"],
    }


def _loss(draw: random.Random, reason: str) -> Tables:
    probability = 10 ** draw.uniform(-3.5, -2)
    if reason == "loss":
        return {"name": "bernoulli", "probability": float(f"{probability:.3g}")}
    burst = draw.uniform(2, 5)
    enter = probability / burst / (1 - probability)
    chances = {"good_to_bad": float(f"{enter:.3g}"), "bad_to_good": float(f"{1 / burst:.3g}")}
    return {"name": "gilbert_elliott", **chances, "loss_good": 0.0, "loss_bad": 1.0}


def _links(bottleneck: Tables, rtt_ms: float, point: str) -> list[Tables]:
    """Links whose delays place the capture: what is left of the round trip is at the hosts, half of it at each."""
    near, own, far = {
        "sender": (0.5, 0.3, 0.2),
        "before": (0.3, 0.1, 0.1),
        "behind": (0.1, 0.1, 0.3),
        "receiver": (0.3, 0.7, 0.0),
    }[point]
    one_way_ms = 0.499 * rtt_ms
    fast = {"rate": "10 Gbit/s", "queue": {"name": "drop_tail", "limit": "100000 packets"}}
    return [
        {"name": "near", "delay": f"{near * one_way_ms:.4f} ms", **fast},
        bottleneck | {"delay": f"{own * one_way_ms:.4f} ms"},
        {"name": "far", "delay": f"{far * one_way_ms:.4f} ms", **fast},
    ]


def true_loss(scenario: Tables) -> float:
    """The share of packets that the medium of the bottleneck loses."""
    loss = scenario["links"][1].get("loss")
    if loss is None:
        return 0.0
    if loss["name"] == "bernoulli":
        return float(loss["probability"])
    return float(loss["good_to_bad"] / (loss["good_to_bad"] + loss["bad_to_good"]))
