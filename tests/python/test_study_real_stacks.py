"""Studies on real stacks, without a kernel: what is declared, and what is concluded of made-up answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from parshall.emulation import Validity
from parshall.stats.confidence import mean_interval
from parshall.studies import stacks, study
from parshall.studies.rio import real_stacks as rio
from parshall.studies.rio.network import PAPER
from parshall.studies.rio.simulated import ROUTERS, Measured
from parshall.studies.study import Case, Emulated, emulated, replaced

VALID, INVALID = Validity("valid", []), Validity("invalid", ["packets were late; have fewer flows"])


def test_a_run_of_linux_is_held_against_one_more_simulated_run() -> None:
    """Of 9, 10, 11 one more run falls within 10 ± 4.97 (Hahn & Meeker, §4.8)."""
    linux = Emulated(None, VALID)
    checks = [
        stacks.beside_simulated("a", "q", linux, ours, [9.0, 10.0, 11.0], least=0.1) for ours in (14.9, 15.1, 5.1, 4.9)
    ]
    assert [check.verdict for check in checks] == ["consistent_with_theory", "not_reproduced"] * 2
    assert stacks.beside_simulated("a", "q", linux, 17.0, [9.0, 10.0, 11.0], least=8.0).verdict != "not_reproduced"


def test_an_invalid_emulation_is_done_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = iter(["invalid", "valid", "invalid", "invalid"])
    monkeypatch.setattr("parshall.emulation.emulate", lambda _: "run")
    monkeypatch.setattr("parshall.emulation.validity", lambda _: replace(VALID, level=next(levels)))
    case = emulated("one", rio.scenario("table1", "reno", "quick", 1, {}), str)
    assert [case.answer().validity.level for _ in range(2)] == ["valid", "invalid"]


def test_a_scenario_may_be_the_answer_of_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parshall.emulation.emulate", lambda scenario: scenario)
    monkeypatch.setattr("parshall.emulation.validity", lambda _: VALID)
    before = Case("its scenario", rio.scenario, ("table2", "cubic", "quick", 1, {}))
    found: Emulated = emulated("two", before, study.replaced, str).answer()
    assert found.answer == replaced(rio.scenario("table2", "cubic", "quick", 1, {}), str)


# --- RIO ---


def test_hosts_of_linux_have_no_tcp_of_ns2() -> None:
    (group,) = rio.scenario("table1", "cubic", "quick", 1, {}).document()["flows"]
    assert {"marker", "access_rate", "rtt"} <= group.keys()
    assert not {"receive_window", "min_rto", "recovery", "delayed_ack", "tcp"} & group.keys()
    assert group["congestion_control"]["name"] == "cubic"
    queue = rio.scenario("table2", "reno", "quick", 1, {}).resolve()["links"][0]["queue"]
    assert queue["out_max"] == ROUTERS["table2"].out_max


def rio_answers(linux: dict[str, float], validity: Validity = VALID) -> dict[Any, Any]:
    """All simulations as the source's formulas say, and Linux by factors of that."""
    found: dict[Any, Any] = {}
    for table, curves in ROUTERS.items():
        said = PAPER[f"analytic.{table}"]
        intervals = {name: mean_interval([value]) for name, value in said.items()}
        found[table, "ns-2"] = Measured(curves, intervals, [], 0.0)
        for control in rio.CONTROLS:
            values = {name: value * np.linspace(0.999, 1.001, rio.RUNS) for name, value in said.items()}
            found[table, control, "simulated"] = rio.Summary(values, np.full(100, 50.0), np.full(rio.RUNS, 100.0))
            own = {name: np.array([value * linux.get(name, 1.0)]) for name, value in said.items()}
            found[table, control, "linux"] = Emulated(rio.Summary(own, np.full(100, 50.0), np.array([100.0])), validity)
    return found


def test_formulas_hold_where_they_are_as_near_as_they_were_to_the_source() -> None:
    """p_out of Table 1 was 5 % off there; T was 2 %."""
    found = rio.findings(rio_answers({"p_out": 1.3, "T": 1.015}), "quick")
    verdicts = {
        (check.artefact, check.quantity.rpartition(" ")[2]): check.verdict
        for check in found.checks
        if check.reading == "the source's formulas" and check.quantity.startswith("reno")
    }
    assert {name for (_, name), verdict in verdicts.items() if verdict == "not_reproduced"} == {"p_out"}
    assert verdicts["table1-formulas", "T"] == "consistent_with_theory"
    assert {check.published for check in found.checks} == {None}  # the source measured no Linux
    between = {check.quantity: check.verdict for check in found.checks if check.artefact == "table1-linux"}
    assert between["reno on Linux: p_out"] == "not_reproduced"
    assert between["reno on Linux: q"] == "consistent_with_theory"
    (section,) = found.sections
    assert "reno, the source's formulas: 4 of 5, 4 of 5, 4 of 5" in section.paragraphs[1]
    assert [len(table.rows) for table in section.tables] == [6, 6, 6, 6]


def test_nothing_is_concluded_from_what_is_invalid() -> None:
    found = rio.findings(rio_answers({}, INVALID), "quick")
    assert not found.checks
    assert sum("nothing is concluded from it" in words for words in found.sections[0].paragraphs) == 6
