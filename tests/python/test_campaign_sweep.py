"""Sweeps: what is done is not done again, workers change nothing, failures are recorded."""

from __future__ import annotations

import json
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import Result

import parshall as ps
from parshall.campaign import maintenance, pool
from parshall.campaign.call import Call, Outcome, Repetition, Written
from parshall.campaign.keys import key_of
from parshall.campaign.page import write_page
from parshall.campaign.pool import LocalPool
from parshall.campaign.preparing import prepare
from parshall.campaign.progress import Progress, size_of
from parshall.campaign.result import Sweep
from parshall.campaign.work import execute
from parshall.foundations.errors import InputError, ParshallError, SimulationError
from parshall.results.quantities import naming
from parshall.results.quantities.measuring import series_of
from parshall.results.records import about

Cli = Callable[..., Result]
ROOT = Path(__file__).parents[2]

SCENARIO: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
    "flows": [{"name": "web", "rtt": "50 ms", "start": {"uniform": "0.2 s"}}],
    "probes": {"flow_samples": False, "link_samples": False},
}


def plan(**keys: Any) -> ps.Plan:
    given = {"name": "counts", "scenario": SCENARIO, "parameters": {"flows.0.count": [1, 2, 4]}, "repetitions": 3}
    return ps.Plan(**{**given, **keys})


def exported(swept: ps.Sweep, directory: Path) -> dict[str, bytes]:
    paths = maintenance.export(swept.store, swept.name, directory)
    return {path.name: path.read_bytes() for path in paths}


class Counting:
    """Counts the runs that are done, and not found."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        original = LocalPool.submit

        def submit(self_: LocalPool, task: Any) -> None:
            self.count += 1
            original(self_, task)

        monkeypatch.setattr(LocalPool, "submit", submit)


def test_a_sweep_has_every_point_and_repetition(tmp_path: Path) -> None:
    swept = ps.sweep(plan(), tmp_path / "store", workers=2)
    assert swept.status == "complete"
    assert swept.runs.select("flows_0_count", "repetition").rows() == [(c, r) for c in (1, 2, 4) for r in range(3)]
    flows = swept.table("flows")
    assert flows is not None
    assert flows.group_by("point", maintain_order=True).len()["len"].to_list() == [3, 6, 12]
    assert flows.columns[:5] == ["sweep", "point", "repetition", "run", "flows_0_count"]
    assert swept.points["repetitions"].to_list() == [3, 3, 3]
    assert (swept.points["goodput_bps_low"] < swept.points["goodput_bps"]).all()


def test_a_run_of_a_sweep_is_the_repetition_of_the_scenario(tmp_path: Path) -> None:
    """The store has what `ps.run` gives, for every repetition."""
    swept = ps.sweep(plan(), tmp_path / "store", workers=1)
    run = ps.run(ps.Scenario(**SCENARIO).with_values({"flows.0.count": 4, "repetitions": 3}))
    flows = swept.table("flows")
    assert flows is not None
    own = flows.filter(pl.col("flows_0_count") == 4).select(run.flows.columns)
    assert own.equals(run.flows)
    interval = run.summary["intervals"]["goodput_bps"]
    found = swept.interval("goodput_bps", 2)
    assert found is not None
    assert (found.mean, found.low, found.high) == (interval["mean"], interval["low"], interval["high"])


def test_what_is_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    ps.sweep(plan(), tmp_path / "store", workers=1)
    assert counting.count == 9
    ps.sweep(plan(), tmp_path / "store", workers=1)
    assert counting.count == 9
    # Another sweep has four runs of its own: one more repetition of two points, and a new point with... three.
    more = plan(name="more", parameters={"flows.0.count": [2, 8]}, repetitions=3)
    swept = ps.sweep(more, tmp_path / "store", workers=1)
    assert counting.count == 9 + 3
    assert swept.runs["flows_0_count"].to_list() == [2, 2, 2, 8, 8, 8]
    assert ps.Store(tmp_path / "store").sweeps == ["counts", "more"]


@pytest.mark.gate
@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_tables(tmp_path: Path) -> None:
    rule = {"metric": "goodput_bps", "relative_half_width": 0.02, "minimum": 3, "maximum": 12}
    found = {}
    for workers in (1, 2, 8):
        swept = ps.sweep(plan(repetitions=rule, budget={"runs": 30}), tmp_path / f"store{workers}", workers=workers)
        found[workers] = exported(swept, tmp_path / f"tables{workers}")
    assert {"runs.parquet", "flows.parquet", "links.parquet", "points.parquet", "sweep.json"} <= found[1].keys()
    assert found[1] == found[2] == found[8]


def test_gathering_runs_changes_no_table(tmp_path: Path) -> None:
    swept = ps.sweep(plan(), tmp_path / "store", workers=2)
    before = exported(swept, tmp_path / "before")
    assert maintenance.collect(swept.store).gathered == 9
    assert not swept.store.run_directories()
    again = ps.Sweep.load(tmp_path / "store", "counts")
    assert exported(again, tmp_path / "after") == before
    assert again.points.equals(swept.points)


def test_a_worker_that_is_killed_has_its_run_done_elsewhere(tmp_path: Path) -> None:
    undisturbed = exported(ps.sweep(plan(), tmp_path / "one", workers=2), tmp_path / "tables")
    killed: list[int] = []
    original = LocalPool.outcomes

    def outcomes(self_: LocalPool, timeout_s: float) -> list[Outcome]:
        found = original(self_, timeout_s)
        if len(killed) < 2 and found:
            killed.append(self_.processes[len(killed) % 2])
            os.kill(killed[-1], signal.SIGKILL)
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LocalPool, "outcomes", outcomes)
        swept = ps.sweep(plan(), tmp_path / "two", workers=2)
    assert len(killed) == 2
    assert swept.status == "complete"
    assert exported(swept, tmp_path / "again") == undisturbed


@pytest.mark.parametrize(
    ("flows", "why"),
    [(16_000_000, "16000000 flows, which take about"), (50, "its process ended 3 times")],
)
def test_a_run_that_fails_is_recorded_and_the_rest_goes_on(
    flows: int, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """A run that needs more memory than there is, and one whose process is killed whenever it is given to one."""
    start, outcomes = pool._start, LocalPool.outcomes

    def limited() -> Any:
        made = start()
        resource.prlimit(made.process.pid, resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))
        return made

    def killing(self: LocalPool, timeout_s: float) -> list[Outcome]:
        for each in self._processes:
            if each.tasks and '"count":50,' in getattr(each.tasks[0].does, "scenario", ""):
                os.kill(each.process.pid, signal.SIGKILL)
        return outcomes(self, timeout_s)

    monkeypatch.setattr(pool, "_start", limited)
    monkeypatch.setattr(LocalPool, "outcomes", killing)
    file = tmp_path / "huge.toml"
    file.write_text(
        'repetitions = 2\n[scenario]\nduration = "1 s"\nbottleneck = { rate = "5 Mbit/s" }\n'
        '[[scenario.flows]]\nname = "web"\nrtt = "50 ms"\n'
        "[scenario.probes]\nflow_samples = false\nlink_samples = false\n"
        f"[parameters]\nflows.web.count = [1, {flows}, 2]\n"
    )
    done = cli("sweep", file, "--workers", "1", "--json")
    assert done.exit_code == 1, done.stderr
    answer = json.loads(done.stdout)
    assert answer["status"] == "failures"
    assert len(answer["failed"]) == 2
    assert why in answer["failed"][0]["error"]
    assert [point["goodput_bps"] is None for point in answer["points"]] == [False, True, False]
    assert "2 runs failed" in done.stderr
    page = (tmp_path / "store" / "pages" / "huge.html").read_text()
    assert "Runs that failed" in page
    assert why in page
    store = ps.Store(tmp_path / "store")
    assert len(store.failures()) == 2
    with pytest.raises(SimulationError, match=f"a whole: 2.runs failed: .*{why}"):
        Sweep.load(store, "huge").without_failures("a whole")
    found = ps.query(store, "SELECT flows_web_count FROM runs ORDER BY 1")
    assert found["flows_web_count"].to_list() == [1, 1, 2, 2]
    assert ps.query(store, "SELECT point, repetition FROM failures ORDER BY ALL").rows() == [(1, 0), (1, 1)]


def test_two_processes_share_a_store_and_its_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sweeps at a time in one store: each run is done once."""
    counting = Counting(monkeypatch)
    many = plan(repetitions=20)
    found: dict[int, ps.Sweep] = {}

    def do(number: int) -> None:
        found[number] = ps.sweep(many, tmp_path / "store", workers=1)

    threads = [threading.Thread(target=do, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counting.count == 60
    assert found[0].status == found[1].status == "complete"
    assert found[0].runs.equals(found[1].runs)


def test_two_points_of_one_scenario_wait_for_another_program(tmp_path: Path) -> None:
    twice = plan(parameters={"bottleneck.rate": ["5 Mbit/s", "5000 kbit/s"]}, repetitions=1)
    texts = prepare(twice).texts
    assert texts[0] == texts[1]
    store = ps.Store(tmp_path / "store", create=True)
    store.check_writable()
    claim = store.lock(key_of(texts[0], 0, about.code_version()))
    assert claim is not None
    found: list[ps.Sweep] = []
    sweeping = threading.Thread(target=lambda: found.append(ps.sweep(twice, store, workers=1)), daemon=True)
    sweeping.start()
    time.sleep(1)
    assert not found, "the run is another's"
    claim.release()
    sweeping.join(60)
    assert [each.status for each in found] == ["complete"]
    assert found[0].record.runs == 2


@pytest.mark.slow
def test_many_write_what_a_store_knows_of_one_sweep(tmp_path: Path) -> None:
    """The record and the page of a sweep have several writers at a time, and stay readable."""
    swept = ps.sweep(plan(repetitions=1), tmp_path / "store", workers=1)

    def write(_: int) -> ps.Sweep:
        swept.record.save(swept.store)
        write_page(swept)
        return ps.Sweep.load(tmp_path / "store", "counts")

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(write, range(40)))
    assert all(each.record == swept.record for each in found)
    assert list((tmp_path / "store" / "partial").iterdir()) == []


def test_a_budget_of_time_ends_a_sweep_that_goes_on_later(tmp_path: Path) -> None:
    rule = {"metric": "goodput_bps", "relative_half_width": 1e-6, "minimum": 3, "maximum": 200}
    short = ps.sweep(plan(repetitions=rule, budget={"time": "1 ms"}), tmp_path / "store", workers=1)
    assert set(short.points["ended"].to_list()) <= {"time"}
    longer = ps.sweep(plan(repetitions={**rule, "maximum": 5}), tmp_path / "store", workers=2)
    assert longer.points["repetitions"].to_list() == [5, 5, 5]
    assert longer.points["ended"].to_list() == ["maximum"] * 3


@pytest.mark.slow
def test_interrupted_it_says_so_and_goes_on(tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.done >= 3:
            raise KeyboardInterrupt

    many = plan(repetitions=100)
    with pytest.raises(KeyboardInterrupt):
        ps.sweep(many, tmp_path / "store", workers=1, progress=stop)
    stopped = ps.Sweep.load(tmp_path / "store", "counts")
    assert stopped.status == "interrupted"
    assert 0 < stopped.record.runs < 300
    assert list((tmp_path / "store" / "partial").iterdir()) == []
    assert list((tmp_path / "store" / "claims").iterdir()) == []
    assert ps.sweep(many, tmp_path / "store", workers=2).record.runs == 300


def test_progress_counts_and_estimates(tmp_path: Path) -> None:
    seen: list[Progress] = []
    ps.sweep(plan(repetitions=60), tmp_path / "store", workers=2, progress=seen.append)
    assert seen[-1].done == seen[-1].planned == 180
    assert seen[-1].packets > 10_000
    assert [each.done for each in seen] == sorted(each.done for each in seen)
    assert seen[-1].remaining_s == 0
    again: list[Progress] = []
    ps.sweep(plan(repetitions=61), tmp_path / "store", workers=2, progress=again.append)
    assert again[-1].from_store == 180
    resolved = json.dumps(ps.Scenario(**SCENARIO).resolve())
    longer = json.dumps(ps.Scenario(**{**SCENARIO, "duration": "10 s"}).resolve())
    assert 5 * size_of(resolved) < size_of(longer) < 10 * size_of(resolved)


def test_metrics_of_groups_are_recorded_and_decide(tmp_path: Path) -> None:
    key = "group/web/goodput_bps"
    rule = {"metric": key, "relative_half_width": 0.2, "minimum": 3, "maximum": 20}
    # Runs that were made without that metric have it computed from their tables.
    ps.sweep(plan(name="before"), tmp_path / "store", workers=1)
    swept = ps.sweep(plan(repetitions=rule), tmp_path / "store", workers=2)
    assert swept.record.metrics[0] == key
    maintenance.collect(swept.store)
    again = ps.sweep(plan(repetitions={**rule, "maximum": 21}), tmp_path / "store", workers=2)
    assert again.points["repetitions"].to_list() == swept.points["repetitions"].to_list()
    fresh = ps.sweep(plan(repetitions=rule), tmp_path / "fresh", workers=2)
    assert fresh.points["repetitions"].to_list() == swept.points["repetitions"].to_list()
    assert fresh.points[key].is_not_null().all()


def test_metrics_are_those_of_the_page() -> None:
    flows = [*SCENARIO["flows"], {"name": "files", "count": 2, "rtt": "20 ms"}]
    flows[1]["workload"] = {"name": "transfer", "size": "20 kB"}
    run = ps.run(ps.Scenario(**{**SCENARIO, "flows": flows}))
    of_run = run.quantities()
    wanted = [f"group/files/{name}" for name in naming.known("group")]
    wanted += [f"link/bottleneck/{name}" for name in naming.known("link")]
    found = series_of(run.tables, wanted)
    missing = {key for key in of_run if key.startswith(("group/files", "link"))} - set(wanted)
    assert missing == set()
    for key in wanted:
        estimate = found[key].estimate() if key in found else None
        assert (estimate is not None) == (key in of_run), key
        if estimate is not None:
            assert estimate.interval == of_run[key].interval, key


@pytest.mark.slow
def test_the_shipped_sweeps_run(tmp_path: Path) -> None:
    files = sorted((ROOT / "scenarios" / "sweeps").glob("*.toml"))
    assert files
    for file in files:
        quick = ps.Plan.load(file, ("budget.runs=120",))
        swept = ps.sweep(quick, tmp_path / "store")
        assert swept.status == "complete"
        assert swept.record.runs >= len(swept.record.points)
        assert (swept.points["goodput_bps"] > 0).all()


def test_the_command_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('duration = "1 s"\n[bottleneck]\nrate = "5 Mbit/s"\n[[flows]]\nrtt = "50 ms"\n')
    (tmp_path / "rates.toml").write_text(
        'scenario = "base.toml"\nrepetitions = 2\n[parameters]\nbottleneck.rate = ["5 Mbit/s", "10 Mbit/s"]\n'
    )
    done = cli("sweep", "rates.toml", "--workers", "1", "--set", "repetitions=3")
    assert done.exit_code == 0, done.stderr
    assert "10 Mbit/s" in done.stdout
    assert "6 runs of 2 points" in done.stderr
    assert (tmp_path / "store" / "pages" / "rates.html").stat().st_size > 10_000
    sql = "SELECT bottleneck_rate_bps, count(*) AS n, avg(goodput_bps) AS goodput FROM flows GROUP BY 1 ORDER BY 1"
    answer = json.loads(cli("query", sql, "--json").stdout)
    assert [(row["bottleneck_rate_bps"], row["n"]) for row in answer] == [(5e6, 3), (1e7, 3)]
    assert answer[0]["goodput"] < 5e6 < answer[1]["goodput"]
    assert cli("query", sql, "--csv").stdout.splitlines()[0] == "bottleneck_rate_bps,n,goodput"
    refused = cli("query", "SELECT nothing FROM flows")
    assert refused.exit_code == 2
    assert '"nothing" not found' in refused.stderr
    assert cli("query", "SELECT 1", "--sweep", "rate").stderr.strip().endswith('Did you mean "rates"?')
    assert json.loads(cli("store", "list", "--json").stdout)[0]["runs"] == 6
    assert json.loads(cli("store", "verify", "--json").stdout)["runs"] == 6
    assert cli("store", "gc").exit_code == 0
    assert cli("store", "export", "store", "rates", "-o", "out").exit_code == 0
    assert pl.read_parquet(tmp_path / "out" / "flows.parquet").height == 6
    assert cli("store", "export", "store", "rates", "-o", "out").exit_code == 2
    assert cli("store", "verify", "nowhere").exit_code == 2


def test_workers_are_counted_from_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="workers: found 0"):
        ps.sweep(plan(), tmp_path / "store", workers=0)
    with pytest.raises(InputError, match="workers: found beside scheduler"):
        ps.sweep(plan(), tmp_path / "store", workers=1, scheduler="tcp://127.0.0.1:1")


def test_a_process_whose_owner_is_gone_ends() -> None:
    process = LocalPool(1)._processes[0]
    process.connection.close()
    try:
        assert process.process.wait(timeout=30) == 1
    finally:
        process.process.kill()


def test_a_run_with_other_code_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swept = ps.sweep(plan(repetitions=1), tmp_path / "store", workers=1)
    monkeypatch.setattr("parshall.results.records.about.code_version", lambda: "0.0.0+other")
    before = time.monotonic()
    with pytest.raises(ParshallError, match=r"runs Parshall .* this is 0\.0\.0\+other; install the same one there"):
        ps.sweep(plan(repetitions=1), tmp_path / "store", workers=1)
    assert time.monotonic() - before < 60
    assert len(swept.store.run_directories()) == 3


def test_an_emulation_that_a_sweep_does_not_accept_is_not_taken_from_the_store(tmp_path: Path) -> None:
    def planned(*, accept: bool, instrument: Any = "emulate") -> ps.Plan:
        return ps.Plan(
            name="e",
            scenario={"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms"}]},
            parameters={"bottleneck.rate": ["5 Mbit/s", "6 Mbit/s"]},
            repetitions=1,
            instrument=instrument,
            accept_invalid=accept,
        )

    store = ps.Store(tmp_path / "store", create=True)
    store.check_writable()
    code, runs = about.code_version(), []
    simulated = prepare(planned(accept=True, instrument="simulate")).texts
    for text, records in zip(prepare(planned(accept=True)).texts, simulated, strict=True):
        runs.append(key_of(text, 0, code))
        # The records are made by the simulator: what is asked here is what a sweep takes.
        does = Repetition(records, 0, (str(store.directory), store.identity))
        assert isinstance(execute(Call(runs[-1], does)), Written)
    for run, level in zip(runs, ("invalid", "valid"), strict=True):
        path = store.run_directory(run) / "run.json"
        described = json.loads(path.read_text())
        described["totals"]["emulation"] = {"level": level, "reasons": []}
        path.write_text(json.dumps(described))
    taken = ps.sweep(planned(accept=True), store)
    assert (taken.status, taken.runs["validity"].to_list()) == ("complete", ["invalid", "valid"])
    refused = ps.sweep(planned(accept=False), store)
    assert (refused.status, refused.runs["validity"].to_list()) == ("failures", ["valid"])
    assert list(refused.record.failed) == runs[:1]
    assert "accept_invalid = true takes it" in refused.record.failed[runs[0]]
    assert refused.points["goodput_bps"].is_null().to_list() == [True, False]
    assert ps.sweep(planned(accept=True), store).status == "complete"
