"""Files of a store that are not what was written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from parshall.campaign.segments import first_line, intact, keys_of, read_segment
from parshall.campaign.store import Store
from parshall.foundations.errors import StoreError
from parshall.foundations.files import digest
from parshall.foundations.formats import STORE


@dataclass(frozen=True)
class Damage:
    """Something that is not what was written."""

    path: Path
    what: str


_ANSWER = f"parshall answer {STORE} ".encode()
"""First bytes of a file of ``answers/``; its digest, the end of the line, and JSON follow."""


def behind_digest(content: bytes) -> bytes:
    """The file that keeps an answer."""
    return _ANSWER + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def answer_of(path: Path) -> bytes | None:
    """The JSON of a file of ``answers/``; None if it is damaged, or something else.

    Raises
    ------
    OSError
        It cannot be read.
    """
    written = path.read_bytes()
    _, _, content = written.partition(b"\n")
    return content if written == behind_digest(content) else None


def is_answer(path: Path) -> bool:
    """True if a file of ``answers/`` has the known format, damaged or not."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_ANSWER)) == _ANSWER
    return False


def damaged_answers(store: Store) -> Iterator[Damage]:
    """Answers of calls that are not what was written; they count as not there."""
    for path in store.answers():
        with suppress(FileNotFoundError):
            if answer_of(path) is None:
                other = "it is not what was written" if is_answer(path) else "it has a format that is not read"
                yield Damage(path, f"an answer: {other}")


def damaged_parts(store: Store) -> Iterator[Damage]:
    """Run directories and segments that are not what was written: every file is read and compared with its digest."""
    for run, at in store.run_directories().items():
        if intact(at) is None and at.exists():
            yield Damage(at, f"run {run}: its files are not what was written")
    for at in store.segment_directories():
        problem = _problem(at)
        if problem is not None:
            yield Damage(at, problem)


def _problem(directory: Path) -> str | None:
    try:
        segment = read_segment(directory)
        for name, wanted in segment.files.items():
            if digest(directory / name) != wanted:
                return f"segment of {segment.runs} runs: {name} is not what was written"
        keys_of([segment])
    except FileNotFoundError as error:
        missing = Path(str(error.filename)).name
        return None if not directory.exists() else f"segment: {missing} is missing"
    except (OSError, StoreError) as error:
        return f"segment: {first_line(error)}"
    return None
