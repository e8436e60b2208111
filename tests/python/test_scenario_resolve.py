"""What the simulator gets: every value there, integers in the smallest unit, and in Rust's own names."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall import _core
from parshall.scenario import scenario as scenario_module
from parshall.scenario.schema.catalog import Entry, family
from parshall.scenario.schema.quantities import Duration
from parshall.scenario.schema.resolve.resolved import Resolved
from parshall.scenario.schema.resolve.scenario import resolve

MS = 10**9

Document = dict[str, Any]


def resolved(document: Document) -> dict[str, Any]:
    return ps.Scenario.from_document(document).resolve()


def simulate(scenario: dict[str, Any]) -> dict[str, Any]:
    totals: dict[str, Any] = json.loads(_core.simulate(json.dumps(scenario), 0, None, _core.Monitor()))
    return totals


def test_quantities_are_exact(document: Document) -> None:
    document["flows"][0] |= {"rtt": "0.1 s", "min_rto": "0.3 s", "receive_window": "64 kB", "access_rate": "0.1 Gbit/s"}
    group = resolved(document)["flows"][0]
    assert group["rtt_ps"] == {"constant": 100 * MS}
    assert group["tcp"]["min_rto"] == 300 * MS
    assert group["tcp"]["receive_window"] == 44  # of 1448 bytes
    assert group["access_bps"] == 100_000_000


def test_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a scenario is made: what resolves it, however often, finds quantities."""
    scenarios = [ps.Scenario.load(name) for name in ("quickstart", "parking-lot", "home-line", "rio", "lte")]
    before = [scenario.resolve() for scenario in scenarios]

    def refuse(*text: str) -> int:
        raise AssertionError(f"read again: {text}")

    monkeypatch.setattr(_core, "parse_quantity", refuse)
    assert [scenario.resolve() for scenario in scenarios] == before


def test_a_quantity_is_its_text_and_what_it_says() -> None:
    sent = pickle.loads(pickle.dumps(Duration("0.1 s")))
    assert (sent, type(sent), sent.ps, json.dumps(sent)) == ("0.1 s", Duration, 100 * MS, '"0.1 s"')
    group = ps.Scenario.load("quickstart").flows[0]
    assert isinstance(group.rtt, str)
    assert group.rtt == group.model_dump()["rtt"]
    assert ps.FlowGroup(rtt="10 ms", tcp="linux").header_size.bytes == 52  # a default of the profile is read too


def test_sizes_in_packets_are_full_payloads(document: Document) -> None:
    assert resolved(document)["flows"][1]["workload"]["sizes"] == [50_000, 20 * 1448]
    document["flows"][1] |= {"packet_size": "1000 B", "header_size": "20 B"}
    assert resolved(document)["flows"][1]["workload"]["sizes"] == [50_000, 20 * 980]


def test_sizes_of_datagrams_are_whole_packets(document: Document) -> None:
    size = {"name": "constant", "value": "1 packet"}
    document["flows"][1]["workload"] = {"name": "poisson", "rate": "1 Mbit/s", "size": size}
    group = resolved(document)["flows"][1]
    assert group["workload"]["size"] == {"name": "constant", "value": 1500.0}
    assert group["tcp"] is None
    assert group["congestion_control"] is None


def test_a_buffer_of_one_bdp_is_rate_times_mean_rtt(document: Document) -> None:
    document["bottleneck"]["queue"] = {"name": "drop_tail", "limit": "2 BDP"}
    # Two flows of 50 ms and one of 30 ms: 43.3 ms at 5 Mbit/s are 18.06 packets of 1500 B.
    assert resolved(document)["links"][0]["queue"]["limit"] == {"packets": 36}


def test_the_way_back_is_a_link_if_it_is_given_or_used(document: Document) -> None:
    only = resolved(document)
    assert [link["name"] for link in only["links"]] == ["bottleneck"]
    assert (only["flows"][0]["path"], only["flows"][0]["reverse_path"]) == ([0], [])

    document["flows"][1]["direction"] = "reverse"
    used = resolved(document)
    assert [link["name"] for link in used["links"]] == ["bottleneck", "reverse"]
    assert used["links"][1] == {**used["links"][0], "name": "reverse"}
    assert (used["flows"][0]["path"], used["flows"][0]["reverse_path"]) == ([0], [1])
    assert (used["flows"][1]["path"], used["flows"][1]["reverse_path"]) == ([1], [0])

    document["bottleneck"]["reverse"] = {"rate": "1 Mbit/s"}
    assert resolved(document)["links"][1]["rate"] == {"constant": 1_000_000}
    assert resolved(document)["links"][1]["queue"] == used["links"][0]["queue"]


def test_paths_name_links(document: Document) -> None:
    del document["bottleneck"]
    document["links"] = [{"name": name, "rate": "1 Mbit/s", "delay": "2 ms"} for name in ("a", "b", "c")]
    document["flows"][0] |= {"path": ["a", "c"], "reverse_path": ["b"]}
    document["flows"][1] |= {"path": ["b"]}
    flows = resolved(document)["flows"]
    assert (flows[0]["path"], flows[0]["reverse_path"]) == ([0, 2], [1])

    document["flows"][1]["path"] = ["bb"]
    with pytest.raises(ps.ScenarioError, match=r'flows.1.path.0: found "bb".*Did you mean "b"'):
        resolved(document)
    document["flows"][1]["path"] = ["b"]
    document["flows"][0]["rtt"] = "5 ms"
    with pytest.raises(ps.ScenarioError, match=r'flows.0.rtt: found "5 ms".*write "6 ms" or more'):
        resolved(document)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100 ms", {"constant": 100 * MS}),
        ({"first": "100 ms", "step": "2 ms"}, {"linear": {"first": 100 * MS, "step": 2 * MS}}),
        ({"list": ["10 ms", "50 ms"]}, {"list": [10 * MS, 50 * MS]}),
        ({"uniform": ["10 ms", "100 ms"]}, {"uniform": {"low": 10 * MS, "high": 100 * MS}}),
        (
            {"distribution": {"name": "lognormal", "mean": "80 ms", "sigma": 0.5}},
            {"distribution": {"of": {"name": "lognormal", "mean": 0.08, "sigma": 0.5}, "min_ps": 2 * MS}},
        ),
    ],
)
def test_forms_of_rtts(text: Any, expected: dict[str, Any], document: Document) -> None:
    document["flows"][0]["rtt"] = text
    assert resolved(document)["flows"][0]["rtt_ps"] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 s", {"constant": 1000 * MS}),
        ({"staggered": "10 ms"}, {"linear": {"first": 0, "step": 10 * MS}}),
        ({"uniform": "1 s"}, {"uniform": {"low": 0, "high": 1000 * MS}}),
        ({"list": ["0 s", "1 s"]}, {"list": [0, 1000 * MS]}),
    ],
)
def test_forms_of_starts(text: Any, expected: dict[str, Any], document: Document) -> None:
    document["flows"][0]["start"] = text
    assert resolved(document)["flows"][0]["start_ps"] == expected


@pytest.mark.parametrize(("given", "expected"), [(True, 40 * MS), (False, None), ("off", None), ("100 ms", 100 * MS)])
def test_forms_of_delayed_acks(given: Any, expected: int | None, document: Document) -> None:
    document["flows"][0]["delayed_ack"] = given
    assert resolved(document)["flows"][0]["tcp"]["delayed_ack"] == expected


@pytest.mark.parametrize(
    ("given", "expected"), [("lowest", "lowest"), ("linux", "linux"), ("off", "off"), (True, "last"), (False, "off")]
)
def test_forms_of_a_cached_ssthresh(given: Any, expected: str, document: Document) -> None:
    """Truth values mean what they did when there was one rule."""
    document["flows"][0]["ssthresh_cached"] = given
    assert resolved(document)["flows"][0]["tcp"]["ssthresh_cached"] == expected


def test_files_are_relative_to_the_scenario(toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (toml.parent / "sizes.txt").write_text("1 50\n3 100\n")
    (toml.parent / "lte.down").write_text("1\n2\n2\n")
    monkeypatch.chdir("/")
    scenario = ps.Scenario.load(
        toml,
        [
            'flows.1.workload.size={name="empirical", file="sizes.txt", unit="packets"}',
            'bottleneck={rate_trace="lte.down", queue={name="drop_tail", limit="1 BDP"}}',
        ],
    )
    made = scenario.resolve()
    assert made["flows"][1]["workload"]["size"]["points"] == [[1448.0, 0.5], [4344.0, 1.0]]
    assert made["links"][0]["rate"] == {"trace": [1, 2, 2]}
    assert made["links"][0]["queue"]["limit"] == {"packets": 65}  # 18 Mbit/s, 43.3 ms


def test_samples_are_a_thousandth_of_the_duration_unless_said(document: Document) -> None:
    assert resolved(document)["probes"]["flow_samples"] == {"every": 2 * MS}
    document["probes"] = {"flow_samples": False, "link_samples": "10 ms"}
    probes = resolved(document)["probes"]
    assert (probes["flow_samples"], probes["link_samples"]) == (None, {"every": 10 * MS})


def test_samples_fit_a_run_that_ends_with_its_transfers(document: Document) -> None:
    document["flows"][0] |= {"workload": {"name": "transfer", "sizes": "10 kB"}, "name": "file"}
    document["ends_with"] = ["file"]
    assert resolved(document)["probes"]["link_samples"] == {"fitted": 1_000_000}
    document["probes"] = {"link_samples": "10 ms"}
    assert resolved(document)["probes"]["link_samples"] == {"every": 10 * MS}, "what is asked for stays as it is"


def test_latency_is_measured_unless_there_are_very_many_flows(document: Document) -> None:
    assert resolved(document)["probes"]["latency"] is True
    document["flows"][0]["count"] = 20_000
    assert resolved(document)["probes"]["latency"] is False
    document["probes"] = {"latency": True}
    assert resolved(document)["probes"]["latency"] is True


def test_documents_are_read_back_as_they_are(document: Document) -> None:
    document["flows"].append({"rtt": "40 ms", "workload": {"name": "cbr", "rate": "10 kbit/s"}})
    for name in ("reno", "cubic", "bbr"):  # those of a profile have parameters of their own
        document["flows"].append({"rtt": "40 ms", "congestion_control": name, "tcp": "linux"})
    document["flows"].append({**document["flows"][-2], "slow_start": "hystart++"})
    scenario = ps.Scenario.from_document(document)
    for again in (scenario.document(), scenario.complete_document()):
        assert ps.Scenario.from_document(again).resolve() == scenario.resolve()


def test_values_can_be_changed_by_their_path(scenario: ps.Scenario) -> None:
    changed = scenario.with_values({"flows.bulk.count": 7, "bottleneck.queue.limit": "9 packets"})
    assert changed.resolve()["flows"][0]["count"] == 7
    assert changed.resolve()["links"][0]["queue"]["limit"] == {"packets": 9}
    assert scenario.resolve()["flows"][0]["count"] == 2


# What Python resolves is exactly what Rust reads.


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from _paths(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths(item, (*path, index))


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


OPTIONAL = {
    "access_bps",
    "access_packets",
    "delayed_ack",
    "flow_samples",
    "initial_ssthresh",
    "jitter",
    "link_samples",
    "receive_window",
    "reverse_jitter",
    "timer_tick",
}
"""What may be null: serde reads an absent value as null there, whatever the struct says."""


def test_rust_refuses_any_key_that_is_missing_or_unknown(document: Document) -> None:
    document["flows"][0] |= {"access_rate": "1 Gbit/s", "delayed_ack": True, "receive_window": "64 packets"}
    whole = resolved(document)
    simulate(whole)
    for path in _paths(whole):
        *parents, key = path
        without = copy.deepcopy(whole)
        del _at(without, tuple(parents))[key]
        if key not in OPTIONAL:
            with pytest.raises(ValueError, match=r"missing|expected|needs TCP"):
                simulate(without)
        renamed = copy.deepcopy(whole)
        table = _at(renamed, tuple(parents))
        table["unheard_of"] = table[key]
        with pytest.raises(ValueError, match=r"unheard_of|expected"):
            simulate(renamed)


EXAMPLES: dict[str, Any] = {
    "number": 1.5,
    "integer": 2,
    "boolean": True,
    "duration": "10 ms",
    "rate": "100 kbit/s",
    "bytes": "1 kB",
    "size": "500 B",
    "packets": "2 packets",
    "buffer": "10 packets",
    "size_distribution": {"name": "exponential", "mean": "20 packets"},
    "time_distribution": {"name": "exponential", "mean": "0.1 s"},
    "sizes": ["1 kB", "3 packets"],
}
POINTS = {"size": [["1 kB", 0.5], ["2 kB", 1.0]], "time": [["1 ms", 0.5], ["20 ms", 1.0]]}


def _configured(entry: Entry, role: str = "size") -> dict[str, Any]:
    """An entry with its defaults, and an example for each parameter that has none."""
    chosen: dict[str, Any] = {"name": entry.name}
    for parameter in entry.parameters:
        if parameter.kind == "cdf_points":
            chosen["points"] = POINTS[role]
        elif parameter.kind == "value":
            upper = parameter.name in ("high", "maximum")
            chosen[parameter.name] = {"size": "9 kB" if upper else "3 kB", "time": "90 ms" if upper else "30 ms"}[role]
        elif parameter.default is None:
            example = EXAMPLES[parameter.kind]
            chosen[parameter.name] = example if parameter.maximum is None else _within(example, parameter.maximum)
    return chosen


def _within(example: Any, maximum: float) -> Any:
    return min(example, maximum / 2) if isinstance(example, float) else example


def _entries(name: str) -> list[Entry]:
    return list(family(name))


@pytest.mark.parametrize("entry", _entries("congestion_controls"), ids=lambda entry: entry.name)
def test_every_congestion_control_can_be_run(entry: Entry, document: Document) -> None:
    document["flows"][0]["congestion_control"] = _configured(entry)
    # GCC begins with 25 packets/s, as it does for calls, and the run lasts 2 s.
    assert simulate(resolved(document))["packets_forwarded"] > (50 if entry.name == "gcc" else 90)


@pytest.mark.parametrize("entry", _entries("queues"), ids=lambda entry: entry.name)
def test_every_queue_can_be_run(entry: Entry, document: Document) -> None:
    document["bottleneck"]["queue"] = _configured(entry)
    assert simulate(resolved(document))["packets_forwarded"] > 100


@pytest.mark.parametrize("entry", _entries("losses"), ids=lambda entry: entry.name)
def test_every_loss_model_can_be_run(entry: Entry, document: Document) -> None:
    document["bottleneck"]["loss"] = _configured(entry)
    assert simulate(resolved(document))["events"] > 0


@pytest.mark.parametrize("entry", _entries("recoveries"), ids=lambda entry: entry.name)
def test_every_recovery_can_be_run(entry: Entry, document: Document) -> None:
    document["flows"][0]["recovery"] = entry.name
    assert simulate(resolved(document))["packets_forwarded"] > 100


@pytest.mark.parametrize("entry", _entries("workloads"), ids=lambda entry: entry.name)
def test_every_workload_can_be_run(entry: Entry, document: Document) -> None:
    document["flows"] = [{"rtt": "50 ms", "workload": _configured(entry)}]
    if entry.name == "rate_controlled":
        document["flows"][0]["congestion_control"] = "rate_based"  # datagrams need a control that sets their rate
    assert simulate(resolved(document))["events"] > 0


@pytest.mark.parametrize("entry", _entries("distributions"), ids=lambda entry: entry.name)
def test_every_distribution_can_be_run(entry: Entry, document: Document) -> None:
    size, off = _configured(entry), _configured(entry, "time")
    document["flows"] = [{"rtt": "20 ms", "workload": {"name": "on_off", "size": size, "off": off}}]
    assert simulate(resolved(document))["packets_forwarded"] > 20


def test_a_run_resolves_its_scenario_once(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    """For its check, the simulator, the record and predictions; the one that the run has is another."""
    asked: list[str] = []

    def counted(scenario: ps.Scenario, folder: Path) -> Resolved:
        asked.append(scenario.name)
        return resolve(scenario, folder)

    monkeypatch.setattr(scenario_module, "resolve", counted)
    run = ps.run(document)
    assert len(asked) == 1
    run.scenario.warnings()
    ps.predict(run.scenario)
    assert len(asked) == 2


def test_what_was_resolved_cannot_be_changed_by_others(document: Document) -> None:
    scenario = ps.Scenario.from_document(document)
    scenario.resolve()["flows"][0]["count"] = 77
    assert scenario.resolve()["flows"][0]["count"] == scenario.resolved.flows[0].count != 77
    copied = scenario.model_copy(update={"seed": scenario.seed + 1})
    assert copied.resolved.seed == scenario.resolved.seed + 1
    assert Resolved.of(scenario.resolve()).json() == scenario.resolved.json()


def with_queue(limit: str, rate: str = "8 Mbit/s") -> ps.Scenario:
    queue = {"name": "drop_tail", "limit": limit}
    return ps.Scenario(duration="1 s", bottleneck={"rate": rate, "queue": queue}, flows=[{"rtt": "50 ms"}])


def test_a_limit_may_be_a_time_at_the_rate_of_the_link() -> None:
    for rate, size in (("8 Mbit/s", 150_000), ("80 Mbit/s", 1_500_000)):
        scenario = with_queue("150 ms", rate)
        assert scenario.resolve()["links"][0]["queue"]["limit"] == {"bytes": size}
        assert scenario.document()["bottleneck"]["queue"]["limit"] == "150 ms"
    with pytest.raises(ps.ScenarioError, match=r'"1 ms", which does not hold one packet of 1500 B'):
        with_queue("1 ms").resolve()
    with pytest.raises(ps.ScenarioError, match=r'"0 s"; a queue holds at least one packet'):
        with_queue("0 s")


def test_a_share_may_be_a_percentage() -> None:
    tables = {"duration": "1 s", "flows": [{"rtt": "50 ms"}]}
    loss = {"name": "bernoulli", "probability": "0.5 %"}
    scenario = ps.Scenario(**tables, bottleneck={"rate": "8 Mbit/s", "loss": loss})
    assert scenario.resolve()["links"][0]["loss"]["probability"] == 0.005
    for text, message in (("101 %", r"found 1\.01; accepted: 1 or less"), ("half", "accepted: a number")):
        with pytest.raises(ps.ScenarioError, match=message):
            ps.Scenario(**tables, bottleneck={"rate": "8 Mbit/s", "loss": {**loss, "probability": text}})
    stopping = {"metric": "goodput_bps", "relative_half_width": "2 %"}
    plan = ps.Plan(scenario={**tables, "bottleneck": {"rate": "8 Mbit/s"}}, repetitions=stopping)
    assert getattr(plan.repetitions, "relative_half_width", None) == 0.02


@pytest.mark.parametrize("name", ["BBR", "Bbr", {"name": "CUBIC", "c": 0.5}, "Reno"])
def test_case_does_not_matter_in_names_of_controls(name: Any) -> None:
    lower = {**name, "name": name["name"].lower()} if isinstance(name, dict) else name.lower()
    given, wanted = (
        ps.Scenario(
            duration="1 s", bottleneck={"rate": "8 Mbit/s"}, flows=[{"rtt": "50 ms", "congestion_control": each}]
        )
        for each in (name, lower)
    )
    assert given.resolve() == wanted.resolve()
    assert given.flows[0].congestion_control.name == getattr(wanted.flows[0].congestion_control, "name", None)
