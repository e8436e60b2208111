"""The inner variables of congestion controls and queues, as `probes.internals` records them."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import parshall as ps
from parshall.cli.app import VERBS, application
from parshall.instruments.simulation import Run
from parshall.report import page_html
from parshall.scenario.schema import catalog

SCENARIO: dict[str, Any] = {
    "duration": "20 s",
    "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "red", "limit": "100 packets"}},
    "flows": [
        {"name": "fast", "rtt": "40 ms", "congestion_control": "cubic", "count": 2},
        {"name": "model", "rtt": "40 ms", "congestion_control": "bbr"},
        {"name": "steered", "rtt": "40 ms", "congestion_control": {"name": "multiple_time_scale", "control": "cubic"}},
    ],
    "probes": {"flow_samples": "100 ms", "link_samples": "500 ms", "internals": True},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ps.run(ps.Scenario.from_document(SCENARIO), tmp_path_factory.mktemp("internals") / "run")


def recorded(run: Run, owner: str, variable: str) -> pl.DataFrame:
    assert run.internals is not None
    return run.internals.filter(owner=owner, variable=variable).sort("flow", "time_s")


def test_they_are_what_the_catalog_lists(run: Run) -> None:
    assert run.internals is not None
    controls = {entry.name: {each.name for each in entry.variables} for entry in catalog.family("congestion_controls")}
    queues = {entry.name: {each.name for each in entry.variables} for entry in catalog.family("queues")}
    listed = {
        "fast": controls["cubic"],
        "model": controls["bbr"],
        "steered": controls["multiple_time_scale"] | controls["cubic"],
        "bottleneck": queues["red"],
    }
    found = {
        owner: set(rows["variable"]) for (owner,), rows in run.internals.partition_by("owner", as_dict=True).items()
    }
    assert found == listed


def test_variables_of_one_name_have_one_unit() -> None:
    """The figure has one panel for all of a name."""
    units: dict[str, dict[str, set[str]]] = {}
    for entry in chain.from_iterable(catalog.families().values()):
        for each in entry.variables:
            units.setdefault(each.name, {}).setdefault(each.unit, set()).add(entry.name)
    assert any(len(owners) > 1 for by_unit in units.values() for owners in by_unit.values()), "some names are shared"
    assert {name: by_unit for name, by_unit in units.items() if len(by_unit) > 1} == {}


def test_they_belong_to_the_samples(run: Run) -> None:
    assert run.flow_samples is not None
    assert run.link_samples is not None
    samples = run.flow_samples.filter(flow=1).sort("time_s")["time_s"]
    assert recorded(run, "fast", "w_max").filter(flow=1)["time_s"].equals(samples)
    ends = (run.link_samples["time_s"] + run.link_samples["bin_s"]).to_numpy()
    np.testing.assert_allclose(recorded(run, "bottleneck", "average")["time_s"].to_numpy(), ends, rtol=1e-12)


def test_the_values_are_those_of_the_algorithms(run: Run) -> None:
    assert run.flow_samples is not None
    assert set(recorded(run, "model", "state")["value"]) >= {2.0}  # ProbeBW
    bandwidth = recorded(run, "model", "bandwidth")["value"].to_numpy()[-1]
    assert bandwidth * 1500 * 8 < 10e6 * 1.25  # of the link, and what queues of others let through at once
    steered = recorded(run, "steered", "slope")["value"].to_numpy()
    assert np.all((steered >= 1) & (steered <= 6))
    average, probability = (
        recorded(run, "bottleneck", name)["value"].to_numpy() for name in ("average", "probability")
    )
    assert np.all(np.diff(probability[np.argsort(average)]) >= 0), "RED's probability grows with the average"
    assert average.max() > 0


def test_cubics_variables_are_those_of_its_curve(tmp_path: Path) -> None:
    flow = {"name": "alone", "rtt": "100 ms", "congestion_control": "cubic"}
    probes = {"flow_samples": "100 ms", "internals": True}
    scenario = {"duration": "60 s", "bottleneck": {"rate": "20 Mbit/s"}, "flows": [flow], "probes": probes}
    run = ps.run(ps.Scenario.from_document(scenario), tmp_path / "run")
    w_max, k = (recorded(run, "alone", name)["value"].to_numpy() for name in ("w_max", "k"))
    # Half a second after a reduction most epochs have begun, at beta W; W_max is W, or W (1 + beta)/2 by fast
    # convergence:
    # K = cbrt((W_max - beta W) / C) (RFC 9438, eq. (2) and section 4.7).
    settled = np.r_[np.zeros(5, bool), w_max[5:] == w_max[:-5]] & (k > 0)
    ways = [np.isclose(k, np.cbrt(w_max * share / 0.4), rtol=0.02) for share in (0.3, 0.15 / 0.85)]
    assert settled.sum() > 100
    assert np.mean((ways[0] | ways[1])[settled]) > 0.9
    assert ways[0].any()
    assert ways[1].any()


QUEUES: dict[str, dict[str, Any]] = {
    "rio": {"name": "rio", "limit": "60 packets", "in_min": "20 packets", "in_max": "50 packets"}
    | {"out_min": "5 packets", "out_max": "40 packets", "out_probability": 0.1, "averaging": 0.02},
    "fq_codel": {"name": "fq_codel", "limit": "200 packets", "ecn": False},
    "codel": {"name": "codel"},
    "pie": {"name": "pie"},
    "red": {"name": "red"},
    "ared": {"name": "ared"},
    "fq_pie": {"name": "fq_pie"},
    "cake": {"name": "cake", "rate": "9 Mbit/s"},
    "sfb": {"name": "sfb"},
    "drr": {"name": "drr"},
    "priority": {"name": "priority"},
    "shaper": {"name": "shaper", "rate": "9 Mbit/s"},
    "policer": {"name": "policer", "rate": "9 Mbit/s"},
    "dualpi2": {"name": "dualpi2"},
}


def beside_marked_flows(queue: str, directory: Path) -> Run:
    marker = {"name": "token_bucket", "rate": "2 Mbit/s", "burst": "10 packets"}
    flows = [
        {"name": "marked", "count": 2, "rtt": "40 ms", "congestion_control": "reno", "marker": marker},
        {"name": "calls", "rtt": "30 ms", "marker": marker, "workload": {"name": "cbr", "rate": "3 Mbit/s"}},
    ]
    if queue == "dualpi2":  # has a delay of L4S packets only where there are such
        flows.append({"name": "l4s", "rtt": "30 ms", "congestion_control": "dctcp", "l4s": True})
    probes = {"flow_samples": "100 ms", "link_samples": "100 ms", "internals": True}
    bottleneck = {"rate": "10 Mbit/s", "queue": QUEUES[queue]}
    scenario = {"duration": "20 s", "bottleneck": bottleneck, "flows": flows, "probes": probes}
    return ps.run(ps.Scenario.from_document(scenario), directory)


@pytest.mark.parametrize("queue", QUEUES)
def test_queues_tell_all_that_they_list(queue: str, tmp_path: Path) -> None:
    run = beside_marked_flows(queue, tmp_path / "run")
    assert run.internals is not None
    (entry,) = [entry for entry in catalog.family("queues") if entry.name == queue]
    listed = {variable.name for variable in entry.variables}
    assert set(run.internals.filter(owner="bottleneck")["variable"]) == listed


def test_every_queue_with_a_state_is_tried() -> None:
    """That those without variables have no state is tested beside them (`crates/net/tests/conformance.rs`)."""
    assert {entry.name for entry in catalog.family("queues") if entry.variables} == set(QUEUES)


def test_rios_averages_decide_on_its_probabilities(tmp_path: Path) -> None:
    run = beside_marked_flows("rio", tmp_path / "run")
    of = {name: recorded(run, "bottleneck", name)["value"].to_numpy() for name in RIO}
    average, average_in, p_in, p_out = (of[name] for name in RIO)
    assert np.all((average_in >= 0) & (average_in < average + 1))
    assert average_in.max() > 1
    # Clark & Fang 1998: linear between the thresholds; in-packets are held against their own queue.
    rising = np.where(average < 5, 0, 0.1 * (average - 5) / 35)
    np.testing.assert_allclose(p_out, np.where(average < 40, rising, 1), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        p_in, np.where(average_in < 20, 0, 0.01 * (average_in - 20) / 30), rtol=1e-12, atol=1e-15
    )
    assert p_out.max() > 0


RIO = ("average", "average_in", "probability_in", "probability_out")


def test_fq_codels_queues_are_those_of_its_flows(tmp_path: Path) -> None:
    run = beside_marked_flows("fq_codel", tmp_path / "run")
    assert run.link_samples is not None
    of = {
        name: recorded(run, "bottleneck", name)["value"].to_numpy()
        for name in ("active_queues", "new_queues", "dropping_queues", "longest_queue")
    }
    assert of["active_queues"].max() == 3
    assert np.all(of["new_queues"] <= of["active_queues"])
    assert np.all(of["dropping_queues"] <= of["active_queues"])
    assert of["longest_queue"].max() > 10
    dropping = recorded(run, "bottleneck", "dropping_queues").filter(pl.col("value") > 0)["time_s"]
    counts = recorded(run, "bottleneck", "largest_count")
    assert counts["time_s"].to_list() == dropping.to_list(), "a count where one drops, and nowhere else"
    assert counts["value"].min() >= 1


def test_a_buckets_tokens_are_those_that_its_packets_left(tmp_path: Path) -> None:
    """The calls send 3 Mbit/s through a bucket of 2 Mbit/s: it is empty but for what a packet needs."""
    run = beside_marked_flows("codel", tmp_path / "run")
    assert run.flow_samples is not None
    tokens = {flow: recorded(run, owner, "tokens").filter(flow=flow) for owner, flow in (("calls", 2), ("marked", 0))}
    for flow, found in tokens.items():
        assert found["time_s"].to_list() == pytest.approx([0.1 * k for k in range(200)])
        assert found["value"][0] == 15_000, "it is full at first"
        assert found["value"].is_between(0, 15_000).all(), flow
    assert tokens[2]["value"][10:].max() < 1500 + 1000, (
        "a packet finds too few, or takes them; 1000 bytes until the next"
    )
    expected = run.flow_samples.filter(flow=0)["time_s"].to_list()
    assert tokens[0]["time_s"].to_list() == pytest.approx(expected)
    # What was marked in took its bytes: over the run, no more than flowed in, and the bucket.
    sent = run.flows.filter(flow=2)["sent_in_packets"].item()
    size = 1500
    left = tokens[2]["value"][-1]
    assert sent * size == pytest.approx(15_000 + 2e6 / 8 * 19.9 - left, abs=2e6 / 8 * 0.1 + 2 * size)


def test_they_are_on_the_page_and_explained(run: Run) -> None:
    page = page_html(run)
    assert "Inner variables of controls and queues" in page
    assert "w_max" in page
    shown = CliRunner().invoke(application(VERBS), ["list", "cubic", "--json"])
    (entry,) = json.loads(shown.stdout)["congestion_controls"]
    assert [each["name"] for each in entry["variables"]] == ["w_max", "k", "w_est"]


def test_they_are_off_unless_asked_for(tmp_path: Path) -> None:
    scenario = {**SCENARIO, "duration": "2 s", "probes": {}}
    assert ps.run(ps.Scenario.from_document(scenario), tmp_path / "run").internals is None


def test_a_fitted_series_keeps_them_with_its_samples(tmp_path: Path) -> None:
    scenario = {
        **SCENARIO,
        "ends_with": ["file"],
        "flows": [
            {
                "name": "file",
                "rtt": "40 ms",
                "congestion_control": "cubic",
                "workload": {"name": "transfer", "sizes": "2 MB"},
            }
        ],
        "probes": {"internals": True},
    }
    run = ps.run(ps.Scenario.from_document(scenario), tmp_path / "run")
    assert run.flow_samples is not None
    assert recorded(run, "file", "w_max")["time_s"].equals(run.flow_samples.sort("time_s")["time_s"])
