"""Pages of every kind in a browser: nothing keeps people from using them, all of it fits, and all is on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import needs_browser, serious_faults, tab
from pages import PAGES, of_run, run

from parshall.report.document import Document, document_html

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Document, str]:
    document = PAGES[request.param]()
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(document_html(document), encoding="utf-8")
    return document, path.as_uri()


def opened(tab_page: Any, document: Document, address: str) -> None:
    """Open a page, wait for its figures, and unfold all of it."""
    tab_page.goto(address)
    if document.figures:
        tab_page.wait_for_selector("html[data-figures=drawn]")
    tab_page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_pages_can_be_used_by_all(browser: Any, page: tuple[Document, str], width: int, scheme: str) -> None:
    with tab(browser, width, color_scheme=scheme) as (shown, errors):
        opened(shown, *page)
        assert serious_faults(shown) == []
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert errors == []


def test_paper_has_everything_and_no_controls(browser: Any, page: tuple[Document, str]) -> None:
    document, address = page
    with tab(browser, 720, 1000, color_scheme="dark") as (shown, errors):
        shown.goto(address)
        if document.figures:
            shown.wait_for_selector("html[data-figures=drawn]")
        shown.emulate_media(media="print")
        shown.evaluate("dispatchEvent(new Event('beforeprint'))")
        seen = "(element) => element.getClientRects().length > 0"
        controls = f"[...document.querySelectorAll('button, summary, nav, .interactive')].filter({seen}).length"
        assert shown.evaluate(controls) == 0
        assert shown.evaluate(f"[...document.querySelectorAll('.drawing img')].filter({seen}).length") == len(
            document.figures
        )
        hidden = f"""[...document.querySelectorAll('section :is(p, li, td, pre, dd)')]
            .filter((each) => each.textContent.trim() && !({seen})(each)).map((each) => each.outerHTML.slice(0, 80))"""
        assert shown.evaluate(hidden) == []
        assert shown.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
        assert errors == []


DRAWINGS = """
[...document.querySelectorAll(".network svg")].filter((each) => each.getClientRects().length).map((each) => {
  const texts = [...each.querySelectorAll("text")];
  const box = each.getBoundingClientRect();
  const scale = box.width / each.viewBox.baseVal.width;
  return {
    kind: each.getAttribute("class"),
    beyond: each.parentElement.scrollWidth - each.parentElement.clientWidth,
    letters: Math.min(...texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * scale)),
    outside: texts.filter((text) => text.getBoundingClientRect().right > box.right + 1).length,
  };
})"""
"""Of the drawings of networks that are seen: what is cut off, and the smallest letters, in pixels."""


@pytest.mark.parametrize(("width", "kind"), [(390, "narrow"), (1400, "broad")])
def test_the_network_of_several_links_is_readable(browser: Any, tmp_path: Path, width: int, kind: str) -> None:
    """One of two drawings is seen, without scrolling, and no text is smaller than what stands below the figure."""
    path = tmp_path / "page.html"
    document = of_run(run("parking-lot"))
    path.write_text(document_html(document), encoding="utf-8")
    with tab(browser, width) as (shown, _):
        opened(shown, document, path.as_uri())
        sizes = shown.evaluate(DRAWINGS)
        assert [each["kind"] for each in sizes] == [kind]
        assert all(each["beyond"] <= 0 and each["outside"] == 0 for each in sizes)
        assert sizes[0]["letters"] >= 10.5


def test_a_fault_would_be_found(browser: Any, tmp_path: Path) -> None:
    broken = "<!doctype html><title>x</title><img src='data:,'><button></button><p style='color: #ddd'>pale</p>"
    (tmp_path / "page.html").write_text(f"<html lang='en'>{broken}")
    with tab(browser) as (shown, _):
        shown.goto((tmp_path / "page.html").as_uri())
        found = " ".join(serious_faults(shown))
    for fault in ("image-alt", "button-name", "color-contrast"):
        assert fault in found
