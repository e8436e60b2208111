"""The study of RIO routers (Malouch & Liu, INRIA RR-4469, 2002).

| module | what |
| --- | --- |
| `published` | what the source prints |
| `analytic` | Tables 1 to 3 and section 5 by the model |
| `network`, `simulated` | the source's network in the simulator |
| `configurations` | what the simulator's settings move, and Fig. 6 simulated |
| `queue` | Fig. 5 |
| `comparison`, `errors` | model against simulator on random networks |
| `beyond` | many sessions, several routers, UDP, short transfers and over-booking |
"""

from __future__ import annotations

from collections.abc import Callable

from parshall.design.simulated import Setting
from parshall.studies.rio import analytic, beyond, comparison, configurations, errors, queue, simulated
from parshall.studies.study import Findings

COMPARED = {
    "quick": (24, Setting(150, 30, 2, recovery="sack")),
    "paper": (200, Setting(330, 30, 4, recovery="sack")),
}
"""Random networks, and how long each is simulated."""
SETTINGS = {
    "quick": Setting(90, 30, 2, recovery="sack"),
    "paper": Setting(330, 30, 10, recovery="sack"),
}


def run(scale: str, progress: Callable[[str], None]) -> Findings:
    """Regenerate the source's tables and figures, and go beyond them."""
    measured = simulated.measure(scale, progress)
    progress("solving the source's tables and figures")
    parts = [analytic.tables(dict(measured.tables)), configurations.section(measured), queue.section(queue.record())]
    parts += [analytic.throughput(), analytic.delay(), analytic.losses()]
    cases, setting = COMPARED[scale]
    parts.append(errors.section(comparison.compare(cases, setting, progress), setting))
    progress("many sessions, several routers, UDP, over-booking")
    more, sections = beyond.all_of(SETTINGS[scale])
    checks = [*measured.checks, *(check for found, _ in parts for check in found), *more]
    return Findings(checks, [*(section for _, section in parts), *sections])


__all__ = ["run"]
