"""What `pip install parshall` alone can do, and what it says of the rest."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Collection
from pathlib import Path

import pytest

from parshall.foundations.extras import EXTRAS

ROOT = Path(__file__).parents[2]
ALL = {module for modules, _ in EXTRAS.values() for module in modules}

SWEEP = """
name = "small"
repetitions = 2

[scenario]
duration = "1 s"
bottleneck = { rate = "5 Mbit/s" }
flows = [{ rtt = "50 ms" }]
"""


def parshall(
    folder: Path, arguments: Collection[str], without: Collection[str] = ALL
) -> subprocess.CompletedProcess[str]:
    """Run a verb where these modules cannot be imported."""
    code = f"import sys; sys.modules.update(dict.fromkeys({sorted(without)})); from parshall.cli import main; main()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


@pytest.fixture
def folder(tmp_path: Path, toml: Path) -> Path:
    assert toml.parent == tmp_path
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "trace.pcap.gz").symlink_to(ROOT / "docs" / "example.pcap.gz")
    return tmp_path


def test_the_extras_are_those_of_the_installation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    offered = project["optional-dependencies"]
    assert set(offered) == {*EXTRAS, "notebooks", "dev"}
    names = {name: {each.split(">")[0] for each in offered[name]} for name in offered}
    assert all(set(modules) <= names[name] for name, (modules, _) in EXTRAS.items())
    assert names["dev"] >= ALL
    assert not ALL & {each.split(">")[0] for each in project["dependencies"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["validate", "small.toml"],
        ["run", "small.toml", "-o", "run"],
        ["predict", "small.toml"],
        ["sweep", "sweep.toml"],
        ["observe", "trace.pcap.gz", "-o", "observed"],
        ["doctor"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_without_extras(arguments: list[str], folder: Path) -> None:
    done = parshall(folder, arguments)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query", "SELECT 1"], 'query: duckdb is not installed; pip install "parshall[query]"'),
        (["study", "tail_index"], 'tail_index: SALib is not installed; pip install "parshall[studies]"'),
        (["explore"], 'explore: uvicorn is not installed; pip install "parshall[explore]"'),
        (
            ["sweep", "sweep.toml", "--scheduler", "tcp://localhost:1"],
            '--scheduler: distributed is not installed; pip install "parshall[cluster]"',
        ),
        (
            ["report", "run", "--figures", "drawn"],
            'figures: matplotlib is not installed; pip install "parshall[figures]"',
        ),
        (["card", "run"], 'card: matplotlib is not installed; pip install "parshall[figures]"'),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_what_is_missing_is_said_with_the_command_that_installs_it(
    arguments: list[str], message: str, folder: Path
) -> None:
    if arguments[0] in {"report", "card"}:
        assert parshall(folder, ["run", "small.toml", "-o", "run", "--no-page"]).returncode == 0
    done = parshall(folder, arguments)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"parshall: {message}")
