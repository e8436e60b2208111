"""Loiseau, Gonçalves, Barral, Vicat-Blanc Primet: modeling TCP throughput by large deviations (2010).

| module | what |
| --- | --- |
| `published` | what the source prints |
| `network` | the testbed as scenarios |
| `record` | a flow's windows at the RTT rate, its loss events and repairs |
| `theory` | Figs 1 and 2: the chain |
| `simulated` | Fig. 1 packet by packet |
| `constant` | Fig. 3: constant cross traffic |
| `cross_traffic` | Fig. 4 (a), (b): ON/OFF cross traffic |
| `on_off` | Figs 4 (c) and 5: a flow in it |
| `long_range` | Fig. 6: among 45 TCP sources |
| `real` | Fig. 7: real flows |
| `controls` | Figs 8 and 9: BIC, HighSpeed, CUBIC; predicted spectra |
| `fairness` | beyond the source: two flows |

References: Loiseau 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from parshall.campaign.calls import called
from parshall.campaign.work import Call
from parshall.report.document import Section
from parshall.studies.check import Check
from parshall.studies.large_deviations import (
    constant,
    controls,
    cross_traffic,
    fairness,
    long_range,
    on_off,
    real,
    simulated,
    theory,
)
from parshall.studies.study import Execution, Findings, Progress, Scale


@dataclass(frozen=True)
class Part:
    """A section of the page: calls that know nothing of each other, and what is made of their answers.

    Parameters
    ----------
    words
        What it is.
    function, cases
        What is called, with each of the cases before the scale.
    joined
        Checks and section from the answers, in the order of the cases.
    """

    words: str
    function: Callable[..., Any]
    cases: Sequence[tuple[Any, ...]] = ((),)
    joined: Callable[[list[Any]], tuple[list[Check], Section]] = lambda answers: answers[0]

    def calls(self, scale: Scale) -> list[Call]:
        """Its calls."""
        count = len(self.cases)
        names = [self.words if count == 1 else f"{self.words} ({place} of {count})" for place in range(1, count + 1)]
        return [Call(name, self.function, (*case, scale)) for name, case in zip(names, self.cases, strict=True)]


PARTS = (
    Part("figure 1: chain", theory.figure_1),
    Part("figure 2: means", theory.figure_2),
    Part("figure 1: packets", simulated.at_loss, simulated.LOSSES, simulated.independent),
    Part("figure 3: constant cross traffic", constant.constant),
    Part("figure 4: ON/OFF cross traffic", cross_traffic.statistics),
    Part("figures 4 and 5: a flow in it", on_off.in_reading, on_off.PLACES, on_off.flow),
    Part("figure 6: among 45 TCP sources", long_range.among_sources, long_range.PLACES, long_range.long_range),
    Part("figure 7: real flows", real.real),
    Part("figures 8 and 9: BIC, HighSpeed, CUBIC", controls.in_cross_traffic, controls.IN_IT, controls.cross_traffic),
    Part("predicted spectra", controls.under_losses, controls.UNDER_LOSSES, controls.independent),
    Part("two flows", fairness.fairness),
)
LONGEST = ("figure 6", "predicted", "figures 4 and", "figures 8", "figure 7")
"""What is begun first: at the end nobody waits for a long part."""


def run(scale: Scale, progress: Progress, execution: Execution | None = None) -> Findings:
    """Regenerate the figures; `quick` simulates minutes of network time where `paper` simulates the source's hours.

    The parts are done by `execution.workers` processes of this machine, by default as many as it has cores; what they
    find does not depend on how many there are.
    """
    calls = [each for part in PARTS for each in part.calls(scale)]
    order = sorted(calls, key=lambda call: next((k for k, w in enumerate(LONGEST) if call.run.startswith(w)), 9))
    workers = None if execution is None else execution.workers
    found = dict(
        zip((each.run for each in order), called(order, workers, lambda call: progress(call.run)), strict=True)
    )
    checks: list[Check] = []
    sections: list[Section] = []
    for part in PARTS:
        more, section = part.joined([found[each.run] for each in part.calls(scale)])
        checks += more
        sections.append(section)
    return Findings(checks, sections)
