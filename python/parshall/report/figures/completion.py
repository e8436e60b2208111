"""Completion time of transfers against their size."""

from __future__ import annotations

import numpy as np
import polars as pl

from parshall.quantities.measuring import places
from parshall.records import Result
from parshall.report.figures.common import across_ranks, pooled, sentences, spread_marks, timed
from parshall.report.numbers import Scale, count, counted, quantity, scale_for
from parshall.report.plot import Axis, Figure, Line, Mark, Missing, Panel, Plot, Points, Style
from parshall.report.thinning import SCATTER_POINTS, spread_over

_MARKED = (0.5, 0.95, 0.99)
"""Percentiles that are marked and told, as far as transfers are enough for one to lie beyond."""

_LONG_TAIL = 8.0
"""Completion times that reach so many times their median are drawn on a logarithmic axis."""


def prepare(run: Result) -> Plot | Missing:
    """A point a transfer while these can be told apart, else median and range by size."""
    transfers = run.tables.get("transfers")
    if transfers is None:
        return Missing("The flows of this scenario are not divided into transfers.")
    transfers = transfers.drop_nulls("size_bytes")
    if transfers.is_empty():
        return Missing("The flows of this scenario are not divided into transfers.")
    finished = timed(transfers)
    if finished.is_empty():
        return Missing(f"None of the {counted(transfers.height, 'transfer')} finished before the end of the run.")
    sized = finished.filter((pl.col("size_bytes") > 0) & (pl.col("duration_s") > 0))
    if sized.is_empty():
        return Missing("Every finished transfer was empty (0 bytes).")
    if sized["size_bytes"].n_unique() == 1:
        return _distribution(run, transfers, sized)
    return _against_size(run, transfers, sized)


def _against_size(run: Result, transfers: pl.DataFrame, finished: pl.DataFrame) -> Plot:
    groups, left_out = _groups(run, finished)
    bytes_scale = scale_for(float(np.median(finished["size_bytes"].to_numpy())), "B")
    time_scale = scale_for(float(np.median(finished["duration_s"].to_numpy())), "s")
    binned = finished.height > SCATTER_POINTS
    marks: list[Mark] = []
    for index, group in enumerate(groups):
        rows = finished.filter(pl.col("group") == group)
        x = rows["size_bytes"].to_numpy() * bytes_scale.factor
        y = rows["duration_s"].to_numpy() * time_scale.factor
        name = f"{group} ({counted(rows.height, 'transfer')})" if len(groups) > 1 else ""
        style = Style(series=index, dash=index)
        if binned:
            marks += spread_marks(spread_over(x, y, 40, log=True), name, style)
        else:
            marks.append(Points(x, y, name, style))
    note = (
        "Line: median over transfers of about that size; band: 10th to 90th percentile; where they are few, each is "
        "a point."
        if binned
        else ""
    )
    axes = (
        Axis("Size of the transfer", bytes_scale.unit, log=True),
        Axis("Completion time", time_scale.unit, log=True),
    )
    return Plot(
        [Panel(marks, *axes)], sentences(_opening(finished), note, _unfinished(transfers), pooled(transfers), left_out)
    )


def _distribution(run: Result, transfers: pl.DataFrame, finished: pl.DataFrame) -> Plot:
    """All transfers have one size: the share that took no longer than x."""
    groups, left_out = _groups(run, finished)
    durations = finished["duration_s"].to_numpy()
    scale: Scale = scale_for(float(np.median(durations)), "s")
    marks: list[Mark] = []
    notes: list[str] = []
    for index, group in enumerate(groups):
        seconds = finished.filter(pl.col("group") == group)["duration_s"].to_numpy()
        levels = np.linspace(0.0, 1.0, min(len(seconds), 500))
        x = np.quantile(seconds * scale.factor, levels)
        name = f"{group} ({counted(len(seconds), 'transfer')})" if len(groups) > 1 else ""
        style = Style(series=index, dash=index)
        marks.append(Line(x, levels * 100.0, name, style) if len(seconds) > 1 else Points(x, [100.0], name, style))
        marked = np.array([level for level in _MARKED if len(seconds) * (1.0 - level) >= 1.0])
        if len(marked) and len(seconds) > 1:
            quantiles = np.quantile(seconds, marked)
            marks.append(Points(quantiles * scale.factor, marked * 100.0, "", style))
            named = ", ".join(
                f"{100 * level:g} %: {quantity(value, 's')}" for level, value in zip(marked, quantiles, strict=True)
            )
            notes.append(f"{group}: {named}." if len(groups) > 1 else f"Percentiles (points): {named}.")
    size = int(finished["size_bytes"][0])
    long = float(durations.max()) > _LONG_TAIL * float(np.median(durations))
    axes = (
        Axis("Completion time x", scale.unit, log=long),
        Axis("Transfers that took at most x", "%", minimum=0.0, maximum=100.0),
    )
    opening = sentences(_opening(finished), f"All have the same size, {count(size)} bytes.")
    return Plot([Panel(marks, *axes)], sentences(opening, *notes, _unfinished(transfers), pooled(transfers), left_out))


def _groups(run: Result, finished: pl.DataFrame) -> tuple[list[str], str]:
    """The groups that are drawn, and the sentence about those that are not."""
    median = dict(finished.group_by("group").agg(pl.col("duration_s").median()).sort("group").iter_rows())
    known = [group for group in places(run.tables, "group") if group in median]
    return across_ranks({group: median[group] for group in known or median}, "group")


def _opening(finished: pl.DataFrame) -> str:
    number = counted(finished.height, "finished transfer")
    return f"Time from the start of a transfer to the acknowledgement of its last byte, {number}."


def _unfinished(transfers: pl.DataFrame) -> str:
    number = transfers["completion_s"].null_count()
    if number == 0:
        return ""
    return (
        f"{counted(number, 'transfer was', 'transfers were')} still under way at the end and "
        f"{'is' if number == 1 else 'are'} not shown: long ones are under-represented."
    )


FIGURE = Figure("completion", "Completion time of transfers", prepare)
