"""The run directory.

| path | what | written |
| --- | --- | --- |
| ``run.json`` | scenario, versions, status, summary, digests of all files | last, atomically |
| ``repetitions/0000/*.parquet`` | the tables of a repetition | in ``.0000.partial``, renamed when complete |
| ``repetitions/0000/captures/LINK.pcap`` | what was captured of a link | with them |
| ``repetitions/0000/qlog/GROUP-FLOW.sqlog`` | the log of a flow | with them |
| ``repetitions/0000/totals.json`` | the totals of a repetition | with them |
| ``report.html`` | the page | after ``run.json`` |

A directory without ``run.json`` is no run: it is being made, or what made it was killed.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from parshall.errors import OutputExistsError, RunNotFoundError, StorageError
from parshall.files import digest, sync, write_atomically

T = TypeVar("T")

RUN_FILE = "run.json"
REPORT_FILE = "report.html"
TOTALS_FILE = "totals.json"
REPETITIONS = "repetitions"

_OURS = frozenset({RUN_FILE, f".{RUN_FILE}.partial", REPORT_FILE, f".{REPORT_FILE}.partial", REPETITIONS, "figures"})


_CONTENT: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("status", "name", "folder", "started"), str),
    **dict.fromkeys(("scenario", "summary", "versions"), dict),
    **dict.fromkeys(("repetitions_finished", "predicted"), list),
    **dict.fromkeys(("seed", "repetitions"), int),
    "wall_s": (int, float),
}
"""What is read of ``run.json``."""


def prepare(directory: Path, overwrite: bool) -> None:
    """Make the directory of a new run.

    Raises
    ------
    OutputExistsError
        Something is there already, and it is no run or `overwrite` is false.
    StorageError
        It cannot be made.
    """
    try:
        found = sorted(entry.name for entry in directory.iterdir()) if directory.exists() else []
        if found:
            _clear(directory, found, overwrite)
        (directory / REPETITIONS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if directory.exists() and not directory.is_dir():
            raise OutputExistsError(f"{directory} is a file; write the name of a new directory") from None
        raise storage_error(error) from None


def next_directory(parent: Path, name: str) -> Path:
    """A new directory ``parent/name-N`` with the first number that is free; it is made at once."""
    slug = "".join(character if character.isalnum() or character in "-_." else "-" for character in name).strip("-.")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        number = 1
        while True:
            directory = parent / f"{slug or 'run'}-{number}"
            try:
                directory.mkdir()
            except FileExistsError:
                number += 1
            else:
                return directory
    except OSError as error:
        raise storage_error(error) from None


def partial_directory(directory: Path, repetition: int) -> Path:
    """Where a repetition is written."""
    return directory / REPETITIONS / f".{repetition:04d}.partial"


def publish(directory: Path, repetition: int, totals: str) -> None:
    """Make a repetition that was written completely one that can be read."""
    partial = partial_directory(directory, repetition)
    write_atomically(partial / TOTALS_FILE, totals)
    partial.rename(partial.with_name(f"{repetition:04d}"))
    sync(partial.parent)


def discard_partial(directory: Path) -> None:
    """Remove what repetitions left that did not become complete."""
    for partial in (directory / REPETITIONS).glob(".*.partial"):
        shutil.rmtree(partial, ignore_errors=True)


def discard_empty(directory: Path) -> None:
    """Remove a run directory in which nothing was finished."""
    for empty in (directory / REPETITIONS, directory):
        with contextlib.suppress(OSError):
            empty.rmdir()


def tables(directory: Path, name: str, repetitions: Iterable[int]) -> list[Path]:
    """The files of one table that were written."""
    paths = (directory / REPETITIONS / f"{repetition:04d}" / f"{name}.parquet" for repetition in repetitions)
    return [path for path in paths if path.exists()]


def digests(directory: Path, repetitions: Iterable[int]) -> dict[str, str]:
    """SHA-256 of every file of these repetitions, by its path in the run directory."""
    folders = [directory / REPETITIONS / f"{repetition:04d}" for repetition in repetitions]
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): digest(path) for path in files}


def check(directory: Path, path: Path, digests: Mapping[str, str]) -> None:
    """Refuse a file that is not what was written.

    Raises
    ------
    RunNotFoundError
        It is damaged.
    """
    wanted = digests.get(str(path.relative_to(directory)))
    try:
        found = None if wanted is None else digest(path)
    except OSError as error:
        raise RunNotFoundError(f"{path} cannot be read: {error.strerror}") from None
    if found != wanted:
        raise damaged(path)


def damaged(path: Path) -> RunNotFoundError:
    """The error for a file of a run that cannot be used."""
    return RunNotFoundError(f"{path} is damaged: it is not what was written; `parshall run` makes the run again")


def write_run(directory: Path, metadata: dict[str, Any]) -> None:
    """Write ``run.json``, which makes the directory a run."""
    write_atomically(directory / RUN_FILE, json.dumps(metadata, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_run(directory: Path) -> dict[str, Any]:
    """The content of ``run.json``.

    Raises
    ------
    RunNotFoundError
        There is none, or it is not one of ours.
    """
    path = directory / RUN_FILE
    try:
        metadata = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise RunNotFoundError(_why_no_run(directory)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise RunNotFoundError(f"{path} cannot be read: {error}") from None
    if not isinstance(metadata, dict) or metadata.get("format") != 1:
        raise RunNotFoundError(f"{path} is not the description of a run of this version of Parshall")
    for key, kind in _CONTENT.items():
        if not isinstance(metadata.get(key), kind):
            raise RunNotFoundError(f'{path} is damaged: it has no "{key}"; `parshall run` makes the run again')
    return metadata


def guarded(action: Callable[[], T]) -> T:
    """What `action` returns; errors of the file system become a `StorageError`."""
    try:
        return action()
    except OSError as error:
        raise storage_error(error) from None


def storage_error(error: OSError) -> StorageError:
    """An error of the file system in words."""
    where = f"{error.filename}: " if error.filename else ""
    return StorageError(f"results cannot be written: {where}{error.strerror or error}")


def _clear(directory: Path, found: list[str], overwrite: bool) -> None:
    if not overwrite:
        raise OutputExistsError(f"{directory} exists and is not empty; write the name of a new directory, or --force")
    foreign = [name for name in found if name not in _OURS]
    if foreign:
        raise OutputExistsError(f"{directory} holds {foreign[0]}, which is no part of a run; it is not overwritten")
    (directory / RUN_FILE).unlink(missing_ok=True)  # first: what is left is no run
    shutil.rmtree(directory / REPETITIONS, ignore_errors=True)
    (directory / REPORT_FILE).unlink(missing_ok=True)


def _why_no_run(directory: Path) -> str:
    if directory.is_file():
        return f"{directory} is a file; write the directory of a run"
    if not directory.exists():
        return f"{directory} does not exist; write the directory of a run"
    if (directory / REPETITIONS).is_dir():
        return f"{directory} has no {RUN_FILE}: the run is still going on, or was killed"
    return f"{directory} is not the directory of a run: it has no {RUN_FILE}"
