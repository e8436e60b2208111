"""The congestion window of sampled flows over time."""

from __future__ import annotations

from typing import Any

import polars as pl

from parshall.report.figures.common import (
    end_s,
    first_repetition,
    flow_label,
    group_names,
    measured_from,
    sentences,
    warm_up_s,
)
from parshall.report.numbers import counted
from parshall.report.plot import Axis, Figure, Line, Missing, Panel, Plot, Style
from parshall.report.source import RunLike, filled
from parshall.report.thinning import Thinned, extremes

OVERLAID = 3
"""Up to so many flows share a panel; more get a panel each."""

SHOWN = 6
"""The most flows drawn."""

MOST_UNEQUAL = 4.0
"""Panels whose largest windows differ by more have scales of their own."""

Flow = dict[str, Any]


def prepare(run: RunLike) -> Plot | Missing:
    """One curve a flow; the first flows of each group, in turn, until `SHOWN` are drawn."""
    samples, flows = filled(run.flow_samples), filled(run.flows)
    if samples is None or flows is None:
        return Missing("No windows were sampled; `[probes] flow_samples` turns this on.")
    samples, which = first_repetition(samples)
    who = flows.filter(pl.col("repetition") == samples["repetition"][0])
    who = who.filter(pl.col("flow").is_in(samples["flow"].unique().implode()) & (pl.col("congestion_control") != ""))
    if who.is_empty():
        return Missing("The sampled flows send datagrams, which have no congestion window.")
    chosen = _chosen(who)
    start = warm_up_s(run)
    curves, note = _curves(samples, chosen)
    time = Axis("Time", "s", minimum=0.0, maximum=end_s(run, float(samples["time_s"].to_numpy().max())))
    marks = measured_from(start)
    if chosen.height <= OVERLAID:
        several = chosen.height > 1
        lines = [
            Line(curve.x, curve.y, _label(flow), Style(series=index, thin=several))
            for index, (flow, curve) in enumerate(curves)
        ]
        top, cut = _top([curve for _, curve in curves], start)
        panels = [Panel([*lines, *marks], time, Axis("Congestion window", "packets", minimum=0.0, maximum=top))]
    else:
        panels, cut = _strips(curves, group_names(run), time, start)
    left_out = who.height - chosen.height
    others = f"{counted(left_out, 'other sampled flow')} not shown." if left_out else ""
    return Plot(panels, sentences("Congestion window of sampled flows.", which, cut, note, others))


def _curves(samples: pl.DataFrame, chosen: pl.DataFrame) -> tuple[list[tuple[Flow, Thinned]], str]:
    """The window of each flow from its start on, and the sentence about thinning."""
    curves = []
    for flow in chosen.iter_rows(named=True):
        rows = samples.filter((pl.col("flow") == flow["flow"]) & (pl.col("time_s") >= flow["start_s"])).sort("time_s")
        curves.append((flow, extremes(rows["time_s"].to_numpy(), rows["cwnd_packets"].to_numpy())))
    return curves, next((curve.note for _, curve in curves if curve.note), "")


def _strips(curves: list[tuple[Flow, Thinned]], groups: list[str], time: Axis, start: float) -> tuple[list[Panel], str]:
    """A panel a flow, all with the same scale unless that would flatten some."""
    tops = [_top([curve], start) for _, curve in curves]
    largest, smallest = max(top for top, _ in tops), min(top for top, _ in tops)
    common = smallest > 0 and largest <= MOST_UNEQUAL * smallest
    panels: list[Panel] = []
    for (flow, curve), (own, _) in zip(curves, tops, strict=True):
        axis = Axis("Congestion window", "packets", minimum=0.0, maximum=largest if common else own)
        line = Line(curve.x, curve.y, "", Style(series=groups.index(flow["group"]), thin=True))
        first = measured_from(start) if not panels else []
        panels.append(Panel([line, *first], time, axis, _label(flow), height=0.62))
    cut = next((words for _, words in tops if words), "")
    return panels, cut if common else sentences("Each panel has a scale of its own.", cut)


def _top(curves: list[Thinned], start: float) -> tuple[float, str]:
    """The end of the axis: the largest window, but that of the warm-up if it dwarfs all that was measured."""
    largest = max((float(curve.y.max()) for curve in curves if len(curve.y)), default=0.0)
    measured = [curve.y[curve.x >= start] for curve in curves]
    later = max((float(part.max()) for part in measured if len(part)), default=largest)
    if start > 0 and later > 0 and largest > 1.4 * later:
        return 1.25 * later, "The axis ends below the largest windows, which were reached during the warm-up."
    return 1.05 * largest, ""


def _label(flow: Flow) -> str:
    return flow_label(flow["group"], flow["flow"], flow["congestion_control"], flow["rtt_base_s"])


def _chosen(who: pl.DataFrame) -> pl.DataFrame:
    """The first flow of each group, then the second of each, and so on, in the order of the flows."""
    turn = pl.col("flow").rank("ordinal").over("group")
    return who.with_columns(turn=turn).sort("turn", "flow").head(SHOWN).sort("flow")


FIGURE = Figure("cwnd", "Congestion windows over time", prepare)
