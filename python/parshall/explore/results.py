"""Results that can be looked at: those of a folder, and the sweeps of a store.

A result is asked for by its name, which is looked up among those that are there now; no part of a request is made into
a path. What is listed is read anew each time, for whoever does runs does not stop for those who look.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parshall.campaign.store import STORE_FILE, Store
from parshall.explore.subject import Base, named_tables
from parshall.foundations.errors import InputError, ParshallError
from parshall.instruments.simulation import Run
from parshall.report.document import Document, document_html
from parshall.results.loading import load_result, page_of
from parshall.results.records import storage

OWN = "."
"""The name of the result that the directory itself is."""


@dataclass(frozen=True)
class ResultEntry:
    """A result, or a sweep of a store.

    Parameters
    ----------
    name
        By which it is asked for.
    place
        The directory of the result, or of the store.
    kind
        What made it; ``unreadable`` with a `remark` that says why.
    title, started, status, remark
        What is known of it.
    sweep
        The name of the sweep in its store.
    """

    name: str
    place: Path
    kind: str
    title: str
    started: str = ""
    status: str = ""
    remark: str = ""
    sweep: str | None = None

    @property
    def is_scenario(self) -> bool:
        """True if the explorer can open its scenario."""
        return self.kind in {"simulate", "emulate"}


def entries(place: Path) -> dict[str, ResultEntry]:
    """Return the results in a directory by name, the newest first: itself, folders one level deep, sweeps of stores."""
    made: list[ResultEntry] = []
    for name, folder in ((OWN, place), *((path.name, path) for path in _folders(place))):
        if (folder / STORE_FILE).exists():
            made += _sweeps(name, folder)
        elif storage.holds_result(folder):
            made.append(_result(name, folder))
    return {entry.name: entry for entry in sorted(made, key=lambda entry: entry.started, reverse=True)}


def entry(place: Path, name: str) -> ResultEntry:
    """One of them.

    Raises
    ------
    InputError
        It is not there, or not any more.
    """
    known = entries(place)
    if name not in known:
        raise InputError(f'there is no result "{name}" (any more); the list has those that are there')
    return known[name]


def base_of(place: Path, name: str) -> Base:
    """The scenario of a run, to be explored.

    Raises
    ------
    InputError
        It is none, or cannot be read.
    """
    listed = entry(place, name)
    run = load_result(listed.place) if listed.sweep is None else None
    if not isinstance(run, Run):
        raise InputError(f'"{name}" has no scenario to explore; accepted: runs and emulations')
    scenario = run.scenario
    command = f"parshall rerun {shlex.quote(str(listed.place))}"
    return Base(named_tables(scenario), str(scenario.folder), scenario.source, command)


def page(place: Path, name: str) -> str:
    """The page of a result or a sweep, made anew.

    Raises
    ------
    ParshallError
        It cannot be read.
    """
    listed = entry(place, name)
    if listed.sweep is not None:
        from parshall.campaign.page import document as of_sweep  # noqa: PLC0415 - most are runs
        from parshall.campaign.result import Sweep  # noqa: PLC0415

        return document_html(of_sweep(Sweep.load(listed.place, listed.sweep)))
    return document_html(page_of(load_result(listed.place)))


def comparison(place: Path, names: Sequence[str]) -> str:
    """The page of a comparison of results, or of two sweeps.

    Raises
    ------
    InputError
        There are fewer than two, or they are not of a kind.
    """
    chosen = [entry(place, name) for name in names]
    if len(chosen) < 2:
        raise InputError("choose two results or more to compare them")
    sweeps = [each for each in chosen if each.sweep is not None]
    if not sweeps:
        from parshall.report import comparison_page  # noqa: PLC0415
        from parshall.report.comparison import compare  # noqa: PLC0415

        results = [load_result(each.place) for each in chosen]
        return document_html(comparison_page.document(compare(*results, names=[each.name for each in chosen])))
    if len(sweeps) == len(chosen) == 2:
        return document_html(_of_sweeps(*chosen))
    raise InputError("sweeps are compared two at a time, and not with results of another kind")


def _of_sweeps(a: ResultEntry, b: ResultEntry) -> Document:
    from parshall.campaign.comparing import compare as compared  # noqa: PLC0415 - most are runs
    from parshall.campaign.comparison_page import document  # noqa: PLC0415
    from parshall.campaign.result import Sweep  # noqa: PLC0415

    one, other = (Sweep.load(each.place, each.sweep or "") for each in (a, b))
    return document(compared(one, other))


def _folders(place: Path) -> list[Path]:
    try:
        return sorted(path for path in place.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return []


def _result(name: str, folder: Path) -> ResultEntry:
    try:
        known: dict[str, Any] = storage.read(folder)
    except ParshallError as error:
        return ResultEntry(name, folder, "unreadable", name, remark=str(error))
    title = str(known.get("name") or folder.name)
    many = len(known.get("repetitions_finished", ()))
    remark = f"{many} repetitions" if many > 1 else ""
    return ResultEntry(
        name, folder, known["instrument"], title, str(known.get("started", "")), str(known["status"]), remark
    )


def _sweeps(name: str, folder: Path) -> list[ResultEntry]:
    from parshall.campaign.record import load  # noqa: PLC0415 - a folder of runs has none

    try:
        store = Store(folder)
    except ParshallError as error:
        return [ResultEntry(name, folder, "unreadable", name, remark=str(error))]
    made = []
    for sweep in store.sweeps:
        own = sweep if name == OWN else f"{name}/{sweep}"
        try:
            record = load(store, sweep)
        except ParshallError as error:
            made.append(ResultEntry(own, folder, "unreadable", sweep, remark=str(error)))
            continue
        remark = f"{len(record.points)} points, {record.runs} runs"
        made.append(ResultEntry(own, folder, "sweep", record.name, record.started, record.status, remark, sweep))
    return made
