"""Goga, Loiseau & Gonçalves 2011: what the tail index of flow sizes does to TCP; with Park & Tuan 2000, Fig. 4(a).

| artefact | here |
| --- | --- |
| what the source leaves unsaid | `setting` |
| Figs 1 and 2 | `figures` (claims), `trends` (signs), `page`; `fluid`, a closed-loop model beside them |
| each statement of the source, and its check | `claims.toml` |
| Fig. 4(a) of Park & Tuan | `hurst_own`; `hurst_panel`, `hurst_page` |
| Fig. 1 with the TCP of Linux | `real_stacks` |
| Fig. 2 with hosts of Linux among simulated sources | `hybrid` |
| beyond the sources | `distributions`, `beyond`, `sensitivity` |

``quick`` is half a minute of each point and five tail indices, ``paper`` the source's one or two hours and nine.
"""

from __future__ import annotations

from dataclasses import replace

from parshall.studies.artefact import Artefact, part
from parshall.studies.joint import Joint
from parshall.studies.study import Scale
from parshall_studies.tail_index import beyond, hurst_own, hurst_page, hurst_panel, hybrid, real_stacks, sensitivity
from parshall_studies.tail_index.figures import ARTEFACTS, MODEL, OTHER_STACK, nothing
from parshall_studies.tail_index.setting import OPEN, SETTINGS, Setting, readings

BEYOND: tuple[Artefact[Setting], ...] = (
    Artefact("sensitivity", sensitivity.points, nothing, sensitivity.section),
    Artefact("beyond", beyond.points, nothing, beyond.section),
)


def _base(scale: Scale) -> dict[str, Setting]:
    return {"": SETTINGS[scale]}


def _hurst(scale: Scale) -> dict[str, hurst_panel.Size]:
    return {"": hurst_panel.SIZES[scale]}


def _short(scale: Scale) -> Setting:
    """Two runs of a point at three tail indices: a setting of both figures takes some seven CPU seconds of Fig. 2."""
    short = {"tail_indices": (1.3, 2.0, 4.0), "level": None, "repetitions": 2, "slower_s": 40.0}
    return replace(SETTINGS[scale], **short, equal_loads=False)  # type: ignore[arg-type]


PARTS = (
    part("Figs 1 and 2", ARTEFACTS, readings, priority=1),
    part("closed-loop model", MODEL, _base),
    part("another stack", (OTHER_STACK,), _base),
    part("Fig. 4(a)", (hurst_own.OWN, hurst_page.SLOW_CLIENTS), _hurst),
    part("beyond", BEYOND, _base),
    real_stacks.PART,
    hybrid.ON_LINUX.part,
)
JOINT = Joint(ARTEFACTS, OPEN, _short)
