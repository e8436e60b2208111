"""Sweeps on a Dask cluster: a real scheduler, and worker processes of its own."""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.campaign import maintenance
from parshall.campaign.answers import call_of
from parshall.campaign.calls import run_calls
from parshall.errors import ClusterError
from parshall.studies import rio
from parshall.studies.running import Execution, run
from parshall.studies.study import Study

pytest.importorskip("distributed")

SCENARIO: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "5 Mbit/s", "queue": "drop_tail"},
    "flows": [{"name": "web", "rtt": "50 ms", "start": {"uniform": "0.2 s"}}],
    "probes": {"flow_samples": False, "link_samples": False},
}


def plan(**keys: Any) -> ps.Plan:
    given = {"name": "counts", "scenario": SCENARIO, "parameters": {"flows.0.count": [1, 2]}, "repetitions": 10}
    return ps.Plan(**{**given, **keys})


def exported(swept: ps.Sweep, directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in maintenance.export(swept.store, swept.name, directory)}


class Cluster:
    """A scheduler and two workers, each a process."""

    def __init__(self, directory: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self._directory = directory
        listen = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show"]
        self._processes = [self._start("distributed.cli.dask_scheduler", *listen)]
        time.sleep(1)
        self.workers = [self._worker() for _ in range(2)]

    def close(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()

    def _worker(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self._directory)]
        return self._start("distributed.cli.dask_worker", self.address, *options)

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", module, *arguments]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.__dict__.setdefault("_processes", []).append(process)
        return process


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.mark.gate
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_bytes_and_survives_a_worker(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = exported(ps.sweep(plan(), tmp_path / "local", workers=2), tmp_path / "tables")
    swept = ps.sweep(plan(), tmp_path / "shared", scheduler=cluster.address)
    assert exported(swept, tmp_path / "of-dask") == local
    # Workers that do not see the store send their files.
    from parshall.campaign import runner

    original = runner.Task

    def elsewhere(*arguments: Any) -> Any:
        task = original(*arguments)
        return original(**{**task.__dict__, "store": str(tmp_path / "not-here")})

    monkeypatch.setattr(runner, "Task", elsewhere)
    sent = ps.sweep(plan(), tmp_path / "sent", scheduler=cluster.address)
    monkeypatch.undo()
    assert exported(sent, tmp_path / "of-sent") == local
    # A worker is killed among the runs.
    seen: list[int] = []

    def kill(progress: Any) -> None:
        if progress.done > 3 and not seen:
            seen.append(progress.done)
            os.kill(cluster.workers[0].pid, signal.SIGKILL)

    killed = ps.sweep(plan(repetitions=300), tmp_path / "killed", scheduler=cluster.address, progress=kill)
    assert seen
    assert killed.status == "complete"
    assert killed.record.runs == 600


@pytest.mark.slow
def test_a_scheduler_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"tcp://127\.0\.0\.1:9 cannot be reached"):
        ps.sweep(plan(), tmp_path / "store", scheduler="tcp://127.0.0.1:9")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_study_is_done_by_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    study = Study("rio", "", "", "", [part for part in rio.PARTS if part.name in ("several routers", "over-booking")])
    local = run(study, "quick", lambda _: None, Execution(workers=2))
    found = run(study, "quick", lambda _: None, Execution(tmp_path / "store", scheduler=cluster.address))
    assert [each.as_json() for each in found.checks] == [each.as_json() for each in local.checks]
    assert len(list((tmp_path / "store").glob("answers/*/*"))) == 6
    # A worker with other code is told so, and nothing is taken from it.
    call = replace(call_of(math.sqrt, (2.0,)), code="another")
    with pytest.raises(ClusterError, match="this is another; install the same one there"):
        run_calls([call], scheduler=cluster.address)
