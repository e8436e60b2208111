"""A page of every kind, small and the same each time, for tests in a browser."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import parshall as ps
from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Tolerance
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import single
from parshall.campaign import Execution
from parshall.campaign.page import document as of_sweep
from parshall.design import aqm, buffer, repetitions
from parshall.design.network_page import aqm_page, buffer_page, repetitions_page
from parshall.design.queueing import Demand, place
from parshall.instruments.observation import observe
from parshall.report.comparison_page import document as of_comparison
from parshall.report.document import Document, Section, Table
from parshall.report.observation.page import document as of_observation
from parshall.report.page import document as of_run
from parshall.studies.page import document as of_study
from parshall.studies.study import Findings, Study
from parshall.suites.control_check import check
from parshall.suites.control_check.page import page as of_check
from parshall_studies.benchmark.applications import find
from parshall_studies.benchmark.benchmark import run as run_itb
from parshall_studies.benchmark.building import case
from parshall_studies.benchmark.classes import classes
from parshall_studies.benchmark.page import page as of_itb
from parshall_studies.benchmark.scale import SCALES
from parshall_studies.diffserv import Sessions
from parshall_studies.routers.agreement import Agreement
from parshall_studies.routers.page import page as of_rio
from parshall_studies.routers.recommendation import recommend
from parshall_studies.routers.rio import rio
from parshall_studies.routers.simulated import Setting

ROOT = Path(__file__).parents[2]
QUICK = {"duration": "8 s", "warm_up": "2 s", "repetitions": 2}


def run(name: str, **values: Any) -> Any:
    return ps.run(ps.Scenario.load(name, {**QUICK, **values}))


def sweep() -> Document:
    document = {"duration": "2 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms", "count": 2}]}
    parameters = {"bottleneck.rate": ["4 Mbit/s", "8 Mbit/s", "9 Mbit/s"], "flows.0.rtt": ["20 ms", "40 ms", "60 ms"]}
    with tempfile.TemporaryDirectory() as store:
        return of_sweep(ps.sweep(ps.Plan(name="grid", scenario=document, parameters=parameters, repetitions=2), store))


def study() -> Document:
    checks = [
        equal("table1", "mean completion time, s", 2.0, Interval(2.1, 2.0, 2.2, 4), within=Tolerance(0.3, "a plot")),
        equal("table1", "loss rate", 0.5, single(0.1), within=Tolerance(0.01, "digits"), note="one run"),
        reported("fig2", "median, s", Interval(1.5, 1.4, 1.6, 4)),
    ]
    about = Study("example", "Example", "an example", "nobody 2026", [])
    return of_study(
        about, "quick", Findings(checks, [Section("Table 1", tables=[Table("", ("a", "b"), [("1", "2")])])])
    )


def office() -> Any:
    flows = [{"count": 4, "rtt": "40 ms", "congestion_control": "reno", "start": {"uniform": "1 s"}}]
    return ps.Scenario(bottleneck={"rate": "10 Mbit/s"}, flows=flows, **QUICK)


def buffer_design() -> Document:
    return buffer_page(buffer.choose(place(office()), Demand(utilisation=0.9, delay_s=0.05), most=3))


def rio_design() -> Document:
    sessions = Sessions(np.linspace(0.03, 0.1, 10), 30, 10)
    design = rio(sessions, capacity_per_s=600.0, agreement=Agreement(loss_in=0.05, delay_s=0.1), limit_packets=40)
    return of_rio(design, recommend(design, Setting(duration_s=10, warm_up_s=2, repetitions=2), most=2))


def itb() -> Document:
    tiny = replace(SCALES["quick"], messages=10, message_bytes={10.0: 50e3, 1000.0: 10e3}, repetitions=2)
    cases = [case(find("PP")[0], classes("B")[0], tiny)]
    with tempfile.TemporaryDirectory() as store:
        return of_itb(run_itb(cases, ["cubic", "reno"], Execution(Path(store), workers=1)))


def control_check() -> Document:
    return of_check(check("reno", repetitions=2, execution=Execution(workers=1)))


PAGES: dict[str, Callable[[], Document]] = {
    "run": lambda: of_run(run("quickstart")),
    "run with several links": lambda: of_run(run("parking-lot")),
    "run with transfers": lambda: of_run(run("short-flows")),
    "prediction": lambda: of_run(ps.predict(ps.Scenario.load("quickstart"))),
    "comparison": lambda: of_comparison(
        ps.compare(run("quickstart"), run("quickstart", **{"bottleneck.queue": "codel"}), names=["one", "other"])
    ),
    "sweep": sweep,
    "observation": lambda: of_observation(observe(ROOT / "docs" / "example.pcap.gz"), without=("arrivals",)),
    "study": study,
    "design of a buffer": buffer_design,
    "design of a queue": lambda: aqm_page(aqm.choose(place(office()), Demand(delay_s=0.02), ["codel", "pie"])),
    "design of repetitions": lambda: repetitions_page(repetitions.choose(office(), within=0.2, pilot=3)),
    "design of a RIO router": rio_design,
    "benchmark": itb,
    "check of a control": control_check,
}
