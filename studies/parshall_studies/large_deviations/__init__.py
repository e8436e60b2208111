"""Loiseau, Gonçalves, Barral, Vicat-Blanc Primet: modeling TCP throughput by large deviations (2010).

| file | what |
| --- | --- |
| `published.toml` | what the source prints |
| `network` | the testbed as scenarios |
| `record` | a flow's windows at the RTT rate, its loss events and repairs |
| `theory` | Figs 1 and 2: the chain |
| `sentences` | sentences of sections 2 to 4.2 that need no packet |
| `simulated` | Fig. 1 packet by packet |
| `constant` | Fig. 3: constant cross traffic |
| `cross_traffic` | Fig. 4 (a), (b): ON/OFF cross traffic |
| `on_off`, `small_windows` | Figs 4 (c) and 5: a flow in it, and what the source says of its small windows |
| `long_range` | Fig. 6: among 45 TCP sources |
| `real` | Fig. 7: real flows |
| `controls` | Figs 8 and 9: BIC, HighSpeed, CUBIC; predicted spectra |
| `fairness` | beyond the source: two flows |
| `real_stacks`, `real_losses` | Figs 3, 4 (c), 5, 6, 8 and 9 with the TCP of Linux |
| `real_cross_traffic` | Fig. 4 (a), (b): cross traffic from sockets of Linux |
| `captured` | Fig. 7 from a capture of Linux |
| `real_pairs` | beyond the source: pairs of flows of Linux |

`quick` simulates minutes of network time where `paper` simulates the source's hours.

References: Loiseau 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from parshall.studies.study import Case, Findings, Part
from parshall_studies.large_deviations import (
    captured,
    constant,
    controls,
    cross_traffic,
    fairness,
    long_range,
    on_off,
    real,
    real_cross_traffic,
    real_pairs,
    real_stacks,
    sentences,
    simulated,
    theory,
)


def part(
    name: str,
    function: Callable[..., Any],
    cases: Sequence[tuple[Any, ...]] = ((),),
    joined: Callable[[list[Any]], Findings] = lambda answers: answers[0],
    *,
    priority: int = 0,
) -> Part:
    """A part whose function is called with each of the cases before the scale; `joined` is given the answers."""
    names = [name if len(cases) == 1 else f"{name} ({place} of {len(cases)})" for place in range(1, len(cases) + 1)]
    return Part(
        name,
        lambda scale: {place: Case(place, function, (*case, scale)) for place, case in zip(names, cases, strict=True)},
        lambda answers, _: joined(list(answers.values())),
        priority,
    )


PARTS = (
    part("figure 1: chain", theory.figure_1),
    part("figure 2: means", theory.figure_2),
    part("sentences of sections 2 to 4.2", sentences.sentences),
    part("figure 1: packets", simulated.at_loss, simulated.LOSSES, simulated.independent),
    part("figure 3: constant cross traffic", constant.constant),
    part("figure 4: ON/OFF cross traffic", cross_traffic.statistics),
    part("figures 4 and 5: a flow in it", on_off.in_reading, on_off.PLACES, on_off.flow, priority=3),
    part(
        "figure 6: among 45 TCP sources", long_range.among_sources, long_range.PLACES, long_range.long_range, priority=5
    ),
    part("figure 7: real flows", real.real, priority=1),
    part(
        "figures 8 and 9: BIC, HighSpeed, CUBIC",
        controls.in_cross_traffic,
        controls.IN_IT,
        controls.cross_traffic,
        priority=2,
    ),
    part("predicted spectra", controls.under_losses, controls.UNDER_LOSSES, controls.independent, priority=4),
    part("two flows", fairness.fairness),
    real_stacks.PART,
    real_cross_traffic.PART,
    captured.PART,
    real_pairs.PART,
)
