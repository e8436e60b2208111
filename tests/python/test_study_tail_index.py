"""The tail-index study: signs, equal loads, campaign, page; on runs of a second, where no sign can be right."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad

from parshall.analysis.stats.confidence import Interval
from parshall.report.document import document_html
from parshall.scenario import Scenario
from parshall.studies.catalog import find
from parshall.studies.page import document
from parshall.studies.running import run
from parshall.studies.study import Case, Findings, Part, Scale, Study
from parshall_studies import tail_index
from parshall_studies.hurst import ESTIMATORS
from parshall_studies.tail_index import (
    beyond,
    claims,
    distributions,
    grid,
    hurst_own,
    hurst_page,
    hurst_panel,
    matched,
    running,
    sensitivity,
    signs,
    statements,
    trends,
)
from parshall_studies.tail_index.measure import METRICS, Cells, Measured, Rates, joined, measured, with_rate
from parshall_studies.tail_index.network import butterfly, pareto
from parshall_studies.tail_index.running import tables
from parshall_studies.tail_index.settings import FIG1, FIG2, NS2, OTHER_STACK, STACKS, Setting, ns2_values
from parshall_studies.tail_index.trends import Change, change

TINY = grid.Size((1.1, 1.5, 4.0), duration_s=1.2, repetitions=2, settling_s=0.2, slower_s=1.2)
SHORT = replace(TINY, duration_s=12.0, settling_s=6.0)
SLOW_START = Setting(45, 96, "unlimited", "linux")
DATA = Path(os.environ.get("PARSHALL_DATA", Path(__file__).parents[3] / "shared" / "data"))


def quiet(_: str) -> None: ...


def each_measured(scenarios: list[Scenario]) -> list[Measured]:
    return [measured(tables(scenario)) for scenario in scenarios]


def answers(cases: Mapping[Any, Case]) -> dict[Any, Any]:
    return {key: case.answer() for key, case in cases.items()}


def test_signs_need_significance_and_size() -> None:
    rng = np.random.default_rng(1)
    alphas = [1.3, 1.5, 2.0, 3.0, 4.0]
    rising = [1 + 0.5 / alpha + 0.01 * rng.normal(size=3) for alpha in alphas]
    assert change(alphas, rising).sign == 1
    assert change(alphas, [-row for row in rising]).sign == -1
    assert change(alphas, [1 + 0.001 / alpha + 1e-6 * rng.normal(size=3) for alpha in alphas]).sign == 0, "invisible"
    assert change(alphas, [1 + 0.3 * rng.normal(size=3) for _ in alphas]).sign == 0, "not significant"
    assert change([1.1, *alphas], [[100.0] * 3, *rising]).sign == 1, "1.1 is left out"
    assert change([1.1, *alphas], [[100.0] * 3, *rising], heaviest=1.1).relative > 1, "unless it is asked for"


def test_what_repetitions_share_is_no_noise() -> None:
    """A trend of 5 % under levels of repetitions that differ by 50 %; without pairing it would not be seen."""
    rng = np.random.default_rng(2)
    alphas = [1.3, 1.5, 2.0, 4.0]
    levels = np.array([1.0, 1.5, 2.0])
    found = change(alphas, [levels + 0.15 / alpha + 0.01 * rng.normal(size=3) for alpha in alphas])
    assert found.sign == 1
    assert found.relative == pytest.approx(0.15 * (1 / 1.3 - 1 / 4) / 1.57, abs=0.02)


def test_a_trend_of_the_source_shows_in_short_runs() -> None:
    """N = 45, B = 96, with slow start: loss falls with heavier tails."""
    scenarios = [grid.scenario(SLOW_START, alpha, SHORT, seed=seed) for alpha in (4.0, 1.3) for seed in (1, 2)]
    runs = each_measured(scenarios)
    light, heavy = joined(runs[:2]), joined(runs[2:])
    assert light.loss.shape == (2,)
    assert light.transfers == runs[0].transfers + runs[1].transfers
    assert light.cells.counts.sum() == sum(run.cells.counts.sum() for run in runs[:2])
    assert heavy.loss.mean() < 0.85 * light.loss.mean()
    assert light.mean_packets == pytest.approx(1000, rel=0.1)
    assert np.all(light.rates.low <= light.rates.mbps)
    assert np.all(light.rates.mbps <= light.rates.high)


@pytest.mark.parametrize(("mean", "tail_index", "largest"), [(500, 1.1, 5e3), (2000, 3.0, 2e6), (1000, 1.5, 1e5)])
def test_bounded_pareto_has_its_mean(mean: float, tail_index: float, largest: float) -> None:
    made = distributions.bounded_pareto(mean, tail_index, largest)
    low = float(made["minimum"].split()[0]) / 1460
    u = (np.arange(4_000_000) + 0.5) / 4_000_000
    part = 1 - (low / largest) ** tail_index
    assert (low * (1 - u * part) ** (-1 / tail_index)).mean() == pytest.approx(mean, rel=0.01)


def test_distributions_have_the_variance_that_their_names_say() -> None:
    """Variance of Pareto 2.5: 1/(2.5 * 0.5) = 0.8 means squared; Weibull by its shape."""
    from scipy.special import gamma

    for cv2 in (0.8, 10.0):
        shape = distributions.weibull_shape(cv2)
        assert gamma(1 + 2 / shape) / gamma(1 + 1 / shape) ** 2 - 1 == pytest.approx(cv2, abs=0.001)
        assert np.expm1(distributions.lognormal(cv2)["sigma"] ** 2) == pytest.approx(cv2)


def test_the_same_tail_has_the_same_mean() -> None:
    points = np.array([[float(x.split()[0]) / 1460, p] for x, p in distributions.same_tail(1.5)["points"]])
    value, probability = points.T
    straight = np.diff(probability) @ (value[1:] + value[:-1]) / 2
    assert straight == pytest.approx(1000, rel=0.001)
    tail = value > 2500
    # Pareto of mean 1000: P(X > x) = (1000/3/x)^1.5; the last point takes what is left.
    assert (1 - probability[tail])[:-1] == pytest.approx((1000 / 3 / value[tail][:-1]) ** 1.5, rel=1e-3)


def test_measured_distributions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Percent or fractions, bytes or packets: what is left is the shape, with a mean of 1000 packets."""
    folder = tmp_path / "flowsize"
    folder.mkdir()
    (folder / "hpcc_WebSearch_distribution.txt").write_text("0 0\n10 50\n30 100\n")
    monkeypatch.setenv("PARSHALL_DATA", str(tmp_path))
    assert list(distributions.measured()) == ["web search"]
    points = [[float(x.split()[0]) / 1460, p] for x, p in distributions.measured()["web search"]["points"]]
    # The mean of the file is (5 + 20)/2.
    assert np.array(points) == pytest.approx(np.array([[0, 0], [800, 0.5], [2400, 1]]), abs=0.01)
    monkeypatch.setenv("PARSHALL_DATA", str(tmp_path / "nothing"))
    assert distributions.measured() == {}


def test_published_distributions_run(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (DATA / "flowsize").is_dir():
        pytest.skip(f"flowsize is not in {DATA} (PARSHALL_DATA)")
    monkeypatch.setenv("PARSHALL_DATA", str(DATA))
    found = distributions.measured()
    assert {"web search", "data mining", "Hadoop", "storage", "remote procedure calls", "Facebook"} <= found.keys()
    short = replace(TINY, duration_s=2.0, repetitions=1)
    scenarios = [beyond.scenario(short, size=size) for size in found.values()]
    assert all(each.transfers > 20 for each in each_measured(scenarios))


@pytest.mark.slow
def test_the_study_on_short_runs() -> None:
    """All of it, and its page."""
    panel = hurst_panel.Size((1.35,), 600.0, 2, 1, 1)
    size = tail_index.Size(replace(TINY, tail_indices=(1.5, 4.0)), panel, 6, 2)
    parts = [Part("all", lambda _: tail_index.cases(size), lambda answers, _: tail_index.findings(answers, size))]
    findings = run(Study("tail_index", "", "", "", parts), "quick", quiet)
    # Fig. 1: 12 signs, those without slow start in three readings; Fig. 2: 3 in two; all at both loads.
    signs_of_figures = 2 * (3 * 6 + 6 + 2 * 3)
    # Settled ssthresh: two buffers and rules; Fig. 2: sensitive, medium flows, flat rates, in two readings. Runs of a
    # second have no large flows.
    in_words = 4 + 2 * 3
    # Fig. 4(a): two ends, three estimators, two networks; and 8 estimators against the theory.
    assert len(findings.checks) == signs_of_figures + in_words + 2 * 3 * 2 + 8
    counted = {(check.artefact, check.quantity) for check in findings.checks if check.published is not None}
    assert len(counted) == 12 + 3 + 2 + 3 + 2
    assert sum(check.theory is not None for check in findings.checks) == 8
    html = document_html(document(find("tail_index"), "quick", findings))
    for words in ("Fig. 2: N = 500", "with the testbed", "BBRv3", "CoDel", "is moved most by", "equal loads"):
        assert words in html, words
    loads = next(each for each in findings.sections if each.heading == "Sampled loads")
    assert "more than 5 % off" in loads.paragraphs[0]


@pytest.mark.slow
def test_equal_loads_are_equal() -> None:
    found = answers(matched.cases(replace(TINY, tail_indices=(1.5,), duration_s=6.0, repetitions=1), {}))
    assert len(found) == len(matched.SETTINGS) == 14
    near = [each for each in found.values() if abs(each.load.error) <= 0.03]
    assert len(near) >= 8
    assert all(each.point.mean_packets == each.load.measured for each in found.values())


@pytest.mark.parametrize(
    ("metric", "ends", "said"),
    [
        ("throughput_mbps", (0.05, 0.15), "fails"),
        ("throughput_mbps", (-0.01, 0.02), "holds"),
        ("throughput_mbps", (-0.01, 0.06), "compatible"),
        ("loss", (-0.3, -0.1), "holds"),
        ("loss", (-0.3, 0.01), "compatible"),
        ("loss", (-0.01, 0.01), "fails"),
    ],
)
def test_a_sign_needs_its_whole_interval(metric: str, ends: tuple[float, float], said: str) -> None:
    """With slow start and 96 packets the source has loss fall and throughput stay."""
    found = Change((ends[0] + ends[1]) / 2, *ends, 0.01)
    assert trends.outcome(SLOW_START, metric, found) == said
    other = SLOW_START._replace(stack="ns2")
    assert trends.checks({(other, metric): found}, "") == [], "not the testbed's TCP"


def test_readings_count_once() -> None:
    up = Change(0.1, 0.09, 0.11, 1e-4)
    found = trends.checks({(setting, "loss"): up for setting in FIG1}, "equal loads")
    assert len(found) == 8
    assert len({check.quantity for check in found}) == 4
    assert found[0].reading == "cached ssthresh only decreases; equal loads"


def test_the_table_of_signs() -> None:
    """All settings and metrics; the answer counts what comes out as published with either TCP."""
    up, flat = Change(0.1, 0.09, 0.11, 1e-4), Change(0.0, -0.01, 0.01, 0.9)
    asked = {(setting, metric): flat for setting in grid.SETTINGS for metric in METRICS}
    equal = {(setting, metric): up for setting in matched.SETTINGS for metric in METRICS}
    table = signs.section(asked, equal).tables[0]
    assert len(table.rows) == 3 * (len(FIG1) + len(FIG2) + len(OTHER_STACK))
    said = " ".join(signs.answer_section(equal).paragraphs)
    assert "6 (cached ssthresh only decreases); 6 (ssthresh cached by Linux's rule); 6 (ssthresh 10" in said
    assert "the six with slow start for 0" in said
    assert "With ns-2's TCP, which is not the testbed's, 6 of the twelve do" in said
    equal = {key: flat if key[0].stack == "ns2" else change for key, change in equal.items()}
    assert "1 of the twelve do" in signs.answer_section(equal).paragraphs[0], "throughput stays with slow start, B = 96"


def some(**values: float) -> Measured:
    """A run of two repetitions of which a few things are known."""
    nothing = np.full(2, np.nan)
    known = {name: np.full(2, value) for name, value in values.items()}
    cells = Cells(np.empty((1, 0)), np.empty((1, 0)))
    arrays = dict.fromkeys((*METRICS, "medium_mbps", "largest_mbps", "ssthresh_packets"), nothing) | known
    return Measured(mean_packets=1000.0, transfers=100, ended=90, cells=cells, **arrays)


def test_the_claims_in_words() -> None:
    faster, none = some(medium_mbps=3.0, largest_mbps=2.0), some(medium_mbps=3.0)
    ratio = claims.medium_over_largest([faster, none])
    assert ratio is not None
    assert ratio.mean == pytest.approx(0.5)
    assert claims.medium_over_largest([none]) is None
    rows = {
        setting: {1.5: some(ssthresh_packets=12.0, largest_mbps=1.5), 4.0: some(ssthresh_packets=9.0, largest_mbps=1.0)}
        for setting in FIG1
    }
    rows |= {setting: {4.0: none} for setting in FIG2}
    flat = {(setting, metric): Change(0.0, -0.01, 0.01, 0.9) for setting in FIG2 for metric in METRICS}
    found = claims.checks(rows, flat, "as asked")
    settled, large, sensitive, medium = found[:4], found[4], found[5], found[7:]
    assert large.outcome == "holds"
    assert len(medium) == 4
    assert [check.ours for check in settled] == [10.5] * 4
    assert {check.outcome for check in settled} == {"holds"}
    assert sensitive.outcome == "fails"
    assert {check.outcome for check in medium} == {"undecided"}
    falling = flat | {(FIG2[1], "loss"): Change(-0.1, -0.12, -0.08, 0.001)}
    assert trends.sensitive(falling, FIG2[1], "").outcome == "holds", "in either direction"


def test_rates_of_transfers_that_were_cut_off_count() -> None:
    """As fast as if the run had gone on: a mean of those that ended would be of the fast ones."""
    rng = np.random.default_rng(1)
    number, end_s = 20_000, 100.0
    start = rng.uniform(0.0, end_s, number)
    rate = rng.uniform(1.0, 10.0, number)  # Mbit/s, so that half of them take 10 s to 60 s
    lasted = 5000 * 1500 * 8 / 1e6 / rate
    whole = pl.DataFrame(
        {"repetition": 0, "size_bytes": 5000 * 1460, "start_s": start, "completion_s": start + lasted},
    )
    cut = whole.with_columns(completion_s=pl.when(pl.col("completion_s") <= end_s).then("completion_s"))
    last = cut.with_columns(start_s=pl.lit(end_s), completion_s=pl.lit(end_s))[:1]
    ended_only = float(np.mean(rate[start + lasted <= end_s]))
    censored = with_rate(cut, pl.concat([cut, last]))["mbps"].mean()
    assert with_rate(whole, whole)["mbps"].mean() == pytest.approx(rate.mean())
    assert ended_only > 1.05 * rate.mean()
    assert censored == pytest.approx(rate.mean(), rel=0.02)


def rising(bins: int, settled: int) -> Measured:
    """Rates that double from bin to bin of the size up to one, and are the same from there on."""
    rates = 2.0 ** np.minimum(np.arange(bins), settled)
    return replace(some(), cells=Cells(100.0 * rates[None, :], np.full((1, bins), 100.0)))


def test_shapes_of_curves_of_rates() -> None:
    early, late = rising(16, 4), rising(16, 12)
    assert statements.range_of(late) == pytest.approx(2.0**12)
    assert statements.settles_at(early) == pytest.approx(10**1.125)
    assert statements.settles_at(late) == pytest.approx(10**3.125)
    assert statements.steepest(early) == pytest.approx(4 * np.log(2) / np.log(10))


def test_statements_of_the_text() -> None:
    """Curves that settle late without slow start and early with it are the source's; the same curves are not."""
    rows = {setting: {1.5: rising(16, 4 if setting.slow_start else 14)} for setting in (*FIG1, *FIG2)}
    worse = {"loss": 0.2, "delay_ms": 0.2, "throughput_mbps": 0.2}
    equal = {
        (setting, metric): Change(change, change - 0.01, change + 0.01, 0.001, 3)
        for setting in matched.SETTINGS
        for metric in METRICS
        for change in [-worse[metric] if setting.slow_start else worse[metric]]
    }
    checks = statements.findings(rows, equal, [], []).checks
    found = {(check.artefact, f"{check.quantity} ({check.reading})"): check for check in checks}
    delays = [check.ours for (artefact, _), check in found.items() if artefact == "section2"]
    assert delays == pytest.approx([1.152, 10.752, 1.2, 12.0])
    apart = [check for (_, name), check in found.items() if name.startswith("change of")]
    assert len(apart) == 2 * 3 * 3
    assert {check.verdict for check in apart} == {"reproduced"}
    assert found["section4", "kinds of impact of a heavier tail that occur ()"].ours == 2, "nothing is indifferent"
    later = [check for (_, name), check in found.items() if "at larger sizes without" in name]
    assert [check.ours for check in later] == [1.0] * 3
    flat = [check for (artefact, name), check in found.items() if artefact == "fig2" and "depends less" in name]
    assert [check.ours for check in flat] == [0.0] * 2, "both buffers have one curve"
    assert {check.verdict for check in flat} == {"undecided"}, "of a share of single runs no spread is known"


def test_the_slope_of_h() -> None:
    at = [
        (alpha, Interval((3 - alpha) / 2, (3 - alpha) / 2 - 0.05, (3 - alpha) / 2 + 0.05, 5))
        for alpha in (1.1, 1.5, 1.9)
    ]
    slope = statements.slope_of(at)
    assert slope.mean == pytest.approx(-0.5)
    assert slope.half_width == pytest.approx(0.05 / np.sqrt(2) / 0.4)


def test_readings_of_a_cached_ssthresh() -> None:
    """Short runs of the source's network: the lowest one ends below what Linux keeps, and both below none."""
    settings = [setting for setting in FIG1 if setting.buffer == 96]
    points = each_measured([grid.scenario(setting, 2.0, SHORT) for setting in settings])
    found = dict(zip([setting.ssthresh for setting in settings], points, strict=True))
    assert 2 <= found["lowest"].ssthresh_packets[0] < found["linux"].ssthresh_packets[0] < 60
    assert np.isnan(found["unlimited"].ssthresh_packets[0]), "not recorded"
    assert max(found[cached].loss[0] for cached in ("lowest", "linux", "ten")) < found["unlimited"].loss[0] / 5


def test_ns2_values_are_those_of_the_cross_check() -> None:
    """Means of the runs with datagrams where there are some, and the standard error within a run over their root."""
    stored = json.loads((Path(__file__).parents[1] / "crosscheck" / "ns2_values.json").read_text())["on_off"]
    names = {"loss": "loss", "delay_ms": "queueing_delay_ms", "throughput_mbps": "throughput_Mbps"}
    for setting in NS2:
        sources, buffer, ssthresh, _ = setting
        cached = ssthresh == "last"
        for metric, key in names.items():
            for alpha, (mean, error) in ns2_values(setting, metric).items():
                at = {"n": sources, "buf": 1000 if buffer >= 896 else 100, "alpha": alpha}
                (plain,) = [
                    each for each in stored["runs"] if at.items() <= each.items() and each["ssthresh_cached"] is cached
                ]
                (runs,) = (
                    [[plain]]
                    if cached
                    else [each["runs"] for each in stored["perturbed"]["runs"] if at.items() <= each.items()]
                )
                assert mean == pytest.approx(np.mean([each[key] for each in runs]), rel=1e-3)
                assert error == pytest.approx(plain[f"{key}_se"] / len(runs) ** 0.5, rel=0.05)


def test_the_strongest_property() -> None:
    clear = sensitivity.Influence("loss", (0.1, 0.02, 0.05), (0.01, 0.01, 0.01))
    assert "loss rate is moved most by the mean size" in sensitivity.answer([clear])
    assert "the tail index does 20% to 20% and the largest size does 50% to 50%" in sensitivity.answer([clear])
    near = sensitivity.Influence("loss", (0.1, 0.02, 0.09), (0.01, 0.01, 0.01))
    assert "largest size not told apart" in sensitivity.answer([near])


@pytest.mark.slow
def test_the_panel_of_h() -> None:
    found = hurst_panel.together(answers(hurst_panel.cases(hurst_panel.Size((1.65,), 400.0, 3, 2, 0))))
    (at,), (ideal,), broken = found.tcp, found.ideal, found.broken
    assert at.h("dfa").mean == pytest.approx(np.mean([each["dfa"] for each in at.repetitions]))
    assert at.repetitions[0].keys() == {each.name for each in ESTIMATORS}
    # 400 clients of 40 kbit/s, ON for a quarter of the time, and what was not yet begun at the start.
    assert ideal.utilisation == pytest.approx(0.4, rel=0.1)
    assert at.utilisation == pytest.approx(ideal.utilisation, rel=0.15)
    assert broken[-1].full > 0.9, "more is offered than the link takes"
    assert broken[0].outlasting < 0.01
    assert at.outlasting > 0.3
    assert len(hurst_page.checks(found)) == 8
    assert len(hurst_page.section(found, 400.0).tables) == 3


def test_the_sources_own_clients() -> None:
    """H falls with the tail index at 10 ms, and is near 1/2 in bins of seconds: 32 fast clients, 600 s."""
    size = hurst_panel.Size((1.05, 1.95), 600.0, 1, 1, 1)
    own = hurst_own.together(size, answers(hurst_own.cases(size)))
    heavy, light = own
    for method in hurst_own.METHODS:
        assert heavy.h(1, method).mean > light.h(1, method).mean + 0.1
    assert light.h(400, "local_whittle").mean < light.h(1, "local_whittle").mean
    slow = [
        hurst_panel.AtTail("slow", alpha, 0.4, 0.0, 1.0, h, (dict.fromkeys(hurst_own.METHODS, h),) * 2)
        for alpha, h in ((1.05, 0.97), (1.5, 0.9), (1.95, 0.53))
    ]
    found = {check.quantity: check for check in hurst_own.checks(own, slow) if check.reading.startswith("400 slow")}
    assert [check.outcome for check in found.values()] == ["holds", "holds", "fails"], "not straight"
    assert len(hurst_own.section(own, 600.0).tables[0].rows) == 1 + 4 * 3


@pytest.mark.parametrize("alpha", [1.05, 1.35, 1.95])
@pytest.mark.parametrize("scale", [3.0, 100.0])
def test_h_at_a_finite_scale(alpha: float, scale: float) -> None:
    """Against quadrature of the covariance that is left of Pareto times."""

    def left(u: float) -> float:
        return alpha / (alpha - 1) - u if u < 1 else u ** (1 - alpha) / (alpha - 1)

    def variance(t: float) -> float:
        return 2 * quad(lambda u: (t - u) * left(u), 0, t, points=[1.0], limit=200)[0]

    step = 1e-3
    slope = np.log(variance(scale * (1 + step)) / variance(scale / (1 + step))) / (2 * np.log1p(step))
    assert hurst_panel.exact(alpha, scale) == pytest.approx(slope / 2, abs=1e-5)


# --- as a campaign ---

LINUX = STACKS["linux"]
POINTS = [butterfly(3, 96, pareto(alpha), flow=LINUX, duration_s=1.2, repetitions=2) for alpha in (1.5, 2.0)]


def test_workers_find_what_is_found_here() -> None:
    cases = {number: running.case(f"point {number}", each, measured) for number, each in enumerate(POINTS)}
    found: dict[int, Measured] = {}

    def taken(answers: Mapping[int, Measured], _: Scale) -> Findings:
        found.update(answers)
        return Findings([], [])

    run(Study("points", "", "", "", [Part("points", lambda _: cases, taken)]), "quick", quiet)
    here = each_measured(POINTS)
    assert [found[number].loss.tolist() for number in cases] == [each.loss.tolist() for each in here]
    assert [found[number].rates.mbps.tolist() for number in cases] == [each.rates.mbps.tolist() for each in here]
    assert isinstance(here[0].rates, Rates)


def test_equal_loads_begin_with_the_run_that_was_asked_for() -> None:
    size = replace(TINY, tail_indices=(1.5,), duration_s=6.0, repetitions=1)
    key = (SLOW_START, 1.5, 0)
    asked = grid.cases(size)[key].answer()
    begun, anew = matched.adjusted(*key, size, asked), matched.adjusted(*key, size, None)
    assert begun.load == anew.load
    assert begun.point.loss.tolist() == anew.point.loss.tolist()


def test_the_paper_scale_is_the_sources() -> None:
    """In sum over 3 runs an hour of Fig. 2 and two of Fig. 1, with what is not measured; 9 tail indices, or 5."""
    size = grid.SIZES["paper"]
    points = grid.scenarios(size)
    needed = [each for each in grid.SETTINGS if each.own_stack and each.ssthresh in {"linux", "unlimited"}]
    assert len(points) == (len(needed) * 9 + (len(grid.SETTINGS) - len(needed)) * 5) * 3
    assert {setting.ssthresh for setting in grid.SETTINGS if setting not in needed} == {"lowest", "ten"}
    lasts_s = {
        setting.figure: {
            round(of["duration_ps"] / 1e12)
            for key, each in points.items()
            if key[0] == setting and (of := each.resolve())
        }
        for setting in grid.SETTINGS
        if setting.ssthresh == "unlimited"
    }
    assert lasts_s == {"fig1": {7200 // 3}, "fig2": {3600 // 3}}
    assert set(matched.at(OTHER_STACK[0], size)) == set(size.fewer or ())
    short = matched.shorter(size)
    assert {short.times(each)[1] for each in grid.SETTINGS if each.cached} == {150.0}


def test_it_is_registered() -> None:
    assert "Goga" in find("tail_index").reference
