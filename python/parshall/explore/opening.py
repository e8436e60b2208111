"""Finding out what a place is."""

from __future__ import annotations

import shlex
from pathlib import Path

from parshall.explore.subject import Base, Subject, named_tables
from parshall.foundations.errors import InputError
from parshall.scenario import Scenario
from parshall.scenario.schema import external


def opened(place: str | None) -> Subject:
    """What is at a place: a scenario's file or name, the directory of a result, a folder of results, or a store.

    Raises
    ------
    InputError
        None of them; a scenario that is refused; a folder without a result.
    """
    named = place or "quickstart"
    if place is None or not Path(place).is_dir():
        scenario = Scenario.load(named)
        command = shlex.join(["parshall", "run", named, *(f"--control={each}" for each in external.places())])
        return Subject(Base(named_tables(scenario), str(scenario.folder), scenario.source, command), None)
    from parshall.explore import results  # noqa: PLC0415 - a scenario is there sooner without

    if not results.entries(Path(place)):
        raise InputError(
            f"{place} holds no result; accepted: a scenario, the directory of a result, a folder of such, or a store"
        )
    own = results.base_of(Path(place), results.OWN) if results.OWN in results.entries(Path(place)) else None
    return Subject(own, str(Path(place).absolute()))
