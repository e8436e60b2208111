"""The resolved scenario as numbers for the models: links, groups of flows, round-trip times.

Groups of many flows are represented by at most `MOST_POINTS` of them: quantiles of their RTTs, each standing
for as many flows (`weights`). RTTs that the simulator draws are represented by the quantiles of their distribution.

| symbol | field | unit |
| --- | --- | --- |
| C | `Link.rate_bps` | bit/s |
| RTT_0 | `Group.base_rtt_s` | s: propagation, and transmission of a packet on each link of the path and of its ACK |
| b | `Group.packets_per_ack` | packets |
| W_max | `Group.window_limit_packets` | packets |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.scenario import properties
from parshall.scenario.schema.resolve.resolved import Resolved, ResolvedGroup, ResolvedLink

MOST_POINTS = 500
PS_PER_S = 1e12
TRACE_PACKET_BITS = 1500 * 8


@dataclass(frozen=True, slots=True)
class NetworkLink:
    """A contended link."""

    name: str
    rate_bps: float
    varies: bool
    """True if the rate follows a trace; `rate_bps` is then its mean."""
    queue: Mapping[str, Any]
    medium: properties.LossTraits
    """Losses of the medium."""
    jitter: str | None = None
    """The order of packets that take times of their own, "kept" or "free"; None: they take none."""

    @property
    def traits(self) -> properties.QueueTraits:
        """Return the properties that the queue declares."""
        return properties.queue(self.queue["name"])

    @property
    def drops_at_random(self) -> bool:
        """True if the queue drops mostly before it is full, packets at random."""
        return self.traits.drops == "early"

    @property
    def loss(self) -> float:
        """Share of packets lost on the medium."""
        return self.medium.mean

    @property
    def independent_losses(self) -> bool:
        """True if the medium loses packets independently of each other, or none."""
        return self.medium.pattern in ("none", "independent")

    @property
    def has_limit(self) -> bool:
        """True if the queue has a limit."""
        return "limit" in self.queue

    def buffer_s(self, packet_bytes: float) -> float:
        """Waiting time behind a full buffer of packets of that size, s; one of them is in transmission."""
        limit = self.queue.get("limit", {"packets": 0})
        held = float(limit["packets"]) if "packets" in limit else limit["bytes"] / packet_bytes
        return max(0.0, held - 1) * packet_bytes * 8 / self.rate_bps

    def buffer_packets(self) -> int | None:
        """Return the capacity in packets, the one in transmission included; `None` if its limit is in bytes."""
        packets = self.queue.get("limit", {}).get("packets")
        return None if packets is None else int(packets)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of flows."""

    name: str
    count: int
    path: tuple[int, ...]
    base_rtt_s: FloatArray
    """One a point, shape (points,)."""
    weights: FloatArray
    """Flows that each point stands for; they add up to `count`."""
    access_bps: float
    """Of a flow; infinite without an access link."""
    start_s: float
    """Mean start."""
    packet_bytes: float
    payload_bytes: float
    workload: Mapping[str, Any]
    tcp: Mapping[str, Any] | None
    control: str
    """Empty for datagrams."""
    parameters: Mapping[str, Any]
    marker: Mapping[str, Any]
    """`rate` (bit/s) and `burst` (bytes) of a token bucket; neither without one."""
    host_loses: bool = False
    """True if packets are lost in the sending host, where the access link's queue is full."""
    jitter: str | None = None
    """The order of packets that take times of their own there or back, "kept" or "free"; None: none does."""

    @property
    def is_tcp(self) -> bool:
        """True if the group sends by TCP."""
        return self.tcp is not None

    @property
    def kind(self) -> str:
        """The workload's name."""
        return str(self.workload["name"])

    @property
    def application(self) -> properties.WorkloadTraits:
        """Return the properties that the workload declares."""
        return properties.workload(self.kind)

    @property
    def window_limit_packets(self) -> float:
        """The receiver's window."""
        limit = (self.tcp or {}).get("receive_window")
        return inf if limit is None else float(limit)

    @property
    def access_per_s(self) -> float:
        """Packets a second that a flow's access link carries; infinite without one."""
        return self.access_bps / (self.packet_bytes * 8)

    @property
    def packets_per_ack(self) -> float:
        """2 where a delayed ACK grows the window by one step only."""
        tcp = self.tcp or {}
        return 2.0 if tcp.get("delayed_ack") is not None and not tcp.get("byte_counting") else 1.0

    def seconds(self, name: str) -> float:
        """A time of the TCP configuration, s."""
        value = (self.tcp or {}).get(name)
        return 0.0 if value is None else value / PS_PER_S

    def rto_s(self, rtt_s: FloatArray, queueing_s: FloatArray | float) -> FloatArray:
        """Timeout at an RTT whose variable part is the queueing delay.

        RFC 6298 has SRTT + max(G, 4 RTTVAR), and a bound of the whole; Linux bounds the second term (`rto_floor`).
        RTTVAR is taken as a quarter of the queueing delay.
        """
        of_variation = (self.tcp or {}).get("rto_floor") == "variation"
        least_s = self.seconds("min_rto" if of_variation else "rto_granularity")
        rto = rtt_s + np.maximum(least_s, queueing_s)
        # Not np.clip, which takes several times as long for few numbers.
        return np.asarray(np.minimum(np.maximum(rto, self.seconds("min_rto")), max(self.seconds("max_rto"), 1e-9)))


@dataclass(frozen=True, slots=True)
class Network:
    """A scenario, as the models see it."""

    links: tuple[NetworkLink, ...]
    groups: tuple[Group, ...]
    duration_s: float
    warm_up_s: float

    def crossing(self, link: int) -> list[Group]:
        """The groups whose data crosses a link."""
        return [group for group in self.groups if link in group.path]


def read(resolved: Resolved) -> Network:
    """A resolved scenario (`crates/sim/src/scenario.rs`) as numbers.

    Raises
    ------
    InputError
        If a queue, a loss or a distribution is not in the catalog.
    """
    links = tuple(_link(spec) for spec in resolved.links)
    return Network(
        links,
        tuple(_group(spec, links) for spec in resolved.flows),
        resolved.duration_ps / PS_PER_S,
        resolved.warm_up_ps / PS_PER_S,
    )


def _link(spec: ResolvedLink) -> NetworkLink:
    rate = spec.rate
    if "constant" in rate:
        rate_bps = float(rate["constant"])
    else:
        rate_bps = len(rate["trace"]) * TRACE_PACKET_BITS / (rate["trace"][-1] / 1e3)
    return NetworkLink(
        name=spec.name,
        rate_bps=rate_bps,
        varies="trace" in rate,
        queue=spec.queue,
        medium=properties.loss(spec.loss),
        jitter=spec.jitter["order"] if spec.jitter else None,
    )


def _group(spec: ResolvedGroup, links: Sequence[NetworkLink]) -> Group:
    packet_bits, tcp = spec.packet_bytes * 8, spec.tcp
    transmission = sum(packet_bits / links[i].rate_bps for i in spec.path)
    access = inf if spec.access_bps is None else float(spec.access_bps)
    transmission += packet_bits / access
    if tcp is not None:
        transmission += sum(tcp["ack_size"] * 8 / links[i].rate_bps for i in spec.reverse_path)
    rtt, weights = _points(spec.rtt_ps, spec.count)
    start, start_weights = _points(spec.start_ps, spec.count)
    control, parameters = _control(spec.congestion_control or {})
    if parameters.get("hystart"):
        tcp = {**(tcp or {}), "slow_start": "hystart"}
    return Group(
        name=spec.name,
        count=spec.count,
        path=tuple(spec.path),
        base_rtt_s=rtt + transmission,
        weights=weights,
        access_bps=access,
        start_s=float(start @ start_weights) / spec.count,
        packet_bytes=float(spec.packet_bytes),
        payload_bytes=float(spec.packet_bytes - spec.header_bytes),
        workload=spec.workload,
        tcp=tcp,
        control=control,
        parameters=parameters,
        marker={name: value for name, value in spec.marker.items() if name != "name"},
        host_loses=spec.access_packets is not None,
        jitter=_jitter(spec, links),
    )


def _jitter(spec: ResolvedGroup, links: Sequence[NetworkLink]) -> str | None:
    """The order that packets of a group have at their ends: one path on which they overtake each other is enough."""
    own = [jitter["order"] for jitter in (spec.jitter, spec.reverse_jitter) if jitter]
    orders = {*own, *(links[i].jitter for i in (*spec.path, *spec.reverse_path))}
    return "free" if "free" in orders else "kept" if "kept" in orders else None


def _control(spec: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The control that models know, and its parameters: a kernel's own has the published one's for the rest."""
    own = str(spec.get("name", ""))
    parameters = {key: value for key, value in spec.items() if key != "name"}
    law = properties.law(own)
    return law, parameters if law == own else {**properties.defaults(law), **parameters}


def _points(spread: Mapping[str, Any], count: int) -> tuple[FloatArray, FloatArray]:
    """Values that represent a spread, s, and how many flows each stands for."""
    n = min(count, MOST_POINTS)
    u = (np.arange(n) + 0.5) / n
    weights = np.full(n, count / n)
    match spread:
        case {"constant": value}:
            return np.array([value / PS_PER_S]), np.array([float(count)])
        case {"linear": {"first": first, "step": step}}:
            return (first + (u * count - 0.5) * step) / PS_PER_S, weights
        case {"uniform": {"low": low, "high": high}}:
            return (low + u * (high - low)) / PS_PER_S, weights
        case {"list": values}:
            return np.sort(np.asarray(values, dtype=np.float64))[(u * count).astype(int)] / PS_PER_S, weights
        case {"distribution": {"of": distribution, "min_ps": low}}:
            return np.maximum(properties.quantiles(distribution, u), low / PS_PER_S), weights
        case _:
            raise TypeError(f"no spread: {spread!r}")
