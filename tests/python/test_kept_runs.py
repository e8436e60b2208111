"""Designs and report cards keep their runs: a second call does nothing, and one that was killed goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.campaign.shard import Shard
from parshall.design import buffer, repetitions
from parshall.design.queueing import Demand, place
from parshall.foundations.errors import InputError
from parshall.suites.control_check import check
from parshall_studies.diffserv import Sessions
from parshall_studies.routers.agreement import Agreement
from parshall_studies.routers.recommendation import recommend
from parshall_studies.routers.rio import rio
from parshall_studies.routers.simulated import Setting, simulate

OFFICE: dict[str, Any] = {
    "name": "an office",
    "duration": "8 s",
    "warm_up": "3 s",
    "repetitions": 3,
    "bottleneck": {"rate": "10 Mbit/s"},
    "flows": [{"count": 4, "rtt": "40 ms", "congestion_control": "reno", "start": {"uniform": "1 s"}}],
}


def written(store: Path) -> dict[Path, int]:
    """What a store keeps, and when it was written."""
    kept = [*store.glob("runs/*/*"), *store.glob("segments/*"), *store.glob("answers/*/*")]
    return {path: path.stat().st_mtime_ns for path in kept}


def runs_of(store: Path) -> int:
    return len(list(store.glob("runs/*/*"))) + len(list(store.glob("answers/*/*")))


def test_a_design_asked_again_simulates_nothing(tmp_path: Path) -> None:
    where = place(ps.Scenario(**OFFICE))
    by = ps.Execution(tmp_path / "store", workers=2)
    first = buffer.choose(where, Demand(utilisation=0.9), most=4, execution=by)
    assert ps.Sweep.load(tmp_path / "store", "an-office-buffer").status == "complete"
    before = written(tmp_path / "store")
    assert len(before) == 3 * len(first.trials)
    again = buffer.choose(where, Demand(utilisation=0.9), most=4, execution=by)
    assert again == first
    other = buffer.choose(where, Demand(utilisation=0.9, delay_s=0.05), most=1, execution=by)
    assert other.trials[0].measured in [trial.measured for trial in first.trials], "another bound, the same runs"
    assert written(tmp_path / "store") == before


def test_what_was_designed_is_what_a_run_says() -> None:
    """The same numbers as by `parshall run`, of a mean, a quantile over repetitions, and a total."""
    scenario = ps.Scenario(**OFFICE)
    (trial,) = buffer.choose(place(scenario), Demand(utilisation=0.5), most=1).trials
    made = ps.run(scenario.with_values({"bottleneck.queue": trial.queue}))
    for key in ("utilisation", "queueing_delay_s", "queueing_delay_p99_s", "loss_rate"):
        assert trial.measured[key] == made.quantity(f"link/bottleneck/{key}").interval
    assert trial.measured["goodput_bps"] == made.quantity("goodput_bps").interval


def test_more_repetitions_add_to_those_that_are_there(tmp_path: Path) -> None:
    scenario = ps.Scenario(**OFFICE)
    by = ps.Execution(tmp_path / "store", workers=2)
    repetitions.choose(scenario, within=0.9, pilot=3, execution=by)
    before = written(tmp_path / "store")
    assert len(before) == 3
    found = repetitions.choose(scenario, within=0.9, pilot=5, execution=by)
    assert found.repetitions == 5
    assert {path: time for path, time in written(tmp_path / "store").items() if path in before} == before
    assert len(written(tmp_path / "store")) == 5


def test_routers_are_what_a_simulation_says(tmp_path: Path) -> None:
    sessions = Sessions(rtt_s=[0.05, 0.1], reserved_per_s=20, burst_packets=10)
    found = rio(sessions, capacity_per_s=200, agreement=Agreement(loss_in=0.5), limit_packets=30)
    setting = Setting(8.0, 2.0, 2)
    by = ps.Execution(tmp_path / "store", workers=1)
    recommended = recommend(found, setting, most=3, execution=by)
    for trial in recommended.trials:
        alone = simulate(sessions, trial.router, setting)
        seen = trial.confirmation.simulated
        assert (seen.session_per_s == alone.session_per_s).all()
        assert (seen.loss_in, seen.queue_packets) == (alone.loss_in, alone.queue_packets)
    before = written(tmp_path / "store")
    recommend(found, setting, most=3, execution=by)
    assert written(tmp_path / "store") == before


def test_a_search_has_no_shards() -> None:
    by = ps.Execution("store", shard=Shard(1, 2))
    with pytest.raises(InputError, match="shard 1/2: found beside a search"):
        buffer.choose(place(ps.Scenario(**OFFICE)), Demand(utilisation=0.9), execution=by)


@pytest.mark.slow
def test_a_card_asked_again_simulates_nothing(tmp_path: Path) -> None:
    told: list[str] = []
    by = ps.Execution(tmp_path / "store", workers=2)
    first = check("reno", repetitions=1, execution=by, progress=told.append)
    assert len(told) == runs_of(tmp_path / "store") > 20
    assert told[-1].endswith(f"({len(told)} of {len(told)})")
    before = written(tmp_path / "store")
    again = check("reno", repetitions=1, execution=by)
    assert again.rows == first.rows
    assert written(tmp_path / "store") == before


# --- killed ---


def finished(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "after"),
    [
        (("design", "buffer", "s.toml", "--utilisation", "97 %"), 5),
        (("check-control", "reno", "--repetitions", "1"), 5),
    ],
    ids=["design", "check-control"],
)
def test_one_that_is_killed_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...], after: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(ps.Scenario(**OFFICE).toml())
    start = [sys.executable, "-c", "from parshall.cli import main; main()", *verb, "--json", "--workers", "1"]
    store = tmp_path / "store"
    process = subprocess.Popen([*start, "--store", str(store)], stdout=subprocess.DEVNULL, start_new_session=True)
    begun = time.monotonic()
    try:
        while runs_of(store) < after:
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() - begun < 60
            time.sleep(0.002)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    before = written(store)
    resumed = finished([*start, "--store", str(store)])
    assert {path: when for path, when in written(store).items() if path in before} == before
    assert len(written(store)) > len(before)
    undisturbed = finished(start)
    for answer in (resumed, undisturbed):
        answer.pop("wall_s", None)
    assert resumed == undisturbed


# --- controls that no other process knows ---

NOTEBOOK = """
import parshall as ps

class Mine:
    def __init__(self, start):
        self.cwnd = start.cwnd
    def on_ack(self, ack):
        if ack.may_grow:
            self.cwnd += ack.credit / self.cwnd
    def on_loss(self, event):
        self.cwnd = max(2.0, event.in_flight / 2)
    def on_timeout(self, event):
        self.cwnd = 1.0

ps.controls.declare({"mine": Mine})
flows = [{"rtt": "40 ms", "congestion_control": "mine", "start": {"uniform": "1 s"}}]
scenario = ps.Scenario(duration="5 s", bottleneck={"rate": "5 Mbit/s"}, flows=flows, repetitions=3)
made = ps.sweep(ps.Plan(scenario=scenario), "store", workers=2)
assert made.status == "complete", made.record.failed
assert made.interval("goodput_bps", 0) == ps.run(scenario).quantity("goodput_bps").interval
"""


def test_a_class_of_a_script_is_swept(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-"], input=NOTEBOOK, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert runs_of(tmp_path / "store") == 3
