"""Whatever was written before, read again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from parshall.errors import InputError
from parshall.records import Result, storage

if TYPE_CHECKING:
    from parshall.campaign import Store
    from parshall.report.document import Document


def load(place: str | Path) -> Result | Store:
    """Read a result of any instrument, or a store of sweeps, whichever the directory is.

    Parameters
    ----------
    place
        The directory that `parshall.run`, `parshall.observe`, `parshall.sweep` or `Predicted.save` wrote, or a file in
        it.

    Raises
    ------
    InputError
        The directory holds none of them, or a run that was killed before it ended.
    """
    path = Path(place)
    directory = path.parent if path.is_file() else path
    if storage.holds_result(directory):
        return load_result(directory)
    from parshall.campaign.store import STORE_FILE, Store  # noqa: PLC0415 - it takes a while to load

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
    return _class(storage.read(Path(directory))["instrument"]).load(directory)


def page_of(result: Result) -> Document:
    """The page of a result of any instrument."""
    if result.instrument == "observe":
        from parshall.traces import Observation  # noqa: PLC0415
        from parshall.traces.page import document as of_observation  # noqa: PLC0415

        assert isinstance(result, Observation)  # noqa: S101 - as `_class` says
        return of_observation(result)
    from parshall.report.page import document as of_run  # noqa: PLC0415

    return of_run(result)


def _class(instrument: str) -> type[Result]:
    """What a result of an instrument is; imported when there is one, for some take a second."""
    match instrument:
        case "observe":
            from parshall.traces import Observation  # noqa: PLC0415

            return Observation
        case "predict":
            from parshall.predict import Predicted  # noqa: PLC0415

            return Predicted
        case _:
            from parshall.runs import Run  # noqa: PLC0415

            return Run
