"""One flow alone at the bottleneck, with a buffer of half a bandwidth-delay product and of two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from parshall.results.quantities.measuring import series_of
from parshall.results.quantities.naming import named
from parshall.results.quantities.tables import Tables
from parshall.suites.control_check.card import CardRow, Trajectory, interval
from parshall.suites.control_check.networks import WARM_UP_S, Control, flow, network
from parshall.suites.control_check.running import Key, Reading, Readings, RepetitionCourse

if TYPE_CHECKING:
    import polars as pl

BUFFERS = (0.5, 2.0)
"""BDP."""

_DURATION_S = 30 + WARM_UP_S
_MEASURES = tuple(map(named, ("utilisation", "queueing_delay_s", "loss_rate")))


def courses(controls: Mapping[str, Control]) -> dict[Key, RepetitionCourse]:
    """One control alone at each buffer."""
    return {
        ("alone", buffer, name): RepetitionCourse(
            network([flow("one", control)], _DURATION_S, limit=f"{buffer} BDP", samples_s=0.05),
            _read,
            ("links", "flow_samples"),
        )
        for buffer in BUFFERS
        for name, control in controls.items()
    }


def _read(tables: Mapping[str, pl.DataFrame]) -> Reading:
    samples = tables["flow_samples"].drop_nulls("cwnd_packets")
    by_key = series_of(Tables(tables.get), [each.name for each in _MEASURES])
    return {
        **{name: next(iter(series.own().values()), None) for name, series in by_key.items()},
        "time_s": samples["time_s"].to_list(),
        "cwnd_packets": samples["cwnd_packets"].to_list(),
    }


def rows(readings: Readings, names: list[str]) -> list[CardRow]:
    """Utilisation, queue and loss at each buffer."""
    return [
        CardRow(
            "alone",
            f"{each.name}_{buffer:g}_bdp",
            f"{each.label()}, alone at {buffer:g} BDP",
            each.unit,
            {name: interval([reading[each.name] for reading in readings["alone", buffer, name]]) for name in names},
        )
        for buffer in BUFFERS
        for each in _MEASURES
    ]


def trajectories(readings: Readings, names: list[str]) -> list[Trajectory]:
    """Windows over time, of the first repetition."""
    first = {(buffer, name): readings["alone", buffer, name][0] for buffer in BUFFERS for name in names}
    return [
        Trajectory(name, buffer, reading["time_s"], reading["cwnd_packets"])
        for (buffer, name), reading in first.items()
    ]
