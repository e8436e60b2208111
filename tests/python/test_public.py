"""The public face: what is there, how it is found, and what notebooks show of it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import yaml
from typer.testing import CliRunner

import parshall as ps
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Tolerance
from parshall.analysis.stats.confidence import Interval
from parshall.cli.app import VERBS, application
from parshall.suites.control_check.card import CardRow
from parshall_studies import benchmark
from parshall_studies.diffserv import Sessions
from parshall_studies.routers.agreement import Agreement
from parshall_studies.routers.recommendation import recommend
from parshall_studies.routers.rio import rio
from parshall_studies.routers.simulated import Setting

ROOT = Path(__file__).parents[2]
SCENARIO = {"duration": "2 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms"}]}


@pytest.mark.parametrize("package", [ps, ps.stats, ps.models, ps.report, ps.design, ps.studies, benchmark])
def test_every_name_that_is_shown_is_there(package: object) -> None:
    names = [name for name in dir(package) if not name.startswith("_")]
    assert len(names) > 5
    assert all(getattr(package, name) is not None for name in names)


def test_names_that_are_modules_too_stay_what_they_are() -> None:
    code = (
        "import parshall as ps, parshall.instruments.prediction.predict\n"
        "assert callable(ps.predict) and callable(ps.run) and callable(ps.sweep), ps.predict"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_citation_is_that_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == ps.__version__
    assert {"cff-version", "message", "title", "authors"} <= cited.keys(), "what the format requires"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["license"] == project["license"]
    assert project["description"] in f"{cited['title'].partition(': ')[2].capitalize()}"


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys, parshall; assert not {'numpy', 'polars', 'pydantic', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_was_written_is_read_again_whatever_it_is(tmp_path: Path) -> None:
    run = ps.run(SCENARIO, tmp_path / "run")
    for place in (tmp_path / "run", tmp_path / "run" / "run.json"):
        loaded = ps.load(place)
        assert isinstance(loaded, ps.Run)
        assert loaded.flows.equals(run.flows)
    ps.observe(ROOT / "fuzz/corpus/captures/ethernet.pcap", output=tmp_path / "seen")
    assert isinstance(ps.load(tmp_path / "seen"), ps.Observation)
    plan = ps.Plan(name="small", scenario=SCENARIO, parameters={"flows.0.rtt": ["10 ms", "20 ms"]}, repetitions=2)
    sweep = ps.sweep(plan, tmp_path / "store", workers=1)
    store = ps.load(tmp_path / "store")
    assert isinstance(store, ps.Store)
    assert store.sweeps == ["small"]
    assert "small" in store._repr_html_()
    shown = sweep._repr_html_()
    assert "20 ms" in shown
    assert "<td" in shown
    with pytest.raises(ps.InputError, match="no results; accepted: the directory of a run, an observation or a store"):
        ps.load(tmp_path)


def test_notebooks_show_scenarios_predictions_and_observations(tmp_path: Path) -> None:
    scenario = ps.Scenario(**SCENARIO, name="<b>")
    assert "&lt;b&gt;" in scenario._repr_html_()
    again = tmp_path / "again.toml"
    again.write_text(scenario.toml())
    assert ps.Scenario.load(again).resolve() == scenario.resolve()
    predicted = ps.predict(scenario)
    assert "cubic" in predicted._repr_html_()
    seen = ps.observe(ROOT / "fuzz/corpus/captures/ethernet.pcap")
    assert isinstance(seen.flows, pl.DataFrame)
    assert seen._repr_html_().count("<tr>") == len(seen.flows) + 1


def test_notebooks_show_what_was_planned_and_chosen() -> None:
    varied = {"flows.0.rtt": ["10 ms", "<20 ms>"]}
    plan = ps.Plan(name="small", scenario=SCENARIO, parameters=varied, repetitions=2)
    assert "&lt;20 ms&gt;" in plan._repr_html_()
    scenario = ps.Scenario(**{**SCENARIO, "warm_up": "1 s", "repetitions": 2})
    where = ps.design.place(scenario)
    queue = ps.design.buffer.choose(where, ps.design.Demand(utilisation=0.5), most=2)
    assert "utilisation" in queue._repr_html_()
    assert queue.trials[0].judged[0].verdict in queue._repr_html_()
    looks = ps.design.repetitions.choose(scenario, "goodput_bps", 0.9, pilot=3)
    assert "repetitions" in looks._repr_html_()
    assert looks._repr_html_().count("<tr>") == len(looks.looks) + 1
    time = ps.design.transfer.transfer_time("20 kB", "10 Mbit/s", "20 ms", repetitions=20)
    assert "50 % done within" in time._repr_html_()


def test_notebooks_show_designs_of_rio_routers() -> None:
    sessions = Sessions(rtt_s=[0.1, 0.2], reserved_per_s=20, burst_packets=10)
    agreement = Agreement(loss_in=0.5)
    found = rio(sessions, capacity_per_s=200, agreement=agreement, limit_packets=30)
    assert "Set min_in" in found._repr_html_()
    tried = recommend(found, Setting(8.0, 2.0, 1, 1, 1000), most=1)
    assert f"<strong>RIO router, simulated</strong> {tried.verdict}" in tried._repr_html_()


def test_notebooks_show_cards_findings_and_replays() -> None:
    card = ps.control_check.check("reno", measured=False)
    assert "passes the conformance kit" in card._repr_html_()
    assert card._repr_html_().count("<tr>") == len(card.findings) + 1
    row = CardRow("alone", "utilisation", "<utilisation>", "ratio", dict.fromkeys(card.controls), 0.75)
    shown = replace(card, rows=[row])._repr_html_()
    assert "&lt;utilisation&gt;" in shown
    assert "0.75" in shown
    check = equal("table 1", "goodput", 2.0, Interval(2.1, 2.0, 2.2, n=4), within=Tolerance(0.3, "digits"))
    assert "table 1" in ps.studies.Findings([check], [])._repr_html_()
    replay = ps.Replay("ours", "cubic", "6.1", True, 0, 0, 7, 1, 0, 0, [], {"<rounding>": 3}, [])
    assert "&lt;rounding&gt;" in replay._repr_html_()
    assert "7 calls of 1 connection" in replay._repr_html_()


def test_a_scenario_is_predicted_without_being_run(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(ps.Scenario(**SCENARIO).toml())
    shown = CliRunner().invoke(
        application(VERBS),
        ["predict", str(path), "--set", "flows.0.congestion_control=reno", "--set", "duration=200 s"],
    )
    assert shown.exit_code == 0
    assert "pftk" in shown.stdout
    assert "Goodput of a flow" in shown.stdout
    for arguments, message in (
        (["predict", str(path), "--loss", "0.1"], "No such option: --loss"),
        (["predict", "throughput"], "--loss: found none"),
        (["predict", str(tmp_path / "none.toml")], "no such file"),
    ):
        refused = CliRunner().invoke(application(VERBS), arguments)
        assert refused.exit_code == 2
        assert message in refused.stderr


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("study r", ["rio"]),
        ("list cub", ["cubic", "cubic_2005", "cubic_linux"]),
        ("itb --cc reno,hy", ["reno,hybla"]),
        ("study rio --scale p", ["paper"]),
        ("check-control ren", ["reno", "reno_linux"]),
    ],
)
def test_a_shell_completes_names_of_the_catalogs(line: str, expected: list[str]) -> None:
    environment = {**os.environ, "_PARSHALL_COMPLETE": "complete_bash", "COMP_WORDS": f"parshall {line}"}
    environment["COMP_CWORD"] = str(len(line.split()))
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'parshall'; from parshall.cli import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == expected
