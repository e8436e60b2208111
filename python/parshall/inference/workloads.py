"""Applications of a capture: groups of connections that behave alike.

| workload | connections of which it is made |
| --- | --- |
| `bulk` | sends until the capture ends |
| `transfer` | one transfer, complete within the capture |
| `on_off` | one transfer after another with idle times, on one connection or on new ones |
| `request_response` | the other direction carries a small request before each of the transfers |
| `open_loop` | transfers that begin whether or not others are complete |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from parshall.analysis.stats.estimates import FloatArray
from parshall.inference.facts import Direction, span

Connections = Mapping[tuple[str, str, int, int], Direction]
"""By addresses and ports, source first."""
Kind = Literal["bulk", "transfer", "on_off", "request_response", "open_loop"]

RTT_SHARE, RTT_S = 0.1, 0.001
"""Connections whose least round trips differ by less than one of these share a group."""
IDLE_SHARE = 0.1
"""Of a connection's time, pauses of its application below which it counts as one transfer."""
LEAST_PAUSES = 3
LEAST_ARRIVALS = 8
"""Transfers from which an arrival process is stated."""
STILL_S = 1.0
"""A connection that sends within so long of the capture's end had not ended."""
SMALL_SHARE = 0.1
"""A direction that carries less than this share of the other's payload carries its requests."""
POINTS = 12
"""Points of an empirical distribution."""


@dataclass(frozen=True)
class Activity:
    """The transfers of one client, in order.

    Parameters
    ----------
    flows
        Its connections' directions that carry the data.
    starts_s, sizes_bytes
        Of each transfer, shape (transfers,).
    idle_s
        From a transfer's end to the next one's start, shape (transfers - 1,).
    request_bytes
        Payload of a request; None where the other direction carries none.
    """

    kind: Kind
    flows: Sequence[Direction]
    starts_s: FloatArray
    sizes_bytes: FloatArray
    idle_s: FloatArray
    persistent: bool = True
    request_bytes: float | None = None


@dataclass(frozen=True)
class FlowCluster:
    """Activities of one kind with about the same round trip, which become a group of flows."""

    kind: Kind
    forward: bool
    activities: Sequence[Activity] = field(default_factory=tuple)

    @property
    def flows(self) -> list[Direction]:
        """All directions of its activities."""
        return [flow for each in self.activities for flow in each.flows]

    @property
    def main(self) -> Direction:
        """The direction that delivers most."""
        return max(self.flows, key=lambda flow: flow.delivered_bytes)

    @property
    def min_rtt_s(self) -> float:
        """Median of the least round trips, s."""
        return float(np.median([flow.min_rtt_s for flow in self.flows]))


def groups(there: Sequence[Direction], back: Sequence[Direction]) -> list[FlowCluster]:
    """The groups of both directions, the largest first."""
    end_s = span([*there, *back])[1]
    requests = {(each.source, each.destination, *each.ports): each for each in (*there, *back)}
    made: list[FlowCluster] = []
    for forward, flows in ((True, there), (False, back)):
        own = [each for each in flows if not _is_request(each, requests)]
        activities = [found for part in _clients(own) for found in _activities(part, requests, end_s)]
        made += _alike(forward, activities)
    return sorted(made, key=lambda each: -sum(flow.delivered_bytes for flow in each.flows))


def _opposite(flow: Direction, others: Connections) -> Direction | None:
    return others.get((flow.destination, flow.source, flow.ports[1], flow.ports[0]))


def _is_request(flow: Direction, others: Connections) -> bool:
    opposite = _opposite(flow, others)
    return opposite is not None and flow.delivered_bytes < SMALL_SHARE * opposite.delivered_bytes


def _clients(flows: Sequence[Direction]) -> list[list[Direction]]:
    """Connections between the same two addresses, in order of their starts."""
    pairs: dict[tuple[str, str], list[Direction]] = {}
    for each in flows:
        pairs.setdefault((each.source, each.destination), []).append(each)
    return [*pairs.values()]


def _activities(flows: Sequence[Direction], others: Connections, end_s: float) -> Iterator[Activity]:
    """Yield the activities of one client: each connection for itself, or together one transfer after another."""
    single = [_alone(each, others, end_s) for each in flows]
    once = [each for each in single if each.kind == "transfer"]
    yield from (each for each in single if each.kind != "transfer")
    if len(once) < LEAST_PAUSES:
        yield from once
        return
    starts = np.array([each.flows[0].start_s for each in once])
    ends = np.array([each.flows[0].end_s for each in once])
    sizes = np.array([float(each.flows[0].delivered_bytes) for each in once])
    idle = starts[1:] - np.maximum.accumulate(ends)[:-1]
    overlapping = float((idle < 0).mean())
    if overlapping <= IDLE_SHARE:
        yield Activity("on_off", flows, starts, sizes, np.maximum(idle, 0.0), persistent=False)
    elif len(once) >= LEAST_ARRIVALS:
        yield Activity("open_loop", flows, starts, sizes, np.empty(0), persistent=False)
    else:
        yield from once


def _alone(flow: Direction, others: Connections, end_s: float) -> Activity:
    """Return the activity of one connection."""
    opposite = _opposite(flow, others)
    pauses = flow.pauses_s
    long = pauses[:, 1] - pauses[:, 0] > 2 * flow.min_rtt_s
    inner = pauses[long & (pauses[:, 0] > flow.start_s) & (pauses[:, 1] < flow.end_s)]
    idle = inner[:, 1] - inner[:, 0]
    if idle.size >= LEAST_PAUSES and idle.sum() > IDLE_SHARE * (flow.end_s - flow.start_s):
        starts = np.concatenate([[flow.start_s], inner[:, 1]])
        edges = np.concatenate([starts, [np.inf]])
        which = np.searchsorted(edges, flow.round_starts_s, side="right") - 1
        packets = np.bincount(np.clip(which, 0, starts.size - 1), flow.rounds, starts.size)
        sizes: FloatArray = packets.astype(np.float64) * flow.segment_bytes
        kept = sizes > 0
        request = None if opposite is None else opposite.delivered_bytes / max(int(kept.sum()), 1)
        kind: Kind = "on_off" if request is None else "request_response"
        return Activity(kind, [flow], starts[kept], sizes[kept], idle, request_bytes=request)
    quiet = bool(pauses.size) and float(pauses[-1, 1]) >= flow.end_s - flow.min_rtt_s
    still = not flow.ended and not quiet and flow.end_s > end_s - STILL_S
    size = np.array([float(flow.delivered_bytes)])
    return Activity("bulk" if still else "transfer", [flow], np.array([flow.start_s]), size, np.empty(0))


def _alike(forward: bool, activities: Sequence[Activity]) -> list[FlowCluster]:
    """Activities of one kind whose least round trips are about the same."""
    made: list[tuple[float, Kind, list[Activity]]] = []
    for each in sorted(activities, key=lambda each: min(flow.min_rtt_s for flow in each.flows)):
        rtt = min(flow.min_rtt_s for flow in each.flows)
        for least, kind, part in made:
            if kind == each.kind and rtt - least <= max(RTT_SHARE * least, RTT_S):
                part.append(each)
                break
        else:
            made.append((rtt, each.kind, [each]))
    return [FlowCluster(kind, forward, sorted(part, key=lambda each: each.starts_s[0])) for _, kind, part in made]
