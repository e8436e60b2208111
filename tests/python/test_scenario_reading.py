"""Overrides, defaults, and the JSON Schema."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.foundations.errors import InputError
from parshall.scenario.schema.catalog import families
from parshall.scenario.schema.reading import override
from parshall.scenario.schema.writing import toml

FOLDER = Path(__file__).parents[2] / "scenarios"
SCENARIOS = sorted(path for path in FOLDER.rglob("*.toml") if path.parent.name != "sweeps")


@pytest.mark.parametrize(
    ("assignment", "path", "value"),
    [
        ("flows.0.count=10", ("flows", 0, "count"), 10),
        ("flows.web.count=10", ("flows", 1, "count"), 10),
        ("flows.bulk.rtt=80 ms", ("flows", 0, "rtt"), "80 ms"),
        ('bottleneck.rate="10 Mbit/s"', ("bottleneck", "rate"), "10 Mbit/s"),
        ("bottleneck.rate=10 Mbit/s", ("bottleneck", "rate"), "10 Mbit/s"),
        ("bottleneck.loss.name=bernoulli", ("bottleneck", "loss"), {"name": "bernoulli"}),
        (
            "flows.0.congestion_control.increase=2.0",
            ("flows", 0, "congestion_control"),
            {"name": "reno", "increase": 2.0},
        ),
        ('flows.1.start={list=["1 s"]}', ("flows", 1, "start"), {"list": ["1 s"]}),
        ("probes.transfers=false", ("probes", "transfers"), False),
        ("flows.1.workload.sizes.0=1 kB", ("flows", 1, "workload", "sizes", 0), "1 kB"),
    ],
)
def test_an_override_sets_one_value(
    assignment: str, path: tuple[str | int, ...], value: Any, document: dict[str, Any]
) -> None:
    override(document, assignment)
    found: Any = document
    for part in path:
        found = found[part]
    assert found == value


def test_groups_without_a_name_have_one(toml: Path) -> None:
    scenario = ps.Scenario.load(toml, ["flows.flows1.count=3"])
    assert [(group.name, group.count) for group in scenario.flows] == [("bulk", 2), ("flows1", 3)]


@pytest.mark.parametrize(
    ("assignment", "problem"),
    [
        ("flows.0.count", "write key.path=value"),
        ("=3", "write key.path=value"),
        ("flows..count=3", "write key.path=value"),
        ("flows.7.count=3", "flows.7 does not exist; flows has 2"),
        ("flows.wbe.count=3", 'Did you mean "web"?'),
        ("duration.x.y=3", "which has no keys"),
        ("repetitions.x=3", "which has no keys"),
    ],
)
def test_an_override_that_leads_nowhere(assignment: str, problem: str, document: dict[str, Any]) -> None:
    document["repetitions"] = 1
    with pytest.raises(InputError) as refusal:
        override(document, assignment)
    assert problem in str(refusal.value)


def test_the_name_is_the_file_s_unless_given(toml: Path) -> None:
    assert ps.Scenario.load(toml).name == "small"
    assert ps.Scenario.load(toml, ["name=other"]).name == "other"


def test_parts_can_be_made_in_python() -> None:
    group = ps.FlowGroup(rtt="50 ms", count=3)
    scenario = ps.Scenario(duration="1 s", bottleneck={"rate": "1 Mbit/s"}, flows=[group, group])
    assert [each.name for each in scenario.flows] == ["flows0", "flows1"]
    assert scenario.resolve()["flows"][0]["count"] == 3


def test_scenarios_do_not_change(scenario: ps.Scenario) -> None:
    with pytest.raises(ValueError, match="with_values"):
        scenario.seed = 3


def test_the_json_schema_knows_every_entry_of_every_catalog() -> None:
    text = json.dumps(ps.Scenario.json_schema())
    for name in ("congestion_controls", "queues", "losses", "workloads", "distributions", "recoveries"):
        for entry in families()[name]:
            assert f'"{entry.name}"' in text
            for parameter in entry.parameters:
                assert f'"{parameter.name}"' in text


def _accepted(schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    """Whether a value fits the part of JSON Schema that ours uses."""
    if "$ref" in schema:
        return _accepted(root["$defs"][schema["$ref"].rpartition("/")[2]], value, root)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return any(_accepted(option, value, root) for option in schema[key])
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    match value:
        case dict():
            known = schema.get("properties", {})
            return (
                schema.get("type") == "object"
                and set(schema.get("required", ())) <= value.keys() <= known.keys()
                and all(_accepted(known[key], item, root) for key, item in value.items())
            )
        case list():
            options = schema.get("prefixItems") or [schema.get("items", {})] * len(value)
            return schema.get("type") == "array" and all(map(lambda o, v: _accepted(o, v, root), options, value))
        case bool():
            return schema.get("type") == "boolean"
        case str():
            return schema.get("type") == "string" and re.search(schema.get("pattern", ""), value) is not None
        case _:
            return schema.get("type") in ("integer", "number")


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_fit_the_json_schema(path: Path) -> None:
    schema = ps.Scenario.json_schema()
    document = tomllib.loads(path.read_text())
    assert _accepted(schema, document, schema)
    assert not _accepted(schema, {**document, "unheard_of": 1}, schema)
    broken = {**document, "duration": 10}
    assert not _accepted(schema, broken, schema)


@pytest.mark.parametrize("sizes", ["64 kB", ["64 kB", "20 packets"]])
def test_the_json_schema_accepts_one_size_and_several(sizes: Any) -> None:
    schema = ps.Scenario.json_schema()
    document = ps.Scenario.load("short-flows").document()
    document["flows"] = [{"rtt": "20 ms", "workload": {"name": "transfer", "sizes": sizes}}]
    assert _accepted(schema, document, schema)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_run(path: Path) -> None:
    warm_up = ['warm_up="1 s"'] if "warm_up" in tomllib.loads(path.read_text()) else []
    length = "22 s" if path.stem == "sawtooth" else "6 s"  # its second flow begins after 20 s
    scenario = ps.Scenario.load(path, [f'duration="{length}"', "repetitions=1", *warm_up])
    run = ps.run(scenario)
    assert run.status == "complete"
    assert run.summary["packets_forwarded"] > 0
    assert run.summary["goodput_bps"] > 0
    assert run.metadata["prediction_problem"] is None
    assert run.predicted


def test_names_of_sysctls_are_written_as_one_key() -> None:
    document = {"flows": [{"kernel": {"sysctls": {"net.ipv4.tcp_sack": 0}}}]}
    assert tomllib.loads(toml(document)) == document
