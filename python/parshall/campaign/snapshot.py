"""What a store holds at one moment: its runs, wherever they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from parshall.campaign.segments import (
    OUTDATED,
    OWN_TABLES,
    Segment,
    damaged,
    first_line,
    intact,
    keys_of,
    read_segments,
    runs_frame,
    scan_runs,
    scenarios_frame,
)
from parshall.campaign.store import Store
from parshall.foundations.errors import StoreError

T = TypeVar("T")


@dataclass(frozen=True)
class Snapshot:
    """The runs of a store when it was taken."""

    store: Store
    segments: tuple[Segment, ...]
    directories: dict[str, Path]
    """Runs with a directory of their own that no segment has."""
    compacted: frozenset[str]
    """The keys of those in segments."""

    @classmethod
    def take(cls, store: Store) -> Snapshot:
        """Look at a store.

        Runs first, then segments: a run that is compacted in between is seen twice and counted once.

        Raises
        ------
        StoreError
            A segment is damaged.
        """
        directories = store.run_directories()
        segments = tuple(read_segments(store))
        compacted = frozenset(keys_of(segments))
        return cls(store, segments, {run: at for run, at in directories.items() if run not in compacted}, compacted)

    def __contains__(self, run: object) -> bool:
        return run in self.compacted or run in self.directories

    def __len__(self) -> int:
        return len(self.compacted) + len(self.directories)

    @cached_property
    def _described(self) -> list[dict[str, Any]]:
        """The descriptions of runs with directories of their own."""
        frames = []
        for directory in self.directories.values():
            content = intact(directory)
            if content is None and directory.exists():
                raise damaged(directory, "its files are not what was written")
            if content is None:
                raise FileNotFoundError(directory)
            frames.append(content)
        return frames

    def scan(self, name: str) -> pl.LazyFrame | None:
        """A table of all runs, the key in the column ``run``; None if no run has it.

        Raises
        ------
        StoreError
            A file of it is damaged.
        """
        parts = []
        for segment in self.segments:
            path = segment.table(name)
            if path is not None:
                _check(path)
                parts.append(pl.scan_parquet(path))
        own = self.loose(name)
        parts += [own] if own is not None else []
        return pl.concat(parts, how="diagonal") if parts else None

    def files(self, name: str) -> list[Path]:
        """The files of a table in segments."""
        return [path for segment in self.segments if (path := segment.table(name)) is not None]

    def tables(self) -> list[str]:
        """The names of the record tables that some run has."""
        names = {name.removesuffix(".parquet") for segment in self.segments for name in segment.files}
        for directory in self.directories.values():
            names |= {path.stem for path in directory.glob("*.parquet")}
        return sorted(names - {*OWN_TABLES, *OUTDATED})

    def loose(self, name: str) -> pl.LazyFrame | None:
        """A table of the runs with directories of their own; None if none has it."""
        if not self.directories:
            return None
        if name in OWN_TABLES:
            make = dict(zip(OWN_TABLES, (runs_frame, scenarios_frame), strict=True))[name]
            return make(self._described).lazy()
        return scan_runs(name, self.directories, self._described)


def reading(store: Store, action: Callable[[Snapshot], T]) -> T:
    """What `action` makes of a snapshot; taken again if another process compacts runs meanwhile.

    Raises
    ------
    StoreError
        A file is damaged.
    """
    for attempt in range(5):
        snapshot = Snapshot.take(store)
        try:
            return action(snapshot)
        except FileNotFoundError as error:
            if attempt == 4:
                raise damaged(Path(error.filename or store.directory), first_line(error)) from None
        except pl.exceptions.PolarsError as error:
            raise StoreError(f"{store.directory}: a table cannot be read: {first_line(error)}") from None
    raise AssertionError("unreachable")


def _check(path: Path) -> None:
    """Raise StoreError if a Parquet file has no readable footer; FileNotFoundError if it vanished."""
    try:
        pl.read_parquet_schema(path)
    except FileNotFoundError:
        if path.parent.exists():
            raise damaged(path, "it is missing") from None
        raise
    except (OSError, pl.exceptions.PolarsError) as error:
        raise damaged(path, first_line(error)) from None
