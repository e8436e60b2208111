"""The report: one page, its figures, and comparisons of runs.

| module | what |
| --- | --- |
| `page` | `write_page`, `summary_html` (notebooks) |
| `writing` | `write_figures`: PNG, SVG or PDF; `write_pdf`: all in one |
| `comparison` | `compare`: results, metric by metric |
| `comparing`, `comparison_page`, `comparison_figures` | the same in words, as a page, and its figures |
| `figures` | the catalog: one small file a figure, data -> `plot.Plot` |
| `interactive`, `svg`, `static` | a `Plot` drawn by plotly.js, as the page's own drawing, and by matplotlib for files |
| `finding` | the sentences that open the page of a run: what limits, who gets what, what it costs |
| `sentences`, `disagreement`, `settling` | these by name; models that are wrong; networks that had not settled |
| `headline`, `tables`, `network`, `words` | the rest of the page, before it is laid out |
| `predicted`, `predicted_summary` | predictions beside what was simulated, all of them, and at a glance |
| `pictures`, `data` | figures as objects, files of any format, and tables |
| `crossing` | the groups of flows that send over a link |
| `numbers`, `uncertainty`, `palette`, `thinning` | digits and units, means with intervals, colours, fewer points |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
