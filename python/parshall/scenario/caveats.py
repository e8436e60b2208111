"""Reasons to doubt the numbers of a scenario that can be run, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from parshall.scenario import properties
from parshall.scenario.schema.quantities import PS_PER_S, written
from parshall.scenario.schema.resolve.resolved import Resolved, ResolvedGroup

FLOWS_LOOKED_AT = 1000
"""Of a group: more of them make no other warning."""

PHASE_TOLERANCE = 0.01
"""Of a service time: RTTs so near to a multiple of it are one for as long as a run has."""

DEEP_BDP = 4
"""Bandwidth-delay products from which on a buffer is deep: BBR settles beside CUBIC behind smaller ones in seconds."""

CYCLE_ROUND_TRIPS, CYCLES_TO_SETTLE = 8, 30
"""BBR probes for bandwidth once in eight round trips; what it gains from CUBIC in each of them is little.

Eight is BBR's (Cardwell et al., ACM Queue 14(5), 2016). Thirty is what simulations showed, of 10 and 50 Mbit/s, 40 ms,
and 4, 8, 16 and 32 bandwidth-delay products: the share of BBR had settled after 40 to 60, 60 to 100, 120 and 300 s.
"""

ROUND_TRIP_MARGIN = 1.1
"""A first round trip takes longer than RTT and queue: packets are transmitted, and hosts take their time."""

_KNOWN_VALUES = {"constant", "linear", "list"}
"""Forms of a resolved value of each flow that draw nothing."""


def caveats(resolved: Resolved, repetitions: int) -> list[str]:
    """One sentence or two for each reason to doubt the numbers of a resolved scenario."""
    checks = (_phase_effects, _out_of_reach, _hasty_timers, _unsettled, _overtaking)
    reasons = [reason for check in checks for reason in check(resolved)]
    if repetitions > 1 and not _is_random(resolved):
        reasons.append(
            f"nothing in it is random, so its {repetitions} repetitions are copies and intervals mean "
            "nothing: leave processing_time at its default, or draw what is not known, e.g. "
            'start = { uniform = "1 s" }'
        )
    return reasons


def _phase_effects(resolved: Resolved) -> Iterator[str]:
    """Links at which flows of a strictly periodic network keep in step (Floyd & Jacobson 1992, sec. 3)."""
    for index, link in enumerate(resolved.links):
        if not _is_plain(link.queue["name"]) or "constant" not in link.rate:
            continue
        periodic = [
            group
            for group in resolved.flows
            if index in group.path and _is_periodic(group) and not _is_jittered(resolved, group)
        ]
        if not periodic:
            continue
        packet_bytes = max(group.packet_bytes for group in periodic)
        service_ps = packet_bytes * 8 * PS_PER_S / link.rate["constant"]
        rtts_ps = [rtt for group in periodic for rtt in _known(group.rtt_ps, group.count)]
        in_step = _in_step(rtts_ps, service_ps)
        if in_step:
            service = written("duration", round(service_ps))
            yield (
                f"phase effects decide who gets what at link {link.name}: the RTTs of {in_step} flows there differ "
                f"by multiples of its service time ({service}), and with processing_time = 0 nothing breaks the "
                "pattern. Leave processing_time at its default, or draw RTTs, e.g. rtt = { uniform = [...] }"
            )


def _out_of_reach(resolved: Resolved) -> Iterator[str]:
    """Thresholds that a queue is too short for: it is full, and drops whatever comes, before it does what they say."""
    for index, link in enumerate(resolved.links):
        queue = link.queue
        thresholds = properties.queue(queue["name"]).thresholds
        if not thresholds:
            continue
        limit = _packets(queue["limit"], [group for group in resolved.flows if index in group.path])
        for key in thresholds:
            if limit < queue[key]:
                yield (
                    f"the queue of link {link.name} never comes to its {key}: it holds {limit} packets, and {key} "
                    f"is {queue[key]} packets, so it is full, and drops whatever comes, before it does what {key} "
                    f"says. Make limit larger, or {key} smaller"
                )


def _hasty_timers(resolved: Resolved) -> Iterator[str]:
    """Groups whose round trips may last longer than the timeout before the first RTT sample (RFC 6298 (2.1)).

    Where Linux sends a SYN again, the second timeout is the first that cuts the window; with timestamps that is undone.
    """
    for group in resolved.flows:
        tcp = group.tcp
        if tcp is None:
            continue
        allowed: float = 1
        if tcp["handshake"] and tcp["rules"]["opening"] == "linux":
            allowed = math.inf if tcp["timestamps"] else 2
        rtt_ps = _largest(group.rtt_ps, group.count)
        queued_ps = sum(_full_queue_ps(resolved, index) for index in group.path)
        worst_ps = rtt_ps + queued_ps
        if worst_ps <= allowed * tcp["initial_rto"]:
            continue
        full = ", behind full queues" if rtt_ps <= allowed * tcp["initial_rto"] else ""
        enough_s = math.floor(ROUND_TRIP_MARGIN * worst_ps / PS_PER_S) + 1
        yield (
            f"connections of group {group.name} begin with needless timeouts, as a round trip takes up to "
            f"{worst_ps / PS_PER_S:.2g} s{full}, and they wait {tcp['initial_rto'] / PS_PER_S:.2g} s for the first "
            f'answer: set initial_rto = "{enough_s} s"'
        )


def _largest(spread: Mapping[str, Any], count: int) -> float:
    """The largest value of a group's spread; of a distribution without an end, 0."""
    match spread:
        case {"uniform": {"high": high}}:
            return float(high)
        case _:
            return float(max(_known(spread, count), default=0))


def _full_queue_ps(resolved: Resolved, index: int) -> float:
    """The wait behind a full queue that connections may find when they begin, ps; 0 where they find none."""
    link = resolved.links[index]
    groups = [group for group in resolved.flows if index in group.path]
    alone = sum(group.count for group in groups) == 1 and all(_sends_without_end(group) for group in groups)
    if alone or "constant" not in link.rate or not _is_plain(link.queue["name"]):
        return 0.0
    packets = _packets(link.queue["limit"], groups)
    packet_bits = 8 * max(group.packet_bytes for group in groups)
    return packets * packet_bits / link.rate["constant"] * PS_PER_S if math.isfinite(packets) else 0.0


def _unsettled(resolved: Resolved) -> Iterator[str]:
    """Links at which BBR meets CUBIC in a deep buffer, and is measured before their shares have settled.

    A round trip of BBR's cycle has the queue in it, which CUBIC keeps near full.
    """
    for index, link in enumerate(resolved.links):
        groups = [group for group in resolved.flows if index in group.path and _sends_without_end(group)]
        laws = {properties.law((group.congestion_control or {})["name"]) for group in groups}
        if "cubic" not in laws or not laws & {"bbr", "bbr3"} or not _is_plain(link.queue["name"]):
            continue
        rtts_ps = [rtt for group in groups for rtt in _known(group.rtt_ps, group.count)]
        if "constant" not in link.rate or not rtts_ps:
            continue
        packet_bits = 8 * max(group.packet_bytes for group in groups)
        queue_s = _packets(link.queue["limit"], groups) * packet_bits / link.rate["constant"]
        rtt_s = sum(rtts_ps) / len(rtts_ps) / PS_PER_S
        settled_s = CYCLE_ROUND_TRIPS * CYCLES_TO_SETTLE * (rtt_s + queue_s)
        if DEEP_BDP * rtt_s <= queue_s < float("inf") and resolved.warm_up_ps < settled_s * PS_PER_S / 2:
            yield (
                f"BBR and CUBIC share link {link.name}, whose buffer is {queue_s / rtt_s:.2g} bandwidth-delay "
                f"products: their shares take about {settled_s:.0f} s to settle, as BBR probes for bandwidth once in "
                f"{CYCLE_ROUND_TRIPS} round trips, and each of these waits in the queue ({queue_s:.2g} s when it is "
                f'full). Measure later: warm_up = "{settled_s:.0f} s"'
            )


def _overtaking(resolved: Resolved) -> Iterator[str]:
    """Groups whose packets overtake each other, and whose TCP cannot undo what it took for losses, as Linux does."""
    for group in resolved.flows:
        if group.tcp is None or group.tcp["rules"]["undo"] == "linux":
            continue
        if any(jitter["order"] == "free" for jitter in _jitters(resolved, group)):
            yield (
                f"packets of group {group.name} overtake each other, and TCP of the RFCs reduces its window for any "
                'that it takes for lost; Linux finds out by D-SACK and timestamps, and undoes it: set tcp = "linux" '
                "for what kernels do"
            )


def _jitters(resolved: Resolved, group: ResolvedGroup) -> list[Mapping[str, Any]]:
    """The jitters that packets of a group meet, there and back."""
    links = (resolved.links[index].jitter for index in (*group.path, *group.reverse_path))
    return [jitter for jitter in (*links, group.jitter, group.reverse_jitter) if jitter]


def _is_jittered(resolved: Resolved, group: ResolvedGroup) -> bool:
    """True if times are drawn for packets of a group, there or back."""
    return any(jitter["distribution"]["name"] != "constant" for jitter in _jitters(resolved, group))


def _sends_without_end(group: ResolvedGroup) -> bool:
    return bool(group.congestion_control) and properties.workload(group.workload["name"]).demand == "endless"


def _packets(limit: dict[str, int], groups: list[ResolvedGroup]) -> float:
    """Return the capacity of a queue in packets; of one limited in bytes, the most packets without ACKs."""
    if "packets" in limit:
        return limit["packets"]
    if "bytes" in limit and groups:
        smallest: int = min(group.packet_bytes for group in groups)
        return limit["bytes"] // smallest
    return float("inf")


def _is_periodic(group: ResolvedGroup) -> bool:
    return group.processing_ps == 0 and not properties.workload(group.workload["name"]).random


def _is_plain(queue: str) -> bool:
    """True if the queue only drops packets that do not fit, whichever flow they are of."""
    traits = properties.queue(queue)
    return traits.drops == "tail" and traits.separates == "nothing" and not (traits.own_rate or traits.random)


def _known(spread: Mapping[str, Any], count: int) -> list[int]:
    """The values that the scenario itself says, for some flows of a group."""
    count = min(count, FLOWS_LOOKED_AT)
    match spread:
        case {"constant": value}:
            return [value] * count
        case {"linear": {"first": first, "step": step}}:
            return [first + index * step for index in range(count)]
        case {"list": values}:
            return list(values[:count])
        case _:
            return []


def _in_step(rtts_ps: list[int], service_ps: float) -> int:
    """Return the number of RTTs that differ from another one by a multiple of the service time."""
    phases = sorted(rtt / service_ps % 1.0 for rtt in rtts_ps)
    if len(phases) < 2:
        return 0
    after = [*phases[1:], phases[0] + 1.0]
    near = [later - phase <= PHASE_TOLERANCE for phase, later in zip(phases, after, strict=True)]
    return sum(here or before for here, before in zip(near, [near[-1], *near[:-1]], strict=True))


def _queues(queue: Mapping[str, Any]) -> Iterator[str]:
    """The name of a queue, and of those within it, which are parameters with a name."""
    yield queue["name"]
    for value in queue.values():
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, Mapping) and "name" in inner:
                yield from _queues(inner)


def _is_random(resolved: Resolved) -> bool:
    """True if a random number is drawn."""
    links, flows = resolved.links, resolved.flows
    return (
        any(properties.loss(link.loss).random for link in links)
        or any(properties.queue(name).random for link in links for name in _queues(link.queue))
        or any(properties.workload(group.workload["name"]).random for group in flows)
        or any(not _KNOWN_VALUES & spread.keys() for group in flows for spread in (group.rtt_ps, group.start_ps))
        or any(group.processing_ps > 0 or _is_jittered(resolved, group) for group in flows)
    )
