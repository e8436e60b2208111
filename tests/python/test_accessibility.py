"""Pages of every kind in a browser: nothing keeps people from using them, all of it fits, and all is on paper."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser import needs_browser, serious_faults, tab

import parshall as ps
from parshall.campaign.page import document as of_sweep
from parshall.report.comparison_page import document as of_comparison
from parshall.report.document import Document, Section, Table, document_html
from parshall.report.page import document as of_run
from parshall.studies.check import Check
from parshall.studies.page import document as of_study
from parshall.studies.study import Findings, Study
from parshall.traces import observe
from parshall.traces.page import document as of_observation

pytestmark = [pytest.mark.slow, needs_browser]

ROOT = Path(__file__).parents[2]
QUICK = {"duration": "8 s", "warm_up": "2 s", "repetitions": 2}


def run(name: str, **values: Any) -> Any:
    return ps.run(ps.Scenario.load(name, {**QUICK, **values}))


def sweep() -> Document:
    document = {"duration": "2 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "50 ms", "count": 2}]}
    parameters = {"bottleneck.rate": ["4 Mbit/s", "8 Mbit/s", "9 Mbit/s"], "flows.0.rtt": ["20 ms", "40 ms", "60 ms"]}
    with tempfile.TemporaryDirectory() as store:
        return of_sweep(ps.sweep(ps.Plan(name="grid", scenario=document, parameters=parameters, repetitions=2), store))


def study() -> Document:
    checks = [
        Check("table1", "mean completion time, s", 2.0, 2.1, 2.0, 2.2, 0.05),
        Check("table1", "loss rate", 0.5, 0.1, None, None, 0.01, "one run"),
        Check("fig2", "median, s", None, 1.5, 1.4, 1.6, 0.0),
    ]
    about = Study("example", "Example", "an example", "nobody 2026", [])
    return of_study(
        about, "quick", Findings(checks, [Section("Table 1", tables=[Table("", ("a", "b"), [("1", "2")])])])
    )


PAGES: dict[str, Callable[[], Document]] = {
    "run": lambda: of_run(run("quickstart")),
    "run with several links": lambda: of_run(run("parking-lot")),
    "run with transfers": lambda: of_run(run("short-flows")),
    "prediction": lambda: of_run(ps.predict(ps.Scenario.load("quickstart"))),
    "comparison": lambda: of_comparison(
        ps.compare(run("quickstart"), run("quickstart", **{"bottleneck.queue": "codel"}), names=["one", "other"])
    ),
    "sweep": sweep,
    "observation": lambda: of_observation(observe(ROOT / "docs" / "example.pcap.gz"), with_arrivals=False),
    "study": study,
}


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


def test_a_fault_would_be_found(browser: Any, tmp_path: Path) -> None:
    broken = "<!doctype html><title>x</title><img src='data:,'><button></button><p style='color: #ddd'>pale</p>"
    (tmp_path / "page.html").write_text(f"<html lang='en'>{broken}")
    with tab(browser) as (shown, _):
        shown.goto((tmp_path / "page.html").as_uri())
        found = " ".join(serious_faults(shown))
    for fault in ("image-alt", "button-name", "color-contrast"):
        assert fault in found
