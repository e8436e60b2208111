"""Whatever a run recorded, or did not, its page is written: no figure fails over few, equal, extreme or absent data."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import parshall as ps
from parshall.report import page_html
from parshall.report.figures import CATALOG
from parshall.report.figures.common import across_ranks
from parshall.report.figures.delays import pooled_delays
from parshall.report.figures.tails import LEVELS, tail_of
from parshall.report.headline import headline
from parshall.report.interactive import plotly
from parshall.report.plot import Missing, Panel
from parshall.report.static import image
from parshall.report.svg import svg
from parshall.report.tables import groups_table, latency_table, links_table, transfers_table
from parshall.results.records import Result

TIMES = st.sampled_from([0.0, 1e-12, 1e-6, 0.1, 0.1, 5.0, 1e4])
COUNTS = st.sampled_from([0, 0, 1, 1, 7, 100_000])
RATES = st.sampled_from([0.0, 1e-3, 5e6, 5e6, 1e10])
NAMES = ("a", "b", "long name of a group", "d", "e", "f", "g", "h")


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def frame(draw: st.DrawFn, rows: list[dict[str, Any]], like: dict[str, Any]) -> pl.DataFrame | None:
    """The table, an empty one, or none."""
    if not rows:
        return draw(st.sampled_from([None, pl.DataFrame(schema=like)]))
    return pl.DataFrame(rows, schema=like)


FLOWS = {
    "repetition": pl.UInt32, "group": pl.String, "flow": pl.UInt32, "congestion_control": pl.String,
    "rtt_base_s": pl.Float64, "start_s": pl.Float64, "goodput_bps": pl.Float64, "packets_sent": pl.UInt64,
    "retransmissions": pl.UInt64, "packets_dropped": pl.UInt64, "timeouts": pl.UInt64, "mean_cwnd_packets": pl.Float64,
    "mean_rtt_s": pl.Float64,
}  # fmt: skip
LINKS = {
    "repetition": pl.UInt32, "link": pl.String, "rate_bps": pl.Float64, "arrivals_packets": pl.UInt64,
    "dropped_packets": pl.UInt64, "medium_losses_packets": pl.UInt64, "marked_packets": pl.UInt64,
    "utilisation": pl.Float64, "loss_rate": pl.Float64, "mean_queue_packets": pl.Float64,
    "mean_queueing_delay_s": pl.Float64, "queueing_delay_p50_s": pl.Float64, "queueing_delay_p99_s": pl.Float64,
    "max_queueing_delay_s": pl.Float64,
}  # fmt: skip
SAMPLES = {"repetition": pl.UInt32, "flow": pl.UInt32, "time_s": pl.Float64, "cwnd_packets": pl.Float64}
BINS = {
    "repetition": pl.UInt32, "link": pl.String, "time_s": pl.Float64, "bin_s": pl.Float64,
    "dropped_packets": pl.UInt64, "forwarded_bytes": pl.UInt64, "rate_bps": pl.Float64,
    "mean_queue_packets": pl.Float64,
}  # fmt: skip
TRANSFERS = {
    "repetition": pl.UInt32, "group": pl.String, "flow": pl.UInt32, "start_s": pl.Float64, "completion_s": pl.Float64,
    "size_bytes": pl.UInt64,
}  # fmt: skip
ROUNDS = {"repetition": pl.UInt32, "flow": pl.UInt32, "window_packets": pl.UInt32, "lost": pl.Boolean}
BUCKETS = {"repetition": pl.UInt32, "low_s": pl.Float64, "high_s": pl.Float64}


def buckets(draw: st.DrawFn) -> list[tuple[float, float, int]]:
    """Buckets of a histogram of whole picoseconds, in order."""
    lows = draw(st.lists(st.sampled_from([0, 1, 255, 1 << 20, 1 << 30, 1 << 36, 1 << 45]), max_size=4, unique=True))
    widths = {low: max(1, low >> 7) for low in lows}
    number = st.sampled_from([1, 1, 50, 10**9])
    return [(low * 1e-12, (low + widths[low]) * 1e-12, draw(number)) for low in sorted(lows)]


def a_flow(draw: st.DrawFn, who: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows of a flow, by their table."""
    state = {
        "rtt_base_s": draw(TIMES), "start_s": draw(TIMES), "goodput_bps": draw(RATES), "packets_sent": draw(COUNTS),
        "retransmissions": 0, "packets_dropped": 0, "timeouts": 0, "mean_cwnd_packets": draw(optional(TIMES)),
        "mean_rtt_s": draw(optional(TIMES)),
    }  # fmt: skip
    key = {name: who[name] for name in ("repetition", "flow")}
    times = draw(st.lists(TIMES, max_size=3))
    transfers = []
    for _ in range(draw(st.integers(0, 2))):
        start, lasted = draw(TIMES), draw(optional(TIMES))
        end = None if lasted is None else start + lasted
        transfer = {"start_s": start, "completion_s": end, "size_bytes": draw(optional(COUNTS))}
        transfers.append(key | {"group": who["group"]} | transfer)
    lost = draw(st.lists(st.booleans(), max_size=2))
    return {
        "flows": [who | state],
        "flow_samples": [key | {"time_s": time, "cwnd_packets": draw(optional(TIMES))} for time in times],
        "transfers": transfers,
        "rounds": [key | {"window_packets": draw(COUNTS), "lost": each} for each in lost],
    }


def a_link(draw: st.DrawFn, key: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows of a link, by their table."""
    whole = {name: draw(COUNTS) for name in LINKS if LINKS[name] == pl.UInt64}
    others = {name: draw(optional(TIMES)) for name in list(LINKS)[7:]}
    times = draw(st.lists(TIMES, max_size=3, unique=True))
    bins = []
    for time in times:
        counted = {name: draw(COUNTS) for name in ("dropped_packets", "forwarded_bytes")}
        queue = {"mean_queue_packets": draw(TIMES), "rate_bps": draw(RATES)}
        bins.append(key | {"time_s": time, "bin_s": draw(st.sampled_from([1e-6, 1.0]))} | counted | queue)
    known = {"rate_bps": draw(RATES), "utilisation": draw(st.sampled_from([0.0, 0.5, 1.0]))}
    waits = [{"low_s": low, "high_s": high, "packets": number} for low, high, number in buckets(draw)]
    return {
        "links": [key | whole | others | known],
        "link_samples": bins,
        "delay_histogram": [key | wait for wait in waits],
    }


def variables(draw: st.DrawFn, key: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a flow's or link's inner variables, known ones and others."""
    times = draw(st.lists(TIMES, max_size=3, unique=True))
    names = draw(st.lists(st.sampled_from(["w_max", "state", "of another version"]), max_size=2, unique=True))
    return [key | {"time_s": time, "variable": name, "value": draw(TIMES)} for time in times for name in names]


TABLES = {
    "flows": FLOWS,
    "flow_samples": SAMPLES,
    "transfers": TRANSFERS,
    "rounds": ROUNDS,
    "links": LINKS,
    "link_samples": BINS,
    "delay_histogram": {**BUCKETS, "link": pl.String, "packets": pl.UInt64},
    "latency_histogram": {**BUCKETS, "group": pl.String, "measure": pl.String, "samples": pl.UInt64},
    "internals": {
        "repetition": pl.UInt32,
        "owner": pl.String,
        "flow": pl.UInt32,
        "time_s": pl.Float64,
        "variable": pl.String,
        "value": pl.Float64,
    },
}


@st.composite
def runs(draw: st.DrawFn) -> Result:
    """Tables as a run may have them, and as only an odd one has."""
    groups = NAMES[: draw(st.sampled_from([0, 1, 2, len(NAMES)]))]
    links = ("bottleneck", "access")[: draw(st.integers(0, 2))]
    controls = {group: draw(st.sampled_from(["cubic", "bbr", ""])) for group in groups}
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for repetition in range(draw(st.integers(1, 2))):
        for flow, group in enumerate(groups):
            who = {"repetition": repetition, "flow": flow, "group": group, "congestion_control": controls[group]}
            for name, more in a_flow(draw, who).items():
                rows[name] += more
            rows["internals"] += variables(draw, {"repetition": repetition, "owner": group, "flow": flow})
            for measure in ("one_way_delay", "rtt"):
                key = {"repetition": repetition, "group": group, "measure": measure}
                found = buckets(draw)
                rows["latency_histogram"] += [key | {"low_s": a, "high_s": b, "samples": n} for a, b, n in found]
        for link in links:
            rows["internals"] += variables(draw, {"repetition": repetition, "owner": link, "flow": None})
            for name, more in a_link(draw, {"repetition": repetition, "link": link}).items():
                rows[name] += more
    scenario = draw(st.sampled_from([{}, {"duration": "10 s", "warm_up": "1 s"}, {"duration": "1 us"}]))
    tables = {name: frame(draw, rows[name], like) for name, like in TABLES.items()}
    return Result(None, {"name": "any", "summary": {}, "scenario": scenario}, tables)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(run=runs(), printed=st.integers(0, len(CATALOG) - 1))
def test_every_figure_is_drawn_or_says_why_not(run: Result, printed: int) -> None:
    """Each is prepared and drawn for the page; of an example's figures one is drawn for print, which takes longest."""
    plots = []
    for figure in CATALOG:
        plot = figure.prepare(run)
        if isinstance(plot, Missing):
            assert plot.reason.endswith("."), figure.name
            continue
        json.dumps(plotly(plot), allow_nan=False)
        ET.fromstring(svg(plot)[0])
        assert all(_shows_something(panel) for panel in plot.panels), figure.name
        plots.append(plot)
    if plots:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert image(plots[printed % len(plots)], "svg").content


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(run=runs())
def test_headline_and_tables_are_made_of_any_data(run: Result) -> None:
    assert headline(run).note
    for table in (groups_table, latency_table, transfers_table, links_table):
        made = table(run)
        assert made is None or all("nan" not in cell.text for row in made.rows for cell in row)


def _shows_something(panel: Panel) -> bool:
    return panel.extent("x") is not None and panel.extent("y") is not None


CRASHED = {
    "starts before its end": {"duration": "10 s", "flows": [{"rtt": "20 ms", "start": "9.995 s"}]},
    "lasts a microsecond": {"duration": "1 us", "processing_time": "0 s", "flows": [{"rtt": "20 ms"}]},
    "ends with its first flight": {
        "duration": "5 s",
        "ends_with": ["f"],
        "flows": [{"name": "f", "rtt": "100 us", "start": "10 us", "workload": {"name": "transfer", "sizes": "64 kB"}}],
    },
}


@pytest.mark.parametrize("case", CRASHED)
@pytest.mark.filterwarnings("error")
def test_runs_without_samples_have_a_page(case: str, tmp_path: Path) -> None:
    document = {"bottleneck": {"rate": "10 Mbit/s", "delay": "5 us"}} | CRASHED[case]
    made = ps.run(ps.Scenario.from_document(document), tmp_path / "run")
    page = page_html(made)
    assert all(f'id="figure-{figure.name}"' in page for figure in CATALOG)


def test_a_wait_of_nothing_is_nothing_and_percentiles_lie_on_their_curve() -> None:
    rows = {"low_s": [0.0, 1 << 40], "high_s": [1.0, (1 << 40) + (1 << 33)], "packets": [900, 100]}
    histogram = pl.DataFrame(rows).with_columns(pl.col("low_s", "high_s") * 1e-12)
    delays = pooled_delays(histogram, "packets")
    assert delays is not None
    assert delays.quantiles([0.5]).tolist() == [0.0], "the first bucket holds one value only"
    tail = tail_of(delays)
    places = np.searchsorted(-tail.share, [-(1.0 - level) for level in LEVELS])
    assert tail.delay_s[places].tolist() == tail.percentiles_s.tolist()


def test_groups_at_equal_steps_of_rank_have_the_extremes() -> None:
    values = {f"g{number}": float(number) for number in range(20)}
    chosen, words = across_ranks(values, "group")
    assert len(chosen) == 6
    assert {"g0", "g19"} < set(chosen)
    assert "6 of 20 groups" in words
    assert across_ranks({"one": 1.0}, "group") == (["one"], "")
