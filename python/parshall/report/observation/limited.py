"""The limits of flows on the page: a sentence, a table of shares, lanes over time, and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from parshall.foundations.numbers import ABSENT, count, counted, quantity, scale_for
from parshall.instruments.observation.flow import TracedFlow
from parshall.instruments.observation.limits import CAUSES, SHORT, FlowLimits, of_rows
from parshall.instruments.observation.result import Observation
from parshall.report.document import Section, Table
from parshall.report.plot import Axis, Band, Line, Panel, Plot, Style
from parshall.report.sentences import Sentence, say

BINS = 300
"""Steps of the lanes: the height of a step is the share of its time."""

EVENTS = 40
"""Events that a table lists."""

LEAST_SHARE = 0.005
"""Shares below are not told."""

CLOSED = 1.5
"""A flow that gets less than what its window allows, by this factor, did not have that window all the time."""

EVENT_NAMES: Mapping[str, str] = {
    "zero_window": "the receiver closed its window",
    "stall": "nothing was acknowledged",
    "timeout": "the sender's timer expired",
    "reset": "the connection was reset",
    "syn_retried": "the SYN was sent again",
}


def sentence(flow: FlowLimits) -> Sentence:
    """Return the sentence on what limited a flow most, with the numbers that show it."""
    if not flow.seconds or flow.cause == "unknown":
        return say("observed.limit_unknown")
    share = quantity(flow.shares[flow.cause], "ratio")
    if flow.cause == "receiver":
        return _by_window(flow, share)
    if flow.cause == "full_queue":
        return _by_queue(flow, share)
    if flow.cause == "random_loss" and flow.random_losses:
        return say("observed.limit_loss", share=share, events=counted(flow.random_losses, "loss event"))
    return say("observed.limit", share=share, cause=CAUSES[flow.cause])


def _by_window(flow: FlowLimits, share: str) -> Sentence:
    if flow.window_bytes is None or flow.window_packets is None or flow.window_rtt_s is None:
        return say("observed.limit", share=share, cause=CAUSES[flow.cause])
    rate = flow.window_bytes * 8 / flow.window_rtt_s
    # A window that is closed for long, as its program does not read, is no rate.
    if flow.goodput_bps is None or rate * flow.shares["receiver"] > CLOSED * flow.goodput_bps:
        return say("observed.limit", share=share, cause=CAUSES[flow.cause])
    known: dict[str, str] = {
        "share": share,
        "window": quantity(flow.window_bytes, "B"),
        "packets": quantity(flow.window_packets, "packets"),
        "rtt": quantity(flow.window_rtt_s, "s"),
        "rate": quantity(rate, "bit/s"),
    }
    enough = flow.window_to_fill_bytes
    if enough is None or enough <= flow.window_bytes:
        return say("observed.limit_window", **known)
    return say("observed.limit_window_enough", **known, enough=quantity(enough, "B"))


def _by_queue(flow: FlowLimits, share: str) -> Sentence:
    if flow.path_rate_bps is None:
        return say("observed.limit", share=share, cause=CAUSES[flow.cause])
    return say("observed.limit_queue", share=share, rate=quantity(flow.path_rate_bps, "bit/s"))


def section(observation: Observation, rows: Sequence[Mapping[str, Any]]) -> Section:
    """The shares of the time that the causes have, of the flows that are listed."""
    found = observation.limits_of([(row["repetition"], row["flow"]) for row in rows])
    flows = [of_rows(row, found.get((row["repetition"], row["flow"]), {})) for row in rows]
    names = [observation.label(row) for row in rows]
    known = [flow for flow in flows if flow.seconds]
    shown = [cause for cause in CAUSES if any(flow.shares.get(cause, 0.0) >= LEAST_SHARE for flow in known)]
    if not known:
        return Section("What limits them", [say("observed.limit_unknown").text])
    header = ("flow", "time", *(SHORT[cause] for cause in shown))
    lines = [
        (
            name,
            quantity(flow.total_s, "s") if flow.seconds else ABSENT,
            *(_share(flow.shares.get(cause)) for cause in shown),
        )
        for name, flow in zip(names, flows, strict=True)
    ]
    return Section(
        "What limits them", [say("observed.limits").text], [Table("", header, lines, numbers=range(1, len(header)))]
    )


def _share(share: float | None) -> str:
    if share is None:
        return ABSENT
    return quantity(share, "ratio") if share >= LEAST_SHARE else "0"


def lanes(periods: pl.DataFrame, time: Axis) -> Panel | None:
    """A lane for each cause over time; None where nothing is known.

    Parameters
    ----------
    periods
        Rows of ``trace_periods`` of one flow.
    time
        The abscissa of the panels above.
    """
    if periods.is_empty() or periods["end_s"][-1] <= periods["start_s"][0]:
        return None
    start, end = periods["start_s"].to_numpy(), periods["end_s"].to_numpy()
    edges = np.linspace(float(start[0]), float(end[-1]), BINS + 1)
    lasted = end - start
    own_s = {cause: float(lasted[(periods["limited_by"] == cause).to_numpy()].sum()) for cause in CAUSES}
    present = [cause for cause, seconds in own_s.items() if seconds >= LEAST_SHARE * lasted.sum() and seconds > 0]
    marks = []
    for place, cause in enumerate(reversed(present)):
        own = (periods["limited_by"] == cause).to_numpy()
        covered = _covered(start[own], end[own], edges) / np.diff(edges)
        x = np.repeat(edges, 2)[1:-1]
        low = np.full(x.size, place - 0.4)
        style = Style(list(CAUSES).index(cause))
        marks.append(Band(x, low, low + 0.8 * np.repeat(covered, 2), "", style, filled=True))
    names = tuple(SHORT[cause] for cause in reversed(present))
    axis = Axis("", names=names, minimum=-0.5, maximum=len(present) - 0.5)
    return Panel(marks, time, axis, height=0.15 + 0.09 * len(present))


def _covered(start: np.ndarray, end: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the part of each bin that the stretches, which do not overlap, cover."""
    lengths = np.concatenate([[0.0], np.cumsum(end - start)])
    place = np.searchsorted(start, edges, side="right")
    before = np.maximum(place - 1, 0)
    under_way = np.where(place > 0, np.minimum(edges, end[before]) - start[before], 0.0)
    until: np.ndarray = np.where(place > 0, lengths[before] + under_way, 0.0)
    return np.clip(np.diff(until), 0.0, None)


def happened(events: pl.DataFrame) -> Table | None:
    """Return the table of a flow's events with their times; None without one."""
    if events.is_empty():
        return None
    rows = [
        (
            quantity(row["time_s"], "s"),
            EVENT_NAMES[row["event"]],
            ABSENT if row["lasted_s"] is None else quantity(row["lasted_s"], "s"),
        )
        for row in events.head(EVENTS).to_dicts()
    ]
    more = "" if events.height <= EVENTS else f", the first {EVENTS} of {count(events.height)}"
    return Table(f"Events{more}", ("time", "event", "for"), rows, numbers=(0, 2))


def window_use(flow: TracedFlow, window_bytes: pl.DataFrame) -> Plot | None:
    """Bytes sent in a round trip, beside the window that the receiver offered; None where that is not known."""
    segment = flow.facts.get("segment_bytes")
    offered = window_bytes.drop_nulls()
    if not segment or flow.windows.size < 2 or offered.is_empty():
        return None
    kept = np.unique(np.linspace(0, flow.windows.size - 1, min(flow.windows.size, 1500)).round().astype(np.int64))
    used = flow.windows[kept] * segment
    offer_x, offer_y = (offered[name].to_numpy().astype(np.float64) for name in ("time_s", "receive_window_bytes"))
    top = 4 * float(used.max())
    scale = scale_for(float(used.max()), "B")
    marks = [
        Line(flow.starts_s[kept], used * scale.factor, "sent in a round trip", Style(0, thin=True)),
        Line(offer_x, np.minimum(offer_y, top) * scale.factor, "the receiver's window", Style(1), steps=True),
    ]
    cut = f", drawn up to {quantity(top, 'B')}" if bool((offer_y > top).any()) else ""
    caption = f"Payload of the packets of each round trip, sent again or not, and the window that was offered{cut}"
    return Plot([Panel(marks, Axis("Time", "s", minimum=0.0), Axis("Bytes", scale.unit, minimum=0.0))], caption)
