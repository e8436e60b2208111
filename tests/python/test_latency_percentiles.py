"""Percentiles of one-way delays are of all packets of all repetitions, the same wherever they are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import parshall as ps
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.estimates import BinnedQuantiles
from parshall.analysis.stats.quantiles import WOODRUFF
from parshall.instruments.simulation import Run
from parshall.report import compare, page_html
from parshall.report.comparison import MetricComparison
from parshall.report.figures.delays import of_groups, of_link
from parshall.report.headline import headline
from parshall.report.tables import latency_table, links_table
from parshall.report.uncertainty import interval_text
from parshall.results.quantities.computing import delay_bins
from parshall.results.quantities.measuring import of_place

KEY = "group/voice/one_way_delay_p99_s"
SCENARIO: dict[str, Any] = {
    "duration": "6 s",
    "warm_up": "2 s",
    "repetitions": 4,
    "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "60 packets"}},
    "flows": [
        {"name": "bulk", "rtt": "40 ms", "start": {"uniform": "1 s"}},
        {"name": "voice", "rtt": "30 ms", "workload": {"name": "cbr", "rate": "80 kbit/s"}, "packet_size": "200 B"},
    ],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ps.run(ps.Scenario.from_document(SCENARIO), tmp_path_factory.mktemp("latency") / "run")


def test_it_is_of_the_pooled_packets_and_has_an_interval(run: Run) -> None:
    """Against a count of the histogram's rows; each bucket is 0.8 % wide at most."""
    assert run.latency_histogram is not None
    rows = run.latency_histogram.filter(group="voice", measure="one_way_delay")
    upto = rows.group_by("low_s", "high_s").agg(pl.col("samples").sum()).sort("low_s")
    first = int(np.searchsorted(upto["samples"].cum_sum().to_numpy(), 0.99 * upto["samples"].sum()))
    found = _interval(run)
    assert upto["low_s"][first] <= found.mean <= upto["high_s"][first]
    assert (found.how, found.n) == (WOODRUFF, upto["samples"].sum())
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.mean < found.high


def test_no_percentile_exceeds_the_largest_delay(run: Run) -> None:
    """Behind a full queue many packets wait nearly as long as the longest: the last bin ends there."""
    for group in ("bulk", "voice"):
        longest = run.groups.filter(pl.col("group") == group)["max_one_way_delay_s"].max()
        for level in (50, 95, 99):
            found = run.quantity(f"group/{group}/one_way_delay_p{level}_s").interval
            assert found.mean <= longest
            assert found.high is not None
            assert found.high <= longest
        assert of_groups(run.tables, "one_way_delay")[group].quantiles([1.0]) == [longest]
    most = run.links["max_queueing_delay_s"].max()
    assert run.quantity("queueing_delay_p99_s").interval.high <= most
    queued = of_link(run.tables, "bottleneck")
    assert queued is not None
    assert queued.quantiles([1.0]) == [most]


@settings(deadline=None)
@given(
    st.lists(st.lists(st.floats(1.0, 100.0), min_size=20, max_size=60), min_size=1, max_size=4),
    st.sampled_from([0.5, 0.9, 0.95]),
)
def test_quantiles_of_bins_that_end_at_the_largest_value(samples: list[list[float]], probability: float) -> None:
    """Each repetition's last bin is cut at its own largest value; pooled ones are within all values, in their bins."""
    edges = np.geomspace(1.0, 200.0, 24)
    bins, total = {}, np.zeros(edges.size - 1)
    for number, values in enumerate(samples):
        counts = np.histogram(values, edges)[0].astype(np.float64)
        rows = pl.DataFrame({"low_s": edges[:-1], "high_s": edges[1:], "packets": counts}).filter(pl.col("packets") > 0)
        bins[number] = delay_bins(rows, "packets", max(values))
        total += counts
    found = BinnedQuantiles(bins, probability).estimate()
    assert found is not None
    value, pool = found.interval.mean, np.concatenate([np.array(each) for each in samples])
    assert edges[np.flatnonzero(total)[0]] <= value <= pool.max() * (1 + 1e-12)
    exact = np.sort(pool)[int(np.ceil(probability * pool.size)) - 1]
    assert value / exact <= (edges[1] / edges[0]) ** 1.001


def test_a_flow_alone_in_its_group_has_its_groups_percentiles(run: Run) -> None:
    for column in ("one_way_delay_p50_s", "one_way_delay_p95_s", "one_way_delay_p99_s", "rtt_p50_s", "rtt_p99_s"):
        for group in ("bulk", "voice"):
            of_flow = run.flows.filter(pl.col("group") == group).sort("repetition")[column].to_list()
            of_group = run.groups.filter(pl.col("group") == group).sort("repetition")[column].to_list()
            assert of_flow == of_group, (group, column)
            assert (None in of_flow) == (group == "voice" and column.startswith("rtt")), "datagrams have no RTT samples"


def test_a_sweep_tells_the_same(run: Run, tmp_path: Path) -> None:
    plan = ps.Plan(name="a", scenario=SCENARIO, parameters={}, repetitions=4, metrics=[KEY])
    assert ps.sweep(plan, tmp_path, workers=1).interval(KEY, 0) == _interval(run)


def test_the_tile_and_the_table_tell_the_same(run: Run) -> None:
    said = interval_text(_interval(run), "s")
    tile = next(tile for tile in headline(run).tiles if tile.label == "Latency under load: voice")
    assert f"{tile.value} {tile.spread}" == said
    table = latency_table(run)
    assert table is not None
    row = next(row for row in table.rows if row[0].text == "voice")
    place = list(table.header).index("99 %")
    assert f"{row[place].text}\xa0{table.units[place]} {row[place].spread}" == said
    assert tile.spread in page_html(run)


def test_the_largest_delay_of_the_page_is_that_of_all_repetitions() -> None:
    """The queue is long in one repetition of two: the mean of both is below the 99th percentile of all."""
    run = ps.run(SCENARIO | {"repetitions": 2})
    largest = pl.Series([0.1, 0.01])
    bins = {"repetition": [0, 1], "link": ["bottleneck"] * 2, "packets": [1000, 1000]}
    bounds = {"low_s": 0.999 * largest, "high_s": 1.001 * largest}
    run.tables.computed.clear()
    run.tables._parts.clear()
    run.tables._held["links"] = run.links.with_columns(max_queueing_delay_s=largest)
    run.tables._held["delay_histogram"] = pl.DataFrame(bins | bounds).cast({"repetition": pl.UInt32})
    metrics = of_place(run.tables, "link", "bottleneck")
    largest_of_one, percentile = (
        metrics[f"link/bottleneck/{name}_s"] for name in ("max_queueing_delay", "queueing_delay_p99")
    )
    assert largest_of_one.interval.mean < percentile.interval.mean
    table = links_table(run)
    assert table is not None
    place = list(table.header).index("Largest delay")
    cell, unit = table.rows[0][place].text, table.units[place]
    assert (cell, unit) == ("100", "ms")


def test_a_comparison_tells_the_same_and_sees_a_shorter_queue(run: Run) -> None:
    shorter = ps.run(ps.Scenario.from_document(SCENARIO).with_values({"bottleneck.queue.limit": "20 packets"}))
    found = _compared(run, shorter)
    assert found.a == _interval(run)
    assert found.b == _interval(shorter)
    assert (found.verdict, found.better, found.paired) == ("lower", "b", True)


def _interval(run: Run) -> Interval:
    return run.metrics()[KEY].interval


def _compared(run: Run, other: Run) -> MetricComparison:
    return next(each for each in compare(run, other).differences if each.key == KEY)
