"""The table of verdicts of docs/research.md: how many claims of each source are reproduced.

``python -m tools.documentation.verdicts [--scale quick|paper] [--joint N] [--store DIR] [STUDY...]`` does the studies,
which takes minutes, and stores what they gave in docs/verdicts/STUDY.json. The table is made of these files.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parshall.foundations.version import __version__
from parshall.studies.catalog import find, studies
from parshall.studies.headline import Counts
from parshall.studies.running import Execution, run, run_joint
from parshall.studies.study import Scale, Study
from tools.documentation.markdown import table
from tools.documentation.tables import ROOT

STORED = ROOT / "docs" / "verdicts"
HEADER = (
    "source",
    "scale",
    "claims",
    "by the best single reading",
    "by some reading",
    "undecided",
    "calibrated",
    "joint design: settings",
    "by the best setting",
    "by some setting",
    "in none",
)


def counts(study: Study, scale: Scale, settings: int | None, execution: Execution) -> dict[str, Any]:
    """The numbers of the table for a study, done now.

    Parameters
    ----------
    settings
        Of the joint design; None: it is not done.
    """
    of = Counts(run(study, scale, print, execution).checks)
    found: dict[str, Any] = {
        "version": __version__,
        "scale": scale,
        "claims": len(of.experiments),
        "best_reading": of.best,
        "by_best_reading": len(of.reproduced(of.best)),
        "by_some_reading": len(of.by_some),
        "undecided": of.rest["undecided"],
        "calibrated": len(of.calibrated),
    }
    if settings is None:
        return found
    judgement = run_joint(study, settings, "quick", print, execution)
    if judgement is None:
        raise ValueError("a shard has no verdicts")
    return found | {
        "joint": {
            "settings": settings,
            "claims": len(judgement.held),
            "by_best": int(judgement.held[:, judgement.best].sum()),
            "by_some": int(judgement.held.any(axis=1).sum()),
            "in_none": judgement.in_none,
        }
    }


def verdicts() -> str:
    """The table, of what is stored."""
    return table(
        HEADER, [_row(path.stem, json.loads(path.read_text("utf-8"))) for path in sorted(STORED.glob("*.json"))]
    )


def _row(name: str, of: Mapping[str, Any]) -> tuple[str, ...]:
    keys = ("claims", "by_best_reading", "by_some_reading", "undecided", "calibrated")
    return (f"`{name}`", of["scale"], *(f"{of[key]}" for key in keys), *_joint(of.get("joint")))


def _joint(of: Mapping[str, Any] | None) -> tuple[str, ...]:
    if of is None:
        return ("-",) * 4
    parts = (f"{of[key]} of {of['claims']}" for key in ("by_best", "by_some"))
    return (f"{of['settings']}", *parts, f"{len(of['in_none'])}")


def main() -> None:
    """Do the studies that are named, or all."""
    known = {each.name: each for each in studies()}
    arguments = argparse.ArgumentParser(prog="python -m tools.documentation.verdicts")
    arguments.add_argument("--scale", choices=("quick", "paper"), default="quick")
    arguments.add_argument("--joint", type=int, metavar="N")
    arguments.add_argument("--store", type=Path)
    arguments.add_argument("--workers", type=int)
    arguments.add_argument("studies", nargs="*", metavar="STUDY", default=sorted(known))
    given = arguments.parse_args()
    STORED.mkdir(exist_ok=True)
    for name in given.studies:
        made = counts(find(name), given.scale, given.joint, Execution(given.store, given.workers))
        (STORED / f"{name}.json").write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
