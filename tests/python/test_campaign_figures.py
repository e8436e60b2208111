"""What the page of a sweep draws: one figure for a metric of several groups, single runs, numbers in maps, a choice."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import needs_browser, tab

import parshall as ps
from parshall.campaign import Sweep
from parshall.campaign.page import document
from parshall.report.document import document_html
from parshall.report.plot import Grid, Guide, Line, Plot, Points

FLOWS = [
    {"name": "near", "count": 2, "rtt": "20 ms", "start": {"uniform": "0.5 s"}},
    {"name": "far", "rtt": "60 ms", "start": {"uniform": "0.5 s"}},
]
SCENARIO = {"duration": "2 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": FLOWS}


def swept(store: Path, parameters: dict[str, Any], metrics: list[str]) -> Sweep:
    plan = ps.Plan(name="s", scenario=SCENARIO, parameters=parameters, metrics=metrics, repetitions=2)
    return ps.sweep(plan, store)


@pytest.fixture(scope="module")
def shares(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    rates = {"bottleneck.rate": ["3 Mbit/s", "5 Mbit/s", "8 Mbit/s"]}
    metrics = ["group/near/share", "group/far/share", "goodput_bps"]
    return swept(tmp_path_factory.mktemp("shares"), rates, metrics)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    parameters = {"bottleneck.rate": ["3 Mbit/s", "5 Mbit/s", "8 Mbit/s"], "flows.far.count": [1, 2, 3]}
    return swept(tmp_path_factory.mktemp("grid"), parameters, ["group/near/share", "group/far/share", "goodput_bps"])


def marks(plot: Plot, kind: type) -> list[Any]:
    return [mark for panel in plot.panels for mark in panel.marks if isinstance(mark, kind)]


def test_groups_are_series_of_one_figure(shares: Sweep) -> None:
    page = document(shares)
    assert [figure.name for figure in page.figures] == ["group-share", "goodput_bps"]
    plot = page.plots["group-share"]
    (panel,) = plot.panels
    assert (panel.y.title, panel.y.minimum, panel.y.maximum) == ("share of the goodput (%)", 0.0, 100.0)
    means = [mark for mark in marks(plot, Points) if mark.name]
    assert [mark.name for mark in means] == ["near", "far"]
    assert np.asarray(means[0].y) + np.asarray(means[1].y) == pytest.approx(100.0)
    assert len(marks(plot, Line)) == 2


def test_shares_have_the_fair_one_where_it_is_the_same_everywhere(shares: Sweep, grid: Sweep) -> None:
    guides = {guide.text: guide.value for guide in marks(document(shares).plots["group-share"], Guide)}
    assert guides == {"fair share of near": pytest.approx(200 / 3), "fair share of far": pytest.approx(100 / 3)}
    assert marks(document(shares).plots["goodput_bps"], Guide) == []
    assert marks(document(grid).plots["group-share"], Guide) == [], "the number of flows differs from point to point"


def test_single_runs_are_shown(shares: Sweep) -> None:
    plot = document(shares).plots["goodput_bps"]
    (dots,) = [mark for mark in marks(plot, Points) if mark.style.faint]
    runs = shares.runs["goodput_bps"].to_numpy() / 1e6
    assert sorted(np.asarray(dots.y)) == pytest.approx(sorted(runs))


def test_maps_have_numbers(grid: Sweep) -> None:
    page = document(grid)
    maps = [name for name in page.plots if "-map-" in name]
    assert maps == ["group-near-share-map-0", "group-far-share-map-0", "goodput_bps-map-0"]
    (cells,) = marks(page.plots["goodput_bps-map-0"], Grid)
    for row, texts in zip(np.asarray(cells.z), cells.texts, strict=True):
        assert [float(text) for text in texts] == pytest.approx(row.tolist(), rel=5e-3)


def test_the_sweep_is_there_as_toml(grid: Sweep) -> None:
    (folded,) = [
        block.content for section in document(grid).sections for block in section.blocks if block.kind == "code"
    ]
    given = tomllib.loads(folded)
    assert given["parameters"]["flows.far.count"] == [1, 2, 3]
    again = ps.Plan(**given)
    assert again.parameters.keys() == grid.record.plan["parameters"].keys()


def test_fields_choose_any_metric_against_any_parameter(grid: Sweep, shares: Sweep) -> None:
    page = document(grid)
    assert list(page.choices) == [
        f"{metric}|{key}"
        for metric in ("Share of the goodput", "Goodput, all flows")
        for key in ("bottleneck.rate", "flows.far.count")
    ]
    figure = page.choices["Goodput, all flows|flows.far.count"]
    assert figure.plot.panels[0].x.title == "flows.far.count"
    one = swept(shares.store.directory, {"bottleneck.rate": ["3 Mbit/s", "5 Mbit/s"]}, ["goodput_bps"])
    assert document(one).choices == {}, "there is nothing to choose"
    assert 'class="chooser"' not in document_html(document(one))
    assert len(document_html(page)) < 900_000


@pytest.mark.slow
@needs_browser
def test_what_is_chosen_is_drawn(browser: Any, grid: Sweep, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(document_html(document(grid)), encoding="utf-8")
    with tab(browser, 390) as (shown, errors):
        shown.goto(path.as_uri())
        shown.wait_for_selector("html[data-figures=drawn]")
        assert not shown.locator("#figure-chosen").is_visible()
        shown.get_by_label("Metric").select_option("Goodput, all flows")
        shown.get_by_label("Against").select_option("flows.far.count")
        shown.wait_for_function("document.querySelector('#figure-chosen .xtitle')?.textContent === 'flows.far.count'")
        assert shown.locator("#figure-chosen strong").inner_text() == "Goodput, all flows against flows.far.count."
        with shown.expect_download() as saved:
            shown.locator("#figure-chosen button.csv").click()
        assert "flows.far.count" in Path(saved.value.path()).read_text(encoding="utf-8")
        assert shown.evaluate("document.documentElement.scrollWidth") <= 390
        assert errors == []
