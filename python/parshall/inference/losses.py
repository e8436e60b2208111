"""Losses of a capture: how long packets waited when they happened, and so which fell into a full queue.

A full queue loses packets where they wait longest; a medium loses them at any time. So losses at short waits, over the
packets that waited as shortly, are the medium's rate, and losses at the longest waits are a full queue's if they are
more than this rate explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, chi2

from parshall.analysis.stats.estimates import FloatArray
from parshall.inference.queueing import Waits
from parshall.instruments.observation.packets import FlowPackets

TOP = 0.999
"""Quantile of the waits that is the longest one: the rest are answers that hosts delayed."""
NEAR = 0.12
"""Share of the full queue's wait by which a packet that is lost there may wait less: queues drain between packets."""
LEAST_QUEUE = 3.0
"""Packets' times that a wait lasts in a full queue at least."""
NEAR_PACKETS = 2.0
"""Packets' times by which it may, too."""
LOW = 0.6
"""Share of the longest wait below which no queue is full."""
LOW_SHARE = 0.2
"""Of the packets, which waited so short at least: else the short waits are those of this share."""
STANDS = 0.5
"""Share of the packets that wait as long as in the full queue, from which on waits may tell nothing: the queue is full,
or its senders hold it there. Then both are told, for simulations to choose."""
MISPLACED = 0.025
"""Share of the losses of a full queue whose waits hosts may misplace."""
LEAST_EVENTS = 3
"""Random loss events below which no probability is stated."""
CHANCE = 0.05
"""Probability that random losses fall into long waits by chance, below which a queue was full."""


@dataclass(frozen=True)
class Losses:
    """The losses of all flows.

    Parameters
    ----------
    above_s
        Wait of the packet before each run of lost packets, s, shape (runs,).
    packets
        Lost in each run, shape (runs,).
    waits_s
        Waits of all packets that were sent, s, shape (packets,).
    """

    above_s: FloatArray
    packets: FloatArray
    waits_s: FloatArray


@dataclass(frozen=True)
class LossShares:
    """Losses in full queues and outside them.

    Parameters
    ----------
    full_s
        Waits at losses in a full queue, shape (runs,); empty without.
    longest_s
        The longest wait, s; None without waits.
    probability, low, high
        That a packet is lost outside full queues, with its 95 % interval; None where too few losses show it.
    burst_packets
        Packets lost at once then, on average.
    undecided
        Whether the waits do not say which of the two caused the losses, and both are told.
    """

    full_s: FloatArray
    longest_s: float | None
    probability: tuple[float, float, float] | None
    burst_packets: float
    undecided: bool = False


def losses(flows: Sequence[FlowPackets], found: Waits, *, behind: bool) -> Losses:
    """The losses of flows, with what packets waited on the side of the capture where the bottleneck is."""
    parts = [_of(each, found, number, behind=behind) for number, each in enumerate(flows)]
    above, packets, every = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return Losses(above, packets, every)


def _of(flow: FlowPackets, found: Waits, number: int, *, behind: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    own = found.flow == number
    if not own.any():
        return np.empty(0), np.empty(0), np.empty(0)
    new = np.flatnonzero(flow.is_new)
    if behind:
        waited = np.interp(flow.sent_s[new], found.seen_s, found.above_s)
        missing = flow.missing_bytes[new]
        at = np.flatnonzero(missing > 0)
        return np.maximum(waited[at - 1], waited[at]), np.ceil(missing[at] / flow.segment_bytes), waited
    order = np.argsort(found.place[own], kind="stable")
    known, above = found.place[own][order], found.above_s[own][order]
    again = flow.is_sent_again[new]
    first = np.flatnonzero(again & ~np.concatenate([[False], again[:-1]]))
    runs = np.cumsum(np.concatenate([[False], again[:-1]]) < again)[again] - 1
    lost = np.ceil((flow.end - flow.start)[new][again] / flow.segment_bytes)
    before = np.searchsorted(known, new[np.maximum(first - 1, 0)], side="right") - 1
    after = np.minimum(before + 1, known.size - 1)
    at_run = np.maximum(above[np.maximum(before, 0)], above[after])
    packets: FloatArray = np.bincount(runs, lost, first.size).astype(np.float64)
    return at_run, packets, np.interp(new, known, above)


def shares(lost: Losses, packet_s: float) -> LossShares:
    """Tell losses in full queues from others.

    Parameters
    ----------
    packet_s
        Time of a packet at the bottleneck.
    """
    waits_s, above = lost.waits_s, lost.above_s
    if not waits_s.size:
        return LossShares(np.empty(0), None, None, 1.0)
    longest = float(np.quantile(waits_s, TOP))
    long = above[above >= max(LOW * longest, float(np.quantile(waits_s, LOW_SHARE)), LEAST_QUEUE * packet_s)]
    full_s = _mode(long)
    margin = max(NEAR * full_s, NEAR_PACKETS * packet_s)
    is_full = (np.abs(above - full_s) <= margin) & (long.size > 0)
    near = float((waits_s >= full_s - margin).mean())
    full = int(is_full.sum())
    by_chance = not full or not _is_more_than_chance(full, above.size, near)
    if by_chance:
        probability, burst = _probability(lost.packets, waits_s.size)
        undecided = full > 0 and near >= STANDS
        return LossShares(above[is_full] if undecided else np.empty(0), longest, probability, burst, undecided)
    low = min(full_s - margin, max(LOW * full_s, float(np.quantile(waits_s, LOW_SHARE))))
    is_low = above <= low
    if is_low.sum() < MISPLACED * above.size:
        is_low[:] = False
    probability, burst = _probability(lost.packets[is_low], int((waits_s <= low).sum()))
    return LossShares(above[is_full], longest, probability, burst)


def _mode(values: FloatArray) -> float:
    """Return the middle of the shortest interval with half of the values, the highest one of several; 0 of none."""
    if not values.size:
        return 0.0
    ordered = np.sort(values)
    half = (ordered.size + 1) // 2
    widths = ordered[half - 1 :] - ordered[: ordered.size - half + 1]
    first = int(np.flatnonzero(widths <= widths.min() + 1e-9)[-1])
    return float(ordered[first : first + half].mean())


def _is_more_than_chance(full: int, runs: int, share: float) -> bool:
    return bool(binom.sf(full - 1, runs, share) < CHANCE)


def _probability(packets: FloatArray, sent: int) -> tuple[tuple[float, float, float] | None, float]:
    """Return the share of lost packets with its interval, by the events that count (Kish), and the packets of one."""
    events, total = packets.size, float(packets.sum())
    if events < LEAST_EVENTS or not sent:
        return None, 1.0
    effective = total**2 / float((packets**2).sum())
    share = total / (sent + total)
    low, high = chi2.ppf(0.025, 2 * effective) / (2 * effective), chi2.ppf(0.975, 2 * effective + 2) / (2 * effective)
    return (share, float(low) * share, float(high) * share), total / events
