"""The directory of a result: the same for a run, an observation and a prediction, and written here alone.

| path | what | written |
| --- | --- | --- |
| ``run.json`` | instrument, scenario or sources, versions, status, digests of all files | last, atomically |
| ``repetitions/0000/*.parquet`` | the tables of a repetition or trace | in ``.0000.partial``, renamed when complete |
| ``repetitions/0000/captures/LINK.pcap`` | what was captured of a link | with them |
| ``repetitions/0000/qlog/GROUP-FLOW.sqlog`` | the log of a flow | with them |
| ``repetitions/0000/totals.json`` | the totals of a repetition | with them |
| ``scenario.toml`` | of a run: its complete scenario, to run it again | before ``run.json`` |
| ``report.html``, ``observe.html`` | the page | after ``run.json`` |

A directory without ``run.json`` is no result: it is being made, or what made it was killed.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from parshall.foundations import formats
from parshall.foundations.errors import InputError, OutputExistsError, RunNotFoundError, StorageError
from parshall.foundations.files import digest, sync, write_atomically

T = TypeVar("T")

FORMAT = formats.RESULTS
"""The version of this directory, as ``run.json`` has it: docs/project.md says what it promises."""

RUN_FILE = "run.json"
SCENARIO_FILE = "scenario.toml"
REPORT_FILE = "report.html"
OBSERVED_PAGE = "observe.html"
TOTALS_FILE = "totals.json"
REPETITIONS = "repetitions"

COMPARED_FILE = "compared.html"
"""The page that shows a prediction, a simulation and an emulation side by side."""
CARD_FILES = ("card.png", "card.svg")
"""Names that the picture of a result has in its directory."""
_BESIDE = (REPORT_FILE, OBSERVED_PAGE, COMPARED_FILE, SCENARIO_FILE, *CARD_FILES)
_OURS = frozenset({REPETITIONS, "figures"}).union(*({name, f".{name}.partial"} for name in (RUN_FILE, *_BESIDE)))

_ANY: dict[str, type] = {**dict.fromkeys(("status", "name", "started"), str), "versions": dict}
_SIMULATED: dict[str, type] = {
    "folder": str,
    **dict.fromkeys(("scenario", "summary"), dict),
    **dict.fromkeys(("repetitions_finished", "predicted"), list),
    **dict.fromkeys(("seed", "repetitions"), int),
}
_CONTENT: Mapping[str, Mapping[str, type]] = {
    "simulate": _ANY | _SIMULATED,
    "emulate": _ANY | _SIMULATED,
    "observe": {**_ANY, "captures": list, "repetitions_finished": list},
    "predict": {**_ANY, "answers": dict},
}
"""Keys of ``run.json`` that are read, with their types, by instrument."""


def prepare(directory: Path, overwrite: bool, instrument: str) -> None:
    """Make the directory of a new result.

    Raises
    ------
    OutputExistsError
        Something is there already, and it is no result of the same `instrument` or `overwrite` is false.
    StorageError
        It cannot be made.
    """
    try:
        entries = sorted(entry.name for entry in directory.iterdir()) if directory.exists() else []
        if entries:
            _clear(directory, entries, overwrite, instrument)
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


def named_after(files: Sequence[str]) -> str:
    """Return the name of a result that was made from files."""
    return ", ".join(Path(file).name for file in files[:3]) + (", ..." if len(files) > 3 else "")


def partial_directory(directory: Path, repetition: int) -> Path:
    """Return the directory into which a repetition is written."""
    return directory / REPETITIONS / f".{repetition:04d}.partial"


def publish(directory: Path, repetition: int, totals: str | None = None) -> None:
    """Make a repetition that was written completely one that can be read; with its totals, if there are any."""
    partial = partial_directory(directory, repetition)
    if totals is not None:
        write_atomically(partial / TOTALS_FILE, totals)
    partial.rename(partial.with_name(f"{repetition:04d}"))
    sync(partial.parent)


def discard_partial(directory: Path) -> None:
    """Remove what repetitions left that did not become complete."""
    for partial in (directory / REPETITIONS).glob(".*.partial"):
        shutil.rmtree(partial, ignore_errors=True)


def discard(directory: Path) -> None:
    """Remove what was begun and will not be finished."""
    shutil.rmtree(directory / REPETITIONS, ignore_errors=True)
    discard_empty(directory)


def discard_empty(directory: Path) -> None:
    """Remove the directory of a result in which nothing was finished."""
    for empty in (directory / REPETITIONS, directory):
        with contextlib.suppress(OSError):
            empty.rmdir()


def tables(directory: Path, name: str, repetitions: Iterable[int]) -> list[Path]:
    """The files of one table that were written."""
    paths = (directory / REPETITIONS / f"{repetition:04d}" / f"{name}.parquet" for repetition in repetitions)
    return [path for path in paths if path.exists()]


def digests(directory: Path, repetitions: Iterable[int]) -> dict[str, str]:
    """SHA-256 of every file of these repetitions, by its path in the directory of the result."""
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
        actual = None if wanted is None else digest(path)
    except OSError as error:
        raise RunNotFoundError(f"{path} cannot be read: {error.strerror}") from None
    if actual != wanted:
        raise damaged(path)


def damaged(path: Path) -> RunNotFoundError:
    """The error for a file of a result that cannot be used."""
    return RunNotFoundError(f"{path} is damaged: it is not what was written; {_AGAIN}")


def write_scenario(directory: Path, text: str) -> None:
    """Write the scenario of a result as a file, with which it can be run again."""
    write_atomically(directory / SCENARIO_FILE, text)


def seal(directory: Path, metadata: dict[str, Any]) -> None:
    """Write ``run.json``, with the digests of all files of its repetitions, which makes the directory a result."""
    metadata["files"] = digests(directory, metadata.get("repetitions_finished", ()))
    write_atomically(directory / RUN_FILE, json.dumps(metadata, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def holds_result(directory: Path) -> bool:
    """True if there is a result, or the rest of one."""
    return any((directory / name).exists() for name in (RUN_FILE, REPETITIONS))


def read(directory: Path) -> dict[str, Any]:
    """Return the content of ``run.json``.

    Raises
    ------
    RunNotFoundError
        There is none, or it is not one of ours.
    """
    path = directory / RUN_FILE
    try:
        metadata = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise RunNotFoundError(_why_none(directory)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise RunNotFoundError(f"{path} cannot be read: {error}") from None
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise RunNotFoundError(f"{path} is not the description of a result of this version of Parshall")
    instrument = str(metadata.get("instrument"))
    if instrument not in _CONTENT:
        raise RunNotFoundError(f'{path}: instrument: found "{instrument}"; accepted: {", ".join(_CONTENT)}')
    for key, kind in _CONTENT[instrument].items():
        if not isinstance(metadata.get(key), kind):
            raise RunNotFoundError(f'{path} is damaged: it has no "{key}"; {_AGAIN}')
    return metadata


_AGAIN = "the command that wrote it makes it again"


def copy(source: Path, target: Path, *, overwrite: bool, instrument: str) -> None:
    """Copy the directory of a result; ``run.json``, which makes the copy a result, comes last.

    Raises
    ------
    OutputExistsError, StorageError
        As `prepare`.
    InputError
        Both are one directory.
    """
    if source.resolve() == target.resolve():
        raise InputError(f"{target} holds this very result; write the name of a new directory")
    prepare(target, overwrite, instrument)

    def files() -> None:
        shutil.copytree(source / REPETITIONS, target / REPETITIONS, dirs_exist_ok=True)
        for name in (*_BESIDE, RUN_FILE):
            if (source / name).exists():
                shutil.copy2(source / name, target / name)

    guarded(files)


def guarded(action: Callable[[], T]) -> T:
    """Return the result of `action`; errors of the file system become a `StorageError`."""
    try:
        return action()
    except OSError as error:
        raise storage_error(error) from None


def storage_error(error: OSError) -> StorageError:
    """An error of the file system in words."""
    where = f"{error.filename}: " if error.filename else ""
    return StorageError(f"results cannot be written: {where}{error.strerror or error}")


def _clear(directory: Path, entries: list[str], overwrite: bool, instrument: str) -> None:
    if not overwrite:
        raise OutputExistsError(
            f"{directory} exists and is not empty; write the name of a new directory, or overwrite=True"
        )
    foreign = [name for name in entries if name not in _OURS]
    if foreign:
        raise OutputExistsError(f"{directory} holds {foreign[0]}, which is no part of a result; it is not overwritten")
    with contextlib.suppress(RunNotFoundError):  # what was not finished may go
        if (other := read(directory)["instrument"]) != instrument:
            raise OutputExistsError(f'{directory} holds a result of "{other}"; it is not overwritten by "{instrument}"')
    for name in (RUN_FILE, *_BESIDE):  # the description first: what is left is no result
        (directory / name).unlink(missing_ok=True)
    shutil.rmtree(directory / REPETITIONS, ignore_errors=True)


def _why_none(directory: Path) -> str:
    if directory.is_file():
        return f"{directory} is a file; write the directory of a result"
    if not directory.exists():
        return f"{directory} does not exist; write the directory of a result"
    if (directory / REPETITIONS).is_dir():
        return f"{directory} has no {RUN_FILE}: what writes it is still going on, or was killed"
    return f"{directory} is not the directory of a result: it has no {RUN_FILE}"
