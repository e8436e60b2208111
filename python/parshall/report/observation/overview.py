"""The beginning of an observation's page: the largest flow in a few sentences, and the flows over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from parshall.foundations.numbers import count, counted, given, quantity, scale_for
from parshall.instruments.observation.limits import FlowLimits
from parshall.instruments.observation.result import Observation
from parshall.report.description import listed
from parshall.report.document import Chart
from parshall.report.observation import limited
from parshall.report.palette import SERIES
from parshall.report.plot import Axis, Line, Panel, Plot, Style, Values
from parshall.report.sentences import Sentence, say

BINS = 200
"""Values of a curve of throughput: each is a mean over so large a part of the trace."""


def finding(
    rows: Sequence[Mapping[str, Any]],
    captures: Sequence[Mapping[str, Any]] = (),
    number: int | None = None,
    limit: FlowLimits | None = None,
) -> str:
    """The sentences on the first flow, and on traces that were read in part, as text; empty without a flow."""
    return " ".join(each.text for each in sentences(rows, captures, number, limit))


def sentences(
    rows: Sequence[Mapping[str, Any]],
    captures: Sequence[Mapping[str, Any]] = (),
    number: int | None = None,
    limit: FlowLimits | None = None,
) -> list[Sentence]:
    """The largest flow: how fast it was, how long its round trips took, what it lost; and which trace was cut short.

    Parameters
    ----------
    rows
        The largest flows, the largest first.
    captures
        The traces.
    number
        How many flows there are; None: these are all.
    limit
        What limits the first flow; None: that is left out.
    """
    if not rows:
        return []
    known = (
        None if limit is None else limited.sentence(limit),
        _delivered(rows[0], len(rows) if number is None else number, first_of(captures)),
        _round_trip(rows[0]),
        _lost(rows[0]),
        _cut(captures),
    )
    return [each for each in known if each is not None]


def first_of(captures: Sequence[Mapping[str, Any]]) -> str:
    """Return the place of the first flow among all, by `Observation.selected`."""
    return "slowest" if len(captures) > 1 else "largest"


def _delivered(row: Mapping[str, Any], number: int, place: str) -> Sentence:
    which = "The flow" if number == 1 else f"The {place} of {counted(number, 'flow')}"
    if row["goodput_bps"] is not None:
        return say("observed.delivered", which=which, group=row["group"], goodput=quantity(row["goodput_bps"], "bit/s"))
    if row["packets_sent"] is not None:
        return say("observed.sent", which=which, group=row["group"], packets=counted(row["packets_sent"], "packet"))
    which = which[:1].lower() + which[1:]
    return say("observed.neither", which=which, group=row["group"])


def _round_trip(row: Mapping[str, Any]) -> Sentence | None:
    if row["mean_rtt_s"] is None:
        return None
    mean = quantity(row["mean_rtt_s"], "s")
    if row["min_rtt_s"] is None:
        return say("observed.rtt", mean=mean)
    return say("observed.rtt_least", mean=mean, least=quantity(row["min_rtt_s"], "s"))


def _lost(row: Mapping[str, Any]) -> Sentence | None:
    if row["loss_rate"] is None:
        return None
    if not row["loss_rate"]:
        return say("observed.none_lost")
    share = quantity(row["loss_rate"], "ratio")
    events = [
        counted(row[key], noun)
        for key, noun in (("loss_events", "loss event"), ("timeouts", "timeout"))
        if row[key] is not None
    ]
    return (
        say("observed.lost_events", share=share, events=", ".join(events))
        if events
        else say("observed.lost", share=share)
    )


def _cut(captures: Sequence[Mapping[str, Any]]) -> Sentence | None:
    """Return the sentence on files that were read only in part; None: all were read to their end."""
    stops = [stop for capture in captures for stop in capture["stopped"]]
    where = [f"{Path(stop['file']).name} up to byte {count(stop['byte'])}" for stop in stops]
    return say("observed.cut", where=listed(where, "and")) if where else None


def over_time(observation: Observation, rows: Sequence[Mapping[str, Any]]) -> Chart | None:
    """Throughput and round-trip times of the largest flows of the first trace; None without samples of them."""
    if not rows:
        return None
    first = rows[0]["repetition"]
    wanted = [row for row in rows if row["repetition"] == first][:SERIES]
    samples = observation.samples([row["flow"] for row in wanted], first)
    if samples is None:
        return None
    series = samples.partition_by("flow", as_dict=True)
    shown = [(row, series[row["flow"],]) for row in wanted if (row["flow"],) in series]
    speeds = {index: speed for index, (_, each) in enumerate(shown) if (speed := _throughput(each)) is not None}
    if not speeds:
        return None
    end = max(float(each["time_s"].to_numpy().max()) for _, each in shown)
    time = Axis("Time", "s", minimum=0.0, maximum=end)
    bits = scale_for(max(float(y.max()) for _, y in speeds.values()), "bit/s")
    names = [f"{row['flow']}: {row['group']}" if len(shown) > 1 else "" for row, _ in shown]
    panels = [
        Panel(
            [
                Line(x, y * bits.factor, names[at], Style(series=at, thin=True), steps=True)
                for at, (x, y) in speeds.items()
            ],
            time,
            Axis("Throughput", bits.unit, minimum=0.0),
        )
    ]
    own = [row for row, _ in shown][:1]
    lanes = limited.lanes(observation.periods(own[0]["flow"], first), time) if own else None
    if lanes is not None:
        panels.append(lanes)
    trips = {at: speed for at, (_, each) in enumerate(shown) if (speed := _round_trips(each)) is not None}
    if trips:
        seconds = scale_for(max(float(np.median(y)) for _, y in trips.values()), "s")
        lines = [Line(x, y * seconds.factor, "", Style(series=at, thin=True)) for at, (x, y) in trips.items()]
        panels.append(Panel(lines, time, Axis("Smoothed RTT", seconds.unit, minimum=0.0)))
    width = given(float(np.median([x[1] - x[0] for x, _ in speeds.values()])), "s")
    which = "the largest flows of the trace" if len(shown) > 1 else "the flow"
    caption = f"Payload of {which} that was acknowledged, means over {width} or so, and smoothed round-trip time."
    if lanes is not None:
        caption += " Between them, what limited the first one: the height of a lane is the share of the time."
    return Chart("over-time", "Throughput, what limits it, and round-trip time over time", Plot(panels, caption))


def _throughput(samples: pl.DataFrame) -> tuple[Values, Values] | None:
    """Bit/s from one time to the next; None where it was not recorded or took no time."""
    known = samples.drop_nulls("delivered_bytes")
    if known.height < 2:
        return None
    at, delivered = known["time_s"].to_numpy(), known["delivered_bytes"].to_numpy().astype(np.float64)
    if at[-1] <= at[0]:
        return None
    edges = np.linspace(at[0], at[-1], min(BINS, known.height) + 1)
    return edges[:-1], np.diff(np.interp(edges, at, delivered)) * 8.0 / np.diff(edges)


def _round_trips(samples: pl.DataFrame) -> tuple[Values, Values] | None:
    """At most some hundred values of the smoothed round-trip time; None without any."""
    known = samples.drop_nulls("srtt_s")
    if known.height < 2:
        return None
    kept = np.unique(np.linspace(0, known.height - 1, min(known.height, 4 * BINS)).round().astype(np.int64))
    return known["time_s"].to_numpy()[kept], known["srtt_s"].to_numpy()[kept]
