"""The data of a figure as a table: a row a point, as the button on its page saves it.

| column | what |
| --- | --- |
| panel | its number, from 1 |
| x axis, y axis | what these are, with their units |
| series | the name in the legend; of a band with ``(lower end)`` or ``(upper end)`` |
| x, y | the point, or the lower left corner of a map's cell |
| low, high | the ends of its error bar |
| z | the value of a map's cell |
"""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterator
from typing import Any

from parshall.report.interactive import plotly
from parshall.report.plot import Plot

HEADER = ("panel", "x axis", "y axis", "series", "x", "y", "low", "high", "z")


def text(plot: Plot) -> str:
    """The table as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(HEADER)
    writer.writerows(rows(plot))
    return stream.getvalue()


def rows(plot: Plot) -> Iterator[tuple[Any, ...]]:
    """The rows below `HEADER`; empty cells are ''."""
    drawn = plotly(plot)
    for trace in drawn["data"]:
        panel = int(trace["yaxis"][1:] or 1)
        edge = ""
        if trace.get("line", {}).get("width") == 0:
            edge = " (upper end)" if "fill" in trace else " (lower end)"
        first = (panel, *drawn["layout"]["meta"][panel - 1], html.unescape(trace.get("name", "")) + edge)
        if "z" in trace:
            for y, cells in zip(trace["y"], trace["z"], strict=False):  # one edge more than cells
                yield from (
                    (*first, x, y, "", "", "" if z is None else z) for x, z in zip(trace["x"], cells, strict=False)
                )
            continue
        along = "x" if "error_x" in trace else "y"
        bars = trace.get(f"error_{along}")
        for place, (x, y) in enumerate(zip(trace["x"], trace["y"], strict=True)):
            ends: tuple[Any, Any] = ("", "")
            if bars:
                middle = trace[along][place]
                ends = middle - bars["arrayminus"][place], middle + bars["array"][place]
            yield (*first, x, y, *ends, "")
