"""Two sweeps held against each other: points matched by parameters, pairs, and what may be called significant."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import parshall as ps
from parshall.campaign.comparing import compare
from parshall.campaign.comparison_page import document
from parshall.foundations.errors import InputError

Cli = Callable[..., Result]


def plan(name: str, *, control: str = "reno", rate: str = "5 Mbit/s", seed: int = 1, **keys: Any) -> ps.Plan:
    scenario = {
        "duration": "3 s",
        "seed": seed,
        "bottleneck": {"rate": rate, "queue": {"name": "drop_tail", "limit": "20 packets"}},
        "flows": [{"name": "web", "rtt": "50 ms", "congestion_control": control, "start": {"uniform": "0.5 s"}}],
        "probes": {"flow_samples": False, "link_samples": False},
    }
    given = {"parameters": {"flows.0.count": [1, 2]}, "repetitions": 4, "metrics": ["goodput_bps", "loss_rate"]}
    return ps.Plan(name=name, scenario=scenario, **{**given, **keys})


def done(store: Path, made: ps.Plan) -> ps.Sweep:
    return ps.sweep(made, store, workers=1)


def test_half_the_rate_is_significantly_less(tmp_path: Path) -> None:
    full = done(tmp_path, plan("full"))
    half = done(tmp_path, plan("half", rate="2.5 Mbit/s"))
    found = compare(full, half)
    assert found.paired
    assert (found.only_a, found.only_b) == (0, 0)
    goodput = [each for each in found.differences if each.metric == "goodput_bps"]
    assert sorted(each.point["flows.0.count"] for each in goodput) == ["1", "2"]
    assert [each.verdict for each in goodput] == ["lower", "lower"]
    assert all(each.relative == pytest.approx(-0.5, abs=0.1) for each in goodput)
    assert found.frame.height == 4
    shown = found._repr_html_()
    assert shown.count("<tr>") == 5
    assert "flows.0.count = 2" in shown
    said = "4 differences were compared, and those called different hold at a false discovery rate of 5\xa0%."
    assert said in document(found).sections[0].paragraphs
    assert {"flows.0.count", "metric", "difference_low", "p_value", "verdict"} <= set(found.frame.columns)


def test_the_same_sweep_is_equal(tmp_path: Path) -> None:
    one, other = done(tmp_path, plan("one")), done(tmp_path, plan("other"))
    found = compare(one, other)
    assert {each.verdict for each in found.differences} == {"equal"}
    assert found.tested == 0, "what is equal is no part of the family"
    assert "false discovery" not in str(document(found))


def test_other_seeds_are_independent_samples(tmp_path: Path) -> None:
    found = compare(done(tmp_path, plan("one")), done(tmp_path, plan("other", seed=2)), ["goodput_bps"])
    assert not found.paired
    assert {each.verdict for each in found.differences} <= {"no difference shown", "equal"}


def test_points_are_matched_by_value_and_not_by_place(tmp_path: Path) -> None:
    key = "flows.0.rtt"
    first = done(tmp_path, plan("first", parameters={key: ["20 ms", "50 ms", "80 ms"]}))
    second = done(tmp_path, plan("second", parameters={key: ["0.05 s", "0.02 s"]}))
    found = compare(first, second)
    assert (found.only_a, found.only_b) == (1, 0)
    assert {each.point[key] for each in found.differences} == {"20 ms", "50 ms"}
    assert {each.verdict for each in found.differences} == {"equal"}


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    counts = done(tmp_path, plan("counts"))
    with pytest.raises(InputError, match=r"different parameters \(counts has flows.0.count and rtts has flows.0.rtt\)"):
        compare(counts, done(tmp_path, plan("rtts", parameters={"flows.0.rtt": ["20 ms"]})))
    with pytest.raises(InputError, match="no point in common"):
        compare(counts, done(tmp_path, plan("more", parameters={"flows.0.count": [7]})))
    with pytest.raises(InputError, match='found "nothing_such"; accepted'):
        compare(counts, counts, ["nothing_such"])


def test_one_repetition_shows_nothing(tmp_path: Path) -> None:
    full = done(tmp_path, plan("full", repetitions=1))
    half = done(tmp_path, plan("half", rate="2.5 Mbit/s", repetitions=1))
    differences = compare(full, half).differences
    assert {each.verdict for each in differences} == {"unknown"}
    assert {each.verdict.text(0.01, each.why) for each in differences} == {"one repetition: unknown"}


def test_on_the_command_line(tmp_path: Path, cli: Cli) -> None:
    done(tmp_path / "store", plan("full"))
    done(tmp_path / "store", plan("half", rate="2.5 Mbit/s"))
    shown = cli("compare", "full", "half", "--store", tmp_path / "store")
    assert shown.exit_code == 0, shown.stderr
    assert "lower" in shown.stdout
    assert "paired by common random numbers" in shown.stderr
    assert "4 differences were compared, and those called different hold at a false discovery rate" in shown.stderr
    answer = json.loads(
        cli("compare", "full", "half", "--store", tmp_path / "store", "--metric", "goodput_bps", "--json").stdout
    )
    assert answer["a"] == "full"
    assert [each["verdict"] for each in answer["differences"]] == ["lower", "lower"]
    refused = cli("compare", "full", "half", "--metric", "goodput_bps")
    assert refused.exit_code == 2
    assert "--store" in refused.stderr
    unknown = cli("compare", "full", "halve", "--store", tmp_path / "store")
    assert unknown.exit_code == 2
    assert 'Did you mean "half"?' in unknown.stderr
