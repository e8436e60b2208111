"""Completion time of transfers against their size."""

from __future__ import annotations

import numpy as np
import polars as pl

from parshall.analysis.stats.censored import Durations, KaplanMeier
from parshall.foundations.numbers import Scale, count, counted, quantity, scale_for
from parshall.report.figures.common import across_ranks, pooled, sentences, spread_marks
from parshall.report.plot import Axis, Figure, Line, Mark, Missing, Panel, Plot, Points, Style
from parshall.report.thinning import SCATTER_POINTS, spread_over
from parshall.results.quantities.completion import lasted
from parshall.results.quantities.measuring import places
from parshall.results.records import Result

_MARKED = (0.5, 0.95, 0.99)
"""Percentiles that are marked and told, as far as transfers are enough for one to lie beyond."""

_POINTS = 500
"""The most points of a curve."""

_LONG_TAIL = 8.0
"""Completion times that reach so many times their median are drawn on a logarithmic axis."""


def prepare(run: Result) -> Plot | Missing:
    """A point a transfer while these can be told apart, else median and range by size."""
    transfers = run.tables.get("transfers")
    if transfers is None:
        return Missing("The flows of this scenario are not divided into transfers.")
    transfers = lasted(run.tables).rename({"lasted_s": "duration_s"})
    if transfers.is_empty():
        return Missing("The flows of this scenario are not divided into transfers.")
    if not transfers["ended"].any():
        return Missing(f"None of the {counted(transfers.height, 'transfer')} finished before the end of the run.")
    sized = transfers.filter((pl.col("size_bytes") > 0) & (pl.col("duration_s") > 0))
    finished = sized.filter("ended")
    if finished.is_empty():
        return Missing("Every finished transfer was empty (0 bytes).")
    if sized["size_bytes"].n_unique() == 1:
        return _distribution(run, transfers, sized)
    return _against_size(run, transfers, finished)


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


def _distribution(run: Result, transfers: pl.DataFrame, sized: pl.DataFrame) -> Plot:
    """All transfers have one size: the share that took no longer than x, of all (Kaplan and Meier)."""
    finished = sized.filter("ended")
    groups, left_out = _groups(run, finished)
    durations = finished["duration_s"].to_numpy()
    scale: Scale = scale_for(float(np.median(durations)), "s")
    marks: list[Mark] = []
    notes: list[str] = []
    for index, group in enumerate(groups):
        own = sized.filter(pl.col("group") == group)
        curve = KaplanMeier(Durations(own["duration_s"].to_numpy(), own["ended"].to_numpy()))
        x, shares = curve.drawn(_POINTS)
        name = f"{group} ({counted(curve.ended, 'transfer')})" if len(groups) > 1 else ""
        style = Style(series=index, dash=index)
        if curve.n == 1:
            marks.append(Points(curve.at_s * scale.factor, [100.0], name, style))
            continue
        marks.append(Line(x * scale.factor, shares * 100.0, name, style))
        marked = {level: curve.known_quantile(level) for level in _MARKED if curve.n * (1.0 - level) >= 1.0}
        quantiles = {level: value for level, value in marked.items() if value is not None}
        if quantiles:
            at = np.array(list(quantiles.values())) * scale.factor
            marks.append(Points(at, np.array(list(quantiles)) * 100.0, "", style))
            named = ", ".join(f"{100 * level:g} %: {quantity(value, 's')}" for level, value in quantiles.items())
            notes.append(f"{group}: {named}." if len(groups) > 1 else f"Percentiles (points): {named}.")
    size = int(finished["size_bytes"][0])
    long = float(durations.max()) > _LONG_TAIL * float(np.median(durations))
    axes = (
        Axis("Completion time x", scale.unit, log=long),
        Axis("Transfers that took at most x", "%", minimum=0.0, maximum=100.0),
    )
    opening = sentences(_opening(finished), f"All have the same size, {count(size)} bytes.")
    return Plot([Panel(marks, *axes)], sentences(opening, *notes, _cut_off(transfers), pooled(transfers), left_out))


def _groups(run: Result, finished: pl.DataFrame) -> tuple[list[str], str]:
    """The groups that are drawn, and the sentence about those that are not."""
    median = dict(finished.group_by("group").agg(pl.col("duration_s").median()).sort("group").iter_rows())
    known = [group for group in places(run.tables, "group") if group in median]
    return across_ranks({group: median[group] for group in known or median}, "group")


def _opening(finished: pl.DataFrame) -> str:
    number = counted(finished.height, "finished transfer")
    return f"Time from the start of a transfer to the acknowledgement of its last byte, {number}."


def _under_way(transfers: pl.DataFrame) -> str:
    number = transfers["completion_s"].null_count()
    return f"{counted(number, 'transfer was', 'transfers were')} still under way at the end" if number else ""


def _unfinished(transfers: pl.DataFrame) -> str:
    under_way = _under_way(transfers)
    if not under_way:
        return ""
    are = "is" if transfers["completion_s"].null_count() == 1 else "are"
    return f"{under_way} and {are} not shown: long ones are under-represented."


def _cut_off(transfers: pl.DataFrame) -> str:
    under_way = _under_way(transfers)
    return under_way and (
        f"{under_way}: they count as longer than they had lasted (Kaplan and Meier), and a curve ends where no more is "
        "known."
    )


FIGURE = Figure("completion", "Completion time of transfers", prepare)
