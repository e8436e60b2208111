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

Figs 1 and 2 are maps. The benchmark itself is `parshall.itb`.
"""

from __future__ import annotations

from parshall.studies.itb import bulk, controls, definition, increase, one_host, rtts, sensitivity, single_pair
from parshall.studies.itb.network import SIZES
from parshall.studies.study import Findings, Progress, Scale

PARTS = (
    controls.found,
    increase.found,
    definition.found,
    single_pair.found,
    bulk.found,
    rtts.found,
    one_host.found,
    sensitivity.found,
)


def run(scale: Scale, progress: Progress) -> Findings:
    """Run it: ``quick`` (files of 0.1 to 1.6 GB, flows of 40 s), or ``paper`` (30 GB and 200 s a step; resumable)."""
    size = SIZES[scale]
    parts = [part(size, progress) for part in PARTS]
    return Findings([check for checks, _ in parts for check in checks], [section for _, section in parts])
