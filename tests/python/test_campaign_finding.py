"""The sentences that open a sweep's page: what they say is what its points have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.campaign import Sweep
from parshall.campaign.finding import finding
from parshall.campaign.page import document
from parshall.report.numbers import quantity

SCENARIO: dict[str, Any] = {
    "duration": "6 s",
    "warm_up": "2 s",
    "bottleneck": {"rate": "5 Mbit/s"},
    "flows": [{"rtt": "20 ms", "count": 2, "congestion_control": "reno", "start": {"uniform": "0.5 s"}}],
}


def swept(tmp_path: Path, parameters: dict[str, Any], *metrics: str) -> Sweep:
    scenario, plan = tmp_path / "scenario.toml", tmp_path / "swept.toml"
    scenario.write_text(ps.Scenario.from_document(SCENARIO).toml())
    lines = ['scenario = "scenario.toml"', "repetitions = 3", f"metrics = {json.dumps(metrics)}", "[parameters]"]
    lines += [f'"{key}" = {json.dumps(values)}' for key, values in parameters.items()]
    plan.write_text("\n".join(lines))
    return ps.sweep(plan, store=tmp_path / "store")


def test_a_metric_that_goes_one_way_is_told_from_end_to_end(tmp_path: Path) -> None:
    limits = ["0.5 BDP", "2 BDP", "8 BDP"]
    sweep = swept(tmp_path, {"bottleneck.queue.limit": limits}, "mean_queueing_delay_s")
    values = [sweep.interval("mean_queueing_delay_s", number) for number in range(3)]
    low, high = (quantity(each.mean, "s") for each in (values[0], values[2]) if each is not None)
    assert f"rises from {low} at limit = 0.5 BDP to {high} at limit = 8 BDP." in finding(sweep)
    page = document(sweep)
    assert page.finding == finding(sweep)
    assert page.sections[0].is_opening
    assert page.sections[0].figures


def test_names_have_a_highest_and_a_lowest(tmp_path: Path) -> None:
    sweep = swept(
        tmp_path, {"bottleneck.queue.name": ["drop_tail", "fq_codel"]}, "mean_queueing_delay_s", "goodput_bps"
    )
    text = finding(sweep)
    assert "Mean queueing delay" in text
    assert " is highest, " in text
    assert "at queue = drop_tail, and lowest, " in text


def test_what_does_not_differ_is_said_to_be_the_same(tmp_path: Path) -> None:
    sweep = swept(tmp_path, {"seed": [1, 2]}, "jain")
    a, b = (sweep.interval("jain", number) for number in range(2))
    assert a is not None
    assert b is not None
    overlap = a.low is None or b.high is None or not (a.low > b.high or (b.low or 0.0) > (a.high or 1.0))
    assert overlap == ("is the same everywhere" in finding(sweep))


@pytest.mark.parametrize("metrics", [("goodput_bps", "jain", "loss_rate", "utilisation")])
def test_few_metrics_are_spoken_of(tmp_path: Path, metrics: tuple[str, ...]) -> None:
    sweep = swept(tmp_path, {"bottleneck.rate": ["2 Mbit/s", "8 Mbit/s"]}, *metrics)
    assert finding(sweep).count("at rate = 2 Mbit/s") + finding(sweep).count("the same everywhere") <= 3
    assert finding(sweep).startswith("Goodput, all flows rises from ")
