"""A sweep that is killed, or finds no space, and goes on: its tables are those of an undisturbed one, to the byte.

``PARSHALL_KILLS=50`` kills fifty times instead of five.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.campaign import maintenance
from parshall.foundations.errors import InputError

SWEEP = """
name = "killed"
repetitions = 200

[scenario]
duration = "2 s"
bottleneck = { rate = "5 Mbit/s", queue = "drop_tail" }
flows = [{ name = "web", rtt = "50 ms", start = { uniform = "0.2 s" } }]
probes = { flow_samples = false, link_samples = false }

[parameters]
flows.web.count = [1, 2]
"""

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("PARSHALL_KILLS", "5"))


def command(*arguments: str | Path) -> list[str]:
    start = "from parshall.cli import main; main()"
    return [sys.executable, "-c", start, "sweep", *map(str, arguments), "--no-page", "--quiet", "--workers", "2"]


def finish(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=300)


def tables(store: Path, directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in maintenance.export(ps.Store(store), "killed", directory)}


def runs_of(store: Path) -> int:
    """How many runs have a directory of their own."""
    return len(list((store / "runs").glob("*/*")))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "killed.toml"
    path.write_text(SWEEP)
    return path


def test_killed_at_random_moments_it_gives_the_same_bytes(file: Path, tmp_path: Path) -> None:
    assert finish(command(file, "--store", tmp_path / "undisturbed")).returncode == 0
    wanted = tables(tmp_path / "undisturbed", tmp_path / "wanted")
    moments = random.Random(1)
    done = [0]
    for number in range(KILLS):
        store = tmp_path / f"store{number // 5}"
        process = subprocess.Popen(command(file, "--store", store), stderr=subprocess.PIPE, text=True)
        # Five kills a store: the first at any moment of the start, the others among the runs.
        before = runs_of(store)
        while number % 5 and process.poll() is None and runs_of(store) == before:
            time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 0.3 if number % 5 else 2.0))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        if (store / "store.json").exists():
            time.sleep(0.3)  # its processes notice that it is gone
            found = maintenance.verify(ps.Store(store))
            assert found.damage == ()
            done.append(found.runs)
        if number % 5 == 4 or number == KILLS - 1:
            again = finish(command(file, "--store", store))
            assert again.returncode == 0, again.stderr
            assert tables(store, tmp_path / f"tables{number}") == wanted
            assert list((store / "partial").iterdir()) == []
    assert any(0 < count < 400 for count in done), f"no kill came among the runs: {done}"


@pytest.mark.gate
def test_killed_in_the_first_moments_of_a_restart_it_has_no_fewer_runs(file: Path, tmp_path: Path) -> None:
    """Whatever the moment, the record, a query, and what nobody refers to are as if it had not been started."""
    store = tmp_path / "store"
    assert finish(command(file, "--store", store, "--set", "repetitions=4")).returncode == 0
    moments = random.Random(2)
    fewest = 8
    statuses = set()
    path = store / "sweeps" / "killed.json"
    for number in range(KILLS):
        before_it = path.stat().st_mtime_ns
        process = subprocess.Popen(command(file, "--store", store), stderr=subprocess.PIPE, text=True)
        # In the first moments after the record was written, or at any moment of the start. All may be done by then, and
        # none of the later kills would find it running, so that is not the first one.
        started = number % 2 == 0
        while started and process.poll() is None and path.stat().st_mtime_ns == before_it:
            time.sleep(0.001)
        time.sleep(moments.uniform(0.0, 0.3) if started else moments.uniform(0.2, 4.0))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        time.sleep(0.3)  # its processes notice that it is gone
        place = ps.Store(store)
        found = ps.Sweep.load(place, "killed").record
        statuses.add(found.status)
        assert found.runs >= fewest
        assert ps.query(place, "SELECT count(*) AS n FROM runs")["n"].item() == found.runs
        before = maintenance.verify(place)
        assert (before.missing, before.damage) == (0, ())
        assert maintenance.collect(place, unreferenced=True, older_than_s=0).unreferenced == 0
        assert maintenance.verify(place).runs == before.runs >= found.runs
        fewest = found.runs
    assert "running" in statuses, "no kill came after the start"


def test_nothing_is_removed_while_a_sweep_goes_on(file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    process = subprocess.Popen(command(file, "--store", store), stderr=subprocess.DEVNULL)
    tried = 0
    while process.poll() is None:
        if runs_of(store) > 5:
            tried += 1
            with suppress(InputError):  # the sweep may have ended meanwhile
                maintenance.collect(ps.Store(store), unreferenced=True, older_than_s=0)
        time.sleep(0.05)
    assert tried > 0
    assert process.returncode == 0
    found = maintenance.verify(ps.Store(store))
    assert (found.runs, found.missing, found.damage) == (400, 0, ())


def test_without_space_it_stops_and_goes_on_when_there_is(file: Path, tmp_path: Path) -> None:
    """No file may grow beyond 2 kB: as good as a full disk."""
    store = tmp_path / "store"
    assert finish(command(file, "--store", store, "--set", "repetitions=3")).returncode == 0

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

    arguments: Any = command(file, "--store", store)
    full = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120, preexec_fn=limit)
    assert full.returncode == 1
    assert "results cannot be written" in full.stderr
    assert "Traceback" not in full.stderr
    assert maintenance.verify(ps.Store(store)).damage == ()
    assert maintenance.verify(ps.Store(store)).runs == 6
    assert finish(arguments).returncode == 0
    assert ps.Sweep.load(store, "killed").record.runs == 400


def test_a_store_that_can_only_be_read(file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert finish(command(file, "--store", store, "--set", "repetitions=2")).returncode == 0
    for path in [store, *store.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        if os.access(store, os.W_OK):
            pytest.skip("this user writes everywhere, as root does")
        refused = finish(command(file, "--store", store))
        assert refused.returncode == 1
        assert "results cannot be written" in refused.stderr
        assert ps.query(store, "SELECT count(*) AS n FROM runs")["n"].item() == 4
    finally:
        for path in [store, *store.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert finish(command(file, "--store", store)).returncode == 0
