"""Guillier, Hablot & Vicat-Blanc Primet 2007: the experiments behind the benchmark, by simulation at their own speeds.

| artefact | module |
| --- | --- |
| §1, Table 1: Reno at 10 Gbit/s, response functions | `controls` |
| Table 2: increase and decrease | `increase` |
| Tables 3 to 5: classes and factors | `definition` |
| Table 6, Fig. 4: TCP buffers, messages of MPI | `pair` |
| Figs 3, 8, 9, 10: starts, congestion level, reverse traffic, spread | `files` |
| Figs 5, 6, 7: RTT | `rtts` |
| the testbed, and what the source leaves unsaid of it | `network` |
| all claims at points over that | `joint` |
| Table 6, Figs 3 and 5 to 10 with the TCP of Linux | `real` |
| Fig. 4 with the TCP of Linux, PA over a library of MPI | `exchanges`, `programs` |
| beyond the source: WM over HTTP | `web`, `programs` |

Figs 1 and 2 are maps. The benchmark itself is `parshall_studies.benchmark`.
"""

from __future__ import annotations

from collections.abc import Mapping

from parshall.studies.artefact import part
from parshall.studies.study import Part, Scale
from parshall_studies.itb import controls, definition, exchanges, files, increase, pair, real, rtts, web
from parshall_studies.itb.joint import JOINT as JOINT
from parshall_studies.itb.network import Setting

SETTINGS: dict[Scale, Setting] = {
    "quick": Setting(),
    "paper": Setting(
        fig3_gb=30.0,
        bulk_gb=30.0,
        levels=(0.8, 1.0, 1.2, 1.7, 2.1),
        rtts_ms=(11.5, 20.0, 50.0, 100.0, 150.0, 200.0),
        flow_s=120.0,
        step_s=200.0,
        short_step_s=50.0,
        pair_s=300.0,
    ),
}
"""The reconstruction. ``quick``: files of 1 GB, flows of 40 s; ``paper``: 30 GB and 200 s a step."""


def readings(scale: Scale) -> Mapping[str, Setting]:
    """The one reading of the page; the joint design tries the others."""
    return {"": SETTINGS[scale]}


PARTS = (
    part("Table 1: response functions", (controls.INTRODUCTION, controls.TABLE1), readings),
    part("Table 2: increase and decrease", (increase.TABLE2,), readings),
    Part.of("Tables 3 to 5: the benchmark's definition", definition.findings),
    part("Table 6 and Fig. 4: one pair of hosts", (pair.TABLE6, pair.FIG4), readings),
    part(
        "Figs 3, 8, 9 and 10: bulk transfers", (files.FIG3, files.FIG8, files.FIG9, files.FIG10), readings, priority=1
    ),
    part("Figs 5 to 7: RTT", (rtts.FIG5, rtts.FIG6, rtts.FIG7), readings, priority=1),
    *(each.part for each in real.ON_LINUX),
    exchanges.PART,
    web.PART,
)
