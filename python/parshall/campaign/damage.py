"""What of a store is not what was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from parshall.campaign.segments import first_line, intact, keys_of, read_segment
from parshall.campaign.store import Store
from parshall.errors import StoreError
from parshall.files import digest


@dataclass(frozen=True)
class Damage:
    """Something that is not what was written."""

    path: Path
    what: str


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
