"""Stores of strangers, whose files are read and never trusted; and of others who are at work meanwhile."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import parshall as ps
from parshall.campaign import maintenance, store
from parshall.campaign.merging import Merged, merge
from parshall.campaign.segments import compact, keys_of, read_segment
from parshall.campaign.snapshot import Snapshot
from parshall.foundations.errors import StoreError
from parshall.foundations.files import digest

PLAN = ps.Plan(
    name="theirs",
    scenario={"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms"}]},
    parameters={"flows.0.count": [1, 2]},
    repetitions=1,
)


def other_store(folder: Path) -> ps.Sweep:
    """A sweep of two runs, in a segment."""
    swept = ps.sweep(PLAN, folder, workers=1)
    compact(swept.store)
    return swept


def test_a_store_that_is_compacted_while_it_is_merged_is_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = ps.sweep(PLAN, tmp_path / "theirs", workers=1)
    loose = len(theirs.store.run_directories())
    assert loose > 0
    take = Snapshot.take

    def compacted(store: ps.Store) -> Snapshot:
        found = take(store)
        if store.identity == theirs.store.identity:
            compact(store)  # as every sweep does when it ends
        return found

    monkeypatch.setattr(Snapshot, "take", compacted)
    mine = ps.Store(tmp_path / "mine", create=True)
    assert merge(mine, theirs.store) == Merged(runs=loose, answers=0, damaged=0)
    monkeypatch.undo()
    assert len(Snapshot.take(mine)) == loose


@pytest.mark.parametrize(
    "name", ["../../../outside.parquet", "/tmp/outside.parquet", "a/b.parquet", "", 'x" y.parquet']
)
def test_a_segment_writes_no_file_outside_of_the_store(name: str, tmp_path: Path) -> None:
    theirs = other_store(tmp_path / "theirs" / "store").store
    (segment,) = theirs.segment_directories()
    described = json.loads((segment / "segment.json").read_text())
    pl.DataFrame({"run": list(keys_of([read_segment(segment)]))}).write_parquet(tmp_path / "outside.parquet")
    (tmp_path / "mine" / "deeper").mkdir(parents=True)
    described["files"][name] = digest(tmp_path / "outside.parquet")
    (segment / "segment.json").write_text(json.dumps(described))
    before = {path for path in tmp_path.rglob("*") if "store" not in path.parts}
    mine = ps.Store(tmp_path / "mine" / "deeper" / "store", create=True)
    with pytest.raises(StoreError, match="for the name of a file"):
        merge(mine, theirs)
    assert {path for path in tmp_path.rglob("*") if "store" not in path.parts} == before
    assert maintenance.verify(theirs).damage


def test_a_run_brings_no_file_that_its_description_does_not_name(tmp_path: Path) -> None:
    theirs = ps.sweep(PLAN, tmp_path / "theirs", workers=1).store
    for directory in theirs.run_directories().values():
        (directory / "more.parquet").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("mine alone")
    mine = ps.Store(tmp_path / "mine", create=True)
    assert merge(mine, theirs).runs == len(theirs.run_directories())
    assert not list((tmp_path / "mine").rglob("more.parquet"))


def test_a_sweep_writes_no_page_outside_of_its_store(tmp_path: Path) -> None:
    theirs = other_store(tmp_path / "theirs")
    path = tmp_path / "theirs" / "sweeps" / "theirs.json"
    described = json.loads(path.read_text())
    path.write_text(json.dumps({**described, "name": "../../outside"}))
    done = subprocess.run(
        [sys.executable, "-m", "parshall", "report", str(theirs.store.directory)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "theirs.json is damaged: found the name '../../outside'" in done.stderr
    assert not (tmp_path / "outside.html").exists()


def test_names_of_a_strangers_tables_and_columns_are_no_statements(tmp_path: Path) -> None:
    theirs = other_store(tmp_path / "theirs")
    target = tmp_path / "written"
    hostile = f"""x" FROM _members m JOIN store."flows" t ON true; COPY (SELECT 1) TO '{target}'; --"""
    (segment,) = theirs.store.segment_directories()
    path = segment / "flows.parquet"
    pl.read_parquet(path).with_columns(pl.lit(1).alias(hostile)).write_parquet(path)
    described = json.loads((segment / "segment.json").read_text())
    described["files"]["flows.parquet"] = digest(path)
    (segment / "segment.json").write_text(json.dumps(described))
    found = ps.query(theirs.store, "SELECT * FROM flows")
    assert hostile in found.columns
    assert not target.exists()


# --- containers with one host name, each with processes of its own numbers ---


def test_what_another_container_is_writing_is_no_orphan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ps.Store(tmp_path / "store", create=True)
    run = 32 * "a"
    paths = [theirs.partial(name) for name in (run, 32 * "b", "sweep", "segment")]
    for path in paths:
        path.mkdir()

    def left() -> list[str]:
        return sorted(path.name.partition(".")[0] for path in (tmp_path / "store" / "partial").iterdir())

    mine = ps.Store(tmp_path / "store")
    assert mine.remove_orphans() == 0, "the process is found"
    monkeypatch.setattr(store, "_alive", lambda *_: False)
    with theirs.alone():  # they merge
        assert mine.remove_orphans() == 0
    with theirs.working():
        claim = theirs.lock(run)
        assert claim is not None
        assert mine.remove_orphans() == 1
        assert left() == [run, "segment", "sweep"]
        claim.release()
        assert mine.remove_orphans() == 1
    with theirs.exclusive():
        assert mine.remove_orphans() == 0
    assert left() == ["segment", "sweep"]
    with mine.alone():
        assert mine.remove_orphans(is_alone=True) == 2


SWEEP = """
import sys, parshall as ps
scenario = {"duration": sys.argv[2], "bottleneck": {"rate": "100 Mbit/s"}, "flows": [{"rtt": "50 ms", "count": 5}]}
rates = {"bottleneck.rate": sys.argv[3].split(",")}
swept = ps.sweep(ps.Plan(name=sys.argv[4], scenario=scenario, parameters=rates, repetitions=2), sys.argv[1], workers=1)
print(swept.status, swept.runs.height)
"""
APART = ["unshare", "--pid", "--fork", "--mount-proc"]


@pytest.mark.slow
def test_two_containers_with_one_host_name_share_a_store(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or subprocess.run([*APART, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no process namespace can be made here")

    def begun(duration: str, rates: str, name: str, *before: str) -> subprocess.Popen[str]:
        words = [*before, sys.executable, "-c", SWEEP, str(tmp_path / "store"), duration, rates, name]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    first = begun("600 s", "100 Mbit/s", "long")
    waited = time.monotonic()
    while not list(tmp_path.glob("store/partial/*/*")):
        assert time.monotonic() < waited + 60
        time.sleep(0.05)
    found, errors = begun("1 s", "10 Mbit/s", "short", *APART).communicate(timeout=60)
    assert first.poll() is None, "both are at it"
    assert found == "complete 2\n", errors
    found, errors = first.communicate(timeout=120)
    assert found == "complete 2\n", errors
