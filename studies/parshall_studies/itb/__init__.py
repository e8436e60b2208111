"""Guillier, Hablot & Vicat-Blanc Primet 2007: the experiments behind the benchmark, by simulation at their own speeds.

| artefact | here |
| --- | --- |
| §1, Table 1: Reno at 10 Gbit/s, response functions | `controls` |
| Table 2: increase and decrease | `increase` |
| Tables 3 to 5: classes and factors | `definition` |
| Table 6, Fig. 4: TCP buffers, messages of MPI | `single_pair` |
| Figs 3, 8, 9, 10: starts, congestion level, reverse traffic, spread | `bulk` |
| Figs 5, 6, 7: RTT | `rtts` |
| what a host's interface does to one flow | `one_host` |
| what the differences come from | `sensitivity` |
| Table 6 with the TCP of Linux | `real_stacks` |
| Fig. 4 with the TCP of Linux | `real_messages`, `messages` |
| PA over a library of MPI | `real_mpi`, `mpi` |
| Figs 3, 8, 9, 10 with the TCP of Linux | `real_bulk` |
| Figs 5 to 7 and TU with the TCP of Linux | `real_rtts` |
| beyond the source: WM over HTTP | `real_web`, `pages` |

Figs 1 and 2 are maps. The benchmark itself is `parshall_studies.benchmark`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from parshall.studies.study import Case, Findings, Part, Scale, simulated
from parshall_studies.itb import (
    bulk,
    controls,
    definition,
    increase,
    one_host,
    real_bulk,
    real_messages,
    real_mpi,
    real_rtts,
    real_stacks,
    real_web,
    rtts,
    sensitivity,
    single_pair,
)
from parshall_studies.itb.network import SIZES, Recorded, Size, recorded


def part(name: str, module: ModuleType, sizes: Mapping[Scale, Size] = SIZES) -> Part:
    """A part whose module has the ``scenarios`` of a size, and the ``findings`` of their runs."""
    findings: Callable[[Mapping[Any, Recorded], Size], Findings] = module.findings

    def cases(scale: Scale) -> dict[Any, Case]:
        scenarios = module.scenarios(sizes[scale])
        return {key: simulated(name, scenario, recorded) for key, scenario in scenarios.items()}

    return Part(name, cases, lambda answers, scale: findings(answers, sizes[scale]))


PARTS = (
    part("Table 1: response functions", controls),
    part("Table 2: increase and decrease", increase),
    Part.of("Tables 3 to 5: the benchmark's definition", definition.findings),
    part("Table 6 and Fig. 4: one pair of hosts", single_pair),
    part("Figs 3, 8, 9 and 10: bulk transfers", bulk),
    part("Figs 5 to 7: RTT", rtts),
    part("one host alone: what its interface does", one_host),
    part("what the differences come from", sensitivity),
    real_stacks.PART,
    real_messages.PART,
    real_mpi.PART,
    real_rtts.PART,
    real_bulk.PART,
    real_web.PART,
)
"""``quick``: files of 0.1 to 1.6 GB, flows of 40 s; ``paper``: 30 GB and 200 s a step."""
