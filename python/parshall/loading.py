"""Whatever was written before, read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from parshall.campaign.store import STORE_FILE, Store
from parshall.errors import InputError
from parshall.predict import Predicted
from parshall.records import Result, storage
from parshall.runs import Run
from parshall.traces import Observation

CLASSES: Sequence[type[Result]] = (Run, Observation, Predicted)
"""Those of all instruments."""


def load(place: str | Path) -> Result | Store:
    """Read a result of any instrument, or a store of sweeps, whichever the directory is.

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
    if storage.holds_result(directory):
        return load_result(directory)
    if (directory / STORE_FILE).exists():
        return Store(directory)
    raise InputError(f"{place}: no results; accepted: the directory of a run, an observation or a store of sweeps")


def load_result(directory: str | Path) -> Result:
    """Read a result of any instrument.

    Raises
    ------
    RunNotFoundError
        The directory holds none, or one that was not finished.
    """
    instrument = storage.read(Path(directory))["instrument"]
    return next(each for each in CLASSES if instrument in each.instruments).load(directory)
