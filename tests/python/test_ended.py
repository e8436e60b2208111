"""Transfers that had not ended: what is said of completion times counts them, wherever it is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import parshall as ps
from parshall.analysis.stats.censored import Durations
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.estimates import BinnedQuantiles, Bins, Censored, Means, Quantiles, joined
from parshall.analysis.stats.verdict import Verdict, differed
from parshall.campaign import Plan, sweep
from parshall.campaign.comparing import compare as compare_sweeps
from parshall.campaign.finding import finding as finding_of_sweep
from parshall.campaign.page import write_page
from parshall.campaign.stopping import interval
from parshall.cli.compare import show
from parshall.cli.run import _show
from parshall.design import transfer
from parshall.foundations.errors import InputError
from parshall.instruments.prediction.completion import _mean_times
from parshall.report.comparing import cells
from parshall.report.comparison_page import finding as finding_of_comparison
from parshall.report.figures.completion import prepare
from parshall.report.finding import finding
from parshall.report.headline import headline
from parshall.report.plot import Plot
from parshall.report.tables import transfers_table
from parshall.report.uncertainty import interval_text
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.tables import Tables
from parshall.suites import rfc9743
from parshall.suites.rfc9743 import _over_standard
from parshall_studies.transport import MEASURES

DURATIONS = ("completion_s", "completion_p50_s", "completion_p95_s")


def scenario(rate: str, sizes: Any = ("100 kB", "1 MB"), **more: Any) -> dict[str, Any]:
    files = {"name": "files", "count": 10, "rtt": "20 ms", "start": {"uniform": "500 ms"}}
    files["workload"] = {"name": "transfer", "sizes": sizes}
    made = {"name": rate.replace(" ", ""), "duration": "3 s", "repetitions": 5, "bottleneck": {"rate": rate}}
    return made | {"flows": [files]} | more


@pytest.fixture(scope="module")
def fast() -> ps.Run:
    return ps.run(scenario("20 Mbit/s"))


@pytest.fixture(scope="module")
def slow() -> ps.Run:
    return ps.run(scenario("5 Mbit/s"))


@pytest.fixture(scope="module")
def whole() -> ps.Run:
    return ps.run(scenario("100 Mbit/s"))


def counts(run: ps.Run) -> tuple[int, int]:
    transfers = run.transfers
    assert transfers is not None
    return transfers["completion_s"].count(), transfers.height


# --- one run ---


def test_a_run_whose_transfers_did_not_all_end_says_so_first(fast: ps.Run) -> None:
    ended, begun = counts(fast)
    assert 0 < ended < begun
    text = finding(fast).text
    assert text.startswith(f"{ended} of {begun}\xa0transfers ended. ")
    assert "95 % within" not in text
    assert "fewer than 95 % ended: the 95th percentile is more than" in text


def test_no_mean_and_no_percentile_are_given_beyond_what_ended(fast: ps.Run) -> None:
    ended, begun = counts(fast)
    lacking = fast.lacking()
    assert set(DURATIONS) & set(fast.metrics()) == {"completion_p50_s"}
    why = lacking["completion_p95_s"].lacking
    assert why is not None
    assert (why.found, why.of) == (ended, begun)
    assert why.reason == f"{round(100 * ended / begun)} % ended: no 95th percentile"
    with pytest.raises(InputError, match=r"completion_p95_s: .* ended: no 95th percentile \("):
        fast.quantity("completion_p95_s")
    entry = fast.summary["intervals"]["completion_s"]
    assert entry["mean"] is None
    assert (entry["n"], entry["of"]) == (ended, begun)
    assert entry["how"].endswith("ended: no mean")
    assert fast.summary["completion_s"] is None
    assert (fast.summary["transfers"], fast.summary["transfers_begun"]) == (ended, begun)
    json.dumps(fast.summary, allow_nan=False)


def test_what_is_still_under_way_counts_from_its_start_to_the_end(fast: ps.Run) -> None:
    """The censored ages are those of the run's end, which no table of the records has."""
    series = fast.quantity("completion_p50_s").series
    assert isinstance(series, Censored)
    transfers = fast.transfers
    assert transfers is not None
    for repetition, found in series.durations.items():
        own = transfers.filter(pl.col("repetition") == repetition)
        expected = own["completion_s"].fill_null(3.0) - own["start_s"]
        assert found.lasted.tolist() == pytest.approx(expected.to_list())
        assert found.ended.tolist() == own["completion_s"].is_not_null().to_list()


def test_tiles_and_tables_say_how_many_ended(fast: ps.Run) -> None:
    ended, begun = counts(fast)
    tile = next(each for each in headline(fast).tiles if "ompletion time" in each.label)
    assert tile.remark == f"{ended} of {begun}\xa0transfers ended"
    table = transfers_table(fast)
    assert table is not None
    texts = [cell.text for row in table.rows for cell in row]
    assert any("ended: no 95th percentile (more than" in text for text in texts)
    assert "Kaplan and Meier" in table.note
    assert "independent" not in table.note, "the end is fixed"


def test_where_all_ended_nothing_is_said_of_it(whole: ps.Run) -> None:
    ended, begun = counts(whole)
    assert ended == begun
    assert not whole.lacking()
    assert "ended" not in finding(whole).text
    assert set(DURATIONS) <= set(whole.metrics())
    transfers = whole.transfers
    assert transfers is not None
    lasted = transfers.select(pl.col("completion_s") - pl.col("start_s")).to_series()
    assert whole.summary["completion_p95_s"] == pytest.approx(lasted.quantile(0.95, "linear"))


def test_nothing_ended() -> None:
    run = ps.run(scenario("1 Mbit/s", "4 MB"))
    text = finding(run).text
    assert text.startswith("0 of 50\xa0transfers ended. ")
    assert "fewer than half of the transfers ended" in text
    assert not set(DURATIONS) & set(run.metrics())
    tile = next(each for each in headline(run).tiles if "ompletion time" in each.label)
    assert "0 % ended: no median" in tile.remark


def test_the_figure_ends_where_the_curve_does() -> None:
    plot = prepare(ps.run(scenario("10 Mbit/s", "500 kB")))
    assert isinstance(plot, Plot)
    line = plot.panels[0].marks[0]
    assert max(line.y) < 95.0
    assert "they count as longer than they had lasted (Kaplan and Meier)" in plot.caption


def test_a_run_that_ends_with_its_transfers_says_of_which_others_that_is_rough() -> None:
    files = {"count": 2, "rtt": "20 ms", "workload": {"name": "transfer", "sizes": "200 kB"}}
    others = {"count": 4, "rtt": "20 ms", "workload": {"name": "transfer", "sizes": "20 MB"}}
    flows = [{"name": "awaited", **files}, {"name": "others", **others}]
    run = ps.run(scenario("5 Mbit/s", duration="30 s", ends_with=["awaited"], flows=flows))
    table = transfers_table(run)
    assert table is not None
    assert "This one ended with the transfers of awaited, so they are only rough of others." in table.note


# --- two runs ---


def test_half_the_rate_is_never_better(fast: ps.Run, slow: ps.Run) -> None:
    for pair in ((fast, slow), (slow, fast)):
        comparison = ps.compare(*pair, names=["A", "B"])
        slower = "b" if pair[1] is slow else "a"
        times = [each for each in comparison.differences if "completion" in each.key]
        assert times
        assert all(each.better != slower for each in times)


def test_what_has_no_value_but_is_above_the_other_is_worse(whole: ps.Run) -> None:
    slowest = ps.run(scenario("2 Mbit/s"))
    comparison = ps.compare(whole, slowest, names=["whole", "slowest"])
    row = comparison.of("completion_p50_s")
    (found,) = row.differences
    assert found is not None
    assert (found.verdict, found.better, found.matters) == (Verdict.HIGHER, "a", True)
    assert found.b is None
    assert found.difference is None
    texts = cells(comparison, row)
    assert "ended: no median (more than" in texts[2]
    assert texts[4] == "higher, better for A"
    assert all(each.matters for each in comparison.rows[: comparison.rows.index(row)])
    (mean,) = comparison.of("completion_s").differences
    assert mean is not None
    assert (mean.verdict, mean.better, mean.matters) == (Verdict.NO_VALUE, None, False)
    assert mean.reason.startswith("B: ")
    text = finding_of_comparison(comparison)
    assert "cannot be compared: too few transfers ended." in text
    assert not row.missing
    said = json.loads(json.dumps(comparison.to_json(), allow_nan=False))
    median = next(each for each in said["metrics"] if each["key"] == "completion_p50_s")
    assert median["b"] is None
    assert median["lacking"][0] is None
    assert median["lacking"][1]["of"] == counts(slowest)[1]


def test_the_command_says_what_the_page_says(fast: ps.Run, slow: ps.Run, capsys: pytest.CaptureFixture[str]) -> None:
    show(ps.compare(fast, slow, names=["A", "B"]))
    printed = " ".join(capsys.readouterr().out.split())
    assert "ended: no mean" in printed
    assert "cannot be compared" in printed
    assert "too few ended: unknown" in printed, "of the medians, of which one has no interval"


def test_the_command_prints_why_a_run_has_no_value(fast: ps.Run, capsys: pytest.CaptureFixture[str]) -> None:
    _show(fast, page=False)
    printed = " ".join(capsys.readouterr().out.split())
    assert "ended: no mean" in printed
    assert "ended: no 95th percentile" in printed


# --- sweeps ---


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    store = tmp_path_factory.mktemp("store")

    def done(name: str, rates: list[str]) -> Any:
        plan = {"scenario": scenario("10 Mbit/s"), "metrics": list(DURATIONS), "repetitions": 5}
        parameters = {"flows.files.rtt": ["20 ms", "40 ms"], "bottleneck.rate": rates}
        return sweep(Plan(name=name, **plan, parameters=parameters), store, workers=1)

    return done("fast", ["5 Mbit/s", "100 Mbit/s"]), done("again", ["5 Mbit/s", "100 Mbit/s"])


def test_a_sweep_says_at_which_points_too_few_ended(sweeps: tuple[Any, Any]) -> None:
    made, _ = sweeps
    reasons = made.points["completion_p95_s_lacking"].to_list()
    assert [reason is None for reason in reasons] == [value is not None for value in made.points["completion_p95_s"]]
    assert any("ended: no 95th percentile" in reason for reason in reasons if reason)
    text = finding_of_sweep(made)
    assert "It has no value at" in text
    assert "ended: no mean" in text
    page = write_page(made).read_text(encoding="utf-8")
    assert "ended: no 95th percentile" in page
    assert "cannot be drawn" in page


def test_sweeps_that_lack_a_value_are_compared_in_words(sweeps: tuple[Any, Any]) -> None:
    differences = compare_sweeps(*sweeps).differences
    lacking = [each for each in differences if each.a is None]
    assert lacking
    assert {each.verdict for each in lacking} == {Verdict.NO_VALUE}
    assert all("ended: no" in each.why for each in lacking)
    frame = compare_sweeps(*sweeps).frame
    assert frame.filter(pl.col("a").is_null())["verdict"].unique().to_list() == ["cannot be compared"]


def test_a_stopping_rule_takes_no_interval_from_those_that_ended() -> None:
    ended, cut_off = (
        Durations.of([1.0] * 30, [True] * 30),
        Durations.of([1.0] * 10 + [9.0] * 20, [True] * 10 + [False] * 20),
    )
    assert interval({n: Censored({n: ended}, 0.5) for n in range(5)}) is not None
    assert interval({n: Censored({n: cut_off}, 0.5) for n in range(5)}) is None
    assert interval({0: Censored({0: ended}, None), 1: Censored({1: cut_off}, None)}) is None


# --- the time of a transfer ---


def test_the_time_of_a_transfer_counts_those_that_were_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "LONGEST", "1.2 s")
    found = transfer.transfer_time("1 MB", "10 Mbit/s", "20 ms", loss=0.01, repetitions=40)
    assert 0 < found.unended < 40
    printed = found.to_json()
    assert (printed["transfers"], printed["ended"]) == (40, 40 - found.unended)
    assert printed["mean_s"] is None
    tail, last = (next(each for each in printed["quantiles"] if each["share"] == share) for share in (0.95, 0.99))
    assert last["how"] == "too few values: 40 of 100"
    assert tail["time_s"] is None
    assert tail["how"].endswith("ended: no 95th percentile")


def test_the_time_of_a_transfer_runs_from_its_own_start() -> None:
    """Beside others it begins after 10 to 20 s."""
    found = transfer.transfer_time("100 kB", "10 Mbit/s", "20 ms", others=1, repetitions=20)
    assert found.times_s[0] < 9.0


# --- repetitions without a value ---


def made_up(values: dict[int, float | None]) -> Means:
    table = pl.DataFrame({"repetition": [0, 1, 2, 3, 4], "link": ["a"] * 5})
    quantity = Quantity("x", "x", "s", "lower", "run", lambda _: values)
    series = quantity.series(Tables({"links": table}.get))
    assert isinstance(series, Means)
    return series


def test_a_mean_of_some_repetitions_says_of_how_many() -> None:
    estimate = made_up({0: 1.0, 1: 2.0, 2: None, 3: 3.0, 4: 2.0}).estimate()
    assert estimate is not None
    assert (estimate.interval.n, estimate.interval.of) == (4, 5)
    assert interval_text(estimate.interval, "s").endswith("(4 of 5 repetitions have one)")
    alone = made_up({0: 1.0}).estimate()
    assert alone is not None
    assert alone.interval.how == "1 of 5 repetitions"
    complete = made_up(dict.fromkeys(range(5), 1.0)).estimate()
    assert complete is not None
    assert complete.interval.of is None


def test_one_repetition_of_several_is_not_called_the_only_one() -> None:
    """Means, quantiles of values, of bins and of transfers, and differences of them."""
    bins = Bins(np.array([0.9]), np.array([1.1]), np.array([40.0]))
    lasted = Durations(np.linspace(1.0, 2.0, 40), np.ones(40, dtype=bool))
    links = pl.DataFrame({"repetition": [0, 1, 2, 3, 4], "link": ["a"] * 5})
    estimates = []
    for values in (
        {3: 1.0},
        Quantiles({3: np.linspace(1.0, 2.0, 40)}, 0.5),
        BinnedQuantiles({3: bins}, 0.5),
        Censored({3: lasted}, 0.5),
    ):
        quantity = Quantity("x", "x", "s", "lower", "run", lambda _, values=values: values)
        series = quantity.series(Tables({"links": links}.get))
        assert series is not None
        estimate = series.estimate()
        assert estimate is not None
        assert estimate.interval.how == "1 of 5 repetitions"
        assert joined([series.numbered({3: 0, 4: 1})]).estimate().interval.how == "1 of 2 repetitions"
        estimates.append(estimate)
    complete = made_up(dict.fromkeys(range(5), 1.0) | {4: 2.0}).estimate()
    assert complete is not None
    assert differed(complete, estimates[0], common_numbers=False)[0].how == "1 of 5 repetitions"
    some, others = (made_up(values).estimate() for values in ({0: 1.0, 1: 2.0}, {1: 1.0, 2: 2.0}))
    assert some is not None
    assert others is not None
    assert differed(some, others, common_numbers=True)[0].how == "one common repetition"


def test_the_points_of_a_sweep_have_their_own_repetitions() -> None:
    some = made_up({0: 1.0, 1: 2.0, 3: 3.0})
    estimate = some.numbered({0: 0, 1: 1, 2: 2}).estimate()
    assert estimate is not None
    assert (estimate.interval.n, estimate.interval.of) == (2, 3)


# --- suites, ITB, predictions ---


def test_a_standard_control_without_a_value_is_not_left_out() -> None:
    answers = {("c", "reno"): {"k": [1.0, 1.0]}, ("c", "cubic"): {"k": [2.0, None]}, ("c", "own"): {"k": [4.0, 4.0]}}
    assert _over_standard(answers, "own", max)("c", "k") == [2.0, None]


def short_flows(rate: str) -> ps.Run:
    """Of 200 kB each, for 3 s, of which few end at a low rate."""
    load = {"name": "open_loop", "arrivals_per_s": 10.0, "size": {"name": "constant", "value": "200 kB"}}
    short = {"name": "short", "rtt": "20 ms", "workload": load}
    return ps.run(scenario(rate, flows=[short]))


@pytest.fixture(scope="module")
def starving() -> rfc9743.Answers:
    """A subject that starves its short flows, beside standard ones that do not."""
    slow, fast = (rfc9743.measured(short_flows(rate), *rfc9743.TIMES) for rate in ("1 Mbit/s", "100 Mbit/s"))
    return {("short flows", "own"): slow} | {("short flows", name): fast for name in rfc9743.STANDARD}


def short_claim(answers: rfc9743.Answers, bound: float) -> Claim:
    over, key = _over_standard(answers, "own", max), rfc9743.TIMES[0]
    longer_than = over("short flows", key, rfc9743.least(key))
    return rfc9743._criterion("§5.1.5", "times", over("short flows", key), bound, longer_than=longer_than)


def test_a_subject_that_starves_its_flows_fails_by_what_its_times_exceed(starving: rfc9743.Answers) -> None:
    key = rfc9743.TIMES[0]
    assert starving["short flows", "own"][key] == [None] * 5
    claim = short_claim(starving, 1.5)
    assert claim.verdict == "fails"
    assert claim.note.endswith("at least that: too few ended")
    unreached = short_claim(starving, 1e6)
    assert (unreached.verdict, unreached.value) == ("undecided", None), "a bound from below never makes it hold"
    assert "too few ended" in unreached.note


def test_where_a_standard_control_starves_too_nothing_is_decided(starving: rfc9743.Answers) -> None:
    both = {**starving, ("short flows", "cubic"): starving["short flows", "own"]}
    assert short_claim(both, 1.5).verdict == "undecided"


def test_files_that_were_cut_off_have_no_spread_and_no_fairness() -> None:
    """All of one size and cut off together, they would be the most even of all."""
    files = pl.DataFrame(
        {
            "repetition": [0, 0, 1, 1],
            "group": ["a"] * 4,
            "source": [0, 1, 0, 1],
            "start_s": [0.0] * 4,
            "end_s": [1.0, 2.0, 9.0, 9.0],
            "time_s": [1.0, 2.0, 9.0, 9.0],
            "size_bytes": [1000] * 4,
            "slowdown": [1.0, 2.0, 9.0, 9.0],
            "finished": [True, True, False, False],
            "expected": [2] * 4,
        }
    )
    tables = Tables({"files": files}.get)
    for key in ("completion_sd_s", "unpredictability", "jain"):
        series = MEASURES[key].series(tables)
        assert isinstance(series, Means)
        assert set(series.values) == {0}


def test_a_model_is_not_held_against_the_mean_of_those_that_ended() -> None:
    transfers = pl.DataFrame(
        {
            "group": ["a"] * 4,
            "size_bytes": [10, 10, 20, 20],
            "start_s": [0.0, 1.0, 0.0, 1.0],
            "completion_s": [1.0, 3.0, 1.0, None],
        }
    )
    assert _mean_times(transfers, "a") == {10: 1.5}


def test_a_saved_run_still_knows_when_it_ended(tmp_path: Path) -> None:
    kept = ps.run(scenario("20 Mbit/s"), tmp_path / "run")
    again = ps.load(tmp_path / "run")
    assert isinstance(again, ps.Run)
    assert again.quantity("completion_p50_s").interval == kept.quantity("completion_p50_s").interval
