"""Goga, Loiseau & Gonçalves 2011: what the tail index of flow sizes does to TCP; with Park & Tuan 2000, Fig. 4(a).

| artefact | here |
| --- | --- |
| Figs 1 and 2 | `settings` (whose TCP), `grid` (simulations), `trends` (signs), `page` |
| the same at equal loads | `matched` |
| the table of signs | `signs` |
| claims in words | `claims`, `statements` |
| each statement of the source, and its check | `claims.toml` |
| Fig. 4(a) of Park & Tuan | `hurst_own`; `hurst_panel`, `hurst_page` |
| Fig. 1 with the TCP of Linux | `real_stacks` |
| Fig. 2 with hosts of Linux among simulated sources | `hybrid` |
| beyond the sources | `distributions`, `beyond`, `sensitivity` |

``quick`` is half a minute of each point and five tail indices, ``paper`` the source's one or two hours and nine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parshall.studies.study import Case, Findings, Part, Scale
from parshall_studies.tail_index import (
    beyond,
    claims,
    grid,
    hurst_own,
    hurst_page,
    hurst_panel,
    hybrid,
    matched,
    page,
    real_stacks,
    sensitivity,
    signs,
    statements,
)
from parshall_studies.tail_index.trends import checks

_ASKED, _EQUAL = "mean as asked", "equal loads"


@dataclass(frozen=True)
class Size:
    """How much is simulated.

    Parameters
    ----------
    grid, hurst
        Of Figs 1 and 2, and of the panel of H.
    trajectories, repetitions
        Of Morris' analysis.
    """

    grid: grid.Size
    hurst: hurst_panel.Size
    trajectories: int
    repetitions: int


SIZES: Mapping[Scale, Size] = {
    "quick": Size(grid.SIZES["quick"], hurst_panel.SIZES["quick"], 6, 2),
    "paper": Size(grid.SIZES["paper"], hurst_panel.SIZES["paper"], 20, 3),
}


def cases(size: Size) -> dict[tuple[str, Any], Case]:
    """All of them, by group and key."""
    short = matched.shorter(size.grid)
    asked = grid.cases(size.grid)
    groups: dict[str, Mapping[Any, Case]] = {
        "own": hurst_own.cases(size.hurst),
        "panel": hurst_panel.cases(size.hurst),
        "asked": asked,
        "equal": matched.cases(short, asked if short == size.grid else {}),
        "variants": beyond.cases(short),
        "effects": sensitivity.cases(short, size.trajectories, size.repetitions),
    }
    return {(name, key): case for name, group in groups.items() for key, case in group.items()}


def findings(answers: Mapping[tuple[str, Any], Any], size: Size) -> Findings:
    """What is made of the answers of `cases`."""
    groups = _grouped(answers)
    short = matched.shorter(size.grid)
    rows = grid.by_point(size.grid, groups["asked"])
    equal = groups["equal"]
    own = hurst_own.together(size.hurst, groups["own"])
    panel = hurst_panel.together(groups["panel"])
    effects = sensitivity.influences(groups["effects"], size.trajectories)
    trends = page.trends(rows)
    level = matched.trends(short, equal)
    return Findings(
        checks=[
            *checks(trends, _ASKED),
            *checks(level, _EQUAL),
            *claims.checks(rows, trends, _ASKED),
            *hurst_own.checks(own, panel.tcp),
            *hurst_page.checks(panel),
        ],
        sections=[
            signs.answer_section(level),
            sensitivity.answer_section(effects),
            signs.section(trends, level),
            *page.figures(rows),
            claims.section(rows),
            page.load_section(rows),
            matched.section(
                short,
                equal,
                page.fig1(matched.by_point(short, equal), _EQUAL),
            ),
            hurst_own.section(own, size.hurst.duration_s),
            hurst_page.section(panel, size.hurst.duration_s),
            beyond.section(groups["variants"]),
            sensitivity.section(effects),
        ],
    )


def stated(answers: Mapping[tuple[str, Any], Any], size: Size) -> Findings:
    """The claims of the text beside the figures' signs, of the same answers."""
    groups = _grouped(answers)
    return statements.findings(
        grid.by_point(size.grid, groups["asked"]),
        matched.trends(matched.shorter(size.grid), groups["equal"]),
        hurst_own.together(size.hurst, groups["own"]),
        hurst_panel.together(groups["panel"]).tcp,
    )


def _grouped(answers: Mapping[tuple[str, Any], Any]) -> dict[str, dict[Any, Any]]:
    groups: dict[str, dict[Any, Any]] = {}
    for (name, key), answer in answers.items():
        groups.setdefault(name, {})[key] = answer
    return groups


PARTS = (
    Part("tail index", lambda scale: cases(SIZES[scale]), lambda answers, scale: findings(answers, SIZES[scale])),
    Part("statements", lambda scale: cases(SIZES[scale]), lambda answers, scale: stated(answers, SIZES[scale])),
    real_stacks.PART,
    hybrid.PART,
)
