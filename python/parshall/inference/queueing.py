"""The waits of the packets of a capture, and the arrivals behind the bottleneck.

| capture | packets leave the bottleneck | they wait |
| --- | --- | --- |
| before the bottleneck | when they are acknowledged | from the packet to its acknowledgement |
| behind it | when they pass | from an acknowledgement to the packet that echoes its timestamp (RFC 7323) |

A wait counts from the least one that the flow saw. The highest byte that arrived, selectively acknowledged or not,
tells which packet an acknowledgement answers, in recoveries too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import median_filter

from parshall.analysis.stats.estimates import FloatArray
from parshall.instruments.observation.packets import BoolArray, FlowPackets, IntArray

Sample = tuple[IntArray, FloatArray, FloatArray]
"""Places of packets, when they were seen, and their waits."""
NEIGHBOURS = 3
"""Waits in a row, of which the middle one counts."""
LEAST_SHARED, SHARED = 20, 0.1
"""Waits from which those of two flows are compared, and the share of the longest one by which they differ then."""


@dataclass(frozen=True)
class Waits:
    """The waits of packets, in order of the time at which they were sent or seen.

    Parameters
    ----------
    flow
        Number of each one's flow, shape (samples,).
    place
        Of the packet among those of its flow, shape (samples,).
    seen_s
        When it left the bottleneck, as the capture shows it, shape (samples,).
    above_s
        Its wait above the least of its flow, s, shape (samples,).
    """

    flow: IntArray
    place: IntArray
    seen_s: FloatArray
    above_s: FloatArray


@dataclass(frozen=True)
class Departures:
    """Packets as they left the bottleneck: times, in order, and bits on the wire, shape (departures,)."""

    seen_s: FloatArray
    bits: FloatArray


def waits(flows: Sequence[FlowPackets], *, behind: bool, smooth: bool = True) -> Waits:
    """The waits of all flows on one side of the capture; `smooth`: without what hosts add to single ones."""
    parts = [_behind(each) if behind else _ahead(each) for each in flows]
    parts = _of_one_queue(parts)
    numbers = np.repeat(np.arange(len(parts)), [part[0].size for part in parts])
    place, seen, above = (np.concatenate([part[k] for part in parts]) for k in range(3))
    order = np.argsort(seen, kind="stable")
    above = _smooth(above[order]) if smooth else above[order]
    return Waits(numbers[order], place[order].astype(np.int64), seen[order], above)


def _smooth(values: FloatArray) -> FloatArray:
    """Return the median of each value and its neighbours: a single answer that a host delayed is none of the queue."""
    made: FloatArray = median_filter(values, size=NEIGHBOURS) if values.size else values
    return made


def _of_one_queue(parts: Sequence[Sample]) -> list[Sample]:
    """The waits, those longer by a standing queue whose flow began behind it: of all, one flow saw it shortest."""
    if len(parts) < 2:
        return [*parts]
    longest = [float(np.quantile(above, 0.99)) if above.size >= LEAST_SHARED else 0.0 for _, _, above in parts]
    place = int(np.argmax(longest))
    _, reference_s, reference = parts[place]
    made = []
    for number, (places, seen_s, above) in enumerate(parts):
        inside = (seen_s >= reference_s[:1].sum()) & (seen_s <= reference_s[-1:].sum())
        if number != place and inside.sum() >= LEAST_SHARED:
            least = float(np.median(np.interp(seen_s[inside], reference_s, reference) - above[inside]))
            made.append((places, seen_s, above + (least if least > SHARED * longest[place] else 0.0)))
        else:
            made.append((places, seen_s, above))
    return made


def _ahead(flow: FlowPackets) -> Sample:
    """Return waits until acknowledgements that did not wait for a second packet, nor for the clock of delayed ones."""
    new = np.flatnonzero(flow.is_new)
    more = np.diff(flow.highest, prepend=flow.highest[:1])
    answers = np.flatnonzero(more > 0)
    at = np.searchsorted(flow.end[new], flow.highest[answers], side="right") - 1
    answers, at = answers[at >= 0], at[at >= 0]
    _, firsts = np.unique(at, return_index=True)
    answers, places = answers[firsts], new[at[firsts]]
    once = ~flow.is_sent_again[places]
    answers, places = answers[once], places[once]
    two = 1.5 * flow.segment_bytes
    is_prompt = (more[answers] > two) | (flow.highest[answers] > flow.acked[answers])
    if answers.size and float(np.median(more[answers])) < two:
        is_prompt[:] = True
    return _above(places, flow.acked_s[answers], flow.acked_s[answers] - flow.sent_s[places], is_prompt)


def _behind(flow: FlowPackets) -> Sample:
    """Return waits from the first acknowledgement with a timestamp to the first packet that echoes it."""
    stamps, answered = _firsts(flow.stamp)
    echoes, places = _firsts(flow.echo)
    _, of_stamp, of_echo = np.intersect1d(stamps, echoes, assume_unique=True, return_indices=True)
    answered, places = answered[of_stamp], places[of_echo]
    took_s = flow.sent_s[places] - flow.acked_s[answered]
    return _above(places, flow.sent_s[places], took_s, took_s >= 0)


def _firsts(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the values above 0, and where each is first."""
    found, places = np.unique(values, return_index=True)
    return found[found > 0], places[found > 0]


def _above(places: IntArray, seen_s: FloatArray, took_s: FloatArray, fits: BoolArray) -> Sample:
    """Return the waits that count, above the least of all."""
    least_s = float(took_s[took_s >= 0].min(initial=np.inf))
    fits = fits & (took_s >= 0)
    return places[fits], seen_s[fits], took_s[fits] - least_s


def departures(flows: Sequence[FlowPackets], *, behind: bool) -> Departures:
    """The packets of all flows as they left the bottleneck."""
    parts = [_passed(each) if behind else _acknowledged(each) for each in flows]
    seen, bits = (np.concatenate([part[k] for part in parts]) for k in range(2))
    order = np.argsort(seen, kind="stable")
    return Departures(seen[order], bits[order])


def _passed(flow: FlowPackets) -> tuple[FloatArray, FloatArray]:
    return flow.sent_s, 8 * flow.wire_bytes


def _acknowledged(flow: FlowPackets) -> tuple[FloatArray, FloatArray]:
    payload = float((flow.end - flow.start).sum())
    overhead = float(flow.wire_bytes.sum()) / payload if payload else 1.0
    more = np.diff(flow.delivered, prepend=flow.delivered[:1])
    came = more > 0
    return flow.acked_s[came], 8 * overhead * more[came].astype(np.float64)


def standing(when_s: FloatArray, found: Waits, least_s: float) -> BoolArray:
    """Return whether a queue of at least so long stood at each of the times, shape (times,); False without a sample."""
    if not found.seen_s.size:
        return np.zeros(when_s.size, dtype=bool)
    at = np.searchsorted(found.seen_s, when_s, side="right") - 1
    stands: BoolArray = (at >= 0) & (found.above_s[np.maximum(at, 0)] >= least_s)
    return stands
