"""The numbers of the largest flow that a reader came for, and how its data went over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.foundations.numbers import count, counted, given, quantity, scale_for
from parshall.instruments.observation.result import Observation
from parshall.report.document import Block, Chart
from parshall.report.headline import Headline, Tile
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style

MARKS = 400
"""Times of retransmissions that are marked; of more, every n-th."""

CURVE = 1500
"""Places of the curve of delivered bytes."""


@dataclass(frozen=True)
class Stall:
    """The longest time in which nothing was acknowledged, though data were on their way.

    Parameters
    ----------
    start_s, length_s
        When it began, and how long it lasted: to within `resolution_s`, the time between two samples.
    """

    start_s: float
    length_s: float
    resolution_s: float


def tiles(observation: Observation, rows: Sequence[Mapping[str, Any]]) -> Block | None:
    """Goodput, round-trip times, retransmissions and the longest stall of the largest flow; None without a flow."""
    if not rows:
        return None
    row, samples = rows[0], own_samples(observation, rows[0])
    known = [_goodput(row), *_round_trips(row, samples), _retransmitted(row), _stall(samples)]
    which = f"flow {row['flow']}, {row['group']}"
    note = f"All of {which}. Round-trip times are smoothed (RFC 6298) and count as long as they lasted."
    return Block("tiles", Headline([tile for tile in known if tile is not None], note))


def own_samples(observation: Observation, row: Mapping[str, Any]) -> pl.DataFrame:
    """The samples of a flow over time; empty without any."""
    samples = observation.samples([row["flow"]], row["repetition"])
    return pl.DataFrame() if samples is None else samples


def _goodput(row: Mapping[str, Any]) -> Tile | None:
    return None if row["goodput_bps"] is None else Tile("Goodput", quantity(row["goodput_bps"], "bit/s"))


def _round_trips(row: Mapping[str, Any], samples: pl.DataFrame) -> list[Tile]:
    known = samples.drop_nulls("srtt_s")["srtt_s"].to_numpy() if samples.width else np.empty(0)
    if known.size < 2:
        return []
    middle, late = np.quantile(known, [0.5, 0.95]).tolist()
    least = "" if row["min_rtt_s"] is None else f"{quantity(row['min_rtt_s'], 's')} at least"
    return [
        Tile("Round-trip time, median", quantity(middle, "s"), remark=least),
        Tile("Round-trip time, 95th percentile", quantity(late, "s")),
    ]


def _retransmitted(row: Mapping[str, Any]) -> Tile | None:
    sent, again = row["packets_sent"], row["retransmissions"]
    if not sent or again is None:
        return None
    remark = f"{counted(again, 'retransmission')} of {count(sent)} packets"
    return Tile("Retransmitted", quantity(again / sent, "ratio"), remark=remark)


def _stall(samples: pl.DataFrame) -> Tile | None:
    stall = longest_stall(samples)
    if stall is None:
        return None
    if stall.length_s <= 2 * stall.resolution_s:
        shortest = quantity(2 * stall.resolution_s, "s")
        return Tile("Longest stall", "none", remark=f"above {shortest}; the samples show no shorter ones")
    remark = f"from {quantity(stall.start_s, 's')} on, to within {given(stall.resolution_s, 's')}"
    return Tile("Longest stall", quantity(stall.length_s, "s"), remark=remark)


def longest_stall(samples: pl.DataFrame) -> Stall | None:
    """The longest stall that samples of a flow show; None where they do not have what was delivered and in flight.

    >>> rows = {"time_s": [0.0, 0.1, 0.2, 0.3, 0.4], "delivered_bytes": [0, 9, 9, 9, 20], "in_flight_packets": [1] * 5}
    >>> longest_stall(pl.DataFrame(rows)).length_s.__round__(3)
    0.3
    """
    if not {"delivered_bytes", "in_flight_packets"} <= set(samples.columns):
        return None
    known = samples.drop_nulls(["delivered_bytes", "in_flight_packets"])
    if known.height < 2:
        return None
    at = known["time_s"].to_numpy().astype(np.float64)
    delivered = known["delivered_bytes"].to_numpy()
    under_way = known["in_flight_packets"].to_numpy() > 0
    # A run of samples of one value with data under way lasts until the first one that has more.
    still = (np.diff(delivered) == 0) & under_way[:-1] & under_way[1:]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], still, [False]]).astype(np.int8)))
    resolution = float(np.median(np.diff(at)))
    longest = Stall(0.0, 0.0, resolution)
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        end = min(int(last) + 1, len(at) - 1)
        length = float(at[end] - at[first])
        if length > longest.length_s:
            longest = Stall(float(at[first]), length, resolution)
    return longest


def sequence(observation: Observation, row: Mapping[str, Any]) -> Chart | None:
    """What was delivered of a flow by when, with the times at which it sent data again; None where it was not seen."""
    samples = own_samples(observation, row)
    known = samples.drop_nulls("delivered_bytes") if "delivered_bytes" in samples.columns else pl.DataFrame()
    if known.height < 2 or not known["delivered_bytes"].max():
        return None
    at, delivered = (known[name].to_numpy().astype(np.float64) for name in ("time_s", "delivered_bytes"))
    scale = scale_for(float(delivered.max()), "B")
    kept = np.unique(np.linspace(0, len(at) - 1, min(len(at), CURVE)).round().astype(np.int64))
    marks: list[Line | Points] = [Line(at[kept], delivered[kept] * scale.factor, "delivered", Style(0))]
    caption = "Payload that was acknowledged by then."
    again = known["retransmissions"].fill_null(0).to_numpy().astype(np.int64)
    times, numbers = _steps(again)
    if times.size:
        shown = times[:: -(-times.size // MARKS)]
        marks.append(Points(at[shown], delivered[shown] * scale.factor, "data were sent again", Style(3)))
        few = f" Of {times.size} such times {len(shown)} are marked." if times.size > MARKS else ""
        every = given(float(np.median(np.diff(at))), "s")
        caption += (
            f" Marked: samples, one each {every} or so, since the last of which data were sent again "
            f"({counted(int(numbers.sum()), 'retransmission')} in all).{few}"
        )
    panel = Panel(marks, Axis("Time", "s", minimum=0.0), Axis("Delivered", scale.unit, minimum=0.0))
    title = f"Delivered over time, flow {row['flow']}: {row['group']}"
    return Chart("sequence", title, Plot([panel], caption))


def _steps(counted_so_far: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places at which a count has grown, and by how much."""
    grown = np.diff(counted_so_far, prepend=0)
    places = np.flatnonzero(grown > 0)
    return places, grown[places]
