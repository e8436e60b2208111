"""Results of different instruments, any number of them, held against each other."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import parshall as ps
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.ranges import Range
from parshall.analysis.stats.verdict import Verdict
from parshall.cli.app import application
from parshall.foundations.errors import InvalidEmulationError, OutputExistsError, RunNotFoundError
from parshall.report import page_html
from parshall.report.comparing import cells
from parshall.report.comparison_figures import differences
from parshall.report.comparison_page import document, finding
from parshall.report.document import document_html
from parshall.report.plot import Line, Points
from parshall.report.predicted import view
from parshall.report.predicted_summary import dots
from parshall.report.tables import groups_table

SCENARIO: dict[str, Any] = {
    "name": "file",
    "duration": "60 s",
    "bottleneck": {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "30 packets"}},
    "flows": [{"name": "reno", "tcp": "rfc", "rtt": "60 ms", "congestion_control": "reno"}],
    "probes": {"pcap": True},
}
MANY = {**SCENARIO, "repetitions": 3, "duration": "10 s", "probes": {}, "flows": [{**SCENARIO["flows"][0], "count": 3}]}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ps.Run:
    return ps.run(SCENARIO, tmp_path_factory.mktemp("simulated") / "run")


@pytest.fixture(scope="module")
def seen(run: ps.Run, tmp_path_factory: pytest.TempPathFactory) -> ps.Observation:
    return ps.observe(*run.captures("bottleneck"), output=tmp_path_factory.mktemp("observed") / "seen")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three runs, of which two have the same seed."""
    parent = tmp_path_factory.mktemp("several")
    for name, more in (("base", {}), ("slower", {"bottleneck": {"rate": "2 Mbit/s"}}), ("other", {"seed": 7})):
        ps.run({**MANY, **more}, parent / name)
    return [parent / name for name in ("base", "slower", "other")]


def means(comparison: ps.Comparison, key: str) -> tuple[float, float]:
    found = comparison.of(f"group/all flows/{key}").intervals
    assert found[0] is not None
    assert found[1] is not None
    return found[0].value, found[1].value


# --- a run, and an observation of its own capture ---


@pytest.mark.parametrize(
    ("key", "tolerance"),
    [
        # The reader counts payload from the first to the last packet that it sees, the run from 0 s on.
        ("flow_goodput_bps", 0.01),
        # docs/captures.md: behind the queue, the reader joins two halves of the round trip.
        ("rtt_s", 0.02),
        # docs/observe.md, "How well": 2 % while nothing is lost. While a loss is repaired, fewer packets pass than the
        # window has; with 21 loss events in 60 s that is 3.2 % of the mean.
        ("cwnd_packets", 0.05),
    ],
)
def test_a_run_agrees_with_what_is_observed_of_its_capture(
    run: ps.Run, seen: ps.Observation, key: str, tolerance: float
) -> None:
    ours, read = means(ps.compare(run, seen), key)
    assert read == pytest.approx(ours, rel=tolerance)


def test_losses_that_a_capture_behind_them_shows(run: ps.Run, seen: ps.Observation) -> None:
    """All but those that a timeout repairs before anything else arrives, 1 of 155 and 16 of 391 (docs/observe.md)."""
    ours, read = means(ps.compare(run, seen), "loss_rate")
    assert ours > 0
    assert 0.9 * ours <= read <= ours * 1.001


def test_a_trace_has_no_links_and_no_seed(run: ps.Run, seen: ps.Observation) -> None:
    found = ps.compare(run, seen)
    assert found.paired == [False]
    assert found.of("link/bottleneck/utilisation").missing == [1]
    assert not [row.key for row in found.rows if "10.0.0" in row.key], "its flows are no groups of the run"
    assert [each.instrument for each in found.results] == ["simulate", "observe"]


# --- emulations that cannot be believed ---


def emulated(run: ps.Run, level: str, place: Path) -> Path:
    """What stands for an emulation: the run, and a verdict."""
    shutil.copytree(run.place, place)
    path = place / "run.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    verdict = {"level": level, "reasons": ["packets were late; have fewer flows"], "rtt_bias_s": 2e-4}
    path.write_text(json.dumps({**kept, "instrument": "emulate", "emulation": verdict}), encoding="utf-8")
    return place


def test_an_invalid_emulation_is_compared_only_if_that_is_accepted(run: ps.Run, tmp_path: Path) -> None:
    made = ps.load(emulated(run, "invalid", tmp_path / "late"))
    with pytest.raises(InvalidEmulationError, match=r"late: the emulation is invalid: packets were late; have fewer"):
        ps.compare(run, made)
    found = ps.compare(run, made, accept_invalid=True)
    assert [each.emulation and each.emulation.level for each in found.results] == [None, "invalid"]
    assert found.to_json()["results"][1]["emulation"]["reasons"] == ["packets were late; have fewer flows"]
    doubtful = ps.load(emulated(run, "doubtful", tmp_path / "doubtful"))
    assert ps.compare(run, doubtful).results[1].emulation is not None, "what is doubtful is compared, and said"


def test_the_command_line_refuses_to_compare_what_is_invalid(run: ps.Run, tmp_path: Path) -> None:
    places = [run.place, str(emulated(run, "invalid", tmp_path / "late"))]
    for command in (["compare", *places], ["figure", places[0], "--beside", places[1]]):
        refused = CliRunner().invoke(application(["compare", "figure"]), command)
        assert refused.exit_code == 3
        assert not refused.stdout
        assert f"{places[1]}: the emulation is invalid: packets were late" in refused.stderr
        assert "--accept-invalid" in refused.stderr
        accepted = CliRunner().invoke(application(["compare", "figure"]), [*command, "--accept-invalid"])
        assert accepted.exit_code == 0, accepted.stderr


def test_the_page_of_a_comparison_begins_with_how_far_to_believe_it(run: ps.Run, tmp_path: Path) -> None:
    made = ps.load(emulated(run, "doubtful", tmp_path / "doubtful"))
    html = document_html(document(ps.compare(run, made)))
    said = "B: real Linux TCP; the emulation is doubtful."
    assert said in html
    assert "Packets were late; have fewer flows." in html
    assert html.index(said) < html.index('class="finding"'), "before what is concluded from it"
    assert "real Linux TCP" not in document_html(document(ps.compare(run, run)))


# --- predictions ---


def test_a_prediction_is_compared_by_its_range(several: list[Path]) -> None:
    run, predicted = ps.Run.load(several[0]), ps.predict(ps.Scenario.from_document(MANY))
    found = ps.compare(run, predicted)
    row = found.of("group/reno/cwnd_packets")
    (difference,) = row.differences
    assert difference is not None
    a, b = row.intervals
    assert isinstance(a, Interval)
    assert isinstance(b, Range)
    assert b.between == "pftk, from empty to full buffers"
    assert a.low is not None
    assert a.high is not None
    assert isinstance(difference.difference, Range)
    assert difference.difference.low == pytest.approx(b.low - a.high)
    assert difference.difference.high == pytest.approx(b.high - a.low)
    readings = [
        each.window_packets for each in predicted.throughput if each.model == "pftk" and each.window_packets is not None
    ]
    assert (b.low, b.high) == pytest.approx((min(readings), max(readings)))
    assert b.low < b.value < b.high


def test_goodput_is_a_sum_and_the_mean_of_a_flow_has_its_own_name(several: list[Path]) -> None:
    """Of a run, of its group, and of the models: so that predicted over measured is a ratio of the same thing."""
    run, predicted = ps.Run.load(several[0]), ps.predict(ps.Scenario.from_document(MANY))
    for result in (run, predicted):
        known = result.metrics()
        whole, group, flow = (
            known[key].value for key in ("goodput_bps", "group/reno/goodput_bps", "group/reno/flow_goodput_bps")
        )
        assert whole == pytest.approx(group)
        assert group == pytest.approx(3 * flow)
        assert known["group/reno/goodput_bps"].label == "Goodput, reno"
        assert known["group/reno/flow_goodput_bps"].label == "Goodput of a flow, reno"
    sums = run.flows.group_by("repetition").agg(pl.col("goodput_bps").sum())["goodput_bps"].to_list()
    assert run.quantity("group/reno/goodput_bps").value == pytest.approx(fmean(sums))
    answer = next(each for each in predicted.throughput if each.in_range)
    assert answer.goodput_bps == pytest.approx(predicted.quantity("group/reno/goodput_bps").value)
    assert answer.flow_goodput_bps == pytest.approx(predicted.quantity("group/reno/flow_goodput_bps").value)


def test_people_read_of_a_flow_only_what_the_sum_does_not_say(several: list[Path]) -> None:
    run = ps.Run.load(several[0])
    columns = groups_table(run)
    assert columns is not None
    assert {"Goodput", "Goodput of a flow"} <= set(columns.header)
    alone = ps.run({**MANY, "flows": [{**MANY["flows"][0], "count": 1}]})
    table = groups_table(alone)
    assert table is not None
    assert "Goodput of a flow" not in table.header
    key = "group/reno/flow_goodput_bps"
    as_many, fewer = ps.compare(run, ps.Run.load(several[1])), ps.compare(run, alone)
    for found, shown in ((as_many, False), (fewer, True)):
        assert found.of(key).intervals[0] is not None
        assert (key in [row.key for row in found.shown]) == shown


def test_a_goodput_that_is_not_known_is_no_zero() -> None:
    flows = {
        "repetition": [0, 0],
        "group": "seen",
        "flow": [0, 1],
        "congestion_control": "",
        "goodput_bps": [None, None],
    }
    frame = pl.DataFrame(flows, schema_overrides={"goodput_bps": pl.Float64})
    result = ps.Result(None, {}, {"flows": frame})
    for name in ("goodput_bps", "group/seen/goodput_bps", "group/seen/flow_goodput_bps", "flow/0/goodput_bps"):
        with pytest.raises(ps.InputError, match=f"{name}: nothing was measured"):
            result.quantity(name)


def test_a_range_is_told_from_an_interval_wherever_it_is_shown(several: list[Path]) -> None:
    run, predicted = ps.Run.load(several[0]), ps.predict(ps.Scenario.from_document(MANY))
    found = ps.compare(run, predicted)
    texts = {row.key: cells(found, row) for row in found.rows if not row.missing}
    _, measured, stated, difference, _ = texts["group/reno/cwnd_packets"]
    assert "±" in measured
    assert re.fullmatch(r"[\d.]+ to [\d.]+\xa0packets", stated)
    assert re.fullmatch(r"\u2212[\d.]+ to \+[\d.]+\xa0packets", difference)
    # The model leaves the goodput of a full link to no condition: a number, without ± 0 and without a range.
    assert re.fullmatch(r"[\d.]+\xa0Mbit/s", texts["goodput_bps"][2])
    rows = {each["key"]: each for each in json.loads(json.dumps(found.to_json()))["metrics"]}
    window = rows["group/reno/cwnd_packets"]
    assert set(window["b"]) == {"kind", "value", "low", "high", "between"}
    assert window["b"]["kind"] == window["difference"]["kind"] == "range"
    assert set(window["a"]) == {"mean", "low", "high", "n", "level", "how", "of"}
    with pytest.raises(ps.InputError, match="a model states a range, which is no interval"):
        _ = predicted.quantity("goodput_bps").interval
    drawn = differences(found)
    assert drawn is not None
    marks = drawn.plot.panels[0].marks
    boxes = [each for each in marks if isinstance(each, Line)]
    assert boxes, "an open box a range"
    assert "A box is a range and no interval" in drawn.plot.caption
    (points,) = (each for each in marks if isinstance(each, Points))
    assert np.array_equal(points.low, points.x), "no bar of a confidence interval"
    same = differences(ps.compare(run, ps.Run.load(several[1])))
    assert same is not None
    assert not [each for each in same.plot.panels[0].marks if isinstance(each, Line)]


def test_a_finding_names_the_model_that_states_a_range(several: list[Path]) -> None:
    scenario = {**MANY, "flows": [{**MANY["flows"][0], "rtt": "120 ms"}]}
    text = finding(ps.compare(ps.Run.load(several[0]), ps.predict(ps.Scenario.from_document(scenario))))
    assert re.search(r"[\d.]+ to [\d.]+\xa0ms by pftk, from empty to half full buffers, in B\.", text), text


def test_a_sum_adds_what_groups_have_behind_the_same_buffers() -> None:
    """Full buffers take from those with short RTTs what they give to the others: a full link carries its rate."""
    bottleneck = {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "60 packets"}}
    near, far = ({"name": name, "rtt": rtt, "count": 3} for name, rtt in (("near", "20 ms"), ("far", "160 ms")))
    datagrams = {"name": "cbr", "rtt": "20 ms", "workload": {"name": "cbr", "rate": "100 kbit/s"}}
    reno = {"congestion_control": "reno"}
    groups = [near | reno, far | reno]
    made = {"duration": "100 s", "bottleneck": bottleneck, "flows": groups}
    predicted = ps.predict(ps.Scenario.from_document(made))
    known = {key: each.number for key, each in predicted.metrics().items()}
    assert known["group/near/goodput_bps"].high > 1.1 * known["group/near/goodput_bps"].low
    total = known["goodput_bps"]
    assert isinstance(total, Range)
    assert (total.low, total.high) == pytest.approx([5e6 * 1448 / 1500] * 2, rel=1e-6)
    mean = predicted.of_all_flows()["group/all flows/flow_goodput_bps"].number
    assert (mean.low, mean.high) == pytest.approx((total.low / 6, total.high / 6))
    windows = predicted.of_all_flows()["group/all flows/cwnd_packets"].number
    assert windows.value == pytest.approx(
        (known["group/near/cwnd_packets"].value + known["group/far/cwnd_packets"].value) / 2
    )
    with_load = ps.predict(ps.Scenario.from_document({**made, "flows": [*groups, datagrams]}))
    assert "goodput_bps" not in with_load.metrics(), "what arrives of the datagrams depends on the others"


def test_a_range_says_of_which_buffers_it_is() -> None:
    """Behind an empty buffer of 60 packets the law is out of its range: its range begins with half full ones."""
    bottleneck = {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "60 packets"}}
    flows = [{"rtt": "20 ms", "congestion_control": "reno", "count": 4}]
    scenario = ps.Scenario.from_document({"duration": "60 s", "bottleneck": bottleneck, "flows": flows})
    predicted = ps.predict(scenario)
    law = [each for each in predicted.throughput if each.model == "square_root"]
    assert [each.in_range for each in law] == [False, True, True]
    stated = {
        key: each.series
        for models in (predicted.throughput, law)
        for key, each in ps.Predicted(models, metadata=predicted.metadata).metrics().items()
    }
    window = stated["group/flows0/cwnd_packets"]
    assert isinstance(window, Range)
    assert window.between == "square_root, from half full to full buffers"
    assert (window.low, window.high) == (law[1].window_packets, law[2].window_packets)


def test_a_box_is_drawn_beside_what_was_simulated(several: list[Path]) -> None:
    drawn = dots(view(ps.Run.load(several[0])))
    assert drawn is not None
    marks = drawn.panels[0].marks
    assert not [each for each in marks if isinstance(each, Line)], (
        "the goodput of a full link is the same for all buffers"
    )
    assert "A box" not in drawn.caption
    groups = [{**MANY["flows"][0], "name": str(rtt), "rtt": f"{rtt} ms"} for rtt in (20, 160)]
    drawn = dots(view(ps.run({**MANY, "flows": groups})))
    assert drawn is not None
    assert [each for each in drawn.panels[0].marks if isinstance(each, Line)]
    assert "A box is the model's range" in drawn.caption


def test_a_run_of_transfers_is_compared_with_its_prediction(tmp_path: Path) -> None:
    medium = {"rate": "50 Mbit/s", "loss": {"name": "bernoulli", "probability": 0.01}}
    workload = {"name": "transfer", "sizes": ["100 kB"] * 3}
    group = {"name": "web", "rtt": "60 ms", "congestion_control": "reno", "count": 3, "workload": workload}
    scenario = ps.Scenario.from_document({"duration": "20 s", "bottleneck": medium, "flows": [group]})
    run, predicted = ps.run(scenario, tmp_path / "run"), ps.predict(scenario)
    row = ps.compare(run, predicted).of("completion_s")
    assert isinstance(row.intervals[1], Range)
    assert row.intervals[1].between == "cardwell"
    assert row.intervals[1].value == predicted.completion[0].completion_s


def test_the_goodput_of_a_prediction_is_of_the_same_direction_as_a_runs() -> None:
    there, back = ({"name": name, "rtt": "60 ms", "congestion_control": "reno"} for name in ("there", "back"))
    bottleneck = {"rate": "5 Mbit/s", "reverse": {"rate": "1 Mbit/s"}}
    both = {"duration": "10 s", "bottleneck": bottleneck, "flows": [there, {**back, "direction": "reverse"}]}
    found = ps.predict(ps.Scenario.from_document(both)).metrics()
    assert found["goodput_bps"].value == found["group/there/goodput_bps"].value


def test_a_difference_of_two_predictions_needs_no_spread() -> None:
    medium = {"rate": "1 Gbit/s", "loss": {"name": "bernoulli", "probability": 1e-3}}
    alone = {**SCENARIO, "bottleneck": medium, "duration": "200 s", "probes": {}}
    twice = {**alone, "flows": [{**SCENARIO["flows"][0], "rtt": "120 ms"}]}
    found = ps.compare(*(ps.predict(ps.Scenario.from_document(each)) for each in (alone, twice)))
    (difference,) = found.of("group/reno/goodput_bps").differences
    assert difference is not None
    assert difference.verdict is Verdict.LOWER
    assert difference.relative == pytest.approx(-0.5, abs=0.02)


def test_results_without_a_quantity_have_nothing_to_compare() -> None:
    found = ps.compare(ps.Predicted(), ps.Predicted())
    assert (list(found.rows), found.paired) == ([], [])
    assert "nothing to compare" in finding(found)
    assert ps.compare(*[ps.Result(None, {}, {})] * 2).paired == [False]


def test_a_prediction_is_written_and_read_again(tmp_path: Path) -> None:
    predicted = ps.predict(ps.Scenario.from_document(MANY))
    predicted.save(tmp_path / "predicted")
    read = ps.load(tmp_path / "predicted")
    assert isinstance(read, ps.Predicted)
    assert read.to_json() == predicted.to_json()
    assert read.throughput == predicted.throughput
    assert {key: each.number for key, each in read.metrics().items()} == {
        key: each.number for key, each in predicted.metrics().items()
    }
    assert read.provenance["instrument"] == "predict"
    assert read.quantity("group/reno/rtt_s").unit == "s"
    with pytest.raises(ps.InputError, match="group/reno/jitter_s: found no model that says it"):
        read.quantity("group/reno/jitter_s")
    with pytest.raises(OutputExistsError, match="or overwrite=True"):
        predicted.save(tmp_path / "predicted")
    with pytest.raises(RunNotFoundError, match='holds a result of "predict"; accepted: "simulate" or "emulate"'):
        ps.Run.load(tmp_path / "predicted")
    path = tmp_path / "predicted" / "run.json"
    path.write_text(path.read_text().replace('"reading": "middle_queue"', '"reading": "half"'))
    with pytest.raises(RunNotFoundError, match="damaged"):
        ps.load(tmp_path / "predicted")


# --- any number of them ---


def test_three_and_more_against_the_first_or_a_baseline(several: list[Path]) -> None:
    runs = [ps.Run.load(path) for path in several]
    found = ps.compare(*runs)
    assert found.paired == [True, False], "the third has another seed"
    row = found.of("goodput_bps")
    assert len(row.intervals) == 3
    for other, difference in zip(runs[1:], row.differences, strict=True):
        (alone,) = ps.compare(runs[0], other).of("goodput_bps").differences
        assert difference == alone
    assert found.rows[0].matters
    flags = [row.matters for row in found.rows]
    assert flags == sorted(flags, reverse=True)
    turned = ps.compare(*runs, baseline=runs[1])
    assert turned.results[0].name == str(several[1])
    assert turned.of("goodput_bps").intervals[0] == row.intervals[1]
    with pytest.raises(ps.InputError, match="results: found 1; accepted: two or more"):
        ps.compare(runs[0])
    with pytest.raises(ps.InputError, match='baseline: found "none"; accepted: '):
        ps.compare(*runs, baseline="none")
    with pytest.raises(ps.InputError, match='quantity: found "goodput"; accepted: '):
        found.of("goodput")


def test_people_read_each_quantity_of_a_link_once(several: list[Path]) -> None:
    comparison = ps.compare(*map(ps.load, several))
    keys = [row.key for row in comparison.shown]
    assert "loss_rate" in keys
    assert "link/bottleneck/loss_rate" not in keys
    assert "link/bottleneck/queueing_delay_p50_s" in keys, "said of links by their names only"
    assert comparison.of("link/bottleneck/loss_rate").intervals == comparison.of("loss_rate").intervals


def test_the_command_takes_any_results_and_writes_a_page(
    cli: Callable[..., Any], several: list[Path], seen: ps.Observation, tmp_path: Path
) -> None:
    scenario, predicted, page = tmp_path / "many.toml", tmp_path / "predicted", tmp_path / "page.html"
    scenario.write_text(ps.Scenario.from_document(MANY).toml())
    assert cli("predict", scenario, "-o", predicted).exit_code == 0
    places = [*several, predicted, seen.directory]
    done = cli("compare", *places, "--baseline", several[1], "-o", page)
    assert done.exit_code == 0, done.stderr
    for text in ("A: ", "E - A", "95 % confidence intervals", "a prediction has a range, from empty to full"):
        assert text in done.stdout + done.stderr
    shown = page.read_text()
    headings = ("What differs most", "What is compared", "What differs and matters", "Every difference")
    for text in (*headings, "Not in all results", "bottleneck.pcap", "Goodput, all flows"):
        assert text in shown
    mixed = cli("compare", places[0], seen.directory)
    assert "are in one result only" in mixed.stderr
    assert "not in D" in done.stdout, "the prediction says nothing of losses, in which the runs differ"
    assert "link/bottleneck" not in mixed.stdout
    found = json.loads(cli("compare", *places, "--json").stdout)
    assert [each["instrument"] for each in found["results"]] == [*["simulate"] * 3, "predict", "observe"]
    rows = {each["key"]: each for each in found["metrics"]}
    assert len(rows["goodput_bps"]["intervals"]) == 5
    assert rows["link/bottleneck/utilisation"]["intervals"][4] is None
    two = json.loads(cli("compare", *several[:2], "--json").stdout)
    assert {"a", "b", "at_least", "metrics"} <= two.keys()
    assert {"key", "a", "b", "difference", "relative", "paired", "verdict", "matters", "better"} <= two["metrics"][
        0
    ].keys()
    for arguments, message in (
        ((several[0],), "compare: found 1; accepted: two results or more"),
        ((*several, "--store", tmp_path), "compare: found 3; accepted: two sweeps"),
        ((*several, "--baseline", "x"), 'baseline: found "x"; accepted: '),
        ((several[0], scenario), "is a file; write the directory of a result"),
    ):
        refused = cli("compare", *arguments)
        assert refused.exit_code == 2
        assert message in refused.stderr


@pytest.mark.slow
def test_every_result_has_its_page(
    cli: Callable[..., Any], several: list[Path], seen: ps.Observation, tmp_path: Path
) -> None:
    predicted = ps.predict(ps.Scenario.from_document(MANY)).save(tmp_path / "predicted")
    assert seen.directory is not None
    for place, name, words in (
        (several[0], "report.html", "Predicted and simulated"),
        (predicted, "report.html", "from empty to full buffers"),
        (seen.directory, "observe.html", "how far they can be trusted"),
    ):
        done = cli("report", place)
        assert done.exit_code == 0, done.stderr
        assert words in (place / name).read_text()
    refused = cli("report", predicted, "--figures", tmp_path / "figures")
    assert refused.exit_code == 2
    assert "is no run" in refused.stderr


def test_a_prediction_takes_what_was_observed(seen: ps.Observation) -> None:
    predicted = ps.predict(ps.Scenario.from_document(SCENARIO), seen)
    assert predicted.throughput, "groups of another name have no measured values"


# --- one result ---


def test_a_result_knows_its_columns_and_where_it_comes_from(run: ps.Run, seen: ps.Observation) -> None:
    for result in (run, seen):
        assert result.columns("flows")["goodput_bps"].unit == "bit/s"
        assert set(result.flows.columns) <= set(result.columns("flows"))
        assert result.quantity("goodput_bps").interval.mean == result.metrics()["goodput_bps"].interval.mean
        assert result.provenance["versions"]["parshall"] == ps.__version__
        assert result.flows.to_pandas().shape == result.flows.shape
    assert seen.provenance["sources"] == [str(path) for path in run.captures("bottleneck")]
    assert run.links is run.table("links")
    assert seen.tables.get("links") is None
    with pytest.raises(ps.InputError, match='table: found "flow"; accepted: flows, links'):
        run.columns("flow")


def test_tables_in_memory_are_a_result(run: ps.Run) -> None:
    again = ps.Result(None, {"name": "again"}, {"flows": run.flows, "links": run.links})
    assert again.quantity("goodput_bps").interval == run.quantity("goodput_bps").interval
    assert again.scan("flows").collect().equals(run.flows)
    with pytest.raises(RunNotFoundError, match="again has no table flows"):
        _ = ps.Result(None, {"name": "again"}, {}).flows


def test_an_observation_is_sealed_and_damage_is_named(seen: ps.Observation, tmp_path: Path) -> None:
    again = ps.observe(*seen.provenance["sources"], output=tmp_path / "again")
    (path,) = (tmp_path / "again").glob("repetitions/0000/flows.parquet")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(RunNotFoundError, match=r"flows\.parquet is damaged"):
        _ = ps.Observation.load(again.directory).flows


def test_a_result_of_another_instrument_is_not_overwritten(several: list[Path], seen: ps.Observation) -> None:
    message = 'holds a result of "simulate"; it is not overwritten by "observe"'
    with pytest.raises(OutputExistsError, match=message):
        ps.observe(*seen.provenance["sources"], output=several[0], overwrite=True)
    with pytest.raises(OutputExistsError, match='it is not overwritten by "predict"'):
        ps.predict(ps.Scenario.from_document(MANY)).save(several[0], overwrite=True)
    assert ps.Run.load(several[0]).flows.height == 9


def test_an_unknown_instrument_is_named_and_an_emulated_run_is_a_run(several: list[Path], tmp_path: Path) -> None:
    content = json.loads((several[0] / "run.json").read_text())
    for instrument in ("emulate", "guess"):
        (tmp_path / "run.json").write_text(json.dumps({**content, "instrument": instrument}))
        if instrument == "emulate":
            loaded = ps.load(tmp_path)
            assert (type(loaded), loaded.instrument) == (ps.Run, "emulate")
            assert "Predicted and emulated" in page_html(ps.Run(several[0], loaded.metadata))
    with pytest.raises(
        RunNotFoundError, match='instrument: found "guess"; accepted: simulate, emulate, observe, predict'
    ):
        ps.load(tmp_path)
