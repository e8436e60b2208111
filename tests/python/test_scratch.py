"""Directories for results that nobody keeps: who is killed leaves theirs, and the next one removes it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import parshall as ps
from parshall.foundations.files import Scratch

HOLDING = """
import time
from parshall.foundations.files import Scratch
held = Scratch("parshall-")
print(held.path, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def _holder() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", HOLDING], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def _made_old(directory: Path) -> None:
    lock = directory.with_name(f"{directory.name}.lock")
    os.utime(lock, (time.time() - 3600,) * 2)


def test_what_a_killed_process_left_is_removed_by_the_next(folder: Path) -> None:
    process, left = _holder()
    _made_old(left)
    Scratch("parshall-").remove()
    assert left.is_dir(), "its process lives"
    _kill(process)
    Scratch("parshall-").remove()
    assert list(folder.iterdir()) == []


def test_a_lock_that_is_new_and_directories_of_others_stay(folder: Path) -> None:
    process, left = _holder()
    _kill(process)
    (folder / "parshall-else").mkdir()
    Scratch("parshall-").remove()
    assert {path.name for path in folder.iterdir()} == {left.name, f"{left.name}.lock", "parshall-else"}


def test_a_link_is_not_followed(folder: Path) -> None:
    kept = folder / "kept"
    kept.mkdir()
    (kept / "file").write_text("")
    (folder / "parshall-x").symlink_to(kept)
    (folder / "parshall-x.lock").write_text("")
    os.utime(folder / "parshall-x.lock", (0, 0))
    Scratch("parshall-").remove()
    assert (kept / "file").exists()


def test_a_run_without_a_directory_leaves_nothing(folder: Path) -> None:
    run = ps.run({"duration": "1 s", "bottleneck": {"rate": "1 Mbit/s"}, "flows": [{"rtt": "20 ms"}]})
    assert len(list(folder.iterdir())) == 2
    del run
    assert list(folder.iterdir()) == []
