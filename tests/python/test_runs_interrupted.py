"""Interrupted, killed, or without space, a run leaves nothing that pretends to be complete."""

from __future__ import annotations

import json
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.foundations.errors import RunNotFoundError, SimulationError, StorageError
from parshall.instruments.simulation import Run, execute

Start = Callable[..., subprocess.Popen[str]]
Command = Callable[[Sequence[str | Path]], list[str]]

# The first repetition takes a moment, and all of them longer than any test waits.
LONG = ["--set", "duration=600 s", "--set", "repetitions=500", "--workers", "1", "--no-page"]
ENDLESS = ["--set", "duration=1000 h", "--set", "repetitions=2", "--no-page", *("--set", "probes.link_samples=false")]

PATIENCE_S = 180
"""How long a busy machine may take."""


def _wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    for _ in range(round(PATIENCE_S / 0.05)):
        if condition():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    pytest.fail(f"it did not come to that in {PATIENCE_S} s")


def _finished(directory: Path) -> list[str]:
    """Repetitions that claim to be complete."""
    folder = directory / "repetitions"
    return sorted(path.name for path in folder.glob("[0-9]*")) if folder.is_dir() else []


def _begun(directory: Path) -> bool:
    return any((directory / "repetitions").glob(".*.partial/*"))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_what_was_finished_can_be_read_after_an_interruption(how: int, toml: Path, start: Start) -> None:
    directory = toml.parent / "run"
    process = start("run", toml, "-o", directory, *LONG, cwd=toml.parent)
    _wait_for(lambda: len(_finished(directory)) >= 2, process)
    process.send_signal(how)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert out == ""
    run = Run.load(directory)
    assert run.status == "interrupted"
    assert len(run.repetitions) >= 2
    assert err == f"parshall: interrupted; {len(run.repetitions)} of 500 repetitions can be read in {directory}\n"
    assert [f"{number:04d}" for number in run.repetitions] == _finished(directory)
    assert len(run.flows) == 3 * len(run.repetitions)
    assert run.summary["intervals"]["goodput_bps"]["n"] == len(run.repetitions)
    assert not _begun(directory)


def test_an_interruption_within_a_repetition_is_quick(toml: Path, start: Start) -> None:
    directory = toml.parent / "run"
    process = start("run", toml, "-o", directory, *ENDLESS, cwd=toml.parent)
    _wait_for(lambda: _begun(directory), process)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    _, err = process.communicate(timeout=PATIENCE_S)
    assert time.monotonic() - begun < 30  # to its end it would have been hours
    assert process.returncode == 130
    assert err == "parshall: interrupted before a repetition was finished\n"
    assert not directory.exists()


def test_the_first_error_is_told_and_nothing_is_begun_after_it(
    scenario: ps.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if whoever waits looks only when all repetitions are done."""
    begun: list[int] = []

    def repetition(_: str, number: int, *_more: object) -> dict[str, Any]:
        begun.append(number)
        raise SimulationError(f"repetition {number}")

    def wait_for_all(pending: set[Future[None]], **_: object) -> tuple[set[Future[None]], set[Future[None]]]:
        return set(wait(pending)[0]), set()

    monkeypatch.setattr(execute, "wait", wait_for_all)
    failing = execute.Instrument("simulate", json.dumps(scenario.resolve()), repetition)
    given = scenario.model_copy(update={"repetitions": 8})
    with pytest.raises(SimulationError, match="repetition 0"):
        execute.execute(given, tmp_path / "run", failing, workers=1)
    assert begun == [0]
    assert not (tmp_path / "run").exists()


def test_a_killed_run_is_no_run(toml: Path, start: Start) -> None:
    directory = toml.parent / "run"
    process = start("run", toml, "-o", directory, *LONG, cwd=toml.parent)
    _wait_for(lambda: len(_finished(directory)) >= 1 and _begun(directory), process)
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    assert not (directory / "run.json").exists()
    with pytest.raises(RunNotFoundError, match="still going on, or was killed"):
        Run.load(directory)
    for name in _finished(directory):  # complete ones are complete
        folder = directory / "repetitions" / name
        assert json.loads((folder / "totals.json").read_text())["repetition"] == int(name)
        assert (folder / "flows.parquet").read_bytes()[-4:] == b"PAR1"
    # and it can be begun anew
    run = ps.run(ps.Scenario.load(toml), directory, overwrite=True)
    assert run.repetitions == [0, 1]


def test_results_that_cannot_be_written_are_no_run(toml: Path, command: Command) -> None:
    """No file may grow beyond 2 kB: as good as a full disk, and no privilege is needed.

    In a process of its own: the limit would hold for the output of the tests as well, where that goes to a file.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

    directory = toml.parent / "run"
    words = command(["run", toml, "-o", directory, "--no-page"])
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=PATIENCE_S, cwd=toml.parent, preexec_fn=limit
    )
    assert done.returncode == 1
    assert re.search(r"results cannot be written: .*\.parquet", done.stderr)
    assert "Traceback" not in done.stderr
    assert _finished(directory) == []
    assert not _begun(directory)
    assert not (directory / "run.json").exists()


FULL_DISK = """
set -eu
mount -t tmpfs -o size=200k tmpfs "$1"
exec "$2" -c 'from parshall.cli import main; main()' run "$3" -o "$1/run" --no-page
"""


FILL = "mount -t tmpfs -o size=200k tmpfs /mnt && ! head -c 1000000 /dev/zero > /mnt/full"


def _may_mount() -> bool:
    """Whether a small disk can be mounted here, and gets full."""
    tried = ["unshare", "--mount", "--map-root-user", "sh", "-c", FILL]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


@pytest.mark.needs("unshare", "mount")
def test_a_full_disk(toml: Path) -> None:
    if not _may_mount():
        pytest.skip("no file system of our own can be mounted; the test above stands in")
    disk = toml.parent / "disk"
    disk.mkdir()
    arguments = ["unshare", "--mount", "--map-root-user", "sh", "-c", FULL_DISK, "sh", disk, sys.executable, toml]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=PATIENCE_S, cwd=toml.parent)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("parshall: results cannot be written: ")
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_directory_that_cannot_be_made(scenario: ps.Scenario, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="results cannot be written"):
        ps.run(scenario, tmp_path / "file" / "run")
