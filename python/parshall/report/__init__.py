"""The report: one page, its figures, and comparisons of runs.

| module | what |
| --- | --- |
| `page` | `write_page`, `summary_html` (notebooks) |
| `writing` | `write_figures`: PNG, SVG or PDF; `write_pdf`: all in one |
| `comparison` | `compare`: two runs, metric by metric; `comparing`: the same as HTML |
| `figures` | the catalog: one small file a figure, data -> `plot.Plot` |
| `interactive`, `static` | a `Plot` drawn by plotly.js and by matplotlib |
| `metrics`, `tables`, `headline`, `predicted`, `words` | what the page says, before it is laid out |
| `numbers`, `uncertainty`, `palette`, `thinning` | digits and units, means with intervals, colours, fewer points |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parshall.lazily import named

if TYPE_CHECKING:
    from parshall.report.comparing import compare_html
    from parshall.report.comparison import MetricComparison, Verdict, compare
    from parshall.report.page import page_html, summary_html, write_page
    from parshall.report.writing import write_figures, write_pdf

__all__ = [
    "MetricComparison",
    "Verdict",
    "compare",
    "compare_html",
    "page_html",
    "summary_html",
    "write_figures",
    "write_page",
    "write_pdf",
]

_HOMES = {
    "MetricComparison": "comparison",
    "Verdict": "comparison",
    "compare": "comparison",
    "compare_html": "comparing",
    "page_html": "page",
    "summary_html": "page",
    "write_figures": "writing",
    "write_page": "page",
    "write_pdf": "writing",
}

__getattr__ = named(__name__, _HOMES)
