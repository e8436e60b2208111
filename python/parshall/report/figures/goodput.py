"""Goodput of each flow: against its round-trip time where flows differ in it, else sorted."""

from __future__ import annotations

import numpy as np
import polars as pl

from parshall.foundations.numbers import Scale, counted, scale_for
from parshall.report.figures.common import across_ranks, pooled, sentences, spread_marks
from parshall.report.plot import Axis, Figure, Line, Mark, Missing, Panel, Plot, Points, Style
from parshall.report.thinning import SCATTER_POINTS, extremes, spread_over
from parshall.results.quantities.measuring import places
from parshall.results.records import Result

NEARLY_EQUAL = 1.02
"""Round-trip times within this factor of each other count as one."""


def prepare(run: Result) -> Plot | Missing:
    """One point a flow (mean over repetitions when its RTT is the same in all), by group."""
    flows = run.tables.get("flows")
    if flows is None:
        return Missing("No flow was recorded.")
    flows = flows.drop_nulls("goodput_bps")
    points, how = _points(flows)
    if points.height < 2:
        return Missing("There is a single flow, whose goodput is in the table above.")
    scale = scale_for(float(np.quantile(points["goodput_bps"].to_numpy(), 0.9)), "bit/s")
    rtt = points["rtt_base_s"].drop_nulls().to_numpy()
    spread = len(rtt) == points.height and float(rtt.max()) > NEARLY_EQUAL * float(rtt.min())
    draw = _against_rtt if spread else _sorted
    mean = dict(points.group_by("group").agg(pl.col("goodput_bps").mean()).iter_rows())
    groups, left_out = across_ranks(
        {group: mean[group] for group in places(run.tables, "group") if group in mean}, "group"
    )
    return draw(points, scale, groups, sentences(how, left_out))


def _points(flows: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """One row a point, and the sentence that says what it is."""
    count = flows["repetition"].n_unique()
    columns = ["group", "flow", "rtt_base_s", "goodput_bps"]
    if count == 1:
        return flows.select(columns), "Each point is a flow."
    by_flow = flows.group_by("group", "flow").agg(
        pl.col("rtt_base_s").mean(),
        pl.col("goodput_bps").mean(),
        varied=pl.col("rtt_base_s").max() > NEARLY_EQUAL * pl.col("rtt_base_s").min(),
    )
    if by_flow["varied"].any():
        return flows.select(columns), sentences("Each point is a flow of one repetition.", pooled(flows))
    return by_flow.sort("flow").select(columns), f"Each point is a flow's mean over {count} repetitions."


def _against_rtt(points: pl.DataFrame, scale: Scale, groups: list[str], how: str) -> Plot:
    binned = points.height > SCATTER_POINTS
    marks: list[Mark] = []
    rtt_ms = points["rtt_base_s"].to_numpy() * 1e3
    wide = float(rtt_ms.max()) > 10.0 * float(rtt_ms.min())
    for index, group in enumerate(groups):
        rows = points.filter(pl.col("group") == group)
        if rows.is_empty():
            continue
        x, y = rows["rtt_base_s"].to_numpy() * 1e3, rows["goodput_bps"].to_numpy() * scale.factor
        name = f"{group} ({counted(rows['flow'].n_unique(), 'flow')})" if len(groups) > 1 else ""
        style = Style(series=index, dash=index)
        if binned:
            marks += spread_marks(spread_over(x, y, log=wide), name, style)
        else:
            marks.append(Points(x, y, name, style))
    positive = points.filter(pl.col("goodput_bps") > 0)["goodput_bps"].to_numpy()
    log = wide and len(positive) == points.height
    axes = (
        Axis("Base round-trip time", "ms", log=wide, minimum=None if wide else 0.0),
        Axis("Goodput of a flow", scale.unit, log=log, minimum=None if log else 0.0),
    )
    note = (
        "Line: median of the flows at that RTT; band: 10th to 90th percentile; where they are few, each is a point."
        if binned
        else ""
    )
    opening = "Goodput against the round-trip time without queueing."
    return Plot(
        [Panel(marks, *axes)],
        sentences(opening, note, how, pooled(points) if note and "repetition" in points.columns else ""),
    )


def _sorted(points: pl.DataFrame, scale: Scale, groups: list[str], how: str) -> Plot:
    marks: list[Mark] = []
    note = ""
    largest = 0.0
    for index, group in enumerate(groups):
        y = np.sort(points.filter(pl.col("group") == group)["goodput_bps"].to_numpy() * scale.factor)
        if len(y) == 0:
            continue
        largest = max(largest, float(y[-1]))
        x = (np.arange(len(y)) + 0.5) / len(y) * 100.0
        name = f"{group} ({counted(len(y), 'point')})" if len(groups) > 1 else ""
        style = Style(series=index, dash=index)
        if len(y) <= 150:
            marks.append(Points(x, y, name, style))
        else:
            curve = extremes(x, y)
            note = curve.note and "Long curves are thinned without losing their ends."
            marks.append(Line(curve.x, curve.y, name, style))
    axes = (
        Axis("Flows of the group, from the slowest to the fastest", "%", minimum=0.0, maximum=100.0),
        Axis("Goodput of a flow", scale.unit, minimum=0.0),
    )
    opening = "Goodput of the flows, sorted; a flat line is an equal share for all."
    return Plot([Panel(marks, *axes)], sentences(opening, how, note))


FIGURE = Figure("goodput", "Goodput of each flow", prepare)
