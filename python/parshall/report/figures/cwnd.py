"""The congestion window of sampled flows over time."""

from __future__ import annotations

from typing import Any

import polars as pl

from parshall.foundations.numbers import counted
from parshall.report.figures.common import end_s, first_and_others, flow_label, measured_from, sentences, warm_up_s
from parshall.report.plot import Axis, Figure, Line, Missing, Panel, Plot, Style
from parshall.report.thinning import Thinned, extremes
from parshall.results.quantities.measuring import places
from parshall.results.records import Result

OVERLAID = 3
"""Up to so many flows share a panel; more get a panel each."""

SHOWN = 6
"""The most flows drawn."""

BEHIND = 320
"""Points of all curves of other repetitions of a flow."""

MOST_UNEQUAL = 4.0
"""Panels whose largest windows differ by more have scales of their own."""

Flow = dict[str, Any]


def prepare(run: Result) -> Plot | Missing:
    """One curve a flow; the first flows of each group, in turn, until `SHOWN` are drawn.

    Of more groups than that: a flow of the group with the most, with the median and with the least goodput.
    """
    samples, flows = run.tables.get("flow_samples"), run.tables.get("flows")
    if samples is None or flows is None:
        return Missing("No windows were sampled; `[probes] flow_samples` turns this on.")
    samples, others, which = first_and_others(samples)
    who = flows.filter(pl.col("repetition") == samples["repetition"][0])
    who = who.filter(pl.col("flow").is_in(samples["flow"].unique().implode()) & (pl.col("congestion_control") != ""))
    if who.is_empty():
        return Missing("The sampled flows send datagrams, which have no congestion window.")
    curves = _curves(samples, who)
    if not curves:
        return Missing("No flow had a congestion window when samples were taken: they started after the last sample.")
    chosen, selection = _chosen(who.filter(pl.col("flow").is_in(list(curves))))
    drawn = [(flow, curves[flow["flow"]]) for flow in chosen.iter_rows(named=True)]
    start = warm_up_s(run)
    time = Axis("Time", "s", minimum=0.0, maximum=end_s(run, float(samples["time_s"].to_numpy().max())))
    behind = _behind(others, chosen["flow"].to_list())
    marks = measured_from(start)
    if chosen.height <= OVERLAID and not selection:
        several = chosen.height > 1
        lines = [
            Line(curve.x, curve.y, _label(flow), Style(series=index, thin=several))
            for index, (flow, curve) in enumerate(drawn)
        ]
        top, cut = _top([curve for _, curve in drawn], start)
        grey = [line for lines in behind.values() for line in lines]
        panels = [Panel([*grey, *lines, *marks], time, Axis("Congestion window", "packets", minimum=0.0, maximum=top))]
    else:
        panels, cut = _strips(drawn, behind, places(run.tables, "group"), time, start)
    left_out = len(curves) - chosen.height
    absent = f"{counted(left_out, 'other sampled flow')} not shown." if left_out else ""
    silent = who.height - len(curves)
    late = f"{counted(silent, 'flow')} started after the last sample." if silent else ""
    note = next((curve.note for _, curve in drawn if curve.note), "")
    return Plot(panels, sentences("Congestion window of sampled flows.", selection, which, cut, note, absent, late))


def _curves(samples: pl.DataFrame, who: pl.DataFrame) -> dict[int, Thinned]:
    """The window of each flow from its start on, of those that have a sample then."""
    curves = {}
    windows = samples.drop_nulls("cwnd_packets").sort("time_s").partition_by("flow", as_dict=True)
    for flow, start_s in who.select("flow", "start_s").iter_rows():
        rows = windows.get((flow,))
        rows = None if rows is None else rows.filter(pl.col("time_s") >= start_s)
        if rows is not None and not rows.is_empty():
            curves[flow] = extremes(rows["time_s"].to_numpy(), rows["cwnd_packets"].to_numpy())
    return curves


def _behind(others: list[pl.DataFrame], flows: list[int]) -> dict[int, list[Line]]:
    """The windows of the same flows in other repetitions."""
    lines: dict[int, list[Line]] = {flow: [] for flow in flows}
    for samples in others:
        wanted = samples.filter(pl.col("flow").is_in(flows)).drop_nulls("cwnd_packets").sort("time_s")
        for (flow,), rows in wanted.partition_by("flow", as_dict=True).items():
            curve = extremes(rows["time_s"].to_numpy(), rows["cwnd_packets"].to_numpy(), BEHIND // len(others))
            lines[flow].append(Line(curve.x, curve.y, "", Style(thin=True, muted=True, faint=True)))
    return lines


def _strips(
    curves: list[tuple[Flow, Thinned]], behind: dict[int, list[Line]], groups: list[str], time: Axis, start: float
) -> tuple[list[Panel], str]:
    """A panel a flow, all with the same scale unless that would flatten some."""
    tops = [_top([curve], start) for _, curve in curves]
    largest, smallest = max(top for top, _ in tops), min(top for top, _ in tops)
    common = smallest > 0 and largest <= MOST_UNEQUAL * smallest
    panels: list[Panel] = []
    for (flow, curve), (own, _) in zip(curves, tops, strict=True):
        axis = Axis("Congestion window", "packets", minimum=0.0, maximum=largest if common else own)
        line = Line(curve.x, curve.y, "", Style(series=groups.index(flow["group"]), thin=True))
        first = measured_from(start) if not panels else []
        panels.append(Panel([*behind[flow["flow"]], line, *first], time, axis, _label(flow), height=0.62))
    cut = next((text for _, text in tops if text), "")
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


def _chosen(who: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The first flow of each group, then the second of each, and so on, in the order of the flows.

    Of more groups than can be drawn: the first flow of three, and the sentence that names them.
    """
    groups = who.group_by("group", maintain_order=True).agg(pl.col("goodput_bps").mean().fill_null(0.0))
    if groups.height > SHOWN:
        ranked = groups.sort("goodput_bps", descending=True, maintain_order=True)["group"].to_list()
        most, median, least = ranked[0], ranked[len(ranked) // 2], ranked[-1]
        first = who.filter(pl.col("flow") == pl.col("flow").min().over("group"))
        order = pl.DataFrame({"group": [most, median, least]})
        selection = (
            f"Of {counted(groups.height, 'group')}, a flow of the one with the most goodput a flow ({most}), of the "
            f"median ({median}), and of the one with the least ({least})."
        )
        return order.join(first, on="group", how="left", maintain_order="left"), selection
    turn = pl.col("flow").rank("ordinal").over("group")
    return who.with_columns(turn=turn).sort("turn", "flow").head(SHOWN).sort("flow"), ""


FIGURE = Figure("cwnd", "Congestion windows over time", prepare)
