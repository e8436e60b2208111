"""Segments: many small runs in one Parquet file a table.

A hundred thousand runs are half a million files if each has its own; listing and opening them takes minutes. So runs
with a directory of their own are compacted into segments, a few thousand at a time:

| file of ``segments/ID/`` | rows |
| --- | --- |
| ``runs.parquet`` | one a run: key, code, scenario, seed, repetition, totals, how it was made |
| ``scenarios.parquet`` | one a scenario: its digest and the resolved text |
| ``TABLE.parquet`` | those of the runs' tables, with the key ``run`` in front |
| ``segment.json`` | digests of the files, the runs' number, the segments that it replaces; written last |

A segment is written aside and renamed; only then its runs' directories, and the segments it replaces, are removed. A
kill between the two leaves both, which is why a reader drops what a segment has (`parshall.campaign.snapshot`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from parshall.campaign.store import FORMAT, RUN_FILE, Store
from parshall.foundations.errors import StoreError
from parshall.foundations.files import digest, sync
from parshall.results.quantities import own
from parshall.results.quantities.catalog import SUMMARY
from parshall.results.records.schema import tables
from parshall.results.records.storage import storage_error

SEGMENT_FILE = "segment.json"
OWN_TABLES = ("runs", "scenarios")
"""Tables that describe runs; the others are records."""

OUTDATED = ("metrics",)
"""Tables that earlier versions wrote: metrics are computed from the records when they are asked for."""

COMPACTED_AT_ONCE = 2000
"""So many runs are compacted at a time."""

LARGEST = 8_000_000
"""Bytes of a run's tables; a larger run keeps its directory: gathering it would save nothing."""

_SMALL = 1000
_MANY = 8
"""More than `_MANY` segments of fewer than `_SMALL` runs become one."""


@dataclass(frozen=True)
class Segment:
    """A segment that is complete."""

    directory: Path
    runs: int
    files: Mapping[str, str]
    """Digest by file name."""
    replaces: frozenset[str]

    @property
    def name(self) -> str:
        """Its identity."""
        return self.directory.name

    def table(self, name: str) -> Path | None:
        """The file of a table, if its runs have that table."""
        return self.directory / f"{name}.parquet" if f"{name}.parquet" in self.files else None


def read_segments(store: Store) -> list[Segment]:
    """The segments that count: those that no other replaces.

    Raises
    ------
    StoreError
        One is damaged.
    """
    segments = []
    for directory in store.segment_directories():
        try:
            segments.append(read_segment(directory))
        except FileNotFoundError:  # it was replaced while we looked
            if directory.exists():
                raise
    replaced = frozenset[str]().union(*(segment.replaces for segment in segments))
    return [segment for segment in segments if segment.name not in replaced]


def read_segment(directory: Path) -> Segment:
    """A segment as its description has it; FileNotFoundError if it vanished."""
    path = directory / SEGMENT_FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        files = dict(content["files"])
        check_names(files)
        return Segment(directory, int(content["runs"]), files, frozenset(content["replaces"]))
    except FileNotFoundError:
        if directory.exists():
            raise damaged(path, "it is missing") from None
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(path, str(error)) from None


_NAME = re.compile(r"\w[\w.-]*")


def check_names(files: Iterable[str]) -> None:
    """Raise ValueError if a description, which may be another's, names a file that is not in its own directory."""
    for name in files:
        if not _NAME.fullmatch(name):
            raise ValueError(f"found {name!r} for the name of a file")


def damaged(path: Path, why: str) -> StoreError:
    """The error for a file that cannot be read."""
    return StoreError(
        f"{path} is damaged: {why}. `parshall store verify` lists what is damaged; `parshall store gc` sets it aside, "
        "and `parshall sweep` does those runs again"
    )


def compact(store: Store, *, least: int = 1) -> int:
    """Gather runs with directories of their own into a segment, if there are at least `least`; returns how many.

    Does nothing while another process is at it.

    Raises
    ------
    StorageError
        The segment cannot be written; the runs stay where they are.
    """
    with store.exclusive() as held:
        if not held:
            return 0
        try:
            return _compact(store, least)
        except OSError as error:
            raise storage_error(error) from None


def _compact(store: Store, least: int) -> int:
    segments = read_segments(store)
    known = keys_of(segments)
    loose: dict[str, dict[str, Any]] = {}
    for run, directory in store.run_directories().items():
        if run in known:
            shutil.rmtree(directory, ignore_errors=True)  # a kill came between renaming and removing
            continue
        described = intact(directory)
        if described is None:
            store.quarantine(directory)
        elif _size(directory) <= LARGEST:
            loose[run] = described
    if len(loose) < least:
        return 0
    small = [segment for segment in segments if segment.runs < _SMALL]
    merged = small if len(small) >= _MANY else []
    _write(store, loose, merged)
    for run in loose:
        shutil.rmtree(store.run_directory(run), ignore_errors=True)
    for segment in merged:
        shutil.rmtree(segment.directory, ignore_errors=True)
    return len(loose)


def keys_of(segments: Iterable[Segment]) -> set[str]:
    """The keys of the runs in segments."""
    keys: set[str] = set()
    for segment in segments:
        path = segment.directory / "runs.parquet"
        try:
            keys |= set(pl.read_parquet(path, columns=["run"])["run"].to_list())
        except FileNotFoundError:
            if segment.directory.exists():
                raise damaged(path, "it is missing") from None
            raise
        except (OSError, pl.exceptions.PolarsError) as error:
            raise damaged(path, first_line(error)) from None
    return keys


def intact(directory: Path) -> dict[str, Any] | None:
    """The description of a run whose files are what they were when it was published; None if they are not."""
    try:
        described: dict[str, Any] = json.loads((directory / RUN_FILE).read_text(encoding="utf-8"))
        check_names(described["files"])
        if any(digest(directory / name) != wanted for name, wanted in described["files"].items()):
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return described


def first_line(error: Exception) -> str:
    """What a library says, in one line."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def runs_frame(described: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The table ``runs`` of these runs."""
    rows = [
        {
            "run": each["run"],
            "code": each["code"],
            "scenario": each["scenario"],
            "seed": each["seed"],
            "repetition": each["repetition"],
            "simulated_s": each["totals"]["simulated_s"],
            "events": each["totals"]["events"],
            "packets_forwarded": each["totals"]["packets_forwarded"],
            "packets_dropped": each["totals"]["packets_dropped"],
            "validity": each["totals"].get("emulation", {}).get("level"),
            **each["made"],
        }
        for each in described
    ]
    return pl.DataFrame(rows, schema=RUNS_SCHEMA)


RUNS_SCHEMA: Mapping[str, Any] = {
    "run": pl.String(),
    "code": pl.String(),
    "scenario": pl.String(),
    "seed": pl.UInt64(),
    "repetition": pl.UInt32(),
    "simulated_s": pl.Float64(),
    "events": pl.UInt64(),
    "packets_forwarded": pl.UInt64(),
    "packets_dropped": pl.UInt64(),
    "validity": pl.String(),
    "host": pl.String(),
    "started": pl.String(),
    "wall_s": pl.Float64(),
    "cpu_s": pl.Float64(),
}
ENDS = ("_low", "_high")
"""What follows a metric's name in the columns of its interval."""

HOW_MADE = ("host", "started", "wall_s", "cpu_s")
"""Columns of ``runs`` that differ when a run is done again."""


def reserved_columns() -> set[str]:
    """The columns of all tables that are joined with a sweep's parameters, which therefore have other names."""
    ours = {"sweep", "point", "run", "repetition", "repetitions", "ended", "metric", "value", "scenario", "error"}
    metrics = {f"{key}{end}" for key in (*SUMMARY, *(each.key for each in own.defined())) for end in ("", *ENDS)}
    return ours | metrics | {column["name"] for table in tables() for column in table["columns"]} | set(RUNS_SCHEMA)


def scenarios_frame(described: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The table ``scenarios`` of these runs."""
    texts = {each["scenario"]: each["resolved"] for each in described}
    return pl.DataFrame(list(texts.items()), schema={"scenario": pl.String, "resolved": pl.String}, orient="row")


def scan_runs(name: str, runs: Mapping[str, Path], described: Iterable[Mapping[str, Any]]) -> pl.LazyFrame | None:
    """A record table of runs with directories of their own, the key in front; None if none has it.

    Runs of other code may have other columns: a column that a run does not have is null.
    """
    by_code: dict[str, dict[str, Path]] = {}
    for each in described:
        if each["run"] in runs:
            by_code.setdefault(each["code"], {})[each["run"]] = runs[each["run"]]
    parts = [table for own in by_code.values() if (table := _scan_alike(name, own)) is not None]
    return pl.concat(parts, how="diagonal") if parts else None


def _scan_alike(name: str, runs: Mapping[str, Path]) -> pl.LazyFrame | None:
    paths = {str(path): run for run, directory in runs.items() if (path := directory / f"{name}.parquet").exists()}
    if not paths:
        return None
    table = pl.scan_parquet(list(paths), include_file_paths="_path")
    # The key is the name of the directory: .../KEY/TABLE.parquet.
    key = pl.col("_path").str.split("/").list.get(-2).alias("run")
    return table.select(key, pl.exclude("_path"))


def _write(store: Store, loose: Mapping[str, dict[str, Any]], merged: Sequence[Segment]) -> None:
    described = list(loose.values())
    own = dict(zip(OWN_TABLES, (runs_frame(described), scenarios_frame(described)), strict=True))
    names = {name for each in described for name in each["files"]} | {name for each in merged for name in each.files}
    records = sorted({name.removesuffix(".parquet") for name in names} - {*OWN_TABLES, *OUTDATED})
    directories = {run: store.run_directory(run) for run in loose}
    try:
        with store.writing("segment") as partial:
            for name in (*own, *records):
                parts = [pl.scan_parquet(path) for segment in merged if (path := segment.table(name)) is not None]
                if name in own:
                    whole = pl.concat([*parts, own[name].lazy()], how="diagonal").select(own[name].columns)
                    if name == "scenarios":
                        whole = whole.unique("scenario", keep="first", maintain_order=True)
                    whole.collect().write_parquet(partial / f"{name}.parquet")
                else:
                    fresh = scan_runs(name, directories, described)
                    parts += [fresh] if fresh is not None else []
                    pl.concat(parts, how="diagonal").sink_parquet(partial / f"{name}.parquet", maintain_order=True)
            seal(store, partial, sum(segment.runs for segment in merged) + len(loose), merged)
    except pl.exceptions.PolarsError as error:
        raise StoreError(f"runs cannot be compacted: {first_line(error)}") from None


def seal(store: Store, partial: Path, runs: int, merged: Sequence[Segment] = ()) -> None:
    """Force a segment to the disk, describe it, and give it its name."""
    files = {path.name: digest(path) for path in sorted(partial.iterdir())}
    content = {"format": FORMAT, "runs": runs, "files": files, "replaces": sorted(each.name for each in merged)}
    (partial / SEGMENT_FILE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for path in [*partial.iterdir(), partial]:
        sync(path)
    name = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    partial.rename(store.directory / "segments" / name)
    sync(store.directory / "segments")


def _size(directory: Path) -> int:
    with os.scandir(directory) as entries:
        return sum(entry.stat().st_size for entry in entries)
