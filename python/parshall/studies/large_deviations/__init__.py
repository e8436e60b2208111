"""Loiseau, Gonçalves, Barral, Vicat-Blanc Primet: modeling TCP throughput by large deviations (2010).

Figures 1 to 5. Not regenerated: Fig. 6 (45 TCP sources), Fig. 7 (a trace of the Internet), Figs 8 and 9 (BIC,
HighSpeed, CUBIC).

References: Loiseau 2010.
"""

from __future__ import annotations

from collections.abc import Callable

from parshall.report.document import Section
from parshall.studies.check import Check
from parshall.studies.large_deviations import simulated, theory
from parshall.studies.study import Findings, Progress, Scale


def run(scale: Scale, progress: Progress) -> Findings:
    """Regenerate the figures; `quick` simulates minutes of network time where `paper` simulates the source's hour."""
    checks: list[Check] = []
    sections: list[Section] = []
    parts: list[tuple[str, Callable[[], tuple[list[Check], Section]]]] = [
        ("figure 1: chain", theory.figure_1),
        ("figure 2: means", lambda: theory.figure_2(scale)),
        ("figure 1: packets", lambda: simulated.independent(scale)),
        ("figure 3: constant cross traffic", lambda: simulated.constant(scale)),
        ("figures 4 and 5: ON/OFF cross traffic", lambda: simulated.on_off(scale)),
    ]
    for words, part in parts:
        progress(words)
        found, section = part()
        checks += found
        sections.append(section)
    missing = "Figures 6 to 9 are not regenerated: 45 TCP sources, a trace of the Internet, BIC, HighSpeed and CUBIC."
    return Findings(checks, [*sections, Section("Not regenerated", (missing,))])
