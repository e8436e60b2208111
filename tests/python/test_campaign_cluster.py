"""Sweeps on a Dask cluster: a real scheduler, and worker processes of its own."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cluster import Cluster

import parshall as ps
from parshall.campaign import maintenance
from parshall.campaign.calls import run_calls
from parshall.campaign.keys import call_of
from parshall.foundations.errors import ClusterError, StoreError
from parshall.studies.running import Execution, run
from parshall.studies.study import Study
from parshall_studies import rio

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


CLIENT = """
import sys, parshall as ps
scenario = {"duration": sys.argv[3], "bottleneck": {"rate": "50 Mbit/s"}, "flows": [{"rtt": "50 ms", "count": 5}]}
rates = {"bottleneck.rate": ["50 Mbit/s", "60 Mbit/s", "70 Mbit/s", "80 Mbit/s"]}
plan = ps.Plan(name="rates", scenario=scenario, parameters=rates, repetitions=2)
print("begun", flush=True)
swept = ps.sweep(plan, sys.argv[1], scheduler=sys.argv[2])
print(swept.status, swept.record.runs, ps.query(swept.store, "SELECT * FROM links").height)
"""


def client(store: Path, cluster: Cluster, duration: str) -> subprocess.Popen[str]:
    """A program that has a sweep of eight runs done by the cluster, for a store of its own."""
    words = [sys.executable, "-c", CLIENT, str(store), cluster.address, duration]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


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

    original = runner.Repetition

    def elsewhere(text: str, repetition: int, _: tuple[str, str], *more: Any) -> Any:
        return original(text, repetition, (str(tmp_path / "not-here"), "nobody"), *more)

    monkeypatch.setattr(runner, "Repetition", elsewhere)
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


@pytest.fixture
def one_worker(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path, workers=1)
    yield made
    made.close()


@pytest.mark.slow
def test_two_clients_with_stores_of_their_own_lose_no_run(one_worker: Cluster, tmp_path: Path) -> None:
    clients = [client(tmp_path / name, one_worker, "10 s") for name in ("a", "b")]
    told = [each.communicate(timeout=240) for each in clients]
    assert [each[0].split() for each in told] == [["begun", "complete", "8", "8"]] * 2, told


@pytest.mark.slow
def test_a_client_that_is_interrupted_ends_only_itself(one_worker: Cluster, tmp_path: Path) -> None:
    first, second = (client(tmp_path / name, one_worker, "60 s") for name in ("a", "b"))
    for each in (first, second):
        assert each.stdout is not None
        assert each.stdout.readline() == "begun\n"
    waited = time.monotonic()
    while not list(tmp_path.glob("[ab]/runs/*/*")):  # the worker is at it
        assert time.monotonic() < waited + 60
        time.sleep(0.05)
    first.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in first.communicate(timeout=60)[1]
    assert first.returncode != 0
    out, errors = second.communicate(timeout=240)
    assert out.split() == ["complete", "8", "8"], errors


@pytest.mark.slow
def test_a_run_that_no_worker_wrote_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from parshall.campaign import executor
    from parshall.campaign.pool import LocalPool

    received = LocalPool.outcomes

    def lost(self: LocalPool, timeout_s: float) -> Any:
        found = received(self, timeout_s)
        for each in found:
            shutil.rmtree(tmp_path / "store" / "runs" / each.key[:2] / each.key)
        return found

    monkeypatch.setattr(LocalPool, "outcomes", lost)
    monkeypatch.setattr(executor, "_UNSEEN_S", 0.5)
    with pytest.raises(StoreError, match=r"run [0-9a-f]{32}: a worker has done it, and the store does not show it"):
        ps.sweep(plan(repetitions=1), tmp_path / "store", workers=1)
    assert ps.Sweep.load(tmp_path / "store", "counts").status == "interrupted"


def sweeping(address: str, folder: Path, repetitions: int, duration: str) -> list[str]:
    sweep = folder / "counts.toml"
    (folder / "small.toml").write_text(
        f'duration = "{duration}"\nbottleneck = {{ rate = "50 Mbit/s" }}\nflows = [{{ rtt = "50 ms" }}]\n'
    )
    sweep.write_text(f'scenario = "small.toml"\nrepetitions = {repetitions}\n[parameters]\n"flows.0.count" = [1, 2]\n')
    return [
        sys.executable,
        "-m",
        "parshall",
        "sweep",
        str(sweep),
        "--store",
        str(folder / "store"),
        "--scheduler",
        address,
    ]


@pytest.mark.slow
def test_a_scheduler_that_is_lost_is_called_that(one_worker: Cluster, tmp_path: Path) -> None:
    words = sweeping(one_worker.address, tmp_path, 1000, "20 s")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    waited = time.monotonic()
    while not list(tmp_path.glob("store/runs/*/*")):
        assert time.monotonic() < waited + 60
        time.sleep(0.05)
    one_worker.scheduler.kill()
    _, errors = process.communicate(timeout=120)
    lost = f"parshall: the scheduler at {one_worker.address} was lost; the same command goes on when it is back\n"
    assert (process.returncode, errors) == (1, lost)


# --- TLS ---


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An authority and one certificate of it for all, as variables of Dask's configuration."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    new = ("-newkey", "rsa:2048", "-nodes", "-subj")
    openssl("req", "-x509", *new, "/CN=authority", "-keyout", "ca-key.pem", "-out", "ca.pem", "-days", "2")
    openssl("req", *new, "/CN=cluster", "-keyout", "key.pem", "-out", "cluster.csr")
    signed = ("-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-days", "2")
    openssl("x509", "-req", "-in", "cluster.csr", *signed, "-out", "cert.pem")
    variables = {"CA_FILE": str(folder / "ca.pem")}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        variables |= {f"{role}__CERT": str(folder / "cert.pem"), f"{role}__KEY": str(folder / "key.pem")}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": value for name, value in variables.items()}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_a_scheduler_with_certificates_is_used_with_them(tmp_path: Path, certificates: dict[str, str]) -> None:
    cluster = Cluster(tmp_path, 1, certificates)
    try:
        words = [*sweeping(cluster.address, tmp_path, 2, "1 s"), "-q"]
        found = subprocess.run(
            words, check=False, env={**os.environ, **certificates}, capture_output=True, text=True, timeout=120
        )
        assert (found.returncode, found.stderr) == (0, "")
        assert ps.Sweep.load(tmp_path / "store", "counts").record.runs == 4
        # Without them, and with one that is not there.
        words += ["--set", "repetitions=3"]
        found = subprocess.run(words, check=False, capture_output=True, text=True, timeout=120)
        missing = "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE and DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT"
        assert found.returncode == 1
        assert found.stderr.startswith(f"parshall: --scheduler: {cluster.address}: no certificate: {missing} (")
        assert found.stderr.count("\n") == 1
        wrong = {**os.environ, **certificates, "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(tmp_path / "none.pem")}
        found = subprocess.run(words, check=False, env=wrong, capture_output=True, text=True, timeout=120)
        assert found.returncode == 1
        assert found.stderr.count("\n") == 1
        assert "TLS__CA_FILE: found " in found.stderr
        assert "none.pem, which is no file" in found.stderr
    finally:
        cluster.close()
