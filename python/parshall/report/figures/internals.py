"""Inner variables of congestion controls and queues over time."""

from __future__ import annotations

import polars as pl

from parshall.foundations.numbers import counted
from parshall.report.figures.common import end_s, first_repetition, measured_from, sentences, warm_up_s
from parshall.report.plot import Axis, Figure, Line, Missing, Panel, Plot, Style
from parshall.report.thinning import extremes
from parshall.results.quantities.measuring import places
from parshall.results.records import Result
from parshall.scenario.schema import catalog

SHOWN = 8
"""The most variables drawn; each has a panel."""


def prepare(run: Result) -> Plot | Missing:
    """A panel a variable; in it a curve for the first sampled flow of each group, or for each link."""
    table = run.tables.get("internals")
    if table is None:
        return Missing("No inner variables were recorded; `[probes] internals = true` turns this on.")
    table, which = first_repetition(table)
    first = pl.col("flow").is_null() | (pl.col("flow") == pl.col("flow").min().over("owner"))
    table = table.filter(first).sort("time_s")
    curves = table.partition_by(["variable", "owner"], as_dict=True, maintain_order=True)
    variables = table.select(pl.col("flow").is_null().alias("of_link"), "variable").unique(maintain_order=True)
    variables = variables.sort("of_link", maintain_order=True)  # controls first
    start = warm_up_s(run)
    time = Axis("Time", "s", minimum=0.0, maximum=end_s(run, float(table["time_s"].to_numpy().max())))
    groups = places(run.tables, "group")
    panels: list[Panel] = []
    for name in variables["variable"].unique(maintain_order=True).to_list()[:SHOWN]:
        owners = [owner for variable, owner in curves if variable == name]
        lines = []
        for place, owner in enumerate(owners):
            rows = curves[name, owner]
            curve = extremes(rows["time_s"].to_numpy(), rows["value"].to_numpy())
            series = groups.index(owner) if owner in groups else place
            lines.append(Line(curve.x, curve.y, owner, Style(series=series, thin=True)))
        marks = measured_from(start) if not panels else []
        panels.append(Panel([*lines, *marks], time, Axis(name, _unit(name)), height=0.62))
    left_out = variables["variable"].n_unique() - len(panels)
    others = f"{counted(left_out, 'other variable')} not shown." if left_out > 0 else ""
    what = "Inner variables of the first sampled flow of each group, and of the queues."
    return Plot(panels, sentences(what, "`parshall list NAME` explains them.", which, others))


def _unit(variable: str) -> str:
    """The unit of a variable: those of one name have the same."""
    for family in ("congestion_controls", "queues", "tcp"):
        for entry in catalog.family(family):
            for each in entry.variables:
                if each.name == variable:
                    return each.unit
    return ""


FIGURE = Figure("internals", "Inner variables of controls and queues", prepare)
