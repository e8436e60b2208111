"""The page of a comparison: what it says first, and its figures, of two results and of many."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import parshall as ps
from parshall.foundations.numbers import quantity
from parshall.instruments.simulation import Run
from parshall.report import compare
from parshall.report.comparison import Comparison
from parshall.report.comparison_figures import MOST, candidates, courses, differences, distributions
from parshall.report.comparison_page import document, finding
from parshall.report.document import document_html
from parshall.report.interactive import plotly
from parshall.report.plot import Line, Points, Values, values

SCENARIO = Path(__file__).parents[2] / "scenarios/quickstart.toml"
SHORT = ("duration=6 s", "warm_up=2 s", "repetitions=4")


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    """At the given rate, at half of it, and with a tenth of the buffer."""
    changes = ((), ("bottleneck.rate=10 Mbit/s",), ("bottleneck.queue.limit=0.1 BDP",))
    return [ps.run(ps.Scenario.load(SCENARIO, (*SHORT, *each))) for each in changes]


@pytest.fixture(scope="module")
def compared(runs: list[Run]) -> Comparison:
    return compare(*runs, names=("base", "slower", "shallow"))


def inside(outline: tuple[Values, Values], x: float, y: float) -> bool:
    """Whether a point is within an outline around its middle."""
    a, b = outline
    angles = np.unwrap(np.arctan2(b - y, a - x))
    return bool(abs(angles[-1] - angles[0]) > 6)


def test_candidates_stand_where_the_runs_are(compared: Comparison, runs: list[Run]) -> None:
    figure = candidates(compared)
    assert figure is not None
    (panel,) = figure.plot.panels
    points = [mark for mark in panel.marks if isinstance(mark, Points)]
    assert [mark.name for mark in points] == ["A: base", "B: slower", "C: shallow"]
    for mark, run in zip(points, runs, strict=True):
        assert values(mark.y)[0] == pytest.approx(run.quantity("goodput_bps").interval.mean / 1e6)
        wait = run.quantity("link/bottleneck/queueing_delay_s").interval.mean
        assert values(mark.x)[0] == pytest.approx(wait * 1e3)
    outlines = [mark for mark in panel.marks if isinstance(mark, Line)]
    assert len(outlines) == 3
    for mark, outline in zip(points, outlines, strict=True):
        assert inside((values(outline.x), values(outline.y)), values(mark.x)[0], values(mark.y)[0])
    spread = np.std(list(runs[1].quantity("link/bottleneck/queueing_delay_s").values.values()), ddof=1) * 1e3
    assert np.ptp(values(outlines[1].x)) == pytest.approx(2 * spread, rel=0.01), "one standard deviation to each side"


def test_differences_begin_with_the_largest_that_matters(compared: Comparison) -> None:
    figure = differences(compared)
    assert figure is not None
    (panel,) = figure.plot.panels
    assert panel.x.log
    labels = [row.label for row in compared.rows]
    drawn = list(reversed(panel.y.names))
    assert drawn[0] in labels[:3]
    assert [labels.index(label) for label in drawn] == sorted(labels.index(label) for label in drawn)
    slower = next(mark for mark in panel.marks if isinstance(mark, Points) and mark.name == "B: slower")
    row = compared.of("goodput_bps")
    place = len(drawn) - 1 - drawn.index(row.label)
    at = int(np.argmin(np.abs(values(slower.y) - place)))
    base, other = row.intervals[:2]
    assert base is not None
    assert other is not None
    assert values(slower.x)[at] == pytest.approx(other.mean / base.mean)
    assert slower.low is not None
    assert values(slower.low)[at] <= values(slower.x)[at]


def test_distributions_and_courses_are_of_all(compared: Comparison) -> None:
    drawn = {each.name: each.plot for each in (*distributions(compared), *courses(compared))}
    assert set(drawn) == {"cdf-delay", "cdf-latency", "cdf-goodput", "goodput-over-time", "delay-over-time"}
    named = ["A: base", "B: slower", "C: shallow"]
    for name in ("cdf-delay", "cdf-latency", "cdf-goodput", "delay-over-time"):
        (panel,) = drawn[name].panels
        assert [mark.name for mark in panel.marks if isinstance(mark, Line)] == named
    small = drawn["goodput-over-time"].panels
    assert [panel.note for panel in small] == named
    assert len({panel.y for panel in small}) == 1, "one scale"
    assert all(json.dumps(plotly(plot), allow_nan=False) for plot in drawn.values())


def test_the_page_begins_with_what_differs(compared: Comparison, runs: list[Run]) -> None:
    page = document_html(document(compared))
    assert page.index('class="finding"') < page.index('id="figure-candidates"') < page.index('id="compared"')
    assert " shown to differ by as much as matters." in finding(compared)
    good = [row for row in compared.rows if row.matters and any(each and each.better for each in row.differences)]
    told = next(row for row in good if "/" not in row.key)
    base, other = (quantity(each.mean, told.unit) for each in told.intervals[:2] if each is not None)
    assert f"{told.label}: {base} in A, {other} in B" in finding(compared)
    assert finding(compare(runs[0], runs[0])).endswith("none is shown to differ by as much as matters.")
    assert "Every difference" in page
    assert "Every difference" not in document_html(document(compare(*runs[:2]))), "two have them in one table"


def test_of_many_results_the_first_are_drawn(runs: list[Run]) -> None:
    many = compare(*runs, *runs, *runs, names=[f"run {number}" for number in range(9)])
    figure = candidates(many)
    assert figure is not None
    points = [mark for mark in figure.plot.panels[0].marks if isinstance(mark, Points)]
    assert len({(mark.style.index, mark.style.symbol) for mark in points}) == 9, "colours repeat, pairs do not"
    for each in (*distributions(many), *courses(many)):
        assert f"The first {MOST} of 9\xa0results are drawn." in each.plot.caption
    assert document_html(document(many))
