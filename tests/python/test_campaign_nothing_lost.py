"""A sweep that starts again, is stopped, or is looked at meanwhile has no fewer runs than before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.campaign import maintenance, record
from parshall.campaign.executor import Executor
from parshall.foundations.errors import InputError, StoreError

SCENARIO: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
    "flows": [{"name": "web", "rtt": "50 ms", "start": {"uniform": "0.2 s"}}],
    "probes": {"flow_samples": False, "link_samples": False},
}
COUNT = "SELECT count(*) AS n FROM runs"


def plan(repetitions: int = 3, counts: tuple[int, ...] = (1, 2)) -> ps.Plan:
    return ps.Plan(
        name="counts", scenario=SCENARIO, parameters={"flows.0.count": list(counts)}, repetitions=repetitions
    )


@pytest.fixture
def store(tmp_path: Path) -> ps.Store:
    """A store with a sweep of 6 runs."""
    return ps.sweep(plan(), tmp_path / "store", workers=1).store


def stopped(monkeypatch: pytest.MonkeyPatch, at: str, error: BaseException) -> Callable[[ps.Store, ps.Plan], None]:
    """Starts a sweep in which a step fails."""

    def fail(*_: Any) -> None:
        raise error

    def start(store: ps.Store, sweep: ps.Plan) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(Executor, at, fail)
            with pytest.raises(type(error)):
                ps.sweep(sweep, store, workers=1)

    return start


@pytest.mark.parametrize("at", ["_dispatch", "_outcomes"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), StoreError("a segment is damaged"), MemoryError()])
def test_whatever_stops_it_it_has_the_runs_that_it_had(
    at: str, error: BaseException, store: ps.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch, at, error)(store, plan(repetitions=5, counts=(1, 2, 4)))
    found = record.load(store, "counts")
    assert (found.status, found.runs) == ("interrupted", 6)
    assert ps.query(store, COUNT)["n"].item() == 6
    assert maintenance.collect(store, unreferenced=True, older_than_s=0).unreferenced == 0
    assert maintenance.verify(store).missing == 0
    assert ps.sweep(plan(repetitions=5, counts=(1, 2, 4)), store, workers=1).record.runs == 15


def test_the_first_record_of_a_sweep_that_starts_again_has_all_runs(
    store: ps.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill at this moment would leave that record."""
    seen: list[tuple[str, int]] = []
    saved = record.SweepRecord.save

    def watched(self: record.SweepRecord, place: ps.Store) -> None:
        saved(self, place)
        found = record.load(place, "counts")
        seen.append((found.status, found.runs))

    monkeypatch.setattr(record.SweepRecord, "save", watched)
    ps.sweep(plan(repetitions=4), store, workers=1)
    assert seen[0] == ("running", 6)
    assert seen[-1] == ("complete", 8)


def test_runs_that_no_record_lists_yet_are_the_unfinished_sweep_s(
    store: ps.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed, a sweep has finished runs of which its last record says nothing."""
    stopped(monkeypatch, "_dispatch", KeyboardInterrupt())(store, plan(repetitions=3))
    path = store.directory / "sweeps" / "counts.json"
    content = json.loads(path.read_text())
    content["points"] = [{**point, "runs": []} for point in content["points"]]
    path.write_text(json.dumps(content))
    assert maintenance.collect(store, unreferenced=True, older_than_s=0).unreferenced == 0
    assert maintenance.verify(store).runs == 6


def test_a_sweep_that_becomes_smaller_gives_up_the_others_only_when_it_is_finished(
    store: ps.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch, "_dispatch", KeyboardInterrupt())(store, plan(counts=(1,)))
    assert maintenance.collect(store, unreferenced=True, older_than_s=0).unreferenced == 0
    ps.sweep(plan(counts=(1,)), store, workers=1)
    maintenance.collect(store)
    assert record.load(store, "counts").runs == 3
    assert len(record.load(store, "counts").scenarios) == 1


def test_nothing_unreferenced_is_removed_while_a_sweep_is_done(store: ps.Store) -> None:
    with store.working(), pytest.raises(InputError, match="a sweep is being done there"):
        maintenance.collect(store, unreferenced=True, older_than_s=0)
    assert maintenance.collect(store, unreferenced=True, older_than_s=0).unreferenced == 0


def test_runs_that_are_missing_are_told_by_the_exit_code(store: ps.Store, cli: Any) -> None:
    shutil.rmtree(next(iter(store.run_directories().values())))
    done = cli("store", "verify", store.directory)
    assert done.exit_code == 1
    assert "1 runs of sweeps are missing" in done.stderr


def test_files_that_are_not_the_store_s_are_said_and_do_no_harm(store: ps.Store, cli: Any) -> None:
    strays = ["runs/.DS_Store", "runs/README/x", "segments/notes.txt", "partial/a.HOST.abc.0", "claims/mine"]
    for name in [*strays, f"partial/a.{maintenance.__name__}.99999999999999999999.0"]:
        path = store.directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    done = cli("store", "verify", store.directory)
    assert done.exit_code == 0, done.stderr
    assert done.stderr.count("it is not the store's") == 3
    assert ps.query(store, COUNT)["n"].item() == 6
    assert ps.sweep(plan(repetitions=4), store, workers=1).record.runs == 8
    assert cli("store", "gc", store.directory).exit_code == 0
    assert (store.directory / "runs" / "README" / "x").exists()


@pytest.mark.parametrize("content", ["null", "[]", '{"format": 1}', "{", "[" * 100_000])
def test_a_damaged_record_of_a_sweep_is_named(content: str, store: ps.Store, cli: Any) -> None:
    (store.directory / "sweeps" / "counts.json").write_text(content)
    for words in (("store", "verify", store.directory), ("query", COUNT, "--store", store.directory)):
        done = cli(*words)
        assert done.exit_code == 1
        assert "counts.json" in done.stderr
    assert "damaged" in cli("store", "list", store.directory).stdout
    refused = cli("store", "gc", store.directory, "--unreferenced", "--older-than", "1 ms")
    assert refused.exit_code == 1
    assert maintenance.verify(store).runs == 6
    assert ps.sweep(plan(), store, workers=1).record.runs == 6


def test_a_segment_without_a_file_is_named(store: ps.Store, cli: Any) -> None:
    maintenance.collect(store)
    (at,) = store.segment_directories()
    for name in ("flows.parquet", "runs.parquet"):
        (at / name).rename(at.parent / "aside")
        for words in (
            ("store", "verify", store.directory),
            ("query", "SELECT * FROM flows", "--store", store.directory),
        ):
            done = cli(*words)
            assert done.exit_code == 1, done.stdout
            assert name in done.stderr
        (at.parent / "aside").rename(at / name)


@pytest.mark.parametrize("content", ["", "{", "null", '{"format": 1}'])
def test_the_description_of_a_store_can_be_made_again(content: str, store: ps.Store, cli: Any) -> None:
    path = store.directory / "store.json"
    maintenance.collect(store)
    path.write_text(content)
    refused = cli("query", COUNT, "--store", store.directory)
    assert refused.exit_code == 1
    assert "`parshall store gc` makes it again" in refused.stderr
    assert cli("store", "gc", store.directory).exit_code == 0
    assert ps.query(store.directory, COUNT)["n"].item() == 6
    path.unlink()
    (store.directory / "damaged").mkdir()
    assert ps.sweep(plan(), store.directory, workers=1).record.runs == 6


def test_claims_of_killed_processes_are_removed(store: ps.Store) -> None:
    held = store.lock("a" * 32)
    assert held is not None
    (store.directory / "claims" / ("b" * 32)).write_text("")
    (store.directory / "claims" / ("c" * 32)).mkdir()  # it is nobody's lock
    maintenance.collect(store)
    assert {path.name[0] for path in (store.directory / "claims").iterdir()} == {"a", "c"}
    held.release()
