"""Networks with RIO queues: throughput, losses by class and queues from the fixed point of `parshall_studies.diffserv`.

| symbol | from the scenario | unit |
| --- | --- | --- |
| C | the link's rate over the packets' size | packets/s |
| D | `Group.base_rtt_s` less the packet's transmission on the links, which eq. (8) counts itself | s |
| r, sigma | the group's token bucket | packets/s, packets |
| alpha | what the least RTO exceeds the RTT by | s |

Every contended link on a data path is a router; a drop-tail link is one whose curves are tail drop. Nothing is
said of networks without a RIO queue: the other models know those better.

References: N. Malouch, Z. Liu, Performance evaluation of RIO routers, INRIA RR-4469, 2002, §3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall.instruments.prediction import validity
from parshall.instruments.prediction.answers import ByClass, LinkQueue, Reading, Throughput, ratio
from parshall.instruments.prediction.datagrams import mean_queues
from parshall.instruments.prediction.loads import offered_bps
from parshall.instruments.prediction.network import Group, Network, NetworkLink
from parshall.instruments.prediction.tables import Table
from parshall_studies.diffserv import Datagrams, FixedPoint, Router, Sessions, fixed_point

MODEL = "diffserv"
MOST_SESSIONS = 100_000
"""More take longer than a page should."""
_NO_TOKENS = 1e-9
"""Packets/s reserved by a session without a bucket: next to none, as the model wants a number above 0."""


def answers(network: Network, links: Table | None) -> ByClass:
    """Ask the model about a network with a RIO queue.

    Parameters
    ----------
    links
        The measured table of links, if there is a run.
    """
    routers = sorted({i for group in network.groups for i in group.path})
    reason = _reason(network, routers)
    state = None
    if reason is None:
        try:
            state = _solve(network, routers)
            reason = str(state.reasons()) or None
            state = None if reason else state
        except ModelInputError as error:
            reason = str(error)
    return ByClass(
        _throughput(network, state, reason),
        _queues(network, routers, state, reason, links),
        {} if state is None else _datagram_loss(network, routers, state),
    )


def _reason(network: Network, routers: Sequence[int]) -> str | None:
    """Return the reason why the model does not describe the network; None: it does."""
    for i in routers:
        if reason := _not_a_router(network.links[i]):
            return reason
    for group in network.groups:
        if reason := _not_a_session(group):
            return reason
    if len({group.packet_bytes for group in network.groups}) > 1:
        return "packets have several sizes; the model counts packets of one"
    if any(list(group.path) != sorted(group.path) for group in network.groups):
        return "groups cross the links in different orders; the model has one"
    if not any(group.is_tcp for group in network.groups):
        return "no TCP session crosses the RIO queue"
    if sum(group.count for group in network.groups) > MOST_SESSIONS:
        return f"there are more than {MOST_SESSIONS:,} flows, which are not solved for a page"
    return None


def _not_a_router(link: NetworkLink) -> str | None:
    queue = link.queue
    if link.varies:
        return f"the rate of link {link.name!r} follows a trace; the model has a constant one"
    if link.medium.pattern != "none":
        return f"link {link.name!r} loses packets by itself; the model has the queue's drops alone"
    if queue["name"] == "drop_tail":
        return None if link.buffer_packets() is not None else f"link {link.name!r} is limited in bytes, not packets"
    if queue["name"] != "rio":
        return f"the queue of link {link.name!r} is {queue['name']}; the model has rio and drop_tail"
    if queue["averaging"] != 1:
        return f"the queue of link {link.name!r} is averaged; the model has the queue of the moment"
    if queue["in_length"] != "total" or queue["out_length"] != "total":
        return f"a curve of link {link.name!r} counts in-packets alone; the model's count all"
    if queue["coin"] != "independent":
        return f"link {link.name!r} spaces its drops; the model draws each for itself"
    return None


def _not_a_session(group: Group) -> str | None:
    if not group.is_tcp:
        given = offered_bps(group) is not None
        return None if given else f"the load of group {group.name!r} ({group.kind}) is not known beforehand"
    if reason := validity.workload_or_recovery(group) or validity.varying_delay(group):
        return f"group {group.name!r}: {reason}"
    if group.control != "reno":
        return f"group {group.name!r} runs {group.control}; the model describes Reno"
    if group.packets_per_ack != 1:
        return f"group {group.name!r} delays its ACKs; the model has one a packet"
    return None


def _solve(network: Network, routers: Sequence[int]) -> FixedPoint:
    tcp = [group for group in network.groups if group.is_tcp]
    others = [group for group in network.groups if not group.is_tcp]
    sessions = Sessions(
        rtt_s=np.concatenate([_rtts_s(group, network.links) for group in tcp]),
        reserved_per_s=_each(tcp, [_reserved_per_s(group) or _NO_TOKENS for group in tcp]),
        burst_packets=_each(tcp, [group.marker.get("burst", group.packet_bytes) / group.packet_bytes for group in tcp]),
        access_per_s=_each(tcp, [group.access_bps / (8 * group.packet_bytes) for group in tcp]),
        window_limit_packets=_each(tcp, [group.window_limit_packets for group in tcp]),
        rto_margin_s=np.concatenate([_rto_margins_s(group) for group in tcp]),
        crosses=_crossed(tcp, routers, each=True),
    )
    datagrams = None
    if others:
        rates = [(offered_bps(group) or 0.0) / (8 * group.packet_bytes) for group in others]
        reserved = [_reserved_per_s(group) * group.count for group in others]
        datagrams = Datagrams.marked(rates, reserved, _crossed(others, routers, each=False))
    return fixed_point(sessions, [_router(network.links[i], tcp[0].packet_bytes) for i in routers], datagrams=datagrams)


def _router(link: NetworkLink, packet_bytes: float) -> Router:
    per_s = link.rate_bps / (8 * packet_bytes)
    limit = link.buffer_packets()
    queue = link.queue
    if queue["name"] == "drop_tail":
        return Router.tail_drop(per_s, limit_packets=float(limit or 1))
    held = inf if limit is None else float(limit)
    return Router(
        per_s,
        in_min=min(queue["in_min"], held),
        in_max=min(queue["in_max"], held),
        in_probability=queue["in_probability"],
        out_min=min(queue["out_min"], held),
        out_max=min(queue["out_max"], held),
        out_probability=queue["out_probability"],
    )


def _rtts_s(group: Group, links: Sequence[NetworkLink]) -> FloatArray:
    """D of each flow: the points of the group, each as often as flows it stands for."""
    counted = sum(8 * group.packet_bytes / links[i].rate_bps for i in group.path)
    point = np.minimum(np.arange(group.count) * group.base_rtt_s.size // group.count, group.base_rtt_s.size - 1)
    return np.asarray(group.base_rtt_s[point] - counted)


def _rto_margins_s(group: Group) -> FloatArray:
    rtt_s = np.broadcast_to(np.mean(group.base_rtt_s), (group.count,))
    return np.maximum(group.seconds("min_rto") - rtt_s, group.seconds("rto_granularity"))


def _reserved_per_s(group: Group) -> float:
    """Of a flow; 0 without a token bucket."""
    return float(group.marker.get("rate", 0.0)) / (8 * group.packet_bytes)


def _each(groups: Sequence[Group], values: Sequence[float]) -> FloatArray:
    """A group's value for each of its flows."""
    return np.repeat(np.asarray(values, dtype=np.float64), [group.count for group in groups])


def _crossed(groups: Sequence[Group], routers: Sequence[int], *, each: bool) -> NDArray[np.bool_]:
    rows = np.array([[i in group.path for i in routers] for group in groups], dtype=np.bool_)
    return np.repeat(rows, [group.count for group in groups], axis=0) if each else rows


def _throughput(network: Network, state: FixedPoint | None, reason: str | None) -> tuple[Throughput, ...]:
    rows, first = [], 0
    for group in network.groups:
        if not group.is_tcp:
            continue
        row = Throughput(group.name, group.control, MODEL, Reading.STEADY_STATE, reason is None, reason)
        if state is not None:
            mine = slice(first, first + group.count)
            sent, arriving = state.session_per_s[mine].sum(), state.session_delivered_per_s[mine].sum()
            goodput_bps = float(arriving) * group.payload_bytes * 8
            row = replace(
                row,
                goodput_bps=goodput_bps,
                flow_goodput_bps=goodput_bps / group.count,
                loss=float(1 - arriving / sent),
                rtt_s=float(state.session_rtt_s[mine].mean()),
            )
        rows.append(row)
        first += group.count
    return tuple(rows)


def _datagram_loss(network: Network, routers: Sequence[int], state: FixedPoint) -> dict[str, float]:
    losses = {}
    for group in network.groups:
        if not group.is_tcp:
            places = [routers.index(i) for i in group.path]
            per_s = (offered_bps(group) or 0.0) / (8 * group.packet_bytes * group.count)
            within = min(_reserved_per_s(group) / per_s, 1.0) if per_s else 0.0
            passing_in, passing_out = (float(np.prod(1 - loss[places])) for loss in (state.loss_in, state.loss_out))
            losses[group.name] = 1 - within * passing_in - (1 - within) * passing_out
    return losses


def _queues(
    network: Network, routers: Sequence[int], state: FixedPoint | None, reason: str | None, links: Table | None
) -> tuple[LinkQueue, ...]:
    seen = {} if links is None else mean_queues(links)
    rows = []
    for place, i in enumerate(routers):
        row = LinkQueue(network.links[i].name, MODEL, reason is None, reason)
        if state is not None:
            utilisation = float(state.utilisation[place])
            # The model counts the packet in transmission, the records do not.
            waiting = max(0.0, float(state.queue_packets[place]) - utilisation)
            row = replace(
                row,
                utilisation=utilisation,
                mean_queue_packets=waiting,
                mean_queueing_delay_s=float(state.queue_packets[place] / state.capacity_per_s[place]),
                loss=float(1 - state.carried_per_s[place] / state.load_per_s[place]),
                loss_in=float(state.loss_in[place]),
                loss_out=float(state.loss_out[place]),
            )
        measured = seen.get(row.link)
        rows.append(replace(row, measured_mean_queue_packets=measured, ratio=ratio(row.mean_queue_packets, measured)))
    return tuple(rows)
