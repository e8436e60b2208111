"""Guillier, Hablot & Vicat-Blanc Primet 2007: the experiments behind the benchmark, by simulation at their own speeds.

| artefact | here |
| --- | --- |
| Tables 1 and 2: response functions, increase and decrease | `controls` |
| Tables 3 to 5: classes and factors | `definition` |
| Table 6, Fig. 4: TCP buffers, messages of MPI | `single_pair` |
| Figs 3, 8, 9, 10: starts, congestion level, reverse traffic, spread | `bulk` |
| Figs 5, 6, 7: RTT | `rtts` |
| what the differences come from | `sensitivity` |

Figs 1 and 2 are maps. The benchmark itself is `parshall.itb`.
"""

from __future__ import annotations

from parshall.studies.itb import bulk, controls, definition, rtts, sensitivity, single_pair
from parshall.studies.itb.network import SIZES
from parshall.studies.study import Findings, Progress, Scale


def run(scale: Scale, progress: Progress) -> Findings:
    """Run it: ``quick`` (files of 1 to 3 GB, flows of seconds), or ``paper`` (30 GB and 200 s a step; resumable)."""
    size = SIZES[scale]
    parts = [
        part(size, progress) for part in (controls.found, single_pair.found, bulk.found, rtts.found, sensitivity.found)
    ]
    parts.insert(1, definition.found())
    return Findings([check for checks, _ in parts for check in checks], [section for _, section in parts])
