"""Packets of a capture: those of data that go one way, and their acknowledgements, as columns in order of time.

Estimators of a path need the time of each packet: what leaves a bottleneck is spaced by its rate, what is lost leaves a
hole, and what waits shows in the time from a packet to its acknowledgement, and from that to the packet it lets go.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall import _core
from parshall.analysis.stats.estimates import FloatArray
from parshall.foundations.errors import InputError

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
LONGS, WORDS = (
    ("time_ns", "start", "ack", "delivered", "highest", "repeated"),
    ("flow", "payload", "wire", "stamp", "echo"),
)


@dataclass(frozen=True)
class FlowPackets:
    """The packets of one direction, and the acknowledgements of the other, each in order of time.

    Parameters
    ----------
    sent_s
        When data passed, shape (packets,).
    start, end
        Their sequence numbers, shape (packets,).
    wire_bytes
        Sizes of their IP packets, shape (packets,).
    echo
        The timestamps that they echo, 0 without, shape (packets,).
    acked_s
        When acknowledgements passed, shape (acknowledgements,).
    acked
        One past the last byte that they acknowledge, shape (acknowledgements,).
    delivered
        Payload that had arrived by then, shape (acknowledgements,).
    highest
        One past the highest byte that had, shape (acknowledgements,).
    repeated
        First byte of what the receiver reports to have got twice, 0 without, shape (acknowledgements,).
    stamp
        Their timestamps, 0 without, shape (acknowledgements,).
    """

    sent_s: FloatArray
    start: IntArray
    end: IntArray
    wire_bytes: FloatArray
    echo: IntArray
    acked_s: FloatArray
    acked: IntArray
    delivered: IntArray
    highest: IntArray
    repeated: IntArray
    stamp: IntArray

    @property
    def segment_bytes(self) -> float:
        """Median payload of a packet."""
        return max(1.0, float(np.median(self.end - self.start))) if self.start.size else 1.0

    @property
    def is_new(self) -> BoolArray:
        """True for packets that carry data for the first time, shape (packets,)."""
        return self.end > self._before

    @property
    def missing_bytes(self) -> IntArray:
        """Return how much data before each packet was not seen: what was lost before the capture, shape (packets,)."""
        missing: IntArray = np.where(self._before > 0, np.maximum(self.start - self._before, 0), 0)
        return missing

    @property
    def _before(self) -> IntArray:
        """One past the highest byte before each packet, 0 for the first."""
        before: IntArray = np.concatenate([[0], np.maximum.accumulate(self.end)[:-1]]) if self.end.size else self.end
        return before

    @property
    def is_sent_again(self) -> BoolArray:
        """True for new packets that went again, unless the receiver reports two copies, shape (packets,)."""
        new = self.is_new
        places = np.flatnonzero(new)
        found = np.zeros(self.start.size, dtype=bool)
        found[self._place(places, self.start[~new])] = True
        found[self._place(places, self.repeated[self.repeated > 0])] = False
        return found

    def _place(self, places: IntArray, bytes_: IntArray) -> IntArray:
        """Return which of the packets at `places` carry the bytes, of those that do."""
        at = np.searchsorted(self.start[places], bytes_, side="right") - 1
        inside = at >= 0
        at = at[inside]
        held = bytes_[inside] < self.end[places[at]]
        found: IntArray = places[at[held]]
        return found


def packets(
    files: Sequence[str | Path], names: Sequence[str], chosen: dict[str, Any] | None = None
) -> list[FlowPackets]:
    """The packets of directions, in the order of their names.

    Parameters
    ----------
    names
        As flows are named: ``address:port > address:port``.
    chosen
        Which part of the capture is read, as `packet_filter` returns it.

    Raises
    ------
    InputError
        A file cannot be read, or is no capture, or no direction has both data and acknowledgements.
    """
    try:
        read = _core.packet_columns([Path(each) for each in files], json.dumps(chosen or {}))
    except (OSError, ValueError) as error:
        raise InputError(f"the packets of the capture cannot be read: {error}") from None
    columns = {name: np.frombuffer(read[name], np.uint64).astype(np.int64) for name in LONGS}
    columns |= {name: np.frombuffer(read[name], np.uint32).astype(np.int64) for name in WORDS}
    order = np.argsort(columns["flow"], kind="stable")
    edges = np.searchsorted(columns["flow"][order], np.arange(len(read["names"]) + 1))
    by_name: dict[str, list[int]] = {}
    for number, name in enumerate(read["names"]):
        by_name.setdefault(name, []).append(number)

    def rows(numbers: Sequence[int]) -> IntArray:
        parts = [order[edges[number] : edges[number + 1]] for number in numbers]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    numbers = [by_name.get(name, []) for name in names]
    made = [_of(columns, rows(own), rows([number ^ 1 for number in own])) for own in numbers]
    if not any(each.start.size and each.acked.size for each in made):
        raise InputError("cannot tell: the capture has no direction with both data and acknowledgements")
    return made


def _of(columns: dict[str, IntArray], forth: IntArray, back: IntArray) -> FlowPackets:
    data = forth[columns["payload"][forth] > 0]
    acks = back[columns["ack"][back] > 0]
    start = columns["start"][data]
    return FlowPackets(
        sent_s=columns["time_ns"][data].astype(np.float64) * 1e-9,
        start=start,
        end=start + columns["payload"][data],
        wire_bytes=columns["wire"][data].astype(np.float64),
        echo=columns["echo"][data],
        acked_s=columns["time_ns"][acks].astype(np.float64) * 1e-9,
        acked=columns["ack"][acks],
        delivered=columns["delivered"][acks],
        highest=columns["highest"][acks],
        repeated=columns["repeated"][acks],
        stamp=columns["stamp"][acks],
    )
