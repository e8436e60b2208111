"""The goodput of a flow of each group, from the largest to the smallest, beside an equal share."""

from __future__ import annotations

import polars as pl

from parshall.foundations.numbers import counted, quantity, scale_for
from parshall.report.bounded import extremes, mean_goodputs
from parshall.report.figures.common import repetitions, sentences
from parshall.report.plot import Axis, Figure, Guide, Mark, Missing, Panel, Plot, Points, Style
from parshall.results.quantities.measuring import of_place, places
from parshall.results.records import Result

GROUPS = 40
"""The most groups drawn: the first half of these have the most, the others the least."""

_ROW = 0.085
"""Height of a group, in panels."""


def prepare(run: Result) -> Plot | Missing:
    """A point a group, with its confidence interval."""
    flows = run.tables.get("flows")
    names = places(run.tables, "group")
    if flows is None or len(names) < 2:
        return Missing("There is a single group of flows, whose goodput is in the table above.")
    chosen = extremes(mean_goodputs(flows), names, GROUPS)
    by_group = {group: of_place(run.tables, "group", group).get(f"group/{group}/flow_goodput_bps") for group in chosen}
    intervals = {group: metric.interval for group, metric in by_group.items() if metric is not None}
    if not intervals:
        return Missing("No goodput was recorded.")
    ranked = [group for group in chosen if group in intervals]
    left_out = f"{counted(len(names) - GROUPS, 'group')} in the middle are not drawn." if len(names) > GROUPS else ""
    ranked.reverse()  # the first place is at the bottom
    scale = scale_for(max(each.mean for each in intervals.values()), "bit/s")
    means = [intervals[group].mean * scale.factor for group in ranked]
    bounds = [(each.low, each.high) for each in (intervals[group] for group in ranked)]
    low = [
        mean if ends[0] is None else max(0.0, ends[0] * scale.factor) for mean, ends in zip(means, bounds, strict=True)
    ]
    high = [mean if ends[1] is None else ends[1] * scale.factor for mean, ends in zip(means, bounds, strict=True)]
    marks: list[Mark] = [Points(means, range(len(ranked)), "", Style(), low, high, along="x")]
    equal_bps = _equal_share_bps(flows)
    reference = ""
    if equal_bps is not None:
        marks.append(Guide(equal_bps * scale.factor, "equal share", along="x"))
        reference = f"An equal share of what all TCP flows got would be {quantity(equal_bps, 'bit/s')} a flow."
    panel = Panel(
        marks,
        Axis("Goodput of a flow, mean of the group", scale.unit, minimum=0.0),
        Axis("", names=tuple(ranked), minimum=-0.6, maximum=len(ranked) - 0.4),
        height=0.3 + _ROW * len(ranked),
    )
    bars = "Bars are 95 % confidence intervals over repetitions." if len(repetitions(flows)) > 1 else ""
    return Plot([panel], sentences("Mean goodput of a flow of each group, sorted.", bars, reference, left_out))


def _equal_share_bps(flows: pl.DataFrame) -> float | None:
    """What each TCP flow would get if all got as much; ``None`` without two of them."""
    tcp = flows.filter(pl.col("congestion_control") != "")["goodput_bps"].drop_nulls().to_numpy()
    return float(tcp.mean()) if len(tcp) > 1 else None


FIGURE = Figure("shares", "Goodput of a flow of each group", prepare)
