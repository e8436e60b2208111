"""Loiseau, Gonçalves, Barral, Vicat-Blanc Primet: modeling TCP throughput by large deviations (2010).

| module | what |
| --- | --- |
| `published` | what the source prints |
| `network` | the testbed as scenarios |
| `theory` | Figs 1 and 2: the chain |
| `simulated` | Fig. 1 packet by packet |
| `constant` | Fig. 3: constant cross traffic |
| `cross_traffic` | Figs 4 and 5: ON/OFF cross traffic |
| `long_range` | Fig. 6: among 45 TCP sources |
| `real` | Fig. 7: real flows |
| `controls` | Figs 8 and 9: BIC, HighSpeed, CUBIC; predicted spectra |
| `fairness` | beyond the source: two flows |

References: Loiseau 2010.
"""

from __future__ import annotations

from collections.abc import Callable

from parshall.report.document import Section
from parshall.studies.check import Check
from parshall.studies.large_deviations import (
    constant,
    controls,
    cross_traffic,
    fairness,
    long_range,
    real,
    simulated,
    theory,
)
from parshall.studies.study import Findings, Progress, Scale


def run(scale: Scale, progress: Progress) -> Findings:
    """Regenerate the figures; `quick` simulates minutes of network time where `paper` simulates the source's hours."""
    checks: list[Check] = []
    sections: list[Section] = []
    parts: list[tuple[str, Callable[[], tuple[list[Check], Section]]]] = [
        ("figure 1: chain", theory.figure_1),
        ("figure 2: means", lambda: theory.figure_2(scale)),
        ("figure 1: packets", lambda: simulated.independent(scale)),
        ("figure 3: constant cross traffic", lambda: constant.constant(scale)),
        ("figure 4: ON/OFF cross traffic", lambda: cross_traffic.statistics(scale)),
        ("figures 4 and 5: a flow in it", lambda: cross_traffic.flow(scale)),
        ("figure 6: among 45 TCP sources", lambda: long_range.long_range(scale)),
        ("figure 7: real flows", lambda: real.real(scale)),
        ("figures 8 and 9: BIC, HighSpeed, CUBIC", lambda: controls.cross_traffic(scale)),
        ("predicted spectra", lambda: controls.independent(scale)),
        ("two flows", lambda: fairness.fairness(scale)),
    ]
    for words, part in parts:
        progress(words)
        found, section = part()
        checks += found
        sections.append(section)
    return Findings(checks, sections)
