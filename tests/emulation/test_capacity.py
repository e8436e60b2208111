"""What a machine can emulate: measured once, kept, and held against what scenarios ask for."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from emulations import BULK, needs_the_kernel, on_the_kernel, scenario
from typer.testing import CliRunner

import parshall as ps
from parshall.cli.app import application
from parshall.instruments.emulation import Capacity, advice
from parshall.instruments.emulation.capacity import Trial, beyond, this_machine
from parshall.instruments.emulation.kernel import emulated
from parshall.results.records.validity import MEASURED

FILLED = Trial(1e9, 1, 0.97e9, "valid", None, 0.5, 100e-6)
ABLE = Capacity(
    machine=this_machine(),
    measured="2026-01-01T00:00:00+00:00",
    rate_bps=1e9,
    flows=100,
    flows_rate_bps=1e9,
    lateness_p50_s=50e-6,
    lateness_p99_s=100e-6,
    answer_p99_s=60e-6,
    steal=0.0,
    real_time=True,
    load=0.0,
    trials=[FILLED],
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    return place


def asked(*flows: dict[str, Any], rate: str) -> list[str]:
    return beyond(emulated(scenario(*flows, rate=rate)), ABLE)


@needs_the_kernel
def test_what_is_beyond_what_was_measured_is_said() -> None:
    assert asked(BULK, rate="1 Gbit/s") == []
    (faster,) = asked(BULK, rate="2 Gbit/s")
    assert faster.startswith(
        "real hosts share a link of 2.00\N{NO-BREAK SPACE}Gbit/s; `parshall doctor --measure` found"
    )
    assert asked({**BULK, "count": 100}, rate="1 Gbit/s") == []
    (more,) = asked({**BULK, "count": 101}, rate="10 Mbit/s")
    assert more.startswith("101 flows have real hosts; `parshall doctor --measure` found that this machine carries 100")
    (streams,) = asked({**BULK, "count": 60, "kernel": {"streams": 2}}, rate="10 Mbit/s")
    assert streams.startswith("120 flows")
    simulated = {**BULK, "name": "simulated", "count": 500, "endpoint": "simulated"}
    assert asked({**BULK, "name": "real"}, simulated, rate="1 Gbit/s") == [], "no hosts send these"
    datagrams = {"rtt": "20 ms", "workload": {"name": "cbr", "rate": "5 Mbit/s"}}
    assert asked(datagrams, rate="10 Gbit/s") == [], "they send less than the link can carry"
    assert beyond(emulated(scenario(BULK, rate="90 Gbit/s")), None) == [], "nothing was measured"


def test_it_is_kept_for_this_machine(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Capacity.kept() is None
    path = ABLE.keep()
    assert cache in path.parents
    assert Capacity.kept() == ABLE
    path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    assert Capacity.kept() is None, "a file that is broken is no measurement"
    ABLE.keep()
    monkeypatch.setattr("parshall.instruments.emulation.capacity.kernel_name", lambda: "Linux 99.0")
    assert Capacity.kept() is None, "another kernel is another machine"
    replace(ABLE, machine="of somebody else").keep()
    assert Capacity.kept() is None
    Capacity.forget()


def test_advice_says_what_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parshall.instruments.emulation.measuring.cores", lambda: 2)
    assert advice(ABLE) == []
    assert "real-time priority" in advice(replace(ABLE, real_time=False))[0]
    assert "let nothing else run" in advice(replace(ABLE, load=1.5))[0]
    assert "a hypervisor took 3.0 %" in advice(replace(ABLE, steal=0.03))[0]
    failed = replace(ABLE, trials=[FILLED, replace(FILLED, level="invalid")])
    assert "it has 2 processors" in advice(failed)[0]
    slow = replace(ABLE, trials=[replace(FILLED, throughput_bps=0.5e9)])
    assert not slow.trials[0].is_carried, "what does not fill the link is not carried"


def test_the_guide_has_each_number_that_is_kept() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    kept = {"repetition", *MEASURED, *(each.name for each in (*fields(Capacity), *fields(Trial)))}
    assert {name for name in kept if f"`{name}`" not in guide} == set()


@on_the_kernel
def test_an_emulation_that_asks_for_more_is_warned_of_before_it_begins(tmp_path: Path) -> None:
    replace(ABLE, rate_bps=5e6).keep()
    path = tmp_path / "short.toml"
    path.write_text(scenario(BULK, seconds=0.5).toml(), encoding="utf-8")
    command = [sys.executable, "-m", "parshall", "emulate", str(path), "-o", str(tmp_path / "run"), "--accept-invalid"]
    done = subprocess.run([*command, "--no-page"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    warning = "real hosts share a link of 10.0\N{NO-BREAK SPACE}Mbit/s; `parshall doctor --measure` found"
    assert done.stderr.startswith(warning), "the first word"
    assert any(each.startswith(warning) for each in ps.load(tmp_path / "run").metadata["warnings"])


@needs_the_kernel
def test_the_doctor_says_what_to_do_where_nothing_was_carried() -> None:
    nothing = replace(ABLE, rate_bps=None, flows=0, trials=[replace(FILLED, level="invalid")])
    for able, found, said in ((ABLE, True, "one flow at 1.00"), (nothing, False, "no fast flow, not many flows")):
        able.keep()
        findings = json.loads(CliRunner().invoke(application(["doctor"]), ["doctor", "--json"]).stdout)
        (finding,) = (each for each in findings if each["what"] == "emulation, measured")
        assert finding["found"] == found
        assert finding["detail"].startswith(said)
        assert finding["remedy"]


@on_the_kernel
def test_the_doctor_measures_what_this_machine_can(cache: Path) -> None:
    doctor = application(["doctor"])
    before = {each["what"]: each for each in json.loads(CliRunner().invoke(doctor, ["doctor", "--json"]).stdout)}
    assert before["emulation, measured"]["measured"] is None
    assert "doctor --measure" in before["emulation, measured"]["remedy"]
    done = CliRunner().invoke(doctor, ["doctor", "--measure", "--json"])
    assert done.exit_code == 0, done.stderr
    after = {each["what"]: each for each in json.loads(done.stdout)}["emulation, measured"]
    measured = after["measured"]
    assert list(cache.rglob("*.json"))
    rates = [each["rate_bps"] for each in measured["trials"] if each["flows"] == 1]
    assert rates in ([4e9], [4e9, 1e9])
    carried = [each for each in measured["trials"] if each["level"] != "invalid"]
    flows = max((each["flows"] for each in carried if each["throughput_bps"] > 0.9 * each["rate_bps"]), default=0)
    assert measured["flows"] == (flows if flows > 1 else 0)
    assert all(each["throughput_bps"] <= 1.01 * each["rate_bps"] for each in measured["trials"])
    assert max(each["throughput_bps"] for each in measured["trials"]) > 1e8, "something crossed the links"
    assert 1e-6 < measured["lateness_p50_s"] <= measured["lateness_p99_s"] < 1
    assert after["found"] == (measured["rate_bps"] is not None and measured["flows"] > 0)
    again = CliRunner().invoke(doctor, ["doctor", "--json"])
    assert next(each for each in json.loads(again.stdout) if each["what"] == after["what"])["measured"] == measured
