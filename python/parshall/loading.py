"""Whatever was written before, read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parshall.errors import InputError
from parshall.records import Result, storage

if TYPE_CHECKING:
    from parshall.campaign import Store
    from parshall.report import Comparison
    from parshall.report.document import Document
    from parshall.scenario import Scenario


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


def compare(
    *results: Result | Scenario | str | Path | Mapping[str, Any],
    baseline: Result | str | None = None,
    at_least: float | None = None,
    names: Sequence[str] | None = None,
    accept_invalid: bool = False,
) -> Comparison:
    """Compare results of any instruments with the first, quantity by quantity.

    A quantity without the name of a link is that of the link that is busiest over all results, of those that all have.

    Parameters
    ----------
    results
        Two or more: results, directories of results, or scenarios as `parshall.run` takes them, which are simulated.
    baseline
        One of them, or its name: what the others are compared with, in place of the first.
    at_least
        Share of the baseline's value below which a difference does not matter (default: 0.01).
    names
        Names of the results; by default those of their directories or scenarios.
    accept_invalid
        Whether to compare emulations that cannot be believed.

    Raises
    ------
    InputError
        There are fewer than two, or `baseline` is none of them.
    InvalidEmulationError
        One is an invalid emulation, and that is not accepted.
    ParshallError
        As `parshall.run`, of a scenario.
    """
    from parshall.report import compare as of_results  # noqa: PLC0415 - it takes a while to load
    from parshall.stats.verdict import AT_LEAST  # noqa: PLC0415

    labelled = [_labelled(each) for each in results]
    return of_results(
        *(result for _, result in labelled),
        baseline=baseline,
        at_least=AT_LEAST if at_least is None else at_least,
        names=names or _told_apart([label for label, _ in labelled]),
        accept_invalid=accept_invalid,
    )


def _labelled(given: Result | Scenario | str | Path | Mapping[str, Any]) -> tuple[str, Result]:
    """Return a label and a result: the one that is given, the one in a directory, or that of simulating a scenario."""
    if isinstance(given, str | Path) and storage.holds_result(Path(given)):
        given = load_result(given)
    if isinstance(given, Result):
        return given.place, given
    from parshall.runs import run  # noqa: PLC0415 - it takes a while to load

    made = run(given)
    return made.name, made


def _told_apart(labels: Sequence[str]) -> list[str]:
    """Return labels, with a number where several are the same.

    >>> _told_apart(["home", "office", "home"])
    ['home 1', 'office', 'home 2']
    """
    counts = [labels[: place + 1].count(label) for place, label in enumerate(labels)]
    return [
        label if labels.count(label) == 1 else f"{label} {count}" for label, count in zip(labels, counts, strict=True)
    ]


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
    """Return the class of a result of an instrument; imported when there is one, for some take a second."""
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
