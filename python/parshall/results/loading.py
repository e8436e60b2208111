"""Results of any instrument, and stores of sweeps, read again.

A result knows its instrument by name (``run.json``). The class of each, and the function that makes its page, are
named here and loaded when there is one: instruments and reports stand above results.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parshall.foundations.errors import InputError
from parshall.results.records import Result, storage

if TYPE_CHECKING:
    from parshall.campaign import Store
    from parshall.report.document import Document

_RUN = "parshall.instruments.simulation.result:Run"
_CLASSES = {
    "observe": "parshall.instruments.observation.result:Observation",
    "predict": "parshall.instruments.prediction.result:Predicted",
}
"""The class of an instrument's results; those that run a scenario give a `_RUN`."""

_PAGES = {"observe": "parshall.report.observation.page:document"}
_PAGE_OF_A_RUN = "parshall.report.page:document"


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
    store = import_module("parshall.campaign.store")
    if (directory / store.STORE_FILE).exists():
        found: Store = store.Store(directory)
        return found
    raise InputError(f"{place}: no results; accepted: the directory of a run, an observation or a store of sweeps")


def load_result(directory: str | Path) -> Result:
    """Read a result of any instrument.

    Raises
    ------
    RunNotFoundError
        The directory holds none, or one that was not finished.
    """
    instrument = storage.read(Path(directory))["instrument"]
    loaded: Result = _named(_CLASSES.get(instrument, _RUN)).load(directory)
    return loaded


def page_of(result: Result) -> Document:
    """The page of a result of any instrument."""
    page: Document = _named(_PAGES.get(result.instrument, _PAGE_OF_A_RUN))(result)
    return page


def _named(place: str) -> Any:
    """The object of a module, ``MODULE:NAME``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
