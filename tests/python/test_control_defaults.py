"""What a congestion control changes about its flows: the default of their recovery, and what they need."""

from __future__ import annotations

from typing import Any

import pytest

import parshall as ps
from parshall.report import description
from parshall.scenario.controls import declare


def scenario(**flow: Any) -> ps.Scenario:
    return ps.Scenario.from_document(
        {"duration": "1 s", "bottleneck": {"rate": "10 Mbit/s"}, "flows": [{"rtt": "40 ms", **flow}]}
    )


def recovery(made: ps.Scenario) -> str:
    return str(made.resolve()["flows"][0]["tcp"]["recovery"])


@pytest.mark.parametrize(
    ("control", "expected"), [("cubic", "sack"), ("reno", "sack"), ("bbr", "rack"), ("bbr2", "rack"), ("bbr3", "rack")]
)
def test_each_control_has_its_default_recovery(control: str, expected: str) -> None:
    assert recovery(scenario(congestion_control=control)) == expected
    assert recovery(scenario(congestion_control={"name": control})) == expected
    assert recovery(scenario(congestion_control=control, recovery="sack")) == "sack"


def test_prague_sends_packets_for_l4s_unless_told_otherwise() -> None:
    def l4s(**flow: Any) -> Any:
        return scenario(**flow).resolve()["flows"][0]["tcp"]["l4s"]

    assert l4s(congestion_control="prague") is True
    assert l4s(congestion_control="prague", l4s=False) is False
    assert l4s(congestion_control="dctcp") is False


class Scalable:
    """A window that stays: what counts is what it asks for."""

    needs = ("l4s",)

    def __init__(self, start: Any) -> None:
        self.cwnd = start.cwnd

    def on_ack(self, ack: Any) -> None: ...

    def on_loss(self, event: Any) -> None: ...

    def on_timeout(self, event: Any) -> None: ...

    def set_slope(self, slope: float) -> None: ...


@pytest.mark.parametrize(
    "control", ["scalable_of_mine", {"name": "multiple_time_scale", "control": "scalable_of_mine"}]
)
def test_a_control_from_outside_can_ask_for_packets_for_l4s(control: Any) -> None:
    declare({"scalable_of_mine": Scalable})

    assert scenario(congestion_control=control).resolve()["flows"][0]["tcp"]["l4s"] is True
    assert scenario(congestion_control=control, l4s=False).resolve()["flows"][0]["tcp"]["l4s"] is False


def test_the_default_follows_the_control_that_is_set_later() -> None:
    made = scenario(congestion_control="bbr")
    assert recovery(made.with_values({"flows.0.congestion_control": "cubic"})) == "sack"
    assert recovery(scenario().with_values({"flows.0.congestion_control": "bbr3"})) == "rack"


def test_vegas_without_timestamps_is_refused() -> None:
    for control in ("vegas", {"name": "multiple_time_scale", "control": "vegas"}):
        with pytest.raises(ps.ScenarioError, match=r"flows\.0\.timestamps: found false, but .* measures delays"):
            scenario(congestion_control=control, timestamps=False).resolve()
        scenario(congestion_control=control).resolve()
    scenario(congestion_control="reno", timestamps=False).resolve()


def test_the_page_says_that_the_defaults_are_no_operating_systems() -> None:
    def said(**flow: Any) -> str:
        return " ".join(
            description.sentences({"flows": [{"rtt": "40 ms", "congestion_control": {"name": "cubic"}, **flow}]})
        )

    classic = {"recovery": "sack", "delayed_ack": "off", "initial_window": "10 packets", "slow_start": "standard"}
    assert 'of no operating system; tcp = "linux" has those of Linux.' in said(**classic)
    assert "operating system" not in said(**classic, tcp="linux")
    linux = {**classic, "recovery": "rack", "delayed_ack": "40 ms", "slow_start": "hystart++"}
    assert "operating system" not in said(**linux)
    assert "operating system" in said(**{**linux, "initial_window": "3 packets"})
    assert "operating system" not in said(**classic, workload="rate_controlled")
