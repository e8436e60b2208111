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
from parshall.campaign.keys import call_of
from parshall.report.document import document_html
from parshall.scenario import Scenario
from parshall.studies.artefact import part
from parshall.studies.catalog import find
from parshall.studies.page import document
from parshall.studies.running import run
from parshall.studies.study import Case, Findings, Part, Scale, Study
from parshall_studies import tail_index
from parshall_studies.hurst import ESTIMATORS
from parshall_studies.tail_index import (
    beyond,
    distributions,
    figures,
    fluid,
    hurst_own,
    hurst_page,
    hurst_panel,
    page,
    running,
    runs,
    sensitivity,
    setting,
)
from parshall_studies.tail_index.measure import METRICS, Cells, Measured, Rates, joined, measured, with_rate
from parshall_studies.tail_index.network import butterfly, pareto
from parshall_studies.tail_index.running import tables
from parshall_studies.tail_index.runs import Drawn
from parshall_studies.tail_index.setting import FIG1, FIG2, HOSTS_OF_2011, PAPER, SETTINGS, Curve, Setting
from parshall_studies.tail_index.trends import Change, change

TINY = replace(
    SETTINGS["quick"],
    tail_indices=(1.1, 1.5, 4.0),
    level=None,
    duration_s=1.2,
    repetitions=2,
    settling_s=0.2,
    slower_s=1.2,
    equal_loads=False,
)
SHORT = replace(TINY, duration_s=12.0, settling_s=6.0)
SLOW_START = FIG1[2]
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
    scenarios = [SHORT.scenario(SLOW_START, alpha, seed) for alpha in (4.0, 1.3) for seed in (1, 2)]
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
    """Figs 1 and 2 in three readings, the model and what is beyond, and their page."""
    short = replace(TINY, tail_indices=(1.5, 4.0))
    made = {"ten": short, "linux": replace(short, ssthresh="linux"), "1 s": replace(short, least_timeout_s=1.0)}
    parts = [
        part("figures", figures.ARTEFACTS, lambda _: made),
        part("rest", (*figures.MODEL, figures.OTHER_STACK, *tail_index.BEYOND), lambda _: {"": short}),
    ]
    findings = run(Study("tail_index", "", "", "", parts), "quick", quiet)
    of_figures = [each for each in findings.checks if not each.artefact.endswith("-model")]
    assert {each.reading for each in of_figures} == set(made), "each claim is of both figures in one setting"
    by_reading = {name: [each.quantity for each in of_figures if each.reading == name] for name in made}
    assert len(set(by_reading["ten"])) == len(by_reading["ten"])
    # Signs of Figs 1 and 2, the difference that slow start makes, the kinds of impact, four full buffers, a metric
    # that depends on the tail, and medium flows. Runs of a second have no large flows and few rates.
    of_signs = {
        name: len([each for each in quantities if not each.startswith("share")])
        for name, quantities in by_reading.items()
    }
    assert of_signs["ten"] == of_signs["1 s"] == 12 + 3 + 6 + 1 + 4 + 1 + 2
    assert of_signs["linux"] == of_signs["ten"] + 2, "a cached ssthresh settles"
    html = document_html(document(find("tail_index"), "quick", findings))
    for words in (
        "Fig. 2: N = 500",
        "on a testbed of Linux hosts",
        "BBRv3",
        "CoDel",
        "is moved most by",
        "closed-loop model",
    ):
        assert words in html, words
    loads = next(each for each in findings.sections if each.heading.startswith("Fig. 1: N")).tables[1]
    assert "off the 1000 packets wanted" in loads.caption


@pytest.mark.slow
def test_equal_loads_are_equal() -> None:
    level = replace(TINY, tail_indices=(1.5,), duration_s=6.0, repetitions=1, equal_loads=True)
    found = answers(runs.points((*FIG1, *FIG2), level))
    assert len(found) == 6
    loads = [each.load for each in found.values()]
    assert sum(abs(each.error) <= 0.03 for each in loads) >= 4
    assert all(each.point.mean_packets == each.load.measured for each in found.values())


def test_readings_are_of_both_figures_and_share_their_runs() -> None:
    """Rules by timeouts at equal loads, and rules as asked; what a figure does not depend on leaves its runs."""
    made = setting.readings("quick")
    assert len(made) == 3 * 3 + 3
    keys = {
        name: [
            {call_of(each.function, each.arguments).key for each in artefact.cases(chosen).values()}
            for artefact in figures.ARTEFACTS
        ]
        for name, chosen in made.items()
    }
    assert len({frozenset(fig2) for _, fig2 in keys.values()}) == 3 + 1, (
        "Fig. 2: timeouts at equal loads, and one as asked"
    )
    assert len({frozenset(fig1) for fig1, _ in keys.values()}) == 3 * 2, "Fig. 1: rules of ssthresh by loads"


def test_the_joint_design_opens_fields_of_the_setting() -> None:
    settings = tail_index.JOINT.settings(8, "quick")
    assert {each.name for each in tail_index.JOINT.opened} <= set(Setting.__dataclass_fields__)
    for each in settings:
        assert each.scenario(FIG1[0], 1.5, 1).resolve()
        assert each.scenario(FIG2[0], 1.5, 1).resolve()


def changes(loss: Change, rest: Change, *curves: Curve) -> dict[tuple[Curve, str], Change]:
    return {(curve, metric): loss if metric == "loss" else rest for curve in curves for metric in METRICS}


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
    (claim,) = figures.signs({(SLOW_START, metric): found})
    assert claim.outcome == said


# --- the closed-loop model


def test_transfers_of_the_model_take_the_rounds_of_their_windows() -> None:
    """By hand: 3, 6 and 12 packets in three round trips, and one for the handshake; from 10 on one more a round."""
    loop = fluid.Loop(1, 100, acks_each=True)
    times = fluid.transfer_s(loop, np.array([3.0, 9.0, 21.0]), 0.01, float("inf"))
    assert times == pytest.approx([0.02, 0.03, 0.04])
    limited = replace(loop, ssthresh=10.0)
    assert fluid.transfer_s(limited, np.array([9.0 + 10 + 11 + 12]), 0.01, float("inf")) == pytest.approx([0.06])
    # A window of at most 2 packets: three rounds for six.
    assert fluid.transfer_s(loop, np.array([6.0]), 0.01, 2.0) == pytest.approx([0.04])


def test_the_loop_is_closed_by_a_queue_and_then_by_losses() -> None:
    free, queued, lossy = (fluid.closed(fluid.Loop(sources, 896, ssthresh=10.0), 2.0) for sources in (45, 70, 500))
    assert (free.loss, free.delay_ms) == (0.0, 0.0)
    assert free.throughput_mbps < 1000
    assert queued.loss == 0
    assert 0 < queued.delay_ms < 896 * 0.012
    assert queued.throughput_mbps == pytest.approx(1000, rel=1e-3)
    assert lossy.delay_ms == pytest.approx(896 * 0.012)
    assert lossy.loss > 0


def test_the_model_has_the_left_half_of_fig_1_and_no_dependence_with_slow_start() -> None:
    """Without slow start heavier tails raise throughput, then delay; with it the link is full whatever the tail."""
    light, heavy = (fluid.closed(fluid.Loop(45, 896, ssthresh=10.0), alpha) for alpha in (4.0, 1.3))
    assert heavy.throughput_mbps > 1.1 * light.throughput_mbps
    light, heavy = (fluid.closed(fluid.Loop(45, 896, ssthresh=43.0), alpha) for alpha in (4.0, 1.3))
    assert heavy.delay_ms > 1.5 * light.delay_ms
    for loop in (fluid.Loop(45, 96), fluid.Loop(500, 100, initial_window=2.0, acks_each=True)):
        light, heavy = (fluid.closed(loop, alpha) for alpha in (4.0, 1.3))
        assert heavy.throughput_mbps == pytest.approx(light.throughput_mbps, rel=1e-3)
        assert heavy.loss == pytest.approx(light.loss, rel=0.01)


def test_the_model_is_the_simulators_where_nothing_is_lost() -> None:
    """Fig. 1's network with an ssthresh of 10: throughput at a tail index of 4, equal loads, within a tenth."""
    level = replace(SETTINGS["quick"], tail_indices=(4.0,), level=None, repetitions=1, duration_s=12.0)
    curve = FIG1[1]
    (found,) = answers(runs.points((curve,), level)).values()
    model = fluid.closed(page.loop(curve, level, 10.0), 4.0)
    assert found.point.loss[0] < 1e-3
    assert found.point.throughput_mbps[0] == pytest.approx(model.throughput_mbps, rel=0.1)


def some(**values: float) -> Measured:
    """A run of two repetitions of which a few things are known."""
    nothing = np.full(2, np.nan)
    known = {name: np.full(2, value) for name, value in values.items()}
    cells = Cells(np.empty((1, 0)), np.empty((1, 0)))
    arrays = dict.fromkeys((*METRICS, "medium_mbps", "largest_mbps", "ssthresh_packets"), nothing) | known
    return Measured(mean_packets=1000.0, transfers=100, ended=90, cells=cells, **arrays)


def test_the_claims_in_words() -> None:
    faster, none = some(medium_mbps=3.0, largest_mbps=2.0), some(medium_mbps=3.0)
    ratio = figures.medium_over_largest([faster, none])
    assert ratio is not None
    assert ratio.mean == pytest.approx(0.5)
    assert figures.medium_over_largest([none]) is None
    flat, falling = Change(0.0, -0.01, 0.01, 0.9), Change(-0.1, -0.12, -0.08, 0.001)
    assert figures.sensitive(changes(flat, flat, FIG2[1]), FIG2[1]).outcome == "fails"
    assert figures.sensitive(changes(falling, flat, FIG2[1]), FIG2[1]).outcome == "holds", "in either direction"


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
    assert figures.range_of(late) == pytest.approx(2.0**12)
    assert figures.settles_at(early) == pytest.approx(10**1.125)
    assert figures.settles_at(late) == pytest.approx(10**3.125)
    assert figures.steepest(early) == pytest.approx(4 * np.log(2) / np.log(10))


def drawn(curves: tuple[Curve, ...], early: int, late: int) -> dict[Any, Drawn]:
    """Losses and delays that grow by a half, and throughput by a tenth, with heavier tails, or the reverse."""
    found: dict[Any, Drawn] = {}
    for curve in curves:
        for alpha in (1.3, 2.0, 4.0):
            grows = (1 / alpha - 0.25) * (-1 if curve.slow_start else 1)
            values = {"loss": 0.01 * (1 + grows), "delay_ms": 1 + grows, "throughput_mbps": 900 * (1 + 0.2 * grows)}
            known = replace(
                some(**values, ssthresh_packets=10.5, largest_mbps=1 + 1 / alpha, medium_mbps=2.0),
                cells=rising(16, early if curve.slow_start else late).cells,
            )
            for seed in (1, 2):
                level = {name: getattr(known, name) * (1 + 0.001 * seed) for name in METRICS}
                found[curve, alpha, seed] = Drawn(replace(known, **level))
    return found


def test_claims_of_fig_1() -> None:
    """Curves that settle late without slow start and early with it are the source's; the same curves are not."""
    base = replace(TINY, ssthresh="linux")
    claims = {each.quantity: each for each in figures.fig1_claims(drawn(FIG1, 4, 14), base)}
    assert [each.ours for name, each in claims.items() if name.startswith("delay of a full")] == pytest.approx(
        [1.152, 10.752, 1.2, 12.0]
    )
    apart = [each for name, each in claims.items() if name.startswith("change of")]
    assert len(apart) == 2 * 3
    assert {each.verdict for each in apart} == {"reproduced"}
    assert claims["kinds of impact of a heavier tail that occur"].ours == 2, "nothing is indifferent"
    assert claims["share of tail indices at which the mean rate settles at larger sizes without slow start"].ours == 1
    assert claims[f"mean rate of the largest flows with heavier tails, {FIG1[3].name}: sign"].outcome == "holds"
    settled = [each for name, each in claims.items() if name.startswith("packets at which")]
    assert [each.outcome for each in settled] == ["holds"] * 2
    loss = [each.outcome for name, each in claims.items() if name.startswith("loss rate with heavier tails")]
    assert loss == ["holds"] * 4


def test_claims_of_fig_2() -> None:
    claims = {each.quantity: each for each in figures.fig2_claims(drawn(FIG2, 4, 4), TINY)}
    (flat,) = (each for name, each in claims.items() if "depends less" in name)
    assert (flat.ours, flat.verdict) == (0.0, "undecided"), "both buffers have one curve, of single runs"
    assert claims[f"largest change of a metric with heavier tails, {FIG2[1].name}: sign"].outcome == "holds"
    assert claims[f"loss rate with heavier tails, {FIG2[0].name}: sign"].outcome == "fails", "it is to stay"


def test_the_slope_of_h() -> None:
    at = [
        (alpha, Interval((3 - alpha) / 2, (3 - alpha) / 2 - 0.05, (3 - alpha) / 2 + 0.05, 5))
        for alpha in (1.1, 1.5, 1.9)
    ]
    slope = hurst_own.slope_of(at)
    assert slope.mean == pytest.approx(-0.5)
    assert slope.half_width == pytest.approx(0.05 / np.sqrt(2) / 0.4)


def test_readings_of_a_cached_ssthresh() -> None:
    """Short runs of the source's network: the lowest one ends below what Linux keeps, and both below none."""
    curve = FIG1[0]
    rules = ("lowest", "linux", "ten")
    made = {rule: replace(SHORT, ssthresh=rule).scenario(curve, 2.0, 1) for rule in rules}
    points = each_measured([*made.values(), SHORT.scenario(SLOW_START, 2.0, 1)])
    found = dict(zip((*rules, "unlimited"), points, strict=True))
    assert 2 <= found["lowest"].ssthresh_packets[0] < found["linux"].ssthresh_packets[0] < 60
    assert np.isnan(found["unlimited"].ssthresh_packets[0]), "not recorded"
    assert max(found[rule].loss[0] for rule in rules) < found["unlimited"].loss[0] / 5


def test_ns2_values_are_those_of_the_cross_check() -> None:
    """Means of the runs with datagrams where there are some, and the standard error within a run over their root."""
    stored = json.loads((Path(__file__).parents[1] / "crosscheck" / "ns2_values.json").read_text())["on_off"]
    names = {"loss": "loss", "delay_ms": "queueing_delay_ms", "throughput_mbps": "throughput_Mbps"}
    listed = [
        name.removesuffix(".mean") for name in PAPER.entries if name.startswith("ns2.") and name.endswith(".mean")
    ]
    assert len(listed) == 6
    for name in listed:
        sources, buffer, ssthresh = name.removeprefix("ns2.").split(", ")
        cached = ssthresh == "last"
        for metric, key in names.items():
            means, errors = PAPER.by(f"{name}.mean", metric), PAPER.by(f"{name}.error", metric)
            for alpha, mean in means.items():
                at = {"n": int(sources), "buf": 1000 if int(buffer) >= 896 else 100, "alpha": alpha}
                (plain,) = [
                    each for each in stored["runs"] if at.items() <= each.items() and each["ssthresh_cached"] is cached
                ]
                (runs,) = (
                    [[plain]]
                    if cached
                    else [each["runs"] for each in stored["perturbed"]["runs"] if at.items() <= each.items()]
                )
                assert mean == pytest.approx(np.mean([each[key] for each in runs]), rel=1e-3)
                assert errors[alpha] == pytest.approx(plain[f"{key}_se"] / len(runs) ** 0.5, rel=0.05)


def test_ns2_stands_beside_its_own_stack_alone() -> None:
    assert page.ns2_change(FIG1[0], TINY, "loss") is None, "Fig. 1 has the testbed's TCP"
    found = page.ns2_change(FIG1[0], replace(TINY, ns2_hosts=True), "loss")
    assert found is not None
    assert found.relative == pytest.approx(0.0008284 / 0.0005947 - 1)


def test_the_strongest_property() -> None:
    clear = sensitivity.Influence("loss", (0.1, 0.02, 0.05), (0.01, 0.01, 0.01))
    assert "loss rate is moved most by the mean size" in sensitivity.answer([clear])
    assert "the tail index does 20% to 20% and the largest size does 50% to 50%" in sensitivity.answer([clear])
    near = sensitivity.Influence("loss", (0.1, 0.02, 0.09), (0.01, 0.01, 0.01))
    assert "largest size not told apart" in sensitivity.answer([near])


@pytest.mark.slow
def test_the_panel_of_h() -> None:
    size = hurst_panel.Size((1.65,), 400.0, 3, 2, 0)
    given = answers(hurst_panel.points(size))
    found = hurst_panel.together(given)
    (at,), (ideal,), broken = found.tcp, found.ideal, found.broken
    assert at.h("dfa").mean == pytest.approx(np.mean([each["dfa"] for each in at.repetitions]))
    assert at.repetitions[0].keys() == {each.name for each in ESTIMATORS}
    # 400 clients of 40 kbit/s, ON for a quarter of the time, and what was not yet begun at the start.
    assert ideal.utilisation == pytest.approx(0.4, rel=0.1)
    assert at.utilisation == pytest.approx(ideal.utilisation, rel=0.15)
    assert broken[-1].full > 0.9, "more is offered than the link takes"
    assert broken[0].outlasting < 0.01
    assert at.outlasting > 0.3
    claims = hurst_page.claims(given, size)
    assert sum(each.basis == "theory" for each in claims) == 8
    assert len(hurst_page.section(given, size).tables) == 3


def test_the_sources_own_clients() -> None:
    """H falls with the tail index at 10 ms, and is near 1/2 in bins of seconds: 32 fast clients, 600 s."""
    size = hurst_panel.Size((1.05, 1.95), 600.0, 1, 1, 1)
    given = answers(hurst_own.points(size))
    heavy, light = hurst_own.together(given, size)
    for method in hurst_own.METHODS:
        assert heavy.h(1, method).mean > light.h(1, method).mean + 0.1
    assert light.h(400, "local_whittle").mean < light.h(1, "local_whittle").mean
    assert len(hurst_own.section(given, size).tables[0].rows) == 1 + 4 * 3
    assert len(hurst_own.own_claims(given, size)) == 3 * 3, "two points say nothing of a line"


def test_a_curve_that_is_not_straight_is_no_line() -> None:
    at = [(alpha, Interval(h, h, h, 2)) for alpha, h in ((1.05, 0.97), (1.5, 0.9), (1.95, 0.53))]
    found = {each.quantity: each.outcome for each in hurst_own.claims(at, "400 slow clients")}
    assert found["H where the tail index is near 1"] == found["H where the tail index is near 2"] == "holds"
    assert found["largest distance of H from a straight line"] == "fails"


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

POINTS = [butterfly(3, 96, pareto(alpha), flow=HOSTS_OF_2011, duration_s=1.2, repetitions=2) for alpha in (1.5, 2.0)]


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


def test_the_paper_scale_is_the_sources() -> None:
    """In sum over 3 runs an hour of Fig. 2 and two of Fig. 1, with what is not measured; 9 tail indices."""
    base = replace(SETTINGS["paper"], equal_loads=False)
    made = runs.points((*FIG1, *FIG2), base)
    assert len(made) == 6 * 9 * 3
    assert {base.times(curve)[0] for curve in FIG1} == {7200 / 3}
    assert {base.times(curve)[0] for curve in FIG2} == {3600 / 3}
    level = replace(base, equal_loads=True, ssthresh="linux")
    assert {level.times(curve)[1] for curve in FIG1 if level.is_cached(curve)} == {150.0}
    assert level.at(FIG2[0]) == tuple(alpha for alpha in base.tail_indices if alpha >= 1.3)


def test_it_is_registered() -> None:
    assert "Goga" in find("tail_index").reference
