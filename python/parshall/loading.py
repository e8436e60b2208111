"""Whatever was written before, read again."""

from __future__ import annotations

from pathlib import Path

from parshall.campaign import Store
from parshall.errors import InputError
from parshall.runs import Run
from parshall.traces import Observation


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
    if (directory / "observation.json").exists():
        return Observation.load(directory)
    if (directory / "store.json").exists():
        return Store(directory)
    if (directory / "run.json").exists() or (directory / "repetitions").exists():
        return Run.load(directory)
    raise InputError(f"{place}: no results; accepted: the directory of a run, an observation or a store of sweeps")
