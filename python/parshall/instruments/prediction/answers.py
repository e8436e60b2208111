"""Results of a prediction: one answer a model, group (or link) and reading.

Where a model has nothing to say, `in_range` is false, `reason` says why, and the number is `None`. Measured
values and ratios are there when a run was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Reading(StrEnum):
    """Under which conditions a model is read."""

    UNCONGESTED = "uncongested"
    """No link is full: the loss is that of the media, queues are empty."""
    LOSSES_TOGETHER = "losses_together"
    """Full links with an empty buffer that flows which lose packets at the same time leave idle for a while."""
    SHORTEST_QUEUE = "shortest_queue"
    """Full links with an empty buffer (Vegas: alpha packets a flow)."""
    MIDDLE_QUEUE = "middle_queue"
    """Full links with half of the buffer filled (Vegas: the middle of alpha and beta)."""
    LONGEST_QUEUE = "longest_queue"
    """Full links with all of the buffer filled (Vegas: beta packets a flow)."""
    STEADY_STATE = "steady_state"
    """Loss and queue are the model's own, and it has one answer."""
    MEASURED_EVENTS = "measured_events"
    """At the measured RTT and loss events a packet, which is what the formulas' sources call p."""
    MEASURED_PACKETS = "measured_packets"
    """At the measured RTT and lost packets a packet."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """The answer of a steady-state model to a group of TCP flows.

    Parameters
    ----------
    group, control
        The group's name and congestion control.
    model
        The model's name; `None` where no model describes the congestion control.
    reading
        Under which conditions.
    in_range, reason
        Whether the model has a value, and why not.
    goodput_bps, flow_goodput_bps
        Payload bits a second of the group, and of a flow on average.
    window_packets
        Mean window of a flow.
    loss
        The probability that the model was given, or that results from the fixed point.
    rtt_s
        Mean RTT of the group, queueing included.
    limited_by
        What holds the flows back: `loss`, `window` (the receiver's), `access link`, or the name of a full
        link.
    measured_goodput_bps, ratio
        Of the run, and predicted over measured.
    """

    group: str
    control: str
    model: str | None
    reading: Reading
    in_range: bool
    reason: str | None
    goodput_bps: float | None = None
    flow_goodput_bps: float | None = None
    window_packets: float | None = None
    loss: float | None = None
    rtt_s: float | None = None
    limited_by: str | None = None
    measured_goodput_bps: float | None = None
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a latency model to the transfers of one size of a group.

    Parameters
    ----------
    size_bytes
        Payload of a transfer.
    completion_s
        Mean time from the first packet to the last ACK.
    measured_completion_s, ratio
        Mean over the run's transfers of that size where all ended, else `None`; and predicted over measured.
    """

    group: str
    model: str
    reading: Reading
    size_bytes: int
    in_range: bool
    reason: str | None
    completion_s: float | None = None
    loss: float | None = None
    rtt_s: float | None = None
    measured_completion_s: float | None = None
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Datagrams:
    """The load that a group of datagram flows offers, and the part that arrives.

    Parameters
    ----------
    offered_bps
        Bits a second on the wire, all flows together.
    goodput_bps
        Payload bits a second delivered; `None` where losses depend on TCP flows.
    """

    group: str
    in_range: bool
    reason: str | None
    offered_bps: float
    goodput_bps: float | None = None
    loss: float | None = None
    measured_goodput_bps: float | None = None
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class LinkQueue:
    """The answer of a queueing model to a link.

    Parameters
    ----------
    utilisation
        Offered load over capacity.
    mean_queue_packets
        Packets waiting, without the one in transmission, mean over time.
    mean_queueing_delay_s
        Waiting time, without the packet's own transmission.
    loss
        Share of packets that find the buffer full, or are dropped early.
    loss_in, loss_out
        Share of the packets within their flows' profile, and of the others; `None` where no class is told apart.
    """

    link: str
    model: str
    in_range: bool
    reason: str | None
    utilisation: float | None = None
    mean_queue_packets: float | None = None
    mean_queueing_delay_s: float | None = None
    loss: float | None = None
    loss_in: float | None = None
    loss_out: float | None = None
    measured_mean_queue_packets: float | None = None
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class ByClass:
    """The answers of a model to a network whose routers treat packets by their class."""

    throughput: tuple[Throughput, ...] = ()
    queues: tuple[LinkQueue, ...] = ()
    datagram_loss: Mapping[str, float] = field(default_factory=dict)
    """Share of the packets of each group of datagrams that routers drop; empty where the model has no answer."""


def ratio(predicted: float | None, measured: float | None) -> float | None:
    """Predicted over measured; `None` unless there are both and something was measured."""
    return None if predicted is None or not measured else predicted / measured
