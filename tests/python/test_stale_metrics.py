"""Metrics are computed from stored tables by the code that reads them; nothing stale is shown."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import parshall as ps
from parshall.campaign import maintenance
from parshall.campaign.keys import call_of
from parshall.results.quantities import catalog
from parshall.results.quantities.computing import by_repetition

SCENARIO: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
    "flows": [{"name": "web", "rtt": "50 ms", "start": {"uniform": "0.2 s"}}],
    "probes": {"flow_samples": False, "link_samples": False},
}


def swept(store: Path, name: str, **keys: Any) -> ps.Sweep:
    given = {"scenario": SCENARIO, "parameters": {"flows.0.count": [1, 2]}, "repetitions": 3, **keys}
    return ps.sweep(ps.Plan(name=name, **given), store, workers=1)


@pytest.mark.parametrize("gathered", [False, True])
def test_a_metric_that_is_named_later_is_there(tmp_path: Path, gathered: bool) -> None:
    first = swept(tmp_path, "a")
    if gathered:
        maintenance.collect(first.store)
    key = "group/web/rtt_s"
    later = swept(tmp_path, "b", metrics=[key])
    assert later.values(key, 0).keys() == {0, 1, 2}
    rtts = later.table("flows")
    assert rtts is not None
    expected = (
        rtts.filter(pl.col("point") == 0).group_by("repetition").agg(pl.col("mean_rtt_s").mean()).sort("repetition")
    )
    assert list(later.values(key, 0).values()) == pytest.approx(expected["mean_rtt_s"].to_list())
    assert ps.query(later.store, f"SELECT value FROM metrics WHERE metric = '{key}'", ["b"]).height == 6
    assert ps.Sweep.load(tmp_path, "a").values(key, 1), "and of a sweep that never named it"


def test_a_metric_that_is_redefined_has_its_new_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = swept(tmp_path, "a").values("goodput_bps", 0)
    twice = replace(
        catalog.OURS["run", "goodput_bps"],
        of=lambda tables: by_repetition(tables["flows"], 2 * pl.col("goodput_bps").sum()),
    )
    monkeypatch.setitem(catalog.OURS, ("run", "goodput_bps"), twice)  # type: ignore[arg-type]
    again = swept(tmp_path, "a")
    assert again.values("goodput_bps", 0) == {n: pytest.approx(2 * value) for n, value in old.items()}
    assert again.runs["goodput_bps"][0] == pytest.approx(2 * old[0])
    asked = ps.query(again.store, "SELECT goodput_bps FROM runs WHERE point = 0 AND repetition = 0")
    assert asked.item() == pytest.approx(2 * old[0])


def test_percentiles_of_a_sweep_are_pooled_and_may_decide(tmp_path: Path) -> None:
    """One transfer a run: the mean of their own medians would be the mean."""
    flows = [{"name": "web", "rtt": "50 ms", "workload": {"name": "transfer", "sizes": "30 kB"}}]
    flows[0]["start"] = {"uniform": "0.3 s"}
    scenario = {**SCENARIO, "duration": "4 s", "flows": [*flows, {"name": "bulk", "rtt": "20 ms"}]}
    key = "group/web/completion_p50_s"
    rule = {"metric": key, "half_width": 1e-6, "minimum": 6, "maximum": 8}
    found = swept(tmp_path, "a", scenario=scenario, parameters={}, repetitions=rule, metrics=[key])
    table = found.table("transfers")
    assert table is not None
    times = table.filter(pl.col("group") == "web")["completion_s"] - table.filter(pl.col("group") == "web")["start_s"]
    assert times.len() == found.record.runs == 8
    interval = found.interval(key, 0)
    assert interval is not None
    assert interval.mean == pytest.approx(times.median())
    assert (interval.how, interval.n) == ("order statistics", 8)


def test_a_study_measures_again_with_another_function(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {call_of(each, (2.0,)).key for each in (math.sqrt, math.exp)}
    monkeypatch.setattr("parshall.results.records.about.python_digest", lambda: "other code")
    keys.add(call_of(math.sqrt, (2.0,)).key)
    assert len(keys) == 3
