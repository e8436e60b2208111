"""The study of RIO routers (Malouch & Liu, INRIA RR-4469, 2002).

| file | artefacts |
| --- | --- |
| `published.toml`, `claims.toml` | what the source prints; what would refute each of its statements, and its check |
| `setting` | what the source leaves unsaid, and its networks for simulator and model |
| `tables`, `configurations` | Tables 1 to 3, by model and simulator, and what the simulator's settings move |
| `queue` | Fig. 5 |
| `section5`, `losses` | Figs 6 to 13 and the statements of section 5 |
| `text` | equations, iteration, printed tables and the annexe |
| `comparison` | model against simulator on random networks |
| `beyond` | many sessions, several routers, UDP, unequal reservations and over-booking |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from parshall.studies.artefact import part
from parshall.studies.joint import Joint
from parshall.studies.study import Case, Part, Scale
from parshall_studies.on_linux import OnLinux
from parshall_studies.rio import beyond, comparison, configurations, losses, queue, section5, tables, text
from parshall_studies.rio.setting import OPEN, SETTINGS, Setting
from parshall_studies.routers.simulated import Setting as Simulation

COMPARED: Mapping[Scale, tuple[int, Simulation]] = {
    "quick": (24, Simulation(150, 30, 2, recovery="sack")),
    "paper": (200, Simulation(330, 30, 4, recovery="sack")),
}
"""Random networks, and how long each is simulated."""

BY_FORMULAS = (tables.ANALYTIC, section5.THROUGHPUT, section5.DELAY, losses.LOSSES)
BY_MODEL = (*BY_FORMULAS, text.ARTEFACT)
SIMULATED = (tables.SIMULATED, queue.ARTEFACT, losses.SIMULATED)


def formulas(scale: Scale) -> dict[str, Setting]:
    """The readings of the source's formulas; Fig. 10 needs the first, Fig. 6 the third."""
    base = SETTINGS[scale]
    return {
        name: replace(base, continuous=continuous, count_timeouts=count)
        for name, continuous, count in (
            ("window as tabulated, timeouts as printed", True, True),
            ("formulas as tabulated", True, False),
            ("window as printed, timeouts as tabulated", False, False),
            ("formulas as printed", False, True),
        )
    }


def _source(scale: Scale) -> dict[str, Setting]:
    return {"": SETTINGS[scale]}


def _hosts(scale: Scale) -> Setting:
    """A minute of one run; Linux's own TCP takes the place of ns-2's."""
    lasts_s = {"quick": 50.0, "paper": 600.0}[scale]
    return replace(SETTINGS[scale], duration_s=lasts_s, warm_up_s=15.0, repetitions=1, controls=("reno", "cubic"))


def _enough(scale: Scale) -> Setting:
    """Ten minutes in sum of each router: what half of the distance of the source's two columns asks for."""
    return replace(SETTINGS[scale], duration_s=150.0, repetitions=4)


def _networks(scale: Scale) -> Mapping[int, Case]:
    count, simulation = COMPARED[scale]
    return {
        number: Case(f"random network {number + 1}", comparison.compared, (sessions, router, simulation))
        for number, (sessions, router) in enumerate(comparison.networks(count))
    }


ON_LINUX = OnLinux(
    "On real stacks",
    (tables.SIMULATED,),
    _hosts,
    tables.compared,
    text=(
        "The source's routers, access links and token buckets with the TCP of Linux at both ends of the hundred "
        "sessions, at the source's own rates: no window limit of 20 packets, but SACK, delayed ACKs and an initial "
        "window of ten. Formulas are held against Linux with the difference that the source's had to its own "
        "simulation.",
    ),
)
PARTS = (
    part("section 4", (*SIMULATED, configurations.ARTEFACT), _source, priority=1),
    part("by the model", BY_FORMULAS, formulas),
    part("statements", (text.ARTEFACT,), _source),
    Part(
        "random networks",
        _networks,
        lambda answers, scale: comparison.findings(list(answers.values()), COMPARED[scale][1]),
        priority=2,
    ),
    *beyond.PARTS,
    ON_LINUX.part,
)
JOINT = Joint((*BY_MODEL, tables.SIMULATED, queue.ARTEFACT), OPEN, _enough)
