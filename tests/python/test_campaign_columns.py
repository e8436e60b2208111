"""Parameters of a sweep and the columns of its tables have different names, and integers stay integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.campaign.preparing import prepare
from parshall.foundations.errors import ScenarioError

SCENARIO: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "1 Mbit/s", "queue": "drop_tail"},
    "flows": [{"name": "web", "rtt": "50 ms"}],
    "probes": {"flow_samples": False, "link_samples": False},
}


def plan(parameters: dict[str, Any]) -> ps.Plan:
    return ps.Plan(name="names", scenario=SCENARIO, parameters=parameters, repetitions=1)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "point",
            "run",
            "repetition",
            "sweep",
            "Point",
            "repetitions",
            "ended",
            "seed",
            "goodput_bps",
            "goodput_bps_low",
        ),
        *("link", "group", "metric", "value", "error", "host", "utilisation"),
    ],
)
def test_a_column_of_the_tables_is_no_name(name: str) -> None:
    with pytest.raises(ScenarioError, match=r"flows\.0\.count: found the name .* write another"):
        prepare(plan({"flows.0.count": {"values": [1, 2], "name": name}}))


def test_the_column_of_a_quantity_s_numbers_has_a_name_of_its_own() -> None:
    with pytest.raises(ScenarioError, match=r"bottleneck\.rate: found the name \"goodput\", but \"goodput_bps\" is"):
        prepare(plan({"bottleneck.rate": {"values": ["1 Mbit/s", "2 Mbit/s"], "name": "goodput"}}))
    two = {
        "flows.0.count": {"values": [1, 2], "name": "size_bps"},
        "bottleneck.rate": {"values": ["1 Mbit/s"], "name": "size"},
    }
    with pytest.raises(ScenarioError, match=r"is the column of flows\.0\.count"):
        prepare(plan(two))


def test_integers_stay_integers(tmp_path: Path) -> None:
    seeds = [2**53 + 1, 2**53, 2**64 - 1]
    swept = ps.sweep(plan({"seed": seeds}), tmp_path / "store", workers=1)
    assert swept.points["seed"].to_list() == seeds
    assert swept.query("SELECT DISTINCT seed FROM flows ORDER BY point")["seed"].to_list() == seeds
    assert swept.runs["seed"].to_list() == seeds
