"""Park & Tuan 2000: what multiple time scale TCP gains under self-similar traffic.

| artefact | here |
| --- | --- |
| what the source leaves open; the network; points on normalised backgrounds | `setting`, `network`, `grid` |
| Figs 1 and 10 | `tails` |
| Figs 6 and 7 | `thresholds` |
| Figs 8 and 9 | `rtt` |
| Figs 11 and 12 | `metacontrol` |
| Fig. 13, Table III | `fairness` |
| Table II, shared tables, transfers of a few segments | `short` |
| prediction against constant slopes (§5.2.2), and against what any predictor could gain | `prediction` |
| each statement of the source, and its check | `claims.toml` |
| all settings of what is open | `joint` |
| when long-range dependence pays | `file_size` |
| over UDP; other ways to steer; T_L from the correlation | `variants` |
| harm to competing Reno and CUBIC; 1 Gbit/s; who is locked out | `others` |
| plain and steered connections with the TCP of Linux | `side_by_side`, `real_stacks` |

Fig. 4(a) is in the study `tail_index`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from parshall.studies.artefact import Artefact, part
from parshall.studies.study import Scale
from parshall_studies.multiple_time_scale import (
    fairness,
    file_size,
    joint,
    metacontrol,
    others,
    prediction,
    real_stacks,
    rtt,
    short,
    tails,
    thresholds,
    variants,
)
from parshall_studies.multiple_time_scale.grid import Cases
from parshall_studies.multiple_time_scale.setting import TABLE2_READINGS, TABLE3_READINGS, Setting, at

JOINT = joint.JOINT
FIGURES = (
    prediction.PREDICTION,
    thresholds.FIG6,
    thresholds.FIG7,
    rtt.FIGS8_9,
    tails.FIG10,
    tails.FIG1,
    metacontrol.FIGS11_12,
    fairness.TABLE3,
    fairness.PRINTED,
    short.TABLE2,
)
BEYOND = (
    file_size.FILE_SIZE,
    prediction.ORACLES,
    variants.DATAGRAMS,
    variants.WAYS,
    variants.INTERVAL,
    short.SHARING,
    others.HARM,
    others.MODERN,
)


def all_points(setting: Setting) -> Cases:
    """Every point of the page but the oracles', whose runs are shorter."""
    artefacts = (each for each in (*FIGURES, *BEYOND) if each is not prediction.ORACLES)
    return {key: case for each in artefacts for key, case in each.cases(setting).items()}


LOCKED_OUT: Artefact[Setting] = Artefact("locked-out", all_points, others.locked_out_claims, others.locked_out_section)


def readings(scale: Scale, of: Mapping[str, Mapping[str, Any]] | None = None) -> Mapping[str, Setting]:
    """Settings at a scale by the name of the reading; the reconstruction has none."""
    changed = {"": {}} if of is None else of
    return {name: replace(at(scale), **changes) for name, changes in changed.items()}


PARTS = (
    part("figures and tables", FIGURES, readings),
    part("Table II in other readings", [replace(short.TABLE2, section=None)], partial(readings, of=TABLE2_READINGS)),
    part(
        "Table III in other readings", [replace(fairness.TABLE3, section=None)], partial(readings, of=TABLE3_READINGS)
    ),
    part("beyond the source", BEYOND, readings),
    part("who is locked out", [LOCKED_OUT], readings),
    *real_stacks.PARTS,
)
"""``quick``: 600 s, 12 seeds, the ends of each axis; ``paper``: 2500 s, 20 seeds, some 10,000 s."""
