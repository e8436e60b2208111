"""Goga, Loiseau & Gonçalves 2011: what the tail index of flow sizes does to TCP; with Park & Tuan 2000, Fig. 4(a).

| artefact | here |
| --- | --- |
| Figs 1 and 2 | `settings` (whose TCP), `grid` (simulations), `trends` (signs), `page` |
| the same at equal loads | `matched` |
| the table of signs | `signs` |
| claims in words | `claims` |
| Fig. 4(a) of Park & Tuan | `hurst_own`; `hurst_panel`, `hurst_page` |
| beyond the sources | `distributions`, `beyond`, `sensitivity` |

`running` does the runs: in memory, or as a campaign with a store.
"""

from __future__ import annotations

from parshall.studies.running import Execution
from parshall.studies.study import Findings, Progress, Scale
from parshall.studies.tail_index import (
    beyond,
    claims,
    grid,
    hurst_own,
    hurst_page,
    hurst_panel,
    matched,
    page,
    sensitivity,
    signs,
)
from parshall.studies.tail_index.running import Runner, cost
from parshall.studies.tail_index.settings import FIG1
from parshall.studies.tail_index.trends import checks

SCREENED: dict[Scale, tuple[int, int]] = {"quick": (6, 2), "paper": (20, 3)}
"""Trajectories of Morris' analysis, and repetitions of each of its points."""
_ASKED, _EQUAL = "mean as asked", "equal loads"


def run(scale: Scale, progress: Progress, execution: Execution | None = None) -> Findings:
    """Run it: ``quick`` (half a minute of each point, five tail indices), or ``paper`` (an hour, nine; a campaign)."""
    return found(scale, grid.SIZES[scale], Runner.for_scale(scale, execution or Execution(), progress))


def found(scale: Scale, size: grid.Size, runner: Runner, hurst: hurst_panel.Size | None = None) -> Findings:
    """The study with points of a size, and a panel of H of one; by default that of the scale."""
    hurst = hurst or hurst_panel.SIZES[scale]
    short = matched.shorter(size)
    if runner.execution.store is not None:
        runner.progress(cost(list(grid.scenarios(size).values()), runner))
    asked = grid.simulated(size, runner)
    rows = grid.by_point(size, asked)
    equal = matched.simulated(short, runner, asked if short == size else {})
    own = hurst_own.simulated(hurst, runner)
    panel = hurst_panel.simulated(hurst, runner)
    variants = beyond.compared(short, runner)
    effects = sensitivity.influences(short, runner, *SCREENED[scale])
    trends = page.trends(size.tail_indices, rows)
    level = matched.trends(short, equal)
    return Findings(
        checks=[
            *checks(trends, _ASKED),
            *checks(level, _EQUAL),
            *claims.checks(size.tail_indices, rows, trends, _ASKED),
            *hurst_own.checks(own, panel.tcp),
            *hurst_page.checks(panel),
        ],
        sections=[
            signs.answer_section(level),
            sensitivity.answer_section(effects),
            signs.section(trends, level),
            *page.figures(size.tail_indices, rows),
            claims.section(size.tail_indices, rows),
            page.load_section(size.tail_indices, rows),
            matched.section(
                short,
                equal,
                page.fig1(matched.at(FIG1[0], short), matched.by_point(short, equal), _EQUAL),
            ),
            hurst_own.section(own, hurst.duration_s),
            hurst_page.section(panel, hurst.duration_s),
            beyond.section(variants),
            sensitivity.section(effects),
        ],
    )
