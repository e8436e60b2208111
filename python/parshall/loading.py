"""Whatever was written before, read again."""

from __future__ import annotations

from pathlib import Path

from parshall.campaign.store import STORE_FILE, Store
from parshall.errors import InputError
from parshall.runs import Run
from parshall.runs.storage import REPETITIONS, RUN_FILE
from parshall.traces.observation import OBSERVATION_FILE, Observation


def load(place: str | Path) -> Run | Observation | Store:
    """Read a run, an observation or a store of sweeps, whichever the directory is.

    Parameters
    ----------
    place
        The directory that `parshall.run`, `parshall.observe` or `parshall.sweep` wrote, or a file in it.

    Raises
    ------
    InputError
        The directory holds none of them, or a run that was killed before it ended.
    """
    path = Path(place)
    directory = path.parent if path.is_file() else path
    if (directory / OBSERVATION_FILE).exists():
        return Observation.load(directory)
    if (directory / STORE_FILE).exists():
        return Store(directory)
    if (directory / RUN_FILE).exists() or (directory / REPETITIONS).exists():
        return Run.load(directory)
    raise InputError(f"{place}: no results; accepted: the directory of a run, an observation or a store of sweeps")
