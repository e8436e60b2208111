"""The tail-index study: signs, equal loads, the page; on runs of a second, where no sign can be right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from parshall.report.document import Document, document_html
from parshall.studies.catalog import find
from parshall.studies.tail_index import beyond, grid, hurst_panel, matched, page
from parshall.studies.tail_index.measure import measured
from parshall.studies.tail_index.network import butterfly, pareto
from parshall.studies.tail_index.published import TRENDS
from parshall.studies.tail_index.trends import change

TINY = replace(grid.SIZES["quick"], tail_indices=(1.1, 1.5, 4.0), duration_s=1.2, repetitions=2)


def quiet(_: str) -> None: ...


def test_signs_need_significance_and_size() -> None:
    rng = np.random.default_rng(1)
    alphas = [1.3, 1.5, 2.0, 3.0, 4.0]
    rising = [1 + 0.5 / alpha + 0.01 * rng.normal(size=3) for alpha in alphas]
    assert change(alphas, rising).sign == 1
    assert change(alphas, [-row for row in rising]).sign == -1
    assert change(alphas, [1 + 0.001 / alpha + 1e-6 * rng.normal(size=3) for alpha in alphas]).sign == 0, "invisible"
    assert change(alphas, [1 + 0.3 * rng.normal(size=3) for _ in alphas]).sign == 0, "not significant"
    assert change([1.1, *alphas], [[100.0], *rising]).sign == 1, "1.1 is left out"


def test_a_trend_of_the_source_shows_in_short_runs() -> None:
    """N = 45, B = 96, with slow start: loss falls with heavier tails."""
    light, heavy = (
        measured(butterfly(45, 96, pareto(alpha), cached=False, duration_s=12, repetitions=2)) for alpha in (4.0, 1.3)
    )
    assert heavy.loss.mean() < 0.85 * light.loss.mean()
    assert light.mean_packets == pytest.approx(1000, rel=0.1)
    assert np.all(light.rates.low <= light.rates.mbps)
    assert np.all(light.rates.mbps <= light.rates.high)


@pytest.mark.parametrize(("mean", "tail_index", "largest"), [(500, 1.1, 5e3), (2000, 3.0, 2e6), (1000, 1.5, 1e5)])
def test_bounded_pareto_has_its_mean(mean: float, tail_index: float, largest: float) -> None:
    made = beyond.bounded_pareto(mean, tail_index, largest)
    low = float(made["minimum"].split()[0]) / 1460
    u = (np.arange(4_000_000) + 0.5) / 4_000_000
    part = 1 - (low / largest) ** tail_index
    assert (low * (1 - u * part) ** (-1 / tail_index)).mean() == pytest.approx(mean, rel=0.01)


def test_distributions_have_the_variance_that_their_names_say() -> None:
    """Variance of Pareto 2.5: 1/(2.5 * 0.5) = 0.8 means squared; Weibull by its shape."""
    from scipy.special import gamma

    shape = beyond.variants()["Weibull, same variance as Pareto 2.5"]["size"]["shape"]
    assert gamma(1 + 2 / shape) / gamma(1 + 1 / shape) ** 2 - 1 == pytest.approx(0.8, abs=0.001)
    sigma = beyond.variants()["lognormal, same variance as Pareto 2.5"]["size"]["sigma"]
    assert np.expm1(sigma**2) == pytest.approx(0.8)


def test_the_page_of_short_runs() -> None:
    rows = grid.simulated(TINY, quiet)
    assert rows.keys() == TRENDS.keys()
    found = page.trends(TINY.tail_indices, rows)
    checks = page.checks(found)
    assert len(checks) == 18
    assert {check.verdict for check in checks if check.published is None} == {"extended"}
    equal = matched.simulated(TINY, quiet)
    assert all(len(each.load.tried) <= 5 for each in equal)
    effects = [beyond.Influence("loss", (0.1, 0.02, 0.05), (0.01, 0.01, 0.01))]
    assert "loss rate is moved most by the mean size" in beyond.answer(effects)
    loads = page.load_section(TINY.tail_indices, rows)
    assert "more than 5 % off" in loads.paragraphs[0]
    sections = [page.trend_section(found), *page.figures(TINY.tail_indices, rows), loads, matched.section(equal)]
    html = document_html(Document("study", "t", "d", (), sections))
    assert "Fig. 2: N = 500" in html


def test_a_point_is_kept(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    scenario = butterfly(3, 96, pareto(2.0), cached=False, duration_s=1.2, repetitions=1)
    first = grid.kept(scenario)
    monkeypatch.setattr(grid, "measured", lambda _: pytest.fail("simulated again"))
    assert np.array_equal(grid.kept(scenario).loss, first.loss)
    assert len(list(tmp_path.rglob("*.pickle"))) == 1


def test_the_panel_of_h() -> None:
    at = hurst_panel._at(1.5, 200.0, quiet)
    assert 0.1 < at.utilisation < 0.9
    assert len(hurst_panel.checks([at])) == 6
    assert "(3 - α)/2" in hurst_panel.section([at]).tables[0].header


def test_it_is_registered() -> None:
    assert "Goga" in find("tail_index").reference
