"""Sweep files: lists, ranges, distributions, how they combine, and what is said of mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import parshall as ps
from parshall.campaign.axes import axes
from parshall.campaign.design import canonical, points, resolved
from parshall.campaign.plan import Plan
from parshall.campaign.values import common_kind, measured, written
from parshall.foundations.errors import ScenarioError
from parshall.scenario.schema.model import Problem

SCENARIO: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "5 Mbit/s", "queue": "drop_tail"},
    "flows": [{"name": "web", "rtt": "50 ms"}],
}


def plan(**keys: Any) -> Plan:
    return Plan(**{"scenario": SCENARIO, **keys})


def values(**keys: Any) -> list[tuple[Any, ...]]:
    return [tuple(point.values.values()) for point in points(plan(**keys))]


def test_every_value_is_combined_with_every_other() -> None:
    found = values(parameters={"flows.0.count": [1, 2], "bottleneck.rate": ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"]})
    assert found[:3] == [(1, "1 Mbit/s"), (1, "2 Mbit/s"), (1, "3 Mbit/s")]
    assert len(found) == len(set(found)) == 6


def test_key_paths_may_be_nested_tables() -> None:
    nested = points(plan(parameters={"bottleneck": {"queue": {"limit": ["1 BDP"]}}}))
    assert nested[0].values == points(plan(parameters={"bottleneck.queue.limit": ["1 BDP"]}))[0].values


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"from": 1, "to": 9, "step": 2}, (1, 3, 5, 7, 9)),
        ({"from": 1, "to": 9, "points": 3}, (1, 5, 9)),
        ({"from": 0.1, "to": 0.3, "step": 0.1}, (0.1, 0.2, 0.3)),
        ({"from": "10 ms", "to": "30 ms", "step": "10 ms"}, ("10 ms", "20 ms", "30 ms")),
        (
            {"from": "1 Mbit/s", "to": "1 Gbit/s", "points": 4, "scale": "log"},
            ("1 Mbit/s", "10 Mbit/s", "100 Mbit/s", "1 Gbit/s"),
        ),
        ({"from": "0.5 BDP", "to": "1.5 BDP", "points": 3}, ("0.5 BDP", "1 BDP", "1.5 BDP")),
        ({"from": "10 packets", "to": "12 packets", "step": "1 packets"}, ("10 packets", "11 packets", "12 packets")),
    ],
)
def test_ranges(given: dict[str, Any], expected: tuple[Any, ...]) -> None:
    found = axes({"key": given})[0].values
    assert found is not None
    assert [measured(value) for value in found] == [measured(value) for value in expected]


def test_values_that_go_together() -> None:
    zipped = {"bottleneck.rate": ["1 Mbit/s", "9 Mbit/s"], "flows.0.count": [1, 9]}
    assert values(zip=[zipped]) == [("1 Mbit/s", 1), ("9 Mbit/s", 9)]
    assert len(values(zip=[zipped], parameters={"flows.0.rtt": ["10 ms", "20 ms"]})) == 4
    again = {"bottleneck.rate": ["1 Mbit/s", "9 Mbit/s", "1 Mbit/s"], "flows.0.count": [1, 1, 9]}
    assert values(zip=[again]) == [("1 Mbit/s", 1), ("9 Mbit/s", 1), ("1 Mbit/s", 9)], "rows differ, values need not"


@given(st.integers(1, 60), st.integers(0, 2**32))
@settings(deadline=None, max_examples=25)
def test_a_latin_hypercube_meets_every_slice_once(samples: int, seed: int) -> None:
    table = {
        "samples": samples,
        "bottleneck.rate": {"uniform": ["1 Mbit/s", "2 Mbit/s"]},
        "flows.0.rtt": {"log_uniform": ["10 ms", "1 s"]},
    }
    rows = values(latin_hypercube=table, seed=seed)
    numbers = np.array([[found.number for value in row if (found := measured(value))] for row in rows])
    places = np.column_stack([numbers[:, 0] / 1e6 - 1, (np.log10(numbers[:, 1]) + 2) / 2])
    inside = np.sort(places, axis=0) * samples - np.arange(samples)[:, np.newaxis]
    assert (inside > -1e-3).all()  # values have six digits: one may be rounded out of its slice
    assert (inside < 1 + 1e-3).all()


def test_draws_follow_their_distribution_and_the_seed() -> None:
    def drawn(seed: int) -> list[float]:
        table = {"flows.0.rtt": {"lognormal": ["50 ms", 0.5], "samples": 2000}}
        return [found.number for row in values(parameters=table, seed=seed) if (found := measured(row[0]))]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    logarithms = np.log(drawn(1))
    assert np.mean(logarithms) == pytest.approx(np.log(0.05), abs=4 * 0.5 / 2000**0.5)
    assert np.std(logarithms) == pytest.approx(0.5, rel=0.07)


def test_integers_of_an_interval_are_equally_likely() -> None:
    rows = values(parameters={"flows.0.count": {"uniform": [1, 4], "samples": 4000}})
    counts = np.bincount([row[0] for row in rows])[1:]
    assert counts == pytest.approx([1000] * 4, abs=4 * (1000 * 0.75) ** 0.5)


@given(st.floats(1e-9, 1e6))
def test_written_numbers_are_read_again(number: float) -> None:
    for kind in ("number", "duration", "BDP"):
        found = measured(written(kind, number))
        assert found is not None
        resolution = 1e-12 if kind == "duration" else 0.0
        assert found.number == pytest.approx(number, rel=1e-5, abs=resolution)


def test_kinds() -> None:
    assert common_kind(["10 ms", "1 s"]) == "duration"
    assert common_kind([1, 2]) == "integer"
    assert common_kind([1, 2.5]) == "number"
    assert common_kind(["10 ms", 1]) is None
    assert common_kind(["red", "10 ms"]) is None
    assert common_kind([True, False]) is None


def test_points_share_their_random_numbers_unless_told() -> None:
    keys = {"parameters": {"flows.0.count": [1, 2]}}
    common = plan(**keys)
    texts = [text for _, _, text in resolved(common, points(common))]
    assert all('"seed":1,' in text for text in texts)
    apart = plan(**keys, random_numbers="independent")
    own = [text for _, _, text in resolved(apart, points(apart))]
    assert len({text.split('"seed":')[1] for text in own}) == 2


def test_a_name_and_a_description_do_not_change_what_is_run() -> None:
    def text(**more: str) -> str:
        swept = Plan(scenario={**SCENARIO, **more}, parameters={"flows.0.count": [1]})
        return next(text for _, _, text in resolved(swept, points(swept)))

    assert text() == text(name="other", description="in other words")


def test_canonical_json_has_one_form() -> None:
    assert canonical({"b": 1, "a": [1.5, None]}) == '{"a":[1.5,null],"b":1}'


BAD: list[tuple[dict[str, Any], str]] = [
    ({"parameters": {"flows.0.count": 3}}, "parameters.flows.0.count: found 3; accepted: "),
    ({"parameters": {"flows.0.count": []}}, "parameters.flows.0.count: found []; accepted: "),
    ({"parameters": {"flows.0.count": [1, 1]}}, "found 1 twice; values differ"),
    ({"parameters": {"flows.0.count": {"from": 3, "to": 1, "step": 1}}}, "the first end is below the second"),
    ({"parameters": {"flows.0.count": {"from": 1, "to": 3}}}, "found neither of step and points"),
    ({"parameters": {"flows.0.count": {"from": 1, "to": 3, "points": 1}}}, "points: found 1; accepted: "),
    ({"parameters": {"flows.0.count": {"from": 1, "to": 3, "stop": 1}}}, "stop: unknown key beside from; accepted: "),
    ({"parameters": {"bottleneck.rate": {"from": "1 Mbit/s", "to": "2 s", "points": 3}}}, "two quantities of one kind"),
    ({"parameters": {"bottleneck.rate": {"uniform": ["1 Mbit/s", "2 Mbit/s"]}}}, "samples: missing"),
    ({"parameters": {"flows.0.rtt": {"normal": ["1 ms", "1 s"], "samples": 50}}}, "a draw is not accepted: found -"),
    ({"parameters": {"flows.3.count": [1]}}, "parameters.flows.3.count: flows.3 does not exist; flows has 1"),
    ({"parameters": {"flows.0.count": [1]}, "zip": [{"flows.0.count": [2]}]}, "found the key flows.0.count twice"),
    (
        {"zip": [{"flows.0.count": [1, 2, 1], "bottleneck.rate": ["1 Mbit/s", "1 Mbit/s", "1 Mbit/s"]}]},
        'zip.0: found 1, "1 Mbit/s" twice; rows of values differ',
    ),
    (
        {"zip": [{"flows.0.count": [1], "bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"]}]},
        "accepted: as many values of each",
    ),
    ({"latin_hypercube": {"flows.0.count": {"uniform": [1, 9]}}}, "latin_hypercube.samples: found nothing; accepted: "),
    ({"latin_hypercube": {"samples": 3, "flows.0.count": [1, 9]}}, "found a list or range; accepted: a distribution"),
    ({"parameters": {"bottleneck.rate": ["5 Mbps"]}}, "point 0 (bottleneck.rate = 5 Mbps): bottleneck.rate: found"),
    ({"repetitions": 0}, "repetitions: found 0; accepted: 1 or more"),
    ({"repetitions": {"metric": "goodput_bps"}}, "found neither of relative_half_width and half_width"),
    (
        {"repetitions": {"metric": "goodput", "half_width": 1.0}},
        'repetitions.metric: found "goodput"; accepted: goodput',
    ),
    ({"metrics": ["group/wep/goodput_bps"]}, 'Did you mean "group/web/goodput_bps"?'),
    ({"compare": {"parameter": "flows.0.count", "baseline": 1}}, "compare.parameter: found "),
    ({"colour": "red"}, "colour: unknown key; accepted: "),
    ({"budget": {"time": "3"}}, "budget.time: found "),
]


@pytest.mark.parametrize(("keys", "message"), BAD, ids=lambda each: str(each)[:60])
def test_mistakes_are_named_before_anything_is_run(keys: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        ps.sweep(plan(**keys), tmp_path / "store")
    assert message in str(caught.value)
    assert not (tmp_path / "store").exists()


def test_a_message_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rates.toml"
    path.write_text('scenario = "none.toml"\n[parameters]\n"bottleneck.rate" = 3\n')
    with pytest.raises(ScenarioError, match=r"rates\.toml: parameters\.bottleneck\.rate: found 3"):
        ps.sweep(path, tmp_path / "store")


def test_a_sweep_file_names_its_scenario(tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "base.toml").write_text(
        'duration = "1 s"\n[bottleneck]\nrate = "5 Mbit/s"\n[[flows]]\nrtt = "50 ms"\n'
    )
    path = tmp_path / "rates.toml"
    path.write_text(
        'scenario = "scenarios/base.toml"\n[set]\nwarm_up = "0.1 s"\n[parameters]\nflows.0.count = [1, 2]\n'
    )
    read = Plan.load(path, ("repetitions=3",))
    assert read.name == "rates"
    assert read.repetitions == 3
    assert len(points(read)) == 2
    assert all('"warm_up_ps":100000000000' in text for _, _, text in resolved(read, points(read)))


def test_forms_are_told_apart() -> None:
    with pytest.raises(Problem, match=r"found \{\}"):
        axes({"bottleneck": {}})
    with pytest.raises(Problem, match="accepted: letters, digits and _"):
        axes({"a": {"values": [1], "name": "a-b"}})
