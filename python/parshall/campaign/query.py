"""Questions over many runs, in SQL: DuckDB over a store.

| table | rows |
| --- | --- |
| ``flows``, ``links``, ``transfers``, ... | the records of all runs of the chosen sweeps |
| ``runs`` | one a run: seed, totals, how it was made, what summarises it |
| ``metrics`` | one a run and metric; a percentile is that of the run alone |
| ``points`` | one a point |
| ``failures`` | one a run that failed |

All but the last two have the columns ``sweep``, ``point``, ``repetition``, ``run`` and the sweep's parameters in
front: as the scenario has them (``bottleneck_rate``, text), and as numbers with the unit in the name
(``bottleneck_rate_bps``). Runs that no sweep refers to are in the schema ``store`` (``store.flows``), with all others,
without parameters.

A statement reads the store and nothing else: DuckDB opens no file outside of it, loads no extension, sees no Python
variable, and its settings cannot be changed. It is one statement, and one that only reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from parshall.campaign import record
from parshall.campaign.damage import damaged_parts
from parshall.campaign.measured import frames_of, link_of
from parshall.campaign.segments import OWN_TABLES, compact, damaged
from parshall.campaign.snapshot import Snapshot, reading
from parshall.campaign.store import Store
from parshall.foundations.errors import InputError, StorageError
from parshall.foundations.extras import extra

with extra("query", "query"):
    import duckdb
    import pyarrow as pa  # noqa: F401 - tables go to DuckDB and come back by it

_COMPACT_FROM = 512
"""Runs with directories of their own are compacted first if there are so many: reading their files takes longer."""


def query(store: Store | str | Path, sql: str, sweeps: Sequence[str] = ()) -> pl.DataFrame:
    """The answer to a question.

    Parameters
    ----------
    store
        Where the runs are.
    sql
        One statement; DuckDB's dialect.
    sweeps
        The sweeps whose runs are asked for; by default the store's only one.

    Raises
    ------
    InputError
        The statement is refused, or the sweep is not there or not named.
    StoreError
        The store is damaged.
    """
    place = store if isinstance(store, Store) else Store(store)
    chosen = record.chosen(place, sweeps)
    with suppress(StorageError):  # a store that can only be read
        compact(place, least=_COMPACT_FROM)
    return reading(place, lambda snapshot: _answer(snapshot, chosen, sql))


_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_READING = ("SELECT", "MULTI")
"""The statements that change nothing; a PIVOT is a MULTI."""


def _answer(snapshot: Snapshot, chosen: Sequence[record.SweepRecord], sql: str) -> pl.DataFrame:
    with duckdb.connect(config=_CONFIGURATION) as connection:
        try:
            _check_statement(connection, sql)
            _views(connection, snapshot, chosen)
            _metrics(connection, snapshot, chosen, sql)
            _lock(connection, snapshot.store.directory)
            relation: duckdb.DuckDBPyRelation | None = connection.sql(sql)
            if relation is None:
                raise InputError(f"query: the statement has no answer; {_ACCEPTED}")
            answer: pl.DataFrame = _in_range(connection, _readable(relation)).pl()
        except _WORDING as error:
            raise _refused(error) from None
        except duckdb.Error as error:
            raise _explained(snapshot, error) from None
        except RecursionError:
            raise InputError("query: the statement is nested too deeply") from None
    return answer


_WORDING = (duckdb.SyntaxException, duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
"""Errors before any file is read."""

_ACCEPTED = "accepted: one statement that reads, e.g. SELECT count(*) FROM flows"


def _check_statement(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    if "\0" in sql:
        raise InputError(f"query: found a NUL character; {_ACCEPTED}")
    kinds = [each.type.name for each in connection.extract_statements(sql)]
    if len(kinds) != 1:
        raise InputError(f"query: found {len(kinds) or 'no'} statement{'s' if kinds else ''}; {_ACCEPTED}")
    if kinds[0] not in _READING:
        raise InputError(f"query: found {kinds[0]}; {_ACCEPTED}")


def _lock(connection: duckdb.DuckDBPyConnection, directory: Path) -> None:
    """From now on files of the store can be opened, and no others."""
    connection.execute(f"SET allowed_directories = [{_quoted([directory])}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


_TIMES = frozenset(
    {"date", "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone"}
)
_PLAIN = _TIMES | {
    *("null", "boolean", "varchar", "blob", "uuid", "enum", "float", "double", "decimal"),
    *("tinyint", "smallint", "integer", "bigint", "hugeint"),
    *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"),
}
"""Types of DuckDB that Polars has too."""
_NESTED = ("list", "array", "struct", "map")


def _readable(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The answer, with columns as text whose type Polars does not have: intervals, unions, bit strings."""
    return _as_text(relation, [not _is_plain(each) for each in relation.types])


def _in_range(connection: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The answer, with columns as text that hold a time that Python does not have: infinity, the year 99999, 24:00."""
    timed = [_has_times(each) for each in relation.types]
    if not any(timed):
        return relation
    found = connection.from_arrow(relation.to_arrow_table())  # the statement is done once
    beyond = "infinity|[(]BC[)]|[0-9]{5,}-[0-9]{2}-[0-9]{2}|24:00:00"
    looks = [
        f"coalesce(bool_or(regexp_matches(CAST(#{place} AS VARCHAR), '{beyond}')), false)" if has_times else "false"
        for place, has_times in enumerate(timed, start=1)
    ]
    (is_beyond,) = found.aggregate(", ".join(looks)).fetchall()
    return _as_text(found, is_beyond)


def _as_text(relation: duckdb.DuckDBPyRelation, columns: Sequence[bool]) -> duckdb.DuckDBPyRelation:
    """The answer with some columns as text."""
    if not any(columns):
        return relation
    names = map(_identifier, relation.columns)
    places = [
        f"CAST(#{place} AS VARCHAR) AS {name}" if is_text else f"#{place} AS {name}"
        for place, (name, is_text) in enumerate(zip(names, columns, strict=True), start=1)
    ]
    return relation.project(", ".join(places))


def _is_plain(kind: object) -> bool:
    """True if Polars has a type of DuckDB, and Python its values; keys of a map are then no lists."""
    name, children = str(getattr(kind, "id", "")), _children(kind)
    if name == "map" and str(getattr(children[0], "id", "")) in _NESTED:
        return False
    return all(map(_is_plain, children)) if name in _NESTED else name in _PLAIN


def _has_times(kind: object) -> bool:
    return str(getattr(kind, "id", "")) in _TIMES or any(map(_has_times, _children(kind)))


def _children(kind: object) -> list[object]:
    """The types that a nested type is of; an array's size is among its children, and an enumeration's texts."""
    if str(getattr(kind, "id", "")) not in _NESTED:
        return []
    return [child for _, child in getattr(kind, "children", []) if not isinstance(child, int)]


def _refused(error: Exception) -> InputError:
    return InputError(f"query: {str(error).strip()}")


def _explained(snapshot: Snapshot, error: duckdb.Error) -> Exception:
    """Return the error with its cause: a file that vanished or is damaged, or else the statement."""
    for segment in snapshot.segments:
        if not segment.directory.exists():
            return FileNotFoundError(segment.directory)
    for directory in snapshot.directories.values():
        if not directory.exists():
            return FileNotFoundError(directory)
    if isinstance(error, duckdb.PermissionException):
        return _refused(error)
    for part in damaged_parts(snapshot.store):
        return damaged(part.path, part.what)
    return _refused(error)


def _views(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, chosen: Sequence[record.SweepRecord]) -> None:
    """One view a table, in ``store`` and in ``main``."""
    members = pl.concat([each.members() for each in chosen], how="diagonal_relaxed")
    connection.register("_members", members.to_arrow())
    points = [each.points_frame().select(pl.lit(each.name).alias("sweep"), pl.all()) for each in chosen]
    connection.register("points", pl.concat(points, how="diagonal_relaxed").to_arrow())
    connection.register("failures", _failures(chosen).to_arrow())
    connection.execute("CREATE SCHEMA store")
    for name in (*OWN_TABLES, *snapshot.tables()):
        source = _source(connection, snapshot, name)
        if source is None:
            continue
        connection.execute(f"CREATE VIEW store.{_identifier(name)} AS {source}")
        if name == "scenarios":
            continue
        own = [str(row[0]) for row in connection.execute(f"DESCRIBE store.{_identifier(name)}").fetchall()]
        left = [each for each in members.columns if each in ("sweep", "point", "repetition", "run") or each not in own]
        front = ", ".join(f"m.{_identifier(each)}" for each in left)
        behind = ", ".join(f"t.{_identifier(each)}" for each in own if each not in left)
        connection.execute(
            f"CREATE VIEW main.{_identifier(name)} AS SELECT {front}{', ' if behind else ''}{behind} "  # noqa: S608
            f"FROM _members m JOIN store.{_identifier(name)} t ON m.run = t.run"
        )


def _metrics(
    connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, chosen: Sequence[record.SweepRecord], sql: str
) -> None:
    """The view ``metrics``, and what summarises each run in ``runs``: computed now, and only for who asks."""
    if not re.search(r"\b(runs|metrics)\b", sql, re.IGNORECASE):
        return
    by_sweep = []
    for each in chosen:
        runs = each.members()["run"].unique(maintain_order=True).to_list()
        frames = frames_of(snapshot, runs, each.metrics, link_of(snapshot, runs))
        by_sweep.append([frame.select(pl.lit(each.name).alias("_sweep"), pl.all()) for frame in frames])
    for name, frames in zip(("_metrics", "_summaries"), zip(*by_sweep, strict=True), strict=True):
        connection.register(name, pl.concat(frames).rename({"run": "_run"}).to_arrow())
    on = "ON m.sweep = t._sweep AND m.run = t._run"
    connection.execute(
        f"CREATE VIEW metrics AS SELECT m.*, t.* EXCLUDE (_sweep, _run) FROM _members m JOIN _metrics t {on}"  # noqa: S608
    )
    if "runs" in (str(row[0]) for row in connection.execute("SHOW TABLES").fetchall()):
        connection.execute("ALTER VIEW runs RENAME TO _runs")
        connection.execute(
            f"CREATE VIEW runs AS SELECT m.*, t.* EXCLUDE (_sweep, _run) FROM _runs m JOIN _summaries t {on}"  # noqa: S608
        )


def _source(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, name: str) -> str | None:
    """Return the files of a table: those of segments, and those of runs with directories of their own."""
    parts = []
    files = snapshot.files(name)
    if files:
        parts.append(f"SELECT * FROM read_parquet([{_quoted(files)}], union_by_name = true)")  # noqa: S608 - our files
    if snapshot.directories:
        if name in OWN_TABLES:
            frame = snapshot.loose(name)
            if frame is not None:
                connection.register(f"_own_{name}", frame.collect().to_arrow())
                parts.append(f'SELECT * FROM "_own_{name}"')  # noqa: S608 - our names
        else:
            own = [path for at in snapshot.directories.values() if (path := at / f"{name}.parquet").exists()]
            if own:
                parts.append(
                    "SELECT string_split(filename, '/')[-2] AS run, * EXCLUDE (filename) "  # noqa: S608 - our files
                    f"FROM read_parquet([{_quoted(own)}], filename = true, union_by_name = true)"
                )
    return " UNION ALL BY NAME ".join(parts) if parts else None


def _failures(chosen: Sequence[record.SweepRecord]) -> pl.DataFrame:
    rows = []
    for each in chosen:
        for number, point in enumerate(each.points):
            rows += [
                (each.name, number, repetition, run, each.failed[run])
                for repetition, run in enumerate(point.runs)
                if run in each.failed
            ]
    schema = {"sweep": pl.String, "point": pl.UInt32, "repetition": pl.UInt32, "run": pl.String, "error": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _quoted(paths: Sequence[Path]) -> str:
    return ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)


def _identifier(name: str) -> str:
    """A name as SQL has it, whatever is in it: tables and columns are named by whoever wrote the store."""
    return '"' + name.replace('"', '""') + '"'
