"""What `pip install parshall` alone can do, and what it says of the rest."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from parshall.foundations.extras import EXTRAS

ROOT = Path(__file__).parents[2]
ALL = {module for modules, _ in EXTRAS.values() for module in modules}
OWN = "parshall_studies"
"""A distribution of the checkout: `make setup` installs it."""

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
    code = f"import sys; sys.modules.update(dict.fromkeys({sorted(without)})); "
    code += "from parshall.foundations import plugins; from importlib import metadata; "
    code += "plugins._entries = lambda: metadata.EntryPoints(()); " if OWN in without else ""
    code += "from parshall.cli import main; main()"
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
    names = {name: {re.split("[>=]", each)[0].replace("-", "_") for each in offered[name]} for name in offered}
    assert all(set(modules) <= names[name] for name, (modules, _) in EXTRAS.items())
    assert names["dev"] >= ALL - {OWN}
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
        (["study", "rio"], 'study rio: parshall-studies is not installed; pip install "parshall[studies]"'),
        (["itb", "--class", "A"], 'itb: parshall-studies is not installed; pip install "parshall[studies]"'),
        (
            ["design", "rio", "--capacity", "48 Mbit/s"],
            'design rio: parshall-studies is not installed; pip install "parshall[studies]"',
        ),
        (
            ["design", "time-scale", "run", "--rtt", "30 ms"],
            'design time-scale: parshall-studies is not installed; pip install "parshall[studies]"',
        ),
        (
            ["predict", "throughput", "--loss", "0.02"],
            'predict throughput: parshall-studies is not installed; pip install "parshall[studies]"',
        ),
        (
            ["observe", "trace.pcap.gz", "--cc", "cubic"],
            'the chain of cubic: parshall-studies is not installed; pip install "parshall[studies]"',
        ),
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


TO_INSTALL = 'parshall-studies is not installed; pip install "parshall[studies]"'


def observed(folder: Path, without: Collection[str]) -> tuple[str, dict[str, Any]]:
    """The page of a capture, and the value that ``--json`` prints."""
    done = parshall(folder, ["observe", "trace.pcap.gz", "--json"], without)
    assert done.returncode == 0, done.stderr
    return html.unescape((folder / "observe.html").read_text(encoding="utf-8")), json.loads(done.stdout)


def test_without_the_studies_a_capture_has_its_page(folder: Path) -> None:
    """In the place of what the studies know of it, one line each says what to install."""
    page, values = observed(folder, {OWN})
    assert f"How throughput varies, beside a chain of the control: {TO_INSTALL}." in page
    assert f"Arrivals: how they depend on each other over time: {TO_INSTALL}." in page
    assert "Losses by window" in page
    assert (values["arrivals"], {flow["variability"] for flow in values["flows"]}) == (None, {None})


def test_with_the_studies_a_capture_has_their_sections(folder: Path) -> None:
    page, values = observed(folder, ())
    assert TO_INSTALL not in page
    assert "How throughput varies" in page
    assert values["arrivals"][0][0]["quantity"] == "packets"
    assert values["flows"][0]["variability"] is not None


def test_without_the_studies_a_capture_has_its_page_but_for_arrivals_that_nobody_asks_for(folder: Path) -> None:
    done = parshall(folder, ["observe", "trace.pcap.gz", "--no-arrivals"], {OWN})
    assert done.returncode == 0, done.stderr
    assert "Arrivals" not in (folder / "observe.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("without", [{OWN}, set()], ids=["without", "with"])
def test_a_prediction_of_a_rio_queue_needs_the_studies(without: set[str], folder: Path) -> None:
    shutil.copy(ROOT / "scenarios" / "rio.toml", folder)
    done = parshall(folder, ["predict", "rio.toml", "--json"], without)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["predicted"]
    queues = [row for row in rows if row["quantity"] == "mean_queue_packets" and row["model"] == "diffserv"]
    reason = f"the model of rio queues: {TO_INSTALL}" if without else None
    assert {row["reason"] for row in queues} == {reason}
    assert all((row["predicted"] is None) == bool(without) for row in queues)


def test_without_the_studies_their_models_are_not_listed(folder: Path) -> None:
    names = [
        {each["name"] for each in json.loads(parshall(folder, ["list", "models", "--json"], without).stdout)}
        for without in ({OWN}, set())
    ]
    assert names[1] - names[0] == {"competing", "diffserv", "large_deviations", "variants"}
    assert "pftk" in names[0]
