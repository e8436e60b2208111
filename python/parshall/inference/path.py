"""The path of the flows of a capture: its rate, its buffer, and its losses outside full queues.

| what | from |
| --- | --- |
| rate | what all flows of a direction deliver while a queue stands before the bottleneck |
| buffer | the queueing delay just before losses in full queues, at that rate |
| random losses | losses that no full queue explains, over the packets sent |

Where no queue stood, the capture shows only that the rate is at least the highest one seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy.stats import chi2

from parshall.analysis.stats.estimates import FloatArray
from parshall.inference.facts import Direction
from parshall.instruments.observation import Observation

LEAST_BIN_S = 0.1
"""Deliveries are sampled ten times a second."""
ROUNDS_A_BIN = 4
"""Round trips in a bin: fewer show the sender's bursts, more hide short queues."""
LEAST_BINS = 5
"""Bins with a standing queue below which they show no rate."""
LEAST_EVENTS = 3
"""Random loss events below which no probability is stated."""
LEVEL = 0.03
"""Rates of round trips within so much of the highest one are a level at which the path holds a growing window."""
OF_RATE, OF_BUFFER, OF_BUFFER_OF_FEW = 0.02, 0.08, 0.15
"""Shares by which the rate of a single flow, and a buffer, may be off: set, not estimated from the capture."""
UNKNOWN_RATE = 2.0
"""A rate of which only a lower bound is known is guessed at so many times the bound."""


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
        What its queue holds; None where no loss happened in a full queue.
    loss
        Probability that a packet is lost outside full queues; None where too few losses show it.
    burst_packets
        Packets lost in a random loss event on average.
    """

    rate_bps: PathEstimate
    buffer_bytes: PathEstimate | None
    loss: PathEstimate | None
    burst_packets: float


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


def path(observation: Observation, flows: Sequence[Direction]) -> InferredPath:
    """The bottleneck of flows that go the same way."""
    rate = _rate(observation, flows)
    return InferredPath(rate, _buffer(flows, rate.value), _loss(flows), _burst(flows))


def _rate(observation: Observation, flows: Sequence[Direction]) -> PathEstimate:
    alone = max(flows, key=lambda each: each.delivered_bytes)
    others = sum(each.delivered_bytes for each in flows) - alone.delivered_bytes
    if others < 0.01 * alone.delivered_bytes and alone.limits.path_rate_bps is not None:
        value = alone.limits.path_rate_bps
        return _give_or_take(value, OF_RATE)
    rates, queued = _binned(observation, flows)
    full = rates[queued]
    if full.size >= LEAST_BINS:
        return _median(full)
    pooled = _pooled(flows)
    if pooled is not None:
        return pooled
    peaks = [_peaks(each) for each in flows]
    highest = [float(part.max()) for part in peaks if part.size]
    most = max([*rates.tolist(), *(each.goodput_bps for each in flows), *highest])
    level = np.concatenate([_outside(part, each) for part, each in zip(peaks, flows, strict=True)])
    level = level[level >= (1 - LEVEL) * most]
    if level.size >= LEAST_BINS:
        return _median(level)
    return PathEstimate(UNKNOWN_RATE * most, low=most, guess=True)


def _pooled(flows: Sequence[Direction]) -> PathEstimate | None:
    """Return the rate of flows alone on the path in round trips with a queue; None of fewer than five."""
    rates = []
    for flow in flows:
        others = [each for each in flows if each is not flow]
        if any(each.start_s < flow.end_s and flow.start_s < each.end_s for each in others):
            continue
        starts, windows = flow.round_starts_s, flow.rounds
        for begin_s, end_s in flow.queued_s:
            inside = np.flatnonzero((starts >= begin_s) & (starts < end_s))[:-1]
            lengths = np.diff(starts)[inside[inside < starts.size - 1]]
            rates += (windows[inside[: lengths.size]] * 8 * flow.packet_bytes / lengths).tolist()
    return _median(np.array(rates)) if len(rates) >= LEAST_BINS else None


def _median(values: FloatArray) -> PathEstimate:
    """The median with its distribution-free interval."""
    ordered = np.sort(values)
    half = 0.98 * math.sqrt(ordered.size)
    low = ordered[max(0, math.floor(ordered.size / 2 - half))]
    high = ordered[min(ordered.size - 1, math.ceil(ordered.size / 2 + half))]
    return PathEstimate(float(np.median(ordered)), float(low), float(high))


def _peaks(flow: Direction) -> FloatArray:
    """Return the rate of each two round trips in a row, as bits on the wire a second, shape (rounds - 2,)."""
    if flow.rounds.size < 3:
        return np.empty(0)
    lengths = flow.round_starts_s[2:] - flow.round_starts_s[:-2]
    packets = flow.rounds[:-2] + flow.rounds[1:-1]
    rates: FloatArray = packets / np.maximum(lengths, flow.min_rtt_s) * 8 * flow.packet_bytes
    return rates


def _outside(peaks: FloatArray, flow: Direction) -> FloatArray:
    """The rates of a flow whose window or application did not hold it at one rate; none of another."""
    own = flow.cause_s("receiver", "application", "sender")
    return peaks if own < 0.1 * flow.limits.total_s else np.empty(0)


def _binned(observation: Observation, flows: Sequence[Direction]) -> tuple[FloatArray, np.ndarray]:
    """Bits on the wire a second of all flows in each bin, and whether a queue stood in it all the time."""
    end = max(each.end_s for each in flows)
    start = min(each.start_s for each in flows)
    width = max(LEAST_BIN_S, ROUNDS_A_BIN * float(np.median([each.min_rtt_s for each in flows])))
    edges = np.arange(start, end + width, width)
    if edges.size < 2:
        return np.empty(0), np.empty(0, dtype=bool)
    numbers = {each.number: each for each in flows}
    samples = observation.flow_samples
    delivered, queued = np.zeros(edges.size - 1), np.zeros(edges.size - 1, dtype=bool)
    if samples is None:
        return delivered, queued
    chosen = samples.filter(pl.col("flow").is_in([*numbers])).select("flow", "time_s", "delivered_bytes").drop_nulls()
    for (number,), own in chosen.group_by("flow"):
        flow = numbers[int(str(number))]
        bits = own["delivered_bytes"].to_numpy() * 8 * flow.packet_bytes / flow.segment_bytes
        delivered += np.diff(np.interp(edges, own["time_s"].to_numpy(), bits))
    for flow in flows:
        for begin_s, end_s in flow.queued_s:
            queued |= (edges[:-1] >= begin_s + width) & (edges[1:] <= end_s)
    return delivered / width, queued


def _buffer(flows: Sequence[Direction], rate_bps: float) -> PathEstimate | None:
    delay = full_queue_s(flows)
    if delay is None:
        return None
    losses = sum(each.limits.queue_losses or 0 for each in flows)
    return _give_or_take(delay * rate_bps / 8, OF_BUFFER if losses >= LEAST_EVENTS else OF_BUFFER_OF_FEW)


def _give_or_take(value: float, share: float) -> PathEstimate:
    return PathEstimate(value, (1 - share) * value, (1 + share) * value)


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


def _loss(flows: Sequence[Direction]) -> PathEstimate | None:
    events = sum(each.limits.random_losses or 0 for each in flows)
    sent = sum(each.packets_sent for each in flows)
    if events < LEAST_EVENTS or not sent:
        return None
    value = events * _burst(flows) / sent
    low, high = chi2.ppf(0.025, 2 * events) / (2 * events), chi2.ppf(0.975, 2 * events + 2) / (2 * events)
    return PathEstimate(value, float(low) * value, float(high) * value)


def _burst(flows: Sequence[Direction]) -> float:
    """Packets lost in a loss event; those in full queues lose more at once and do not count where others are there."""
    apart = [each for each in flows if (each.limits.random_losses or 0) > (each.limits.queue_losses or 0)]
    events = sum(each.loss_events for each in apart)
    return max(1.0, sum(each.packets_dropped for each in apart) / events) if events else 1.0
