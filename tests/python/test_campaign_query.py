"""`parshall query`: one statement, which reads its store and nothing else, and whose answer can be printed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.foundations.errors import InputError

PLAN = ps.Plan(
    name="counts",
    scenario={
        "duration": "1 s",
        "bottleneck": {"rate": "5 Mbit/s", "queue": "drop_tail"},
        "flows": [{"name": "web", "rtt": "50 ms"}],
        "probes": {"flow_samples": False, "link_samples": False},
    },
    parameters={"flows.0.count": [1, 2]},
    repetitions=1,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ps.Store:
    swept = ps.sweep(PLAN, tmp_path_factory.mktemp("query") / "store", workers=1)
    return swept.store


def contents(store: ps.Store) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in store.directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "-- nothing",
        "SELECT 1; SELECT 2",
        "SELECT 1; COPY (SELECT 1 AS a) TO '{store}/store.json'",
        "COPY (SELECT 1 AS a) TO '{store}/store.json'",
        "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO '{store}/store.json'",
        "CREATE TABLE mine AS SELECT 1",
        "DROP VIEW flows",
        "SET enable_external_access = true",
        "PRAGMA version",
        "ATTACH '{outside}' AS other",
        "EXPORT DATABASE '{outside}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "CALL pragma_version()",
        "SELECT * FROM read_text('{outside}')",
        "SELECT * FROM read_csv('{outside}')",
        "SELECT * FROM glob('{outside}*')",
        "SELECT * FROM '{outside}'",
        "SELECT * FROM read_text('{store}/../secret.csv')",
        "SELECT * FROM read_csv('https://example.org/a.csv')",
        "SELECT * FROM snapshot",
        "SELECT * FROM chosen",
        "SELECT getenv('HOME')",
        "SELECT error('x')",
        "SELECT x FROM flows",
        "SELECT 'a\0b'",
        "SELEKT 1",
        "SELECT CAST('x' AS INTEGER)",
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    ],
)
def test_what_does_not_only_read_the_store_is_refused(sql: str, store: ps.Store, tmp_path: Path) -> None:
    outside = tmp_path / "secret.csv"
    outside.write_text("a\n1\n")
    before = contents(store)
    with pytest.raises(InputError, match="query: "):
        ps.query(store, sql.format(store=store.directory, outside=outside))
    assert contents(store) == before
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]


@pytest.mark.parametrize(
    "sql",
    [
        "FROM runs",
        "DESCRIBE runs",
        "SUMMARIZE runs",
        "SHOW TABLES",
        "WITH a AS (SELECT 1 AS n) SELECT n FROM a",
        "VALUES (1)",
        "PIVOT (SELECT point, goodput_bps FROM runs) ON point USING avg(goodput_bps)",
    ],
)
def test_what_reads_is_answered(sql: str, store: ps.Store) -> None:
    assert ps.query(store, sql).height > 0


VALUES: dict[str, Any] = {
    "'a\\xFF'::BLOB": "61ff",
    "[1, 2]": [1, 2],
    "[1.5, 'nan'::DOUBLE]": [1.5, None],
    "{'a': 1, 'b': ['x']}": {"a": 1, "b": ["x"]},
    "MAP {'k': 2}": {"k": 2},
    "INTERVAL 90 MINUTE": "01:30:00",
    "[INTERVAL 1 DAY]": "[1 day]",
    "sum(goodput_bps > 0)": 2,
    "1000000000000000000000000000001::HUGEINT": 10**30 + 1,
    "1.25::DECIMAL(10, 2)": 1.25,
    "DATE '2026-01-02'": "2026-01-02",
    "TIMESTAMP '2026-01-02 03:04:05'": "2026-01-02T03:04:05",
    "TIMESTAMP 'infinity'": "infinity",
    "TIMESTAMPTZ '-infinity'": "-infinity",
    "DATE '99999-01-01'": "99999-01-01",
    "DATE '5000-01-01 (BC)'": "5000-01-01 (BC)",
    "DATE 'infinity'": "infinity",
    "TIME '24:00:00'": "24:00:00",
    "[TIMESTAMP 'infinity']": "[infinity]",
    "{'a': DATE '99999-01-01'}": "{'a': 99999-01-01}",
    "[DATE '2026-01-02']": ["2026-01-02"],
    "MAP {[1]: 2}": "{[1]=2}",
    "[MAP {[1]: 2}]": "[{[1]=2}]",
    "MAP {MAP {1: 2}: 3}": "{{1=2}=3}",
    "'1010'::BIT": "1010",
    "union_value(n := 3)": "3",
    "1 / 0": None,
    "NULL": None,
    "[[1], NULL]": [[1], None],
    "'[/x] :x: [red]b[/red]'": "[/x] :x: [red]b[/red]",
}


@pytest.mark.parametrize("expression", VALUES)
def test_every_type_of_an_answer_is_printed_as_table_json_and_csv(expression: str, store: ps.Store, cli: Any) -> None:
    words = ("query", f"SELECT {expression} AS value, 1 AS n FROM runs", "--store", store.directory)
    if "sum" not in expression:
        words = ("query", f"SELECT {expression} AS value, 1 AS n", "--store", store.directory)
    wanted = VALUES[expression]
    done = cli(*words, "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == [{"value": wanted, "n": 1}]
    done = cli(*words, "--csv")
    assert done.exit_code == 0, done.stderr
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    if isinstance(wanted, list | dict):
        assert json.loads(row["value"]) == wanted
    elif isinstance(wanted, str):
        assert row["value"].replace(" ", "T", int("03:04" in wanted)).startswith(wanted)
    done = cli(*words)
    assert done.exit_code == 0, done.stderr
    if isinstance(wanted, str) and "T" not in wanted:
        assert wanted in done.stdout


def test_commands_to_the_terminal_in_data_are_shown(store: ps.Store, cli: Any) -> None:
    done = cli("query", "SELECT chr(27) || '[31mred' || chr(8238) AS value", "--store", store.directory)
    assert r"\x1b[31mred\u202e" in done.stdout
