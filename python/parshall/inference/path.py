"""The path of the flows of a capture: its rate, its buffer, and its losses outside full queues.

| what | from |
| --- | --- |
| rate | trains of packets that left the bottleneck while a queue stood, or back to back (`dispersion`) |
| buffer | the waits at losses in full queues, at that rate (`losses`) |
| random losses | losses at waits where no queue is full, over the packets that waited so (`losses`) |

The bottleneck is before or behind the point of the capture: waits are read on its side (`queueing`). Where no train
shows a rate, it is only known to be at least the highest one seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from parshall.analysis.stats.estimates import FloatArray
from parshall.inference import dispersion
from parshall.inference.facts import Direction
from parshall.inference.losses import LEAST_EVENTS, losses, shares
from parshall.inference.queueing import Departures, Waits, departures, standing, waits
from parshall.instruments.observation.packets import FlowPackets

STANDING = 0.3
"""Share of a long wait (95th percentile) from which on a queue stands."""
NOISE = 2.0
"""Times by which a queue exceeds most differences of waits from one packet to the next, which hosts make."""
OF_RTT = 0.1
"""Share of the least round trip by which most packets wait where a queue stands most of the time."""
QUEUED = 3.0
"""Packets that are a queue, and not a burst of the sender alone."""
TRAIN_NOISE, MOST_IN_TRAIN = 0.01, 4096
"""Share of a train's time that the noise takes at most, which makes trains longer, but for so many packets."""
RESOLUTION = 1e-3
"""Relative error of a rate that hosts and clocks leave, whatever the trains: 1 us in a train of 1 ms."""
NEARER = 1.1
"""Behind a bottleneck nothing is faster than what is acknowledged, but for so much: acknowledgements are delayed."""
RISE = 0.3
"""Share of a packet's time by which the wait ahead grows, at most, from one packet of a train to the next where no
slower link spreads them."""
IDLE_PACKETS, IDLE_S = 4, 1e-3
"""A bottleneck that seems idle for less still works: acknowledgements wait for a second packet, and hosts take time."""
LAST_PACKETS = 1.25
"""Packets of a full queue for which the last one that fits does not wait: itself, and a part of the one that leaves. As
the longer waits count, which the packets that left since the loss shortened least, this part is a quarter."""
UNKNOWN = 2.0
"""A rate or buffer of which only a lower bound is known is guessed at so many times the bound."""


@dataclass(frozen=True)
class PathEstimate:
    """A value with a range; `low` alone is a lower bound, with a guess above it as the value."""

    value: float
    low: float | None = None
    high: float | None = None
    guess: bool = False


@dataclass(frozen=True)
class InferredPath:
    """The bottleneck that the flows of one direction share.

    Parameters
    ----------
    rate_bps
        Rate on the wire, bit/s.
    buffer_bytes
        What its queue holds; a guess where no loss happened in a full queue, None where nothing waited.
    loss
        Probability that a packet is lost outside full queues; None where too few losses show it, a guess where the
        queue was as long at all times, and may have been full.
    burst_packets
        Packets lost in a random loss event on average.
    """

    rate_bps: PathEstimate
    buffer_bytes: PathEstimate | None
    loss: PathEstimate | None
    burst_packets: float

    @property
    def has_full_queue(self) -> bool:
        """True if losses in a full queue show the buffer."""
        return self.buffer_bytes is not None and not self.buffer_bytes.guess


def sides(flows: Sequence[Direction]) -> tuple[list[Direction], list[Direction]]:
    """The flows that go the way of the largest one, and those that go back."""
    largest = max(flows, key=lambda each: each.delivered_bytes)
    senders, receivers = {largest.source}, {largest.destination}
    for each in sorted(flows, key=lambda each: -each.delivered_bytes):
        if each.source in receivers or each.destination in senders:
            receivers.add(each.source)
            senders.add(each.destination)
        else:
            senders.add(each.source)
            receivers.add(each.destination)
    there = [each for each in flows if each.source in senders and each.source not in receivers]
    there = there or [each for each in flows if each.source == largest.source]
    return there, [each for each in flows if each not in there]


def path(flows: Sequence[Direction], captured: Sequence[FlowPackets]) -> InferredPath:
    """The bottleneck of flows that go the same way, by their packets in the same order."""
    behind, rate = _rate(captured)
    if rate is None:
        least_s = min(each.min_rtt_s for each in flows)
        rate = _varying(captured, least_s, behind=False) or _varying(captured, least_s, behind=True) or _bound(flows)
    largest = max(flows, key=lambda each: each.delivered_bytes)
    packet_s = 8 * largest.packet_bytes / rate.value
    found = waits(captured, behind=behind)
    is_empty_once = any(each.opened for each in flows)
    if not rate.guess:
        # Acknowledgements of long paths come later than those of short ones for what left the bottleneck together.
        apart_s = 0.0 if behind else max(each.min_rtt_s for each in flows) - min(each.min_rtt_s for each in flows)
        idle_s = IDLE_PACKETS * packet_s + IDLE_S + apart_s
        found, idles = _possible(found, departures(captured, behind=behind), rate.value, idle_s)
        is_empty_once = is_empty_once or idles
    told = shares(losses(captured, found, behind=behind), packet_s)
    loss = None if told.probability is None else PathEstimate(*told.probability, guess=told.undecided)
    # A queue that never was empty is longer than the waits above the least one.
    full_s = told.full_s if is_empty_once else np.empty(0)
    buffer = _buffer(full_s, told.longest_s, rate, largest.packet_bytes)
    return InferredPath(rate, buffer, loss, told.burst_packets)


# --- rate ---


def _rate(captured: Sequence[FlowPackets]) -> tuple[bool, PathEstimate | None]:
    """Return whether the bottleneck is before the capture, and its rate; None if nothing shows it."""
    ahead = _of_trains(captured, behind=False)
    left = departures(captured, behind=True)
    pairs = dispersion.of_pairs(left)
    passed = _estimate(dispersion.median_of(pairs, np.ones(pairs.size))) or _of_trains(captured, behind=True)
    if ahead is not None and (passed is None or passed.value > NEARER * ahead.value):
        return False, ahead
    if passed is not None and (ahead is not None or _is_slowest(captured, passed.value)):
        return True, passed
    return False, None


def _of_trains(captured: Sequence[FlowPackets], *, behind: bool) -> PathEstimate | None:
    return _estimate(dispersion.median_of(*_trains(captured, behind=behind)))


def _varying(captured: Sequence[FlowPackets], least_rtt_s: float, *, behind: bool) -> PathEstimate | None:
    """Return the median rate of trains that differ although a queue stood most of the time, as a guess; else None."""
    found = waits(captured, behind=behind)
    rates, packets = _trains(captured, behind=behind)
    if rates.size < dispersion.LEAST_TRAINS or packets.sum() < STANDING * found.above_s.size:
        return None
    noise = float(np.quantile(np.abs(np.diff(found.above_s)), 0.9))
    if float(np.median(found.above_s)) < max(NOISE * noise, OF_RTT * least_rtt_s):
        return None
    low, value, high = (float(each) for each in np.quantile(rates, (0.1, 0.5, 0.9)))
    return PathEstimate(value, low, high, guess=True)


def _trains(captured: Sequence[FlowPackets], *, behind: bool) -> tuple[FloatArray, FloatArray]:
    """Return the rates of trains that left while a queue stood, bit/s, and their packets, shape (trains,)."""
    found, left = waits(captured, behind=behind), departures(captured, behind=behind)
    if found.above_s.size < dispersion.LEAST_TRAIN:
        return np.empty(0), np.empty(0)
    noise = float(np.quantile(np.abs(np.diff(found.above_s)), 0.9))
    least_s = max(STANDING * float(np.quantile(found.above_s, 0.95)), NOISE * noise)
    gap_s = float(np.median(np.diff(left.seen_s))) if left.seen_s.size > 1 else noise
    packets = max(dispersion.TRAIN, min(MOST_IN_TRAIN, math.ceil(noise / (TRAIN_NOISE * max(gap_s, 1e-9)))))
    rates, weights = dispersion.of_trains(left, standing(left.seen_s, found, least_s), packets)
    queue_s = QUEUED * _packet_bits(captured) / float(np.median(rates)) if rates.size else 0.0
    if least_s < queue_s:
        return dispersion.of_trains(left, standing(left.seen_s, found, queue_s), packets)
    return rates, weights


def _packet_bits(captured: Sequence[FlowPackets]) -> float:
    return 8 * float(np.median(np.concatenate([each.wire_bytes for each in captured])))


def _estimate(found: tuple[float, float, float] | None) -> PathEstimate | None:
    if found is None:
        return None
    value, low, high = found
    return PathEstimate(value, min(low, (1 - RESOLUTION) * value), max(high, (1 + RESOLUTION) * value))


def _is_slowest(captured: Sequence[FlowPackets], rate_bps: float) -> bool:
    """True if packets that pass back to back at a rate are acknowledged as fast: ahead no slower link spreads them."""
    found = waits(captured, behind=False, smooth=False)
    rises = np.concatenate([_rises(flow, found, number, rate_bps) for number, flow in enumerate(captured)])
    if not rises.size:
        return False
    low, middle, high = np.quantile(rises, (0.25, 0.5, 0.75))
    # The standard error of a median of normal values, by their quartiles.
    error = 1.253 * float(high - low) / 1.349 / math.sqrt(rises.size)
    return bool(middle + 2 * error < RISE * _packet_bits(captured) / rate_bps)


def _rises(flow: FlowPackets, found: Waits, number: int, rate_bps: float) -> FloatArray:
    """Return by how much the wait ahead grows from packet to packet, s, in each train of a flow, shape (trains,)."""
    own = found.flow == number
    begins = np.diff(flow.sent_s) > 1.5 * 8 * flow.wire_bytes[1:] / rate_bps
    place, above = found.place[own], found.above_s[own]
    train = np.concatenate([[0], np.cumsum(begins)])[place]
    _, first = np.unique(train, return_index=True)
    last = np.append(first[1:], train.size) - 1
    apart = place[last] - place[first]
    long = apart > 0
    rises: FloatArray = (above[last] - above[first])[long] / apart[long]
    return rises


def _bound(flows: Sequence[Direction]) -> PathEstimate:
    """The highest rate of two round trips in a row of any flow, as a lower bound."""
    most = max(each.goodput_bps for each in flows)
    for flow in flows:
        if flow.rounds.size >= 3:
            lengths = np.maximum(flow.round_starts_s[2:] - flow.round_starts_s[:-2], 2 * flow.min_rtt_s)
            bits = (flow.rounds[:-2] + flow.rounds[1:-1]) * 8 * flow.packet_bytes
            most = max(most, float((bits / lengths).max()))
    return PathEstimate(UNKNOWN * most, low=most, guess=True)


# --- waits and the buffer ---


def _possible(found: Waits, left: Departures, rate_bps: float, short_s: float) -> tuple[Waits, bool]:
    """The waits, none longer than the bottleneck had been busy, and whether it ever was idle.

    A sender that pauses answers late, and nothing waited.

    Parameters
    ----------
    short_s
        For so long a bottleneck may seem idle and be at work.
    """
    idle_s = np.maximum.accumulate(left.seen_s - np.cumsum(left.bits) / rate_bps)
    begins = left.seen_s[np.searchsorted(idle_s, idle_s - short_s)]
    at = np.clip(np.searchsorted(left.seen_s, found.seen_s, side="right") - 1, 0, left.seen_s.size - 1)
    busy_s = left.seen_s[at] - begins[at] + short_s
    return replace(found, above_s=np.minimum(found.above_s, busy_s)), bool((begins > begins[0]).any())


def _buffer(full_s: FloatArray, longest_s: float | None, rate: PathEstimate, packet_bytes: int) -> PathEstimate | None:
    if longest_s is None:
        return None
    if not full_s.size or rate.guess:
        least = longest_s * rate.value / 8
        return PathEstimate(UNKNOWN * least, low=least, guess=True) if least > UNKNOWN * packet_bytes else None
    low, value, high = (float(each) for each in np.quantile(full_s * rate.value / 8, (0.25, 0.75, 1.0)))
    return PathEstimate(value + LAST_PACKETS * packet_bytes, low, high + (1 + LAST_PACKETS) * packet_bytes)


def full_queue_s(flows: Sequence[Direction]) -> float | None:
    """The time that the full buffer takes, s: the delay at losses of the flow that saw most of it; None without losses.

    All flows lose at the same length of the queue. One that began behind a standing queue never saw the path without
    it, and takes part of it for the path.
    """
    seen = [(each.limits.queueing_delay_s, each.limits.queue_losses or 0) for each in flows]
    known = [(delay, losses) for delay, losses in seen if delay is not None and losses]
    often = [(delay, losses) for delay, losses in known if losses >= LEAST_EVENTS]
    return max((delay for delay, _ in often or known), default=None)


def without_queue(flows: Sequence[Direction]) -> list[Direction]:
    """The flows, each with the round trip that it would see without the queue that others kept standing.

    None gets less than the least that any flow saw: where the delays at losses differ for another reason, no round trip
    is made up.
    """
    full_s = full_queue_s(flows)
    if full_s is None:
        return [*flows]
    made, floor_s = [], min(each.min_rtt_s for each in flows)
    for each in flows:
        own_s, losses = each.limits.queueing_delay_s, each.limits.queue_losses or 0
        standing_s = full_s - own_s if own_s is not None and losses >= LEAST_EVENTS else 0.0
        least_s = max(each.min_rtt_s - standing_s, floor_s)
        made.append(replace(each, min_rtt_s=least_s) if standing_s > 0.1 * full_s else each)
    return made
