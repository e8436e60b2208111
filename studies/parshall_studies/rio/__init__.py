"""The study of RIO routers (Malouch & Liu, INRIA RR-4469, 2002).

| file | what |
| --- | --- |
| `published.toml` | what the source prints |
| `claims.toml` | each statement of the source, what would refute it, and its check |
| `analytic` | Tables 1 to 3 and section 5 by the model |
| `network`, `simulated` | the source's network in the simulator |
| `configurations` | what the simulator's settings move, and Fig. 6 simulated |
| `queue` | Fig. 5 |
| `statements` | equations, iteration, tables and section 5 against each other, by the model |
| `comparison`, `errors` | model against simulator on random networks |
| `beyond` | many sessions, several routers, UDP, short transfers and over-booking |
| `real_stacks` | Tables 1 to 3 with the TCP of Linux |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parshall.studies.study import Case, Findings, Part, Scale
from parshall.studies.study import simulated as case_of
from parshall_studies.rio import (
    analytic,
    beyond,
    comparison,
    configurations,
    errors,
    queue,
    real_stacks,
    simulated,
    statements,
)
from parshall_studies.routers.simulated import Setting

COMPARED: Mapping[Scale, tuple[int, Setting]] = {
    "quick": (24, Setting(150, 30, 2, recovery="sack")),
    "paper": (200, Setting(330, 30, 4, recovery="sack")),
}
"""Random networks, and how long each is simulated."""
SETTINGS: Mapping[Scale, Setting] = {
    "quick": Setting(90, 30, 2, recovery="sack"),
    "paper": Setting(330, 30, 10, recovery="sack"),
}


def _section_4(answers: Mapping[Any, Any], _: Scale) -> Findings:
    simulation = simulated.together(answers)
    parts = (analytic.tables(simulation.tables), configurations.section(simulation))
    return Findings(
        [*simulated.checks(simulation), *(check for part in parts for check in part.checks)],
        [section for part in parts for section in part.sections],
    )


def _networks(scale: Scale) -> Mapping[int, Case]:
    count, setting = COMPARED[scale]
    return {
        number: Case(f"random network {number + 1}", comparison.compared, (sessions, router, setting))
        for number, (sessions, router) in enumerate(comparison.networks(count))
    }


def _bookings(scale: Scale) -> Mapping[float, Case]:
    pattern = "{:g} of the capacity booked"
    return {booked: Case(pattern.format(booked), beyond.booking, (booked, SETTINGS[scale])) for booked in beyond.BOOKED}


PARTS = (
    Part("section 4", simulated.cases, _section_4, priority=1),
    Part(
        "figure 5",
        lambda _: {"queue": case_of("figure 5", queue.scenario(), queue.record)},
        lambda answers, _: queue.section(answers["queue"]),
    ),
    Part.of("figures 6 and 7", analytic.throughput),
    Part.of("figures 8 and 9", analytic.delay),
    Part.of("figures 10 to 13", analytic.losses),
    Part.of("statements", statements.findings),
    Part(
        "random networks",
        _networks,
        lambda answers, scale: errors.section(list(answers.values()), COMPARED[scale][1]),
        priority=2,
    ),
    Part.of("many sessions", beyond.many),
    Part.of("several routers", beyond.several),
    Part.of("UDP", beyond.udp),
    Part("over-booking", _bookings, lambda answers, _: beyond.overbooked(answers)),
    real_stacks.PART,
)
