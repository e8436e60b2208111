"""The tail-index study: signs, equal loads, campaign, page; on runs of a second, where no sign can be right."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

from parshall.errors import InputError
from parshall.report.document import document_html
from parshall.stats.hurst import ESTIMATORS
from parshall.studies import tail_index
from parshall.studies.catalog import find
from parshall.studies.study import Execution, document
from parshall.studies.tail_index import (
    beyond,
    distributions,
    grid,
    hurst_page,
    hurst_panel,
    matched,
    running,
    sensitivity,
    signs,
)
from parshall.studies.tail_index.measure import METRICS, Measured, Rates, measured
from parshall.studies.tail_index.network import butterfly, pareto
from parshall.studies.tail_index.published import NS2, NS2_TAIL_INDICES, TRENDS
from parshall.studies.tail_index.running import Runner
from parshall.studies.tail_index.trends import Change, change

TINY = replace(grid.SIZES["quick"], tail_indices=(1.1, 1.5, 4.0), duration_s=1.2, repetitions=2)
DATA = Path(os.environ.get("PARSHALL_DATA", Path(__file__).parents[3] / "shared" / "data"))


def quiet(_: str) -> None: ...


IN_MEMORY = Runner(Execution(), quiet)


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
    scenarios = [butterfly(45, 96, pareto(alpha), cached=False, duration_s=12, repetitions=2) for alpha in (4.0, 1.3)]
    light, heavy = IN_MEMORY.measured("loss", scenarios, measured)
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
    assert all(each.transfers > 20 for each in IN_MEMORY.measured("published", scenarios, measured))


def test_the_study_on_short_runs() -> None:
    """All of it, and its page."""
    panel = hurst_panel.Size((1.35,), 200.0, 2, 2)
    findings = tail_index.found("quick", replace(TINY, tail_indices=(1.5, 4.0)), IN_MEMORY, panel)
    assert len(findings.checks) == 3 * 8 + 3 * 5 + 8
    assert {check.verdict for check in findings.checks if check.published is None} == {"extended"}
    html = document_html(document("t", "s", "r", "quick", findings))
    for words in ("Fig. 2: N = 500", "does throughput rise", "BBRv3", "CoDel", "is moved most by", "equal loads"):
        assert words in html, words
    loads = next(each for each in findings.sections if each.heading == "Sampled loads")
    assert "more than 5 % off" in loads.paragraphs[0]


def test_equal_loads_are_equal() -> None:
    found = matched.simulated(replace(TINY, tail_indices=(1.5,), duration_s=6.0, repetitions=1), IN_MEMORY)
    assert len(found) == len(matched.SETTINGS) == 5
    near = [each for each in found.values() if abs(each.load.error) <= 0.03]
    assert len(near) >= 3
    assert all(each.point.mean_packets == each.load.measured for each in found.values())


@pytest.mark.parametrize(
    ("sign", "interval", "said"),
    [
        (1, (0.1, 0.05, 0.15, 1e-4), "as published"),
        (-1, (0.1, 0.05, 0.15, 1e-4), "not confirmed"),
        (1, (0.02, -0.1, 0.14, 0.7), "not decided by so few runs"),
        (1, (0.0, -0.01, 0.01, 0.9), "not confirmed"),
        (0, (0.0, -0.01, 0.01, 0.9), "as published"),
        (0, (0.05, -0.1, 0.2, 0.5), "as published, in runs too few to exclude a change"),
        (0, (0.1, 0.05, 0.15, 1e-4), "not confirmed"),
        (None, (0.1, 0.05, 0.15, 1e-4), "not published"),
    ],
)
def test_how_equal_loads_read(sign: int | None, interval: tuple[float, float, float, float], said: str) -> None:
    assert signs.reading(sign, Change(*interval)) == said


def test_the_table_of_signs() -> None:
    """All settings and metrics; what differs is said with ns-2's change beside it."""
    up, flat = Change(0.1, 0.09, 0.11, 1e-4), Change(0.0, -0.01, 0.01, 0.9)
    asked = {(setting, metric): flat for setting in TRENDS for metric in METRICS}
    made = signs.section(asked, {(setting, metric): up for setting in matched.SETTINGS for metric in METRICS})
    assert len(made.tables[0].rows) == 8 * 3
    assert made.paragraphs[0].startswith("6 of 15\xa0published signs are found at equal loads, 4 in runs of the mean")
    assert "published −, ours +10.0% (+9.0% to +11.0%), -8.1% in ns-2" in made.paragraphs[0]


def test_ns2_values_are_those_of_the_cross_check() -> None:
    """Means of the runs with datagrams where there are some, and the standard error within a run over their root."""
    stored = json.loads((Path(__file__).parents[1] / "crosscheck" / "ns2_values.json").read_text())["on_off"]
    names = {"loss": "loss", "delay_ms": "queueing_delay_ms", "throughput_mbps": "throughput_Mbps"}
    for (sources, buffer, cached), metrics in NS2.items():
        for metric, values in metrics.items():
            for alpha, (mean, error) in zip(NS2_TAIL_INDICES, values, strict=True):
                at = {"n": sources, "buf": 1000 if buffer >= 896 else 100, "alpha": alpha}
                (plain,) = [
                    each for each in stored["runs"] if at.items() <= each.items() and each["ssthresh_cached"] is cached
                ]
                (runs,) = (
                    [[plain]]
                    if cached
                    else [each["runs"] for each in stored["perturbed"]["runs"] if at.items() <= each.items()]
                )
                key = names[metric]
                assert mean == pytest.approx(np.mean([each[key] for each in runs]), rel=1e-3)
                assert error == pytest.approx(plain[f"{key}_se"] / len(runs) ** 0.5, rel=0.05)


def test_the_answer_on_cached_ssthresh_follows_the_signs() -> None:
    def answered(*found: int) -> str:
        at = zip([each for each in matched.SETTINGS if each[2]], found, strict=True)
        rises = {(each, "throughput_mbps"): Change(0.1 * sign, 0.09 * sign, 0.11 * sign, 1e-4) for each, sign in at}
        return str(matched.answer_section(rises).paragraphs[0])

    assert "it rises, as on the testbed" in answered(1, 1)
    assert "it does not rise; ns-2 is right" in answered(0, -1)
    assert "at one buffer only" in answered(1, 0)


def test_the_strongest_property() -> None:
    clear = sensitivity.Influence("loss", (0.1, 0.02, 0.05), (0.01, 0.01, 0.01))
    assert "loss rate is moved most by the mean size" in sensitivity.answer([clear])
    assert "the tail index does 20% to 20% and the largest size does 50% to 50%" in sensitivity.answer([clear])
    near = sensitivity.Influence("loss", (0.1, 0.02, 0.09), (0.01, 0.01, 0.01))
    assert "largest size not told apart" in sensitivity.answer([near])


def test_the_panel_of_h() -> None:
    found = hurst_panel.simulated(hurst_panel.Size((1.65,), 400.0, 3, 2), IN_MEMORY)
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

POINTS = [butterfly(3, 96, pareto(alpha), cached=False, duration_s=1.2, repetitions=2) for alpha in (1.5, 2.0)]
POINTS += [butterfly(3, 48, pareto(2.0), cached=False, duration_s=1.2, repetitions=2)]


def values(found: list[Measured]) -> list[list[float]]:
    return [[*each.loss, *each.delay_ms, *each.throughput_mbps, each.mean_packets, *each.rates.mbps] for each in found]


def test_a_campaign_finds_what_runs_in_memory_find(tmp_path: Path) -> None:
    swept = Runner(Execution(tmp_path / "store", 2), quiet)
    expected = IN_MEMORY.measured("points", POINTS, measured)
    assert values(swept.measured("points", POINTS, measured)) == values(expected)
    assert isinstance(expected[0].rates, Rates)


def finished(store: Path) -> dict[str, int]:
    """Runs in a store, and when each was written."""
    return {path.parent.name: path.stat().st_mtime_ns for path in store.glob("runs/*/*/run.json")}


def test_a_killed_study_goes_on_where_it_was(tmp_path: Path) -> None:
    """`--scale paper` on points of a second: killed, resumed with the same runs, and the same in the end."""
    store = tmp_path / "store"
    script = f"""
from dataclasses import replace
from pathlib import Path
from parshall.studies.study import Execution
from parshall.studies.tail_index import grid
from parshall.studies.tail_index.published import NS2, NS2_TAIL_INDICES, TRENDS
from parshall.studies.tail_index.running import Runner
size = replace(grid.SIZES["paper"], tail_indices=(1.5, 4.0), duration_s=1.2, repetitions=2)
grid.simulated(size, Runner.for_scale("paper", Execution(Path({str(store)!r}), 1), print))
"""
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True, stdout=subprocess.DEVNULL)
    try:
        waited = time.monotonic()
        while len(finished(store)) < 3:
            assert process.poll() is None, "it ended before it was killed"
            assert time.monotonic() - waited < 300
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    before = finished(store)
    assert 3 <= len(before) < 32
    size = replace(grid.SIZES["paper"], tail_indices=(1.5, 4.0), duration_s=1.2, repetitions=2)
    resumed = grid.simulated(size, Runner.for_scale("paper", Execution(store, 2), quiet))
    after = finished(store)
    assert len(after) == 8 * 2 * 2
    assert {run: after[run] for run in before} == before, "nothing that was finished is done again"
    whole = grid.simulated(size, IN_MEMORY)
    assert {at: values(list(row)) for at, row in resumed.items()} == {
        at: values(list(row)) for at, row in whole.items()
    }


def test_the_cost_is_said_before_it_starts() -> None:
    said: list[str] = []
    runner = Runner(Execution(Path("somewhere"), 4), said.append)
    points = [butterfly(3, 96, pareto(2.0), cached=False, duration_s=3600, repetitions=3) for _ in range(2)]
    words = running.cost(points, runner)
    # 2 x 3 hours at 1 Gbit/s: 2 * 3 * 3600 * 1e9/12,000 = 1.8e9 packets.
    assert words.replace("\xa0", " ").startswith("2 points, 6 runs, up to 1.8e+09 packets: at the ")
    assert "CPU-hours" in words
    assert "on 4\xa0cores" in words


def test_at_paper_scale_there_is_a_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Runner.for_scale("quick", Execution(), quiet).execution.store is None
    paper = Runner.for_scale("paper", Execution(), quiet).execution.store
    assert paper == tmp_path / "parshall" / "studies" / "tail_index" / "store"
    given = Execution(tmp_path / "own", 2)
    assert Runner.for_scale("quick", given, quiet).execution == given


def test_the_paper_scale_is_the_sources() -> None:
    """The issue's grid: 2 source counts, 2 buffers each, 2 slow starts, 9 tail indices, an hour."""
    points = grid.scenarios(grid.SIZES["paper"])
    assert len(points) == 72
    assert {scenario.resolve()["duration_ps"] for scenario in points.values()} == {3600 * 10**12}


def test_other_studies_refuse_a_store(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='found with rio; accepted with "tail_index"'):
        find("rio").run("quick", quiet, Execution(tmp_path))


def test_it_is_registered() -> None:
    assert "Goga" in find("tail_index").reference
