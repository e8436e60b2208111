"""Maintenance of a store: is everything what was written, what can go, and taking a sweep out of it."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from parshall.campaign import record
from parshall.campaign.damage import Damage, damaged_answers, damaged_parts
from parshall.campaign.result import Sweep
from parshall.campaign.segments import (
    HOW_MADE,
    SEGMENT_FILE,
    compact,
    first_line,
    intact,
    keys_of,
    read_segment,
    read_segments,
)
from parshall.campaign.snapshot import Snapshot, reading
from parshall.campaign.store import Store, remove
from parshall.foundations.errors import InputError, OutputExistsError, ParshallError, StoreError
from parshall.results.records.storage import storage_error

YOUNG_S = 3600.0
"""Unreferenced runs that are younger stay, unless it is asked otherwise."""

_OLD_S = 24 * 3600.0
"""Litter of other machines is removed when it is so old: nobody asks them whether its writer lives."""


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
    strays: tuple[Path, ...]
    """Files that are not the store's; nothing reads them."""
    answers: int
    """What studies keep: answers of cases that are intact."""


def verify(store: Store) -> Verified:
    """Read every file of a store and compare it with its digest. Changes nothing.

    What sweeps refer to is read first: a run that a sweep finishes meanwhile is not missing.
    """
    wanted: set[str] = set()
    sweeps = store.sweeps
    damage: list[Damage] = []
    for name in sweeps:
        try:
            sweep = record.load(store, name)
        except StoreError as error:
            damage.append(Damage(store.directory / "sweeps" / f"{name}.json", first_line(error)))
            continue
        wanted |= {run for point in sweep.points for run in point.runs if run not in sweep.failed}
    directories = store.run_directories()
    damage += damaged_parts(store)
    bad = {each.path for each in damage}
    held = {run for run, at in directories.items() if at not in bad}
    segments = 0
    for at in store.segment_directories():
        if at not in bad:
            with suppress(FileNotFoundError):  # another replaces it, with all its runs
                held |= keys_of([read_segment(at)])
                segments += 1
    missing = len(wanted - held)
    of_answers = list(damaged_answers(store))
    damage += of_answers
    intact_answers = len(store.answers()) - len(of_answers)
    failures, strays = len(store.failures()), tuple(store.strays())
    return Verified(len(held), segments, len(sweeps), failures, missing, tuple(damage), strays, intact_answers)


@dataclass(frozen=True)
class Collected:
    """What was removed, or would be."""

    litter: int
    damaged: int
    """Runs, segments and answers that were set aside, in ``damaged/``."""
    unreferenced: int
    """Runs, and segments of runs, that no sweep refers to."""
    spared: int
    """The same, but younger than was asked for: they stay."""
    gathered: int
    """Runs that were put into segments."""
    bytes: int


def collect(
    store: Store, *, unreferenced: bool = False, dry_run: bool = False, older_than_s: float = YOUNG_S
) -> Collected:
    """Set damaged parts aside, remove unfinished files, and compact small runs.

    Parameters
    ----------
    unreferenced
        Whether runs that no sweep refers to are removed too. All runs of a sweep that is not finished are its own.
    dry_run
        Only say what would be done.
    older_than_s
        Of unreferenced runs, only those are removed that were written so long ago, in seconds: on a file system without
        locks nothing else tells that a sweep is about to refer to them.

    Raises
    ------
    InputError
        Unreferenced runs are to be removed while a sweep is being done.
    StoreError
        The record of a sweep cannot be read, so that nobody knows which runs it refers to.
    StorageError
        Nothing can be written.
    """
    if not unreferenced:
        return _collected(store, None, dry_run=dry_run)
    with nullcontext(True) if dry_run else store.alone() as nobody_works:
        if not nobody_works:
            raise InputError(
                f"{store.directory}: a sweep is being done there; wait until it ends, or leave out --unreferenced"
            )
        return _collected(store, older_than_s, dry_run=dry_run)


def _collected(store: Store, older_than_s: float | None, *, dry_run: bool) -> Collected:
    damage = [*damaged_parts(store), *damaged_answers(store)]
    litter = [path for path in (store.directory / "partial").iterdir() if _older(path, _OLD_S)]
    orphans = _unreferenced(store, {each.path for each in damage}) if older_than_s is not None else []
    old = [path for path in orphans if _older(path, older_than_s or 0.0)]
    spared = len(orphans) - len(old)
    size = sum(_size(path) for path in [*litter, *old])
    if dry_run:
        return Collected(len(litter), len(damage), len(old), spared, 0, size)
    try:
        store.check_writable()
        for each in damage:
            store.quarantine(each.path)
        removed = store.remove_orphans(is_alone=older_than_s is not None)
        for path in litter:
            if path.exists():
                remove(path)
                removed += 1
        for path in old:
            remove(path)
        store.release_unused_locks()
        _replaced(store)
    except OSError as error:
        raise storage_error(error) from None
    return Collected(max(removed, len(litter)), len(damage), len(old), spared, compact(store), size)


def _older(path: Path, than_s: float) -> bool:
    try:
        return time.time() - path.stat().st_mtime > than_s
    except FileNotFoundError:
        return False


def _unreferenced(store: Store, without: set[Path]) -> list[Path]:
    """Runs with directories of their own that no sweep refers to; segments keep theirs as long as one is needed."""
    listed: set[str] = set()
    scenarios: set[str] = set()
    for name in store.sweeps:
        sweep = record.load(store, name)
        listed |= {run for point in sweep.points for run in point.runs}
        if not sweep.finished and not sweep.scenarios:
            return []  # an earlier version wrote it: what else is its own cannot be told
        scenarios |= set() if sweep.finished else set(sweep.scenarios)
    orphans = [
        at
        for run, at in store.run_directories().items()
        if run not in listed
        and at not in without
        and (described := intact(at)) is not None
        and described.get("scenario") not in scenarios
    ]
    for at in store.segment_directories():
        if at not in without:
            keys = pl.read_parquet(at / "runs.parquet", columns=["run", "scenario"])
            if not keys["run"].is_in(listed).any() and not keys["scenario"].is_in(scenarios).any():
                orphans.append(at)
    return orphans


def _replaced(store: Store) -> None:
    """Remove segments that another has replaced: a kill came before they were."""
    kept = {segment.directory for segment in read_segments(store)}
    for at in store.segment_directories():
        if at not in kept and (at / SEGMENT_FILE).exists():
            shutil.rmtree(at, ignore_errors=True)


_EXPORTED = "sweep.json"
"""The file of an export that says what it is."""


def export(store: Store, name: str, directory: Path, *, overwrite: bool = False) -> list[Path]:
    """Write a sweep's tables, one Parquet file each, with the parameters as columns.

    Rows are in the order of points and repetitions. What differs when a run is done again (host, times) is left out, so
    the same sweep gives the same bytes, whatever happened on the way. With `overwrite`, an earlier export is replaced.

    Raises
    ------
    OutputExistsError
        Something is in the directory: with `overwrite`, something that is no export.
    StorageError
        It cannot be written.
    """
    swept = Sweep.load(store, name)
    _check_free(directory, overwrite=overwrite)
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
        (aside / _EXPORTED).write_text(_described(swept), encoding="utf-8")
        if directory.exists():
            shutil.rmtree(directory)
        aside.rename(directory)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise storage_error(error) from None
    return sorted(directory.iterdir())


def _check_free(directory: Path, *, overwrite: bool) -> None:
    """Refuse a directory with something in it; with `overwrite`, with something that is no part of an export."""
    if not directory.is_dir():
        if directory.exists():
            raise OutputExistsError(f"{directory} is a file; write the name of a new directory")
        return
    names = sorted(path.name for path in directory.iterdir())
    if names and not overwrite:
        raise OutputExistsError(f"{directory} exists and is not empty; write the name of a new directory, or --force")
    foreign = [name for name in names if name != _EXPORTED and not name.endswith(".parquet")]
    if foreign:
        raise OutputExistsError(f"{directory} holds {foreign[0]}, which is no part of an export; it is not overwritten")


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
            sweep = record.load(store, name)
        except ParshallError as error:
            rows.append({"sweep": name, "status": f"damaged: {first_line(error)}"})
            continue
        rows.append(
            {
                "sweep": name,
                "status": sweep.status,
                "points": len(sweep.points),
                "runs": sweep.runs,
                "failed": len(sweep.failed),
                "parameters": ", ".join(each.name for each in sweep.parameters),
                "started": sweep.started,
                "code": sweep.code,
            }
        )
    numbers = dict.fromkeys(("points", "runs", "failed"), pl.UInt32)
    texts = dict.fromkeys(("parameters", "started", "code"), pl.String)
    return pl.DataFrame(rows, schema={"sweep": pl.String, "status": pl.String, **numbers, **texts})


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
