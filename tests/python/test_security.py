"""The table of who can do what: each row names tests that exist; and the tests that have no other place."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.foundations.errors import ScenarioError
from parshall.scenario.schema import external

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security.md"
ROWS = (
    "a scenario file",
    "a sweep file",
    "a store",
    "a run directory",
    "a recording of the kernel",
    "a capture or a series",
    "a scheduler of Dask, its workers, and all who reach it",
    "a control of your own",
    "another user of the machine",
    "a web page in your browser",
)
SCENARIO: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "5 Mbit/s"},
    "flows": [{"rtt": "50 ms", "congestion_control": "mine"}],
}
CODE = """
from pathlib import Path
Path({mark!r}).touch()
class Mine:
    cwnd = 2.0
    def __init__(self, *_, **__): pass
    def on_ack(self, *_): pass
    on_loss = on_timeout = on_ack
"""


def table() -> dict[str, list[str]]:
    """The cells of each row, by who it is about."""
    first = PAGE.read_text().split("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in first.splitlines() if line.startswith("| ")]
    return {row[0].strip(): row[1:] for row in rows if not row[0].startswith((" who", " ---"))}


def test_the_table_has_every_row() -> None:
    assert tuple(table()) == ROWS
    assert all(len(cells) == 4 and all(cell.strip() for cell in cells) for cells in table().values())


@pytest.mark.parametrize("row", ROWS)
def test_each_row_names_tests_that_exist(row: str) -> None:
    named = re.findall(r"\[`(test_\w+)`\]\(([\w./]+)\)", table()[row][-1])
    assert named
    for test, file in named:
        tree = ast.parse((PAGE.parent / file).read_text())
        assert test in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}, (test, file)


def test_a_sweep_file_names_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "_declared", {})
    plan = ps.Plan(name="theirs", scenario=SCENARIO, parameters={"bottleneck.rate": ["4 Mbit/s", "5 Mbit/s"]})
    with pytest.raises(ScenarioError, match=r"--control mine=FILE.py:CLASS"):
        ps.sweep(plan, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_run_directory_runs_no_code(tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "_declared", {})
    mark, code = tmp_path / "mark", tmp_path / "theirs.py"
    code.write_text(CODE.format(mark=str(mark)))
    ps.run(SCENARIO, tmp_path / "run", controls={"mine": f"{code}:Mine"})
    assert str(code) in (tmp_path / "run" / "run.json").read_text(), "it names the code"
    assert mark.exists()
    mark.unlink()
    monkeypatch.setattr(external, "_declared", {})
    assert cli("report", tmp_path / "run").exit_code == 0
    again = cli("rerun", tmp_path / "run", "-o", tmp_path / "again")
    assert again.exit_code == 2
    assert "say what makes this one: --control" in again.stderr
    assert not mark.exists()
    assert not (tmp_path / "again").exists()
