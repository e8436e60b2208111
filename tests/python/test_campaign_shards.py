"""Shards of a sweep: done apart, in one store or in several, they are what one run is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.campaign import maintenance
from parshall.campaign.call import Call
from parshall.campaign.merging import merge
from parshall.campaign.pool import LocalPool
from parshall.campaign.segments import compact
from parshall.foundations.errors import InputError, StoreError

SWEEP = """
name = "counts"
metrics = ["goodput_bps"]
repetitions = {repetitions}
[scenario]
duration = "1 s"
bottleneck = {{ rate = "5 Mbit/s", queue = {{ name = "drop_tail", limit = "20 packets" }} }}
flows = [{{ name = "web", rtt = "50 ms", start = {{ uniform = "0.2 s" }} }}]
probes = {{ flow_samples = false, link_samples = false }}
[parameters]
flows.web.count = [1, 2, 4, 8]
"""
RULE = '{ metric = "goodput_bps", relative_half_width = 0.02, minimum = 3, maximum = 12 }'


@pytest.fixture(params=["4", RULE], ids=["fixed", "rule"])
def plan(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "counts.toml"
    path.write_text(SWEEP.format(repetitions=request.param))
    return path


def exported(swept: ps.Sweep, directory: Path) -> dict[str, bytes]:
    paths = maintenance.export(swept.store, swept.name, directory)
    return {path.name: path.read_bytes() for path in paths}


def begun(plan: Path, store: Path, shard: str) -> subprocess.Popen[str]:
    words = ["sweep", str(plan), "--store", str(store), "--workers", "1", "--shard", shard]
    return subprocess.Popen(
        [sys.executable, "-m", "parshall", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return out + errors


def nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every further run."""

    def submit(_: LocalPool, call: Call) -> None:
        raise AssertionError(f"done again: {call}")

    monkeypatch.setattr(LocalPool, "submit", submit)


@pytest.mark.slow
def test_three_shards_at_a_time_are_one_run(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = exported(ps.sweep(plan, tmp_path / "whole"), tmp_path / "tables")
    shards = [begun(plan, tmp_path / "store", f"{k}/3") for k in (1, 2, 3)]
    for k, process in enumerate(shards, 1):
        assert f"shard {k}/3 of counts is done" in ended(process)
    half = ps.Sweep.load(tmp_path / "store", "counts")
    assert half.status == "shard"
    assert not list((tmp_path / "store" / "pages").iterdir())
    nothing_more(monkeypatch)
    collected = ps.sweep(plan, tmp_path / "store")
    assert collected.status == "complete"
    assert exported(collected, tmp_path / "collected") == whole


@pytest.mark.gate
@pytest.mark.slow
def test_a_shard_that_is_killed_goes_on(plan: Path, tmp_path: Path) -> None:
    whole = exported(ps.sweep(plan, tmp_path / "whole"), tmp_path / "tables")
    store = tmp_path / "store"
    process = begun(plan, store, "1/2")
    waited = time.monotonic()
    while not list(store.glob("runs/*/*/run.json")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - waited < 120
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in store.glob("runs/*/*/run.json")}
    for shard in ("1/2", "2/2"):
        ended(begun(plan, store, shard))
    assert {path: path.stat().st_mtime_ns for path in before} == before, "what was finished is not done again"
    assert exported(ps.sweep(plan, store), tmp_path / "collected") == whole


@pytest.mark.slow
@pytest.mark.parametrize("gathered", [False, True])
def test_stores_of_shards_are_merged(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, gathered: bool
) -> None:
    whole = exported(ps.sweep(plan, tmp_path / "whole"), tmp_path / "tables")
    target = ps.Store(tmp_path / "target", create=True)
    ps.sweep(plan, target, shard="1/3")  # one of them is there already
    others = []
    for k in (1, 2, 3):
        others.append(ps.Store(tmp_path / f"store{k}", create=True))
        ps.sweep(plan, others[-1], shard=f"{k}/3")
        if gathered:
            compact(others[-1])
    if gathered:
        compact(target)
    taken = [merge(target, other).runs for other in others]
    assert taken[0] == 0
    assert min(taken[1:]) > 0
    assert [merge(target, other).runs for other in others] == [0, 0, 0]
    nothing_more(monkeypatch)
    assert exported(ps.sweep(plan, target), tmp_path / "collected") == whole
    assert not maintenance.verify(target).damage


def test_what_is_not_merged(tmp_path: Path) -> None:
    store = ps.Store(tmp_path / "store", create=True)
    other = ps.Store(tmp_path / "other", create=True)
    with pytest.raises(InputError, match="found the store itself"):
        merge(store, ps.Store(tmp_path / "store"))
    with store.working(), pytest.raises(StoreError, match="a sweep is being done"):
        merge(store, other)


@pytest.mark.parametrize(
    ("keys", "shard", "said"),
    [
        ({}, "0/3", "found 0/3; accepted: K/N with K from 1 to N"),
        ({}, "4/3", "found 4/3"),
        ({}, "1 of 3", "found 1 of 3"),
        ({"budget": {"runs": 5}}, "1/3", "found budget.runs"),
    ],
)
def test_shards_that_are_refused(tmp_path: Path, keys: dict[str, Any], shard: str, said: str) -> None:
    scenario = {"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms"}]}
    plan = ps.Plan(name="counts", scenario=scenario, parameters={"flows.0.count": [1, 2]}, repetitions=3, **keys)
    with pytest.raises(InputError, match=said):
        ps.sweep(plan, tmp_path / "store", shard=shard)
    assert not (tmp_path / "store").exists()


def test_more_shards_than_runs(tmp_path: Path) -> None:
    path = tmp_path / "counts.toml"
    path.write_text(SWEEP.format(repetitions=1))
    swept = [ps.sweep(path, tmp_path / "store", workers=1, shard=f"{k}/6") for k in range(1, 7)]
    assert [each.status for each in swept] == ["shard"] * 6
    assert len(swept[-1].store.run_directories()) == 4
