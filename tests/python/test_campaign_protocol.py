"""Promises to two programs that do the same work, whoever does it for them, though one of them is killed.

The same is asked of processes, threads, shards and a Dask cluster, of runs and of functions, in one store and in two:

- nothing is lost: the one that is left ends complete, and the killed one goes on to the same bytes;
- nothing that a store has is done for it again;
- a store is called complete when it has everything, and not before.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from cluster import Cluster

import parshall as ps
from parshall.campaign import maintenance
from parshall.campaign.snapshot import Snapshot
from parshall.foundations.errors import ParshallError

CLIENT = """
import json, sys
import parshall as ps
import work_of_others
from parshall.campaign import pool
from parshall.campaign.calls import run_calls
from parshall.campaign.keys import call_of
from parshall.campaign.shard import Shard

store, what, how, log = sys.argv[1:]
options = {"scheduler": how} if how.startswith("tcp:") else {"workers": 1}
part = Shard.parse(how) if "/" in how and "tcp" not in how else None
kinds = [pool.LocalPool, pool.ThreadPool]
if how == "threads":
    pool.LocalPool = lambda workers: pool.ThreadPool(workers)
if "scheduler" in options:
    from parshall.campaign.cluster import DaskPool
    kinds.append(DaskPool)

def watch(kind):
    submit = kind.submit
    def logged(self, call):
        with open(log, "a") as file:
            file.write(call.key + chr(10))
        submit(self, call)
    kind.submit = logged

for kind in kinds:
    watch(kind)
print("begun", flush=True)
if what == "runs":
    swept = ps.sweep(ps.Plan(**work_of_others.PLAN), store, shard=part, **options)
    print(json.dumps([swept.status, swept.record.runs]))
else:
    calls = [call_of(work_of_others.squared, (number,)) for number in range(work_of_others.CALLS)]
    mine = calls if part is None else part.of(calls)
    values = run_calls(mine, store=ps.Store(store, create=True), **options)
    print(json.dumps(["complete" if part is None else "shard", len(values)]))
"""
CALLS = 24
WORK = f"""
import time

CALLS = {CALLS}
PLAN = {{
    "name": "counts",
    "scenario": {{
        "duration": "20 s",
        "bottleneck": {{"rate": "50 Mbit/s"}},
        "flows": [{{"name": "web", "rtt": "50 ms", "start": {{"uniform": "0.2 s"}}}}],
        "probes": {{"flow_samples": False, "link_samples": False}},
    }},
    "parameters": {{"flows.web.count": [1, 2, 4]}},
    "repetitions": {CALLS // 3},
}}

def squared(number):
    time.sleep(0.15)
    return {{"number": number, "squared": number**2 / 7}}
"""

What = Literal["runs", "functions"]


@dataclass
class Setting:
    """Two clients: what they do, who does it for them, and where it is kept."""

    folder: Path
    what: What
    how: tuple[str, str]
    stores: tuple[Path, Path]

    def client(self, which: int, *, how: str | None = None) -> subprocess.Popen[str]:
        words = [str(self.stores[which]), self.what, how or self.how[which], str(self.log(which))]
        return subprocess.Popen(
            [sys.executable, "-c", CLIENT, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=environment(self.folder),
        )

    def log(self, which: int) -> Path:
        return self.folder / f"submitted-{which}"

    def submitted(self, which: int) -> list[str]:
        return self.log(which).read_text().split() if self.log(which).exists() else []

    def keys(self, store: Path) -> set[str]:
        """The calls whose answers a store has."""
        if not (store / "store.json").exists():
            return set()
        if self.what == "functions":
            return {path.name for path in ps.Store(store).answers()}
        with suppress(ParshallError):  # it is being compacted
            found = Snapshot.take(ps.Store(store))
            return {*found.compacted, *found.directories}
        return set()

    def content(self, store: Path) -> dict[str, bytes]:
        """The content of a store, without what differs when a run is done again."""
        if self.what == "functions":
            return {path.name: path.read_bytes() for path in ps.Store(store).answers()}
        out = self.folder / f"exported-{time.monotonic_ns()}"
        return {path.name: path.read_bytes() for path in maintenance.export(ps.Store(store), "counts", out)}

    def is_complete(self, store: Path) -> bool:
        """Whether the store says so."""
        with suppress(ParshallError):
            return self.what == "runs" and ps.Sweep.load(ps.Store(store), "counts").status == "complete"
        return False


def environment(folder: Path) -> dict[str, str]:
    """Where processes find the functions."""
    paths = [str(folder), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def ended(client: subprocess.Popen[str]) -> tuple[str, int]:
    out, errors = client.communicate(timeout=240)
    assert client.returncode == 0, errors
    status, number = json.loads(out.splitlines()[-1])
    return status, number


def case(how: str, what: What, stores: int, *, gate: bool = False) -> Any:
    marks = [pytest.mark.slow, *([pytest.mark.gate] if gate else [])]
    return pytest.param(how, what, stores, id=f"{how}-{what}-{stores}", marks=marks)


@pytest.fixture
def scheduler(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a cluster, where one is asked for."""
    if "dask" not in request.node.name:
        yield ""
        return
    pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", environment(tmp_path)["PYTHONPATH"])
    made = Cluster(tmp_path)
    yield made.address
    made.close()


@pytest.mark.parametrize(
    ("how", "what", "stores"),
    [
        case("processes", "runs", 1, gate=True),
        case("processes", "functions", 1),
        case("threads", "runs", 1),
        case("threads", "functions", 1, gate=True),
        case("shards", "runs", 1, gate=True),
        case("shards", "functions", 1),
        case("dask", "runs", 1),
        case("dask", "runs", 2),
        case("dask", "functions", 1),
        case("dask", "functions", 2, gate=True),
    ],
)
def test_of_two_clients_one_is_killed(how: str, what: What, stores: int, scheduler: str, tmp_path: Path) -> None:
    (tmp_path / "work_of_others.py").write_text(WORK)
    by = {"shards": ("1/2", "2/2"), "dask": (scheduler, scheduler)}.get(how, (how, how))
    places = (tmp_path / "store-0", tmp_path / f"store-{stores - 1}")
    setting = Setting(tmp_path, what, by, places)
    undisturbed = Setting(tmp_path, what, ("processes", "processes"), (tmp_path / "alone", tmp_path / "alone"))
    assert ended(undisturbed.client(0)) == ("complete", CALLS)
    wanted, everything = undisturbed.content(tmp_path / "alone"), undisturbed.keys(tmp_path / "alone")
    assert len(everything) == CALLS
    setting.log(0).unlink()

    killed, left = (setting.client(which) for which in (0, 1))
    begun = time.monotonic()
    while not setting.keys(places[0]) or not setting.submitted(0) or not setting.submitted(1):
        assert killed.poll() is left.poll() is None, (killed.poll(), left.communicate())
        assert time.monotonic() < begun + 60
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    before = setting.keys(places[0])
    assert len(before) < CALLS, "it was killed among its calls"

    while left.poll() is None:
        for place in places:
            assert not setting.is_complete(place) or setting.keys(place) == everything
        time.sleep(0.05)
    shards = how == "shards"
    assert ended(left)[0] == ("shard" if shards else "complete")
    if not shards:
        assert setting.content(places[1]) == wanted, "the one that is left has everything"
    resumed = ended(setting.client(0))
    assert resumed[0] == ("shard" if shards else "complete")
    assert ended(setting.client(0, how="processes" if shards else None)) == ("complete", CALLS)
    for place in places:
        assert setting.keys(place) == everything
        assert setting.content(place) == wanted, "to the byte"
        found = maintenance.verify(ps.Store(place))
        assert (found.damage, found.missing) == ((), 0)
        assert list((place / "partial").iterdir()) == []

    # Each store's answers were asked for once; again only what the killed one had begun and not finished.
    for place in set(places):
        asked = [key for which in (0, 1) if places[which] == place for key in setting.submitted(which)]
        again = {key for key in asked if asked.count(key) > 1}
        assert again & before == set()
        assert {asked.count(key) for key in again} <= {2}
        assert again <= set(setting.submitted(0))
    assert len(setting.submitted(1)) == len(set(setting.submitted(1)))
