"""Goga, Loiseau & Gonçalves 2011: what the tail index of flow sizes does to TCP; with Park & Tuan 2000, Fig. 4(a).

| artefact | here |
| --- | --- |
| Figs 1 and 2 | `grid` (simulations), `trends` (signs and significance), `page` |
| Fig. 4(a) of Park & Tuan | `hurst_panel` |
| beyond the sources | `beyond` |
| equal loads | `matched` |
"""

from __future__ import annotations

from parshall.studies.study import Findings, Progress, Scale
from parshall.studies.tail_index import beyond, grid, hurst_panel, matched, page


def run(scale: Scale, progress: Progress) -> Findings:
    """Run it: ``quick`` (24 s of each point, five tail indices), or ``paper`` (an hour, nine; resumable)."""
    size = grid.SIZES[scale]
    rows = grid.simulated(size, progress)
    equal = matched.simulated(size, progress)
    panel = hurst_panel.simulated(scale, progress)
    variants = beyond.compared(grid.SIZES["quick"] if scale == "quick" else matched.shorter(size), progress)
    short = matched.shorter(size)
    effects = beyond.influences(short, progress, trajectories=4 if scale == "quick" else 20)
    trends = page.trends(size.tail_indices, rows)
    return Findings(
        checks=[*page.checks(trends), *matched.checks(equal), *hurst_panel.checks(panel)],
        sections=[
            page.answer(effects),
            page.trend_section(trends),
            *page.figures(size.tail_indices, rows),
            page.load_section(size.tail_indices, rows),
            matched.section(equal),
            hurst_panel.section(panel),
            beyond.section(variants, effects),
        ],
    )
