"""Scenarios for the tests of the schema, of runs and of the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM
from typer.testing import CliRunner, Result

import parshall as ps
from parshall.cli.app import application, needed

Document = dict[str, Any]


@pytest.fixture
def document() -> Document:
    """A small scenario as plain tables; every call a new one."""
    return {
        "name": "small",
        "duration": "2 s",
        "warm_up": "0.5 s",
        "bottleneck": {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
        "flows": [
            {"name": "bulk", "count": 2, "rtt": "50 ms", "congestion_control": "reno"},
            {"name": "web", "rtt": "30 ms", "workload": {"name": "transfer", "sizes": ["50 kB", "20 packets"]}},
        ],
    }


@pytest.fixture
def scenario(document: Document) -> ps.Scenario:
    """The same, read."""
    return ps.Scenario.from_document(document)


TOML = """
duration = "2 s"
warm_up = "0.5 s"
repetitions = 2

[bottleneck]
rate = "5 Mbit/s"
queue = { name = "drop_tail", limit = "20 packets" }

[[flows]]
name = "bulk"
count = 2
rtt = "50 ms"
congestion_control = "reno"

[[flows]]
rtt = "30 ms"
workload = { name = "on_off", size = { name = "pareto", mean = "20 packets", tail_index = 1.5 }, \
off = { name = "exponential", mean = "0.1 s" } }
"""


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    """A scenario file in a directory of its own."""
    path = tmp_path / "small.toml"
    path.write_text(TOML)
    return path


Command = Callable[..., list[str]]
Cli = Callable[..., Result]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs the command line in `tmp_path`, in this process."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()

    def invoke(*arguments: object) -> Any:
        words = [str(argument) for argument in arguments]
        return runner.invoke(application(needed(words)), words)

    return invoke


@pytest.fixture
def command() -> Command:
    """What starts the command line of this environment in a process of its own; `site` is where more is installed."""

    def words(arguments: Sequence[str | Path], site: Path | None = None) -> list[str]:
        found = "" if site is None else f"import sys; sys.path.insert(0, {str(site)!r}); "
        return [sys.executable, "-c", f"{found}from parshall.cli import main; main()", *map(str, arguments)]

    return words


@pytest.fixture
def start(command: Command) -> Callable[..., subprocess.Popen[str]]:
    """Starts the command line without waiting for it."""

    def call(*arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
        words = command(arguments)
        return subprocess.Popen(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return call


@pytest.fixture
def installed(tmp_path: Path) -> Callable[[str, str, str], Path]:
    """Installs a distribution of one module with entry points, as an installer leaves it; returns the folder."""

    def install(module: str, code: str, entries: str) -> Path:
        folder = tmp_path / "site"
        about = folder / "plugged-1.0.dist-info"
        about.mkdir(parents=True)
        (folder / f"{module}.py").write_text(code)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(entries)
        return folder

    return install


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()
