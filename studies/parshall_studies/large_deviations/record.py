"""A simulated flow as the source's web100 series has it: cwnd at the RTT rate, and each reduction as one loss event.

The simulator's samples of cwnd, 3 ms apart as web100's, are taken at the pace of the sender's smoothed RTT. While
cwnd is above ssthresh the flow climbs, and each round trip is a trial of p(w): it begins with a window w, and a loss
is found in it or not. From a reduction until cwnd grows beyond ssthresh again the flow repairs (fast recovery, or a
timeout and slow start); that is no trial. The next trial begins where the repair ends, so that the k-th one after a
loss is k round trips of growth later.

References: Loiseau 2010, §4.2.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray
from parshall.instruments.observation.loss_events import BoolArray, begins, trials
from parshall_studies.chains.measured_loss import Measured, measured
from parshall_studies.chains.persistent_loss import Persistent, measured_persistent
from parshall_studies.chains.recovery import MeasuredRepairs, measured_repairs

SAMPLES_S = 0.003
"""Web100's interval. Loiseau 2010, §4.2"""
ONCE, SEVERAL, TIMEOUT = 0, 1, 2
"""Repairs: with one reduction, with several, with a timeout."""


@dataclass(frozen=True)
class Record:
    """A flow's round trips and repairs, in their order; `recorded` makes it. Arrays of shape (n,).

    Attributes
    ----------
    start_s
        When it began.
    window
        cwnd then, packets.
    lost
        Whether a loss was found in it, or is being repaired.
    repairing
        Whether it is a repair, of any length.
    rtts, sent
        Its length in smoothed RTTs, and the packets sent in it.
    kind
        Of repairs: `ONCE`, `SEVERAL`, `TIMEOUT`.
    found
        Of repairs: cwnd when the loss was found.
    """

    start_s: FloatArray
    window: FloatArray
    lost: BoolArray
    repairing: BoolArray
    rtts: FloatArray
    sent: FloatArray
    kind: NDArray[np.int64]
    found: FloatArray

    @cached_property
    def trials(self) -> BoolArray:
        """The round trips that are trials of p(w); shape (n,)."""
        return trials(self.lost, self.repairing)

    @cached_property
    def windows(self) -> FloatArray:
        """The trials' windows in whole packets, as web100's; shape (t,)."""
        return np.floor(self.window[self.trials])

    @cached_property
    def events(self) -> BoolArray:
        """Whether a loss event begins in a trial; shape (t,)."""
        return begins(self.lost, self.repairing)[self.trials]

    @property
    def mean(self) -> float:
        """Packets sent a round trip."""
        return float(self.sent.sum() / self.rtts.sum())

    @cached_property
    def throughput(self) -> FloatArray:
        """Packets sent in consecutive round trips; those of a repair are spread over its length. Shape (N,)."""
        ends, sent = (np.concatenate([[0.0], np.cumsum(each)]) for each in (self.rtts, self.sent))
        return np.asarray(np.diff(np.interp(np.arange(0.0, ends[-1]), ends, sent)))

    @cached_property
    def cwnd(self) -> FloatArray:
        """Cwnd at the RTT rate, the source's series, packets; shape (N,)."""
        starts = np.concatenate([[0.0], np.cumsum(self.rtts)])
        places = np.searchsorted(starts, np.arange(0.0, starts[-1] - 1e-9), side="right") - 1
        return np.asarray(self.window[places])

    def loss(self) -> Measured:
        """p(w); certain from the largest window on, above which the record knows of nothing (as in Fig. 5)."""
        return measured(self.windows, self.events, ceiling=True)

    def persistent(self, memory: int) -> Persistent:
        """p(w, k), with the same end."""
        return measured_persistent(self.windows, self.events, memory, ceiling=True)

    def after(self, k: int) -> tuple[int, int]:
        """How many round trips are the k-th after a loss event, and in how many of them the next event begins."""
        places = np.arange(self.events.size)
        last = np.maximum.accumulate(np.where(self.events, places, -1))
        since = np.where(last[:-1] >= 0, places[1:] - last[:-1], 0)
        return int(np.sum(since == k)), int(np.sum(self.events[1:][since == k]))

    def kinds(self) -> NDArray[np.int64]:
        """How many repairs there are of each kind; shape (3,)."""
        return np.bincount(self.kind[self.repairing], minlength=3)

    def repairs(self) -> MeasuredRepairs:
        """What a loss takes, as measured."""
        here = np.flatnonzero(self.repairing[:-1])
        return measured_repairs(
            self.found[here],
            self.kind[here],
            self.rtts[here - 1],
            self.rtts[here],
            self.sent[here],
            self.window[here + 1],
        )


def recorded(samples: pl.DataFrame, rounds: pl.DataFrame) -> Record:
    """A flow's record.

    Parameters
    ----------
    samples
        Its rows of ``flow_samples``, many a round trip.
    rounds
        Its rows of ``rounds`` with their lengths (`network.rounds_of`), which say how much was sent when.
    """
    time, cwnd, ssthresh, srtt = (
        samples[name].to_numpy() for name in ("time_s", "cwnd_packets", "ssthresh_packets", "srtt_s")
    )
    times, slack = time.tolist(), 1e-6 * float(time[1] - time[0])
    fell, reduced = _reductions(cwnd, ssthresh)
    falls, climbing, slow = (
        np.flatnonzero(where).tolist() for where in (fell, (cwnd > ssthresh) & ~reduced, cwnd < ssthresh)
    )
    rows: list[tuple[float, float, bool, bool, float, int, float]] = []
    start = float(time[climbing[0]])
    while True:
        # The last sample before the round trip, so that no fall is missed.
        at = bisect_right(times, start + slack) - 1
        end = start + srtt[at]
        if end > time[-1]:
            break
        next_fall = bisect_right(falls, at)
        fall = falls[next_fall] if next_fall < len(falls) else time.size
        if fall == time.size or time[fall] > end:
            rows.append((start, cwnd[at], False, False, 1.0, 0, 0.0))
            start = end
            continue
        next_climb = bisect_right(climbing, fall - 1)
        if next_climb == len(climbing):
            break
        over = climbing[next_climb]
        if bisect_right(slow, over) > bisect_right(slow, fall - 1):
            kind = TIMEOUT
        else:
            kind = SEVERAL if bisect_right(falls, over) - next_fall > 1 else ONCE
        rows.append((start, cwnd[at], True, False, (time[fall] - start) / srtt[at], 0, 0.0))
        repair = (time[over] - time[fall]) / srtt[at]
        rows.append((time[fall], cwnd[fall], True, True, repair, kind, cwnd[fall - 1]))
        start = float(time[over])
    begins_s, window, lost, repairing, rtts, kinds, found_packets = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    lengths = rounds["length_s"].to_numpy()
    began = rounds["start_s"].to_numpy()
    known = np.append(began, began[-1] + lengths[-1])
    total = np.concatenate([[0.0], np.cumsum(rounds["window_packets"].to_numpy(), dtype=float)])
    sent = np.diff(np.interp(np.append(begins_s, start), known, total))
    return Record(begins_s, window, lost, repairing, rtts, sent, kinds, found_packets)


def _reductions(cwnd: FloatArray, ssthresh: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Where reductions begin, and where one is under way; shapes (n,).

    A kernel takes the window down to ssthresh within a round trip (proportional rate reduction, RFC 6937).
    """
    change = np.diff(cwnd, prepend=cwnd[0])
    place = np.arange(cwnd.size)
    last_fall = np.maximum.accumulate(np.where(change < 0, place, -1))
    last_other = np.maximum.accumulate(np.where((cwnd <= ssthresh) | (change > 0), place, -1))
    reducing = last_fall > last_other
    return (change < 0) & ~np.append(False, reducing[:-1]), reducing
