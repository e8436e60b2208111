"""Keeping a store: is everything what was written, what can go, and taking a sweep out of it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from parshall.campaign import record
from parshall.campaign.result import Sweep
from parshall.campaign.segments import (
    HOW_MADE,
    SEGMENT_FILE,
    first_line,
    gather,
    intact,
    keys_of,
    read_segment,
    read_segments,
)
from parshall.campaign.snapshot import Snapshot, reading
from parshall.campaign.store import Store
from parshall.campaign.work import digest
from parshall.errors import OutputExistsError, ParshallError, StoreError
from parshall.runs.storage import storage_error

_OLD_S = 24 * 3600.0
"""Litter of other machines is removed when it is so old: nobody asks them whether its writer lives."""


@dataclass(frozen=True)
class Damage:
    """Something that is not what was written."""

    path: Path
    what: str


@dataclass(frozen=True)
class Verified:
    """What a store holds, and what of it is damaged."""

    runs: int
    segments: int
    sweeps: int
    failures: int
    missing: int
    """Runs that a sweep refers to and the store does not have; `parshall sweep` does them again."""
    damage: tuple[Damage, ...]


def verify(store: Store) -> Verified:
    """Read every file of a store and compare it with its digest. Changes nothing."""
    damage = list(_damaged(store))
    bad = {each.path for each in damage}
    held = {run for run, at in store.run_directories().items() if at not in bad}
    folder = store.directory / "segments"
    segments = [at for at in sorted(folder.iterdir()) if at not in bad] if folder.is_dir() else []
    for at in segments:
        held |= keys_of([read_segment(at)])
    wanted: set[str] = set()
    sweeps = store.sweeps
    for name in sweeps:
        try:
            found = record.load(store, name)
        except StoreError as error:
            damage.append(Damage(store.directory / "sweeps" / f"{name}.json", first_line(error)))
            continue
        wanted |= {run for point in found.points for run in point.runs if run not in found.failed}
    return Verified(len(held), len(segments), len(sweeps), len(store.failures()), len(wanted - held), tuple(damage))


def _damaged(store: Store) -> Iterator[Damage]:
    """Run directories and segments that are not what was written."""
    for run, at in store.run_directories().items():
        if intact(at) is None and at.exists():
            yield Damage(at, f"run {run}: its files are not what was written")
    folder = store.directory / "segments"
    for at in sorted(folder.iterdir()) if folder.is_dir() else []:
        problem = _problem(at)
        if problem is not None:
            yield Damage(at, problem)


def _problem(directory: Path) -> str | None:
    try:
        segment = read_segment(directory)
        for name, wanted in segment.files.items():
            if digest(directory / name) != wanted:
                return f"segment of {segment.runs} runs: {name} is not what was written"
    except FileNotFoundError as error:
        missing = Path(str(error.filename)).name
        return None if not directory.exists() else f"segment: {missing} is missing"
    except (OSError, StoreError) as error:
        return f"segment: {first_line(error)}"
    return None


@dataclass(frozen=True)
class Collected:
    """What was removed, or would be."""

    litter: int
    damaged: int
    """Runs and segments that were set aside, in ``damaged/``."""
    unreferenced: int
    """Runs that no sweep refers to."""
    gathered: int
    """Runs that were put into segments."""
    bytes: int


def collect(store: Store, *, unreferenced: bool = False, dry_run: bool = False) -> Collected:
    """Set damaged parts aside, remove litter, and gather small runs.

    Parameters
    ----------
    unreferenced
        Whether runs that no sweep refers to are removed too.
    dry_run
        Only say what would be done.

    Raises
    ------
    StorageError
        Nothing can be written.
    """
    damage = list(_damaged(store))
    litter = [path for path in (store.directory / "partial").iterdir() if _is_litter(path)]
    orphans = _unreferenced(store, {each.path for each in damage}) if unreferenced else {}
    size = sum(_size(path) for path in [*litter, *orphans.values()])
    if dry_run:
        return Collected(len(litter), len(damage), len(orphans), 0, size)
    try:
        store.check_writable()
        for each in damage:
            store.set_aside(each.path)
        removed = store.sweep_litter()
        for path in litter:
            if path.exists():
                shutil.rmtree(path, ignore_errors=True)
                removed += 1
        for path in orphans.values():
            shutil.rmtree(path)
        _replaced(store)
    except OSError as error:
        raise storage_error(error) from None
    return Collected(max(removed, len(litter)), len(damage), len(orphans), gather(store), size)


def _is_litter(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _OLD_S
    except FileNotFoundError:
        return False


def _unreferenced(store: Store, without: set[Path]) -> dict[str, Path]:
    """Runs with directories of their own that no sweep refers to; segments keep theirs as long as one is needed."""
    wanted = {run for name in store.sweeps for point in record.load(store, name).points for run in point.runs}
    found = {run: at for run, at in store.run_directories().items() if run not in wanted and at not in without}
    folder = store.directory / "segments"
    for at in sorted(folder.iterdir()) if folder.is_dir() else []:
        if at not in without and not keys_of([read_segment(at)]) & wanted:
            found[at.name] = at
    return found


def _replaced(store: Store) -> None:
    """Remove segments that another has replaced: a kill came before they were."""
    kept = {segment.directory for segment in read_segments(store)}
    for at in list((store.directory / "segments").iterdir()):
        if at not in kept and (at / SEGMENT_FILE).exists():
            shutil.rmtree(at, ignore_errors=True)


def export(store: Store, name: str, directory: Path) -> list[Path]:
    """Write a sweep's tables, one Parquet file each, with the parameters as columns.

    Rows are in the order of points and repetitions. What differs when a run is done again (host, times) is left out, so
    the same sweep gives the same bytes, whatever happened on the way.

    Raises
    ------
    OutputExistsError
        Something is in the directory.
    StorageError
        It cannot be written.
    """
    swept = Sweep.load(store, name)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise OutputExistsError(f"{directory} exists and is not empty; write the name of a new directory")
    aside = directory.with_name(f".{directory.name}.partial")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        tables = reading(store, Snapshot.tables)
        for table in ("runs", "metrics", *tables):
            frame = swept.table(table)
            if frame is not None:
                kept = frame.drop(HOW_MADE) if table == "runs" else frame
                kept.write_parquet(aside / f"{table}.parquet")
        swept.points.write_parquet(aside / "points.parquet")
        (aside / "sweep.json").write_text(_described(swept), encoding="utf-8")
        if directory.exists():
            directory.rmdir()
        aside.rename(directory)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise storage_error(error) from None
    return sorted(directory.iterdir())


def _described(swept: Sweep) -> str:
    kept = swept.record
    content = {
        "name": kept.name,
        "description": kept.description,
        "plan": kept.plan,
        "code": kept.code,
        "failed": dict(kept.failed),
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def listed(store: Store) -> pl.DataFrame:
    """The sweeps of a store: one row each."""
    rows: list[dict[str, Any]] = []
    for name in store.sweeps:
        try:
            found = record.load(store, name)
        except ParshallError as error:
            rows.append({"sweep": name, "status": f"damaged: {first_line(error)}"})
            continue
        rows.append(
            {
                "sweep": name,
                "status": found.status,
                "points": len(found.points),
                "runs": found.runs,
                "failed": len(found.failed),
                "parameters": ", ".join(each.name for each in found.parameters),
                "started": found.started,
                "code": found.code,
            }
        )
    schema = {
        "sweep": pl.String,
        "status": pl.String,
        "points": pl.UInt32,
        "runs": pl.UInt32,
        "failed": pl.UInt32,
        "parameters": pl.String,
        "started": pl.String,
        "code": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
