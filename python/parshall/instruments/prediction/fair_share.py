"""Throughput behind a queue that serves the flows apart: each has its max-min fair share (`models.fair_share`).

A flow takes its access link's rate at most, and a receiver's window a round-trip time; datagrams take what they offer.
For the shares to be used, a flow's own queue must not run dry after a loss: the queue has to hold as much as the path
does, the rule for one Reno flow (halving a window of twice the bandwidth-delay product leaves the path full). Queues
that drop before they are full do not let flows queue that much, and are out of range.
"""

from __future__ import annotations

import numpy as np

from parshall.analysis.models.fair_share import max_min_shares
from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.models.throughput import models_for
from parshall.instruments.prediction import validity
from parshall.instruments.prediction.answers import Reading, Throughput
from parshall.instruments.prediction.loads import offered_bps
from parshall.instruments.prediction.network import Group, Network, NetworkLink


def throughput(network: Network) -> list[Throughput]:
    """Give each group of TCP flows on a link whose queue serves the flows apart its share; nothing to any other."""
    return [
        _answer(network, network.links[group.path[0]], group)
        for group in network.groups
        if group.is_tcp and any(network.links[i].traits.separates == "flows" for i in group.path)
    ]


def _answer(network: Network, link: NetworkLink, group: Group) -> Throughput:
    def out(reason: str) -> Throughput:
        return Throughput(group.name, group.control, "fair_share", Reading.STEADY_STATE, False, reason)

    sharing = network.crossing(group.path[0])
    if reason := _link(link) or next((reason for other in sharing if (reason := _group(other))), None):
        return out(reason)
    shares = max_min_shares(
        link.rate_bps,
        np.concatenate([_most_bps(each) for each in sharing]),
        np.concatenate([g.weights for g in sharing]),
    )
    ends = np.cumsum([each.weights.size for each in sharing])[:-1]
    rates_bps = dict(zip((each.name for each in sharing), np.split(shares, ends), strict=True))
    tcp = [each for each in sharing if each.is_tcp]
    too_short = (reason for each in tcp if (reason := _too_short(network, each, rates_bps[each.name])))
    if reason := _runs_dry(link, tcp, rates_bps) or next(too_short, None):
        return out(reason)
    mine = rates_bps[group.name]
    per_flow_bps = float(mine @ group.weights) / group.count * group.payload_bytes / group.packet_bytes
    return Throughput(
        group=group.name,
        control=group.control,
        model="fair_share",
        reading=Reading.STEADY_STATE,
        in_range=True,
        reason=None,
        goodput_bps=per_flow_bps * group.count,
        flow_goodput_bps=per_flow_bps,
        limited_by=_limited_by(link, group, mine),
    )


def _most_bps(group: Group) -> FloatArray:
    """Return the largest rate of a flow on the wire, at each point of the group, in bit/s."""
    if not group.is_tcp:
        return np.full(group.weights.shape, (offered_bps(group) or 0.0) / group.count)
    return np.minimum(group.window_limit_packets * group.packet_bytes * 8 / group.base_rtt_s, group.access_bps)


def _link(link: NetworkLink) -> str | None:
    if link.varies:
        return f"the rate of link {link.name!r} follows a trace; the model has a constant one"
    if link.medium.pattern != "none":
        return f"link {link.name!r} loses packets by itself, which keeps flows from their shares"
    if link.traits.separates != "flows" or link.traits.own_rate:
        return validity.not_one_queue(link) or f"link {link.name!r} has one queue for all; the model has one for each"
    if link.traits.drops != "tail":
        return (
            f"the queue of link {link.name!r} ({link.traits.title}) drops before a flow's own queue is long enough to "
            "keep its share in use after a loss; the model has shares that are always used"
        )
    return None


def _group(group: Group) -> str | None:
    if len(group.path) > 1:
        return f"group {group.name!r} crosses several contended links; the model has one"
    if not group.is_tcp:
        smooth = group.application.demand == "steady"
        return None if smooth else f"what group {group.name!r} ({group.kind}) wants at a time is not known beforehand"
    if reason := validity.workload_or_recovery(group) or validity.varying_delay(group):
        return f"group {group.name!r}: {reason}"
    known = models_for(group.control)
    return None if known else f"no model says how group {group.name!r} ({group.control}) keeps its share in use"


def _runs_dry(link: NetworkLink, tcp: list[Group], rates_bps: dict[str, FloatArray]) -> str | None:
    if not link.has_limit:
        return f"link {link.name!r} does not say how much its queue holds"
    needed_s = sum(float(rates_bps[g.name] * g.base_rtt_s @ g.weights) for g in tcp) / link.rate_bps
    packet_bytes = max(group.packet_bytes for group in tcp)
    held_s = link.buffer_s(packet_bytes)
    if needed_s <= held_s:
        return None
    return (
        f"the queue of link {link.name!r} holds {held_s:.3g} s of its rate; a flow's own queue runs dry after a loss, "
        f"and leaves a part of its share to others, unless it holds the {needed_s:.3g} s of the flows' round trips"
    )


def _too_short(network: Network, group: Group, rates_bps: FloatArray) -> str | None:
    lasting = network.duration_s - max(group.start_s, network.warm_up_s)
    grown_s = float(np.max(rates_bps * group.base_rtt_s**2 / (8 * group.packet_bytes)))
    if grown_s > lasting:
        return (
            f"a packet a round trip more takes {grown_s:.3g} s to bring a flow of group {group.name!r} to its share, "
            f"and {lasting:.4g} s are measured"
        )
    if group.kind == "transfer":
        seconds = 8 * sum(group.workload["sizes"]) / float(np.max(rates_bps))
        if group.start_s + seconds < network.duration_s:
            return f"the transfers of group {group.name!r} would end after about {seconds:.3g} s"
    return None


def _limited_by(link: NetworkLink, group: Group, rates_bps: FloatArray) -> str:
    if np.mean(rates_bps >= group.access_bps) > 0.5:
        return "access link"
    return "window" if np.mean(rates_bps >= _most_bps(group)) > 0.5 else link.name
