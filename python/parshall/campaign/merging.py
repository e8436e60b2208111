"""Taking over what other stores have: the runs and answers of shards that were done apart."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from parshall.campaign.damage import answer_of, behind_digest, is_answer
from parshall.campaign.segments import Segment, first_line, intact, keys_of, seal
from parshall.campaign.snapshot import Snapshot, reading
from parshall.campaign.store import ANSWERS, RUN_FILE, Store
from parshall.foundations.errors import InputError, StoreError
from parshall.foundations.files import write_atomically
from parshall.results.records.storage import storage_error


@dataclass(frozen=True)
class Merged:
    """Counts of the runs and sweeps that were taken over."""

    runs: int
    answers: int
    damaged: int
    """Runs and answers that were left where they are."""


def merge(store: Store, other: Store) -> Merged:
    """Take over what a store has and this one has not; the other is not changed, and its sweeps stay there.

    Raises
    ------
    InputError
        Both are one store.
    StoreError
        Sweeps are being done with this one, or a segment is damaged.
    StorageError
        Something cannot be written; what was taken over until then stays, and the same call goes on.
    """
    if store.identity == other.identity:
        raise InputError(f"{other.directory}: found the store itself; accepted: another one")
    store.check_writable()
    with store.alone() as held:
        if not held:
            raise StoreError(f"{store.directory}: a sweep is being done; stores are merged when it has ended")
        try:
            return _merged(store, other)
        except OSError as error:
            raise storage_error(error) from None


@dataclass
class _Merging:
    """The counts so far; runs are looked for again where the other store was compacted meanwhile."""

    store: Store
    known: set[str]
    runs: int = 0
    damaged: set[str] = field(default_factory=set)

    def take(self, theirs: Snapshot) -> None:
        """Take over the runs of a snapshot; FileNotFoundError if one of them is elsewhere by now."""
        for segment in theirs.segments:
            new = keys_of([segment]) - self.known
            if new:
                _take(self.store, segment, new)
                self._count(new)
        for run, directory in theirs.directories.items():
            if run in self.known:
                continue
            described = intact(directory)
            if described is not None:
                _copy(self.store, run, directory, described["files"])
                self._count({run})
            elif directory.exists():
                self.damaged.add(run)
            else:
                raise FileNotFoundError(directory)

    def _count(self, new: Set[str]) -> None:
        self.known |= new
        self.runs += len(new)


def _merged(store: Store, other: Store) -> Merged:
    here = Snapshot.take(store)
    merging = _Merging(store, {*here.compacted, *here.directories})
    reading(other, merging.take)
    answers, damaged = _answers(store, other)
    return Merged(merging.runs, answers, len(merging.damaged) + damaged)


def _answers(store: Store, other: Store) -> tuple[int, int]:
    """Return the numbers of answers that were copied, and of damaged ones."""
    taken = damaged = 0
    for path in other.answers():
        target = store.directory / ANSWERS / path.parent.name / path.name
        if target.exists() and is_answer(target):
            continue
        content = answer_of(path)
        if content is None:
            damaged += 1
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, behind_digest(content), store.partial("answer"))
        taken += 1
    return taken, damaged


def _copy(store: Store, run: str, directory: Path, files: Iterable[str]) -> None:
    """Copy what a run's description names, and nothing else that is there."""
    with store.writing(run) as partial:
        for name in (*files, RUN_FILE):
            shutil.copyfile(directory / name, partial / name)
        store.publish(run, partial)


def _take(store: Store, segment: Segment, runs: Set[str]) -> None:
    """Write these runs of a segment as one of this store."""
    try:
        with store.writing("segment") as partial:
            for name in segment.files:
                table = pl.scan_parquet(segment.directory / name)
                if name != "scenarios.parquet":
                    table = table.filter(pl.col("run").is_in(sorted(runs)))
                table.sink_parquet(partial / name, maintain_order=True)
            seal(store, partial, len(runs))
    except pl.exceptions.PolarsError as error:
        raise StoreError(f"{segment.directory} cannot be read: {first_line(error)}") from None
