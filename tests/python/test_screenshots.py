"""Figures in a browser beside pictures of what they looked like when somebody looked at them (`ink`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser import needs_browser, tab
from ink import TOLERANCE, WITHOUT_LETTERS, Cells, elsewhere, inked, moved
from pages import PAGES as SMALL

import parshall as ps
from parshall.report.comparison_page import document as of_comparison
from parshall.report.document import Document, document_html
from parshall.report.page import document as of_run

pytestmark = [pytest.mark.slow, needs_browser]

QUICK = {"duration": "20 s", "warm_up": "4 s", "repetitions": 2}


def run(**values: Any) -> ps.Run:
    return ps.run(ps.Scenario.load("quickstart", {**QUICK, **values}))


PAGES: dict[str, Callable[[], Document]] = {
    "run": lambda: of_run(run()),
    "comparison": lambda: of_comparison(
        ps.compare(run(), run(**{"bottleneck.queue": "codel"}), names=["one", "other"])
    ),
    "network": SMALL["run with several links"],
    "sweep": SMALL["sweep"],
    "observation": SMALL["observation"],
    "benchmark": SMALL["benchmark"],
    "study": SMALL["study"],
    "buffer": SMALL["design of a buffer"],
    "queue": SMALL["design of a queue"],
    "rio": SMALL["design of a RIO router"],
}
BROAD, NARROW = 1000, 390
KINDS = {"network": "figure.network"}
"""Which figures of a page are looked at, if not all."""
ALSO = {"sweep": ("sweep-narrow-dark", NARROW, "dark"), "network": ("network-narrow-dark", NARROW, "dark")}
"""Pages that are looked at on a phone in the dark, too, and what the pictures of that are called."""
EMPTY = """svg .trace, svg .heatmaplayer { display: none !important }
.network :is(path, rect, circle), .dial :is(path, circle) { display: none !important }"""
"""A style that leaves figures without what they show."""


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(document_html(PAGES[request.param]()), encoding="utf-8")
    return request.param, path


FIGURES = """
(kind) => {
  const seen = [...document.querySelectorAll(kind)].filter((figure) => figure.getClientRects().length);
  return seen.map((figure, place) => figure.id ||= `figure-${figure.className}-${place}`);
}"""
"""The names of the figures that are seen; what has none is called after its kind and place."""


def taken(
    browser: Any, page: tuple[str, Path], style: str = "", width: int = BROAD, scheme: str = "light"
) -> dict[str, Cells]:
    """The maps of the figures of a page by their names, with a style that is there before they are drawn."""
    name, path = page
    styled = path.with_name("styled.html")
    rules = f"<style>{WITHOUT_LETTERS} {style}</style></head>"
    styled.write_text(path.read_text(encoding="utf-8").replace("</head>", rules, 1), encoding="utf-8")
    with tab(browser, width, 900, color_scheme=scheme) as (shown, _):
        shown.goto(styled.as_uri())
        shown.wait_for_selector("html[data-figures=drawn]")
        shown.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        found = {}
        for figure in shown.evaluate(FIGURES, KINDS.get(name, "figure")):
            drawn = shown.locator(f"#{figure}").locator(".drawing, > div, > svg").first
            found[figure] = inked(drawn.screenshot())
        return found


@pytest.fixture(scope="module")
def figures(browser: Any, page: tuple[str, Path]) -> dict[str, Cells]:
    """The maps of the figures of a page as it is."""
    return taken(browser, page)


def test_figures_look_as_they_did(browser: Any, page: tuple[str, Path], figures: dict[str, Cells]) -> None:
    name, _ = page
    assert moved(name, figures) == {}
    if name in ALSO:
        other, width, scheme = ALSO[name]
        assert moved(other, taken(browser, page, width=width, scheme=scheme)) == {}


def test_a_figure_without_what_it_shows_would_be_found(
    browser: Any, page: tuple[str, Path], figures: dict[str, Cells]
) -> None:
    empty = taken(browser, page, EMPTY)
    assert {name: far for name in figures if (far := elsewhere(figures[name], empty[name])) <= TOLERANCE} == {}


@pytest.mark.parametrize("page", ["run", "comparison"], indirect=True)
def test_another_font_passes(browser: Any, page: tuple[str, Path], figures: dict[str, Cells]) -> None:
    """On the pages that have all kinds of axes."""
    for font in ("serif", "monospace"):
        other = taken(browser, page, f"body, body * {{ font-family: {font} !important }}")
        assert {name: far for name in figures if (far := elsewhere(figures[name], other[name])) > TOLERANCE} == {}
