"""Goga, Loiseau & Gonçalves 2011: what the tail index of flow sizes does to TCP; with Park & Tuan 2000, Fig. 4(a).

| artefact | here |
| --- | --- |
| Figs 1 and 2 | `grid` (simulations), `trends` (signs and significance), `page` |
| the same at equal loads | `matched` |
| Fig. 4(a) of Park & Tuan | `hurst_panel` |
| beyond the sources | `distributions`, `beyond`, `sensitivity` |

`running` does the runs: in memory, or as a campaign with a store.
"""

from __future__ import annotations

from parshall.studies.study import Execution, Findings, Progress, Scale
from parshall.studies.tail_index import beyond, grid, hurst_panel, matched, page, sensitivity
from parshall.studies.tail_index.running import Runner, cost


def run(scale: Scale, progress: Progress, execution: Execution | None = None) -> Findings:
    """Run it: ``quick`` (24 s of each point, five tail indices), or ``paper`` (an hour, nine; a campaign)."""
    return found(scale, grid.SIZES[scale], Runner.for_scale(scale, execution or Execution(), progress))


def found(scale: Scale, size: grid.Size, runner: Runner, hurst_s: float | None = None) -> Findings:
    """The study with points of a size; `hurst_s`: simulated seconds of the panel of H, else those of the scale."""
    short = matched.shorter(size)
    if runner.execution.store is not None:
        runner.progress(cost(list(grid.scenarios(size).values()), runner))
    rows = grid.simulated(size, runner)
    equal = matched.simulated(short, runner)
    panel = hurst_panel.simulated(scale, runner, hurst_s)
    variants = beyond.compared(short, runner)
    effects = sensitivity.influences(short, runner, trajectories=6 if scale == "quick" else 20)
    trends = page.trends(size.tail_indices, rows)
    level = matched.trends(short.tail_indices, equal)
    return Findings(
        checks=[*page.checks(trends), *matched.checks(level), *hurst_panel.checks(panel)],
        sections=[
            sensitivity.answer_section(effects),
            matched.answer_section(level),
            page.trend_section(trends),
            *page.figures(size.tail_indices, rows),
            page.load_section(size.tail_indices, rows),
            matched.section(short.tail_indices, equal, level),
            hurst_panel.section(panel),
            beyond.section(variants),
            sensitivity.section(effects),
        ],
    )
