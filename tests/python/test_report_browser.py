"""The page in a browser: it draws its figures without an error, and fits a desktop and a phone.

Chromium is started once a width, without a network, and prints the document when all is drawn. A script at the head of
a copy of the page notes errors and sizes in the document, as attributes.
"""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, needs_browser

import parshall as ps
from parshall.instruments.simulation import Run
from parshall.report import page_html
from parshall.report.document import Chart, Document, Section, Table, document_html
from parshall.report.page import document
from parshall.report.plot import Axis, Line, Panel, Plot

SCENARIOS = Path(__file__).parents[2] / "scenarios"
FLAGS = """
--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --allow-file-access-from-files --virtual-time-budget=8000
"""

pytestmark = needs_browser

PROBE = """<script>
(() => {
  const errors = [];
  const note = (...words) => errors.push(words.map(String).join(" "));
  console.error = note;
  console.warn = note;
  addEventListener("error", (event) => note(event.message || event.target.src), true);
  addEventListener("unhandledrejection", (event) => note(event.reason));
  addEventListener("securitypolicyviolation", (event) => note(event.violatedDirective, event.blockedURI));
  const report = () => {
    const root = document.documentElement;
    const wide = [...document.querySelectorAll("main *")]
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest("svg, pre"))
      .map((element) => element.outerHTML.slice(0, 80));
    const found = {
      errors, wide, width: innerWidth, scrollWidth: root.scrollWidth, drawn: root.dataset.figures ?? "",
      plots: [...document.querySelectorAll(".interactive")].filter((plot) => plot.querySelector("svg .trace")).length,
    };
    (window.top ?? window).document.documentElement.setAttribute("data-found", JSON.stringify(found));
  };
  setInterval(report, 500);
})();
</script>"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    overrides = ("duration=6 s", "warm_up=2 s", "probes.rounds=10")
    scenario = ps.Scenario.load(SCENARIOS / "on-off.toml", overrides)
    return ps.run(scenario, tmp_path_factory.mktemp("browser") / "run")


@pytest.mark.gate
@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 700, 375])
def test_the_page_draws_its_figures_and_fits(run: Run, width: int, tmp_path: Path) -> None:
    page = page_html(run).replace("<title>", PROBE + "<title>", 1)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    found = _found(tmp_path, width)
    assert found["errors"] == []
    assert found["width"] == width
    assert found["scrollWidth"] <= width, found["wide"]
    assert found["wide"] == []
    assert found["drawn"] == "drawn"
    assert found["plots"] == len(document(run).figures)


def test_a_study_draws_its_figures_and_fits_a_phone(tmp_path: Path) -> None:
    row = ("fig1", "mean queueing delay with heavier tails, N = 45, B = 896, without slow start", "1", "", "see §3")
    table = Table("Not reproduced", ("Artefact", "Quantity", "Published", "95 % interval", "Note"), [row], (2, 3))
    byline = ("scale quick", "Loiseau, Gonçalves, Barral & Vicat-Blanc Primet, Performance Evaluation 67, 2010")
    plot = Plot([Panel([Line([0.0, 1.0], [0.0, 1.0])], Axis("x"), Axis("y"))], "")
    figures = [Chart("at-0.02", "A name with a point", plot), Chart("last", "The one after it", plot)]
    section = Section("Lists", tables=[table], figures=figures)
    page = document_html(Document("study", "Title", "what it is", byline, [section]))
    (tmp_path / "page.html").write_text(page.replace("<title>", PROBE + "<title>", 1), encoding="utf-8")
    found = _found(tmp_path, 375)
    assert found["errors"] == []
    assert found["plots"] == len(figures)
    assert found["scrollWidth"] <= 375, found["wide"]
    assert found["wide"] == []


def test_an_error_would_be_found(tmp_path: Path) -> None:
    broken = "<!doctype html><title></title><main><p style='width: 600px'>x</p></main><script>nothing.there()</script>"
    (tmp_path / "page.html").write_text(broken.replace("<title>", PROBE + "<title>"))
    found = _found(tmp_path, 375)
    assert len(found["errors"]) == 1
    assert found["scrollWidth"] > 375
    assert found["wide"]


def _found(folder: Path, width: int) -> dict[str, Any]:
    """What `PROBE` noted of page.html in a frame of `width` pixels (no window is as narrow as a phone)."""
    frame = f'<iframe src="page.html" style="border: 0; width: {width}px; height: 900px"></iframe>'
    wrapper = folder / "wrapper.html"
    wrapper.write_text(f"<!doctype html><body style='margin: 0'>{frame}</body>")
    profile = f"--user-data-dir={folder / 'profile'}"
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        *FLAGS.split(),
        profile,
        f"--window-size={max(width, 500)},900",
        "--dump-dom",
        wrapper.as_uri(),
    ]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    noted = re.search(r'data-found="([^"]*)"', printed)
    assert noted is not None, printed[:500]
    found: dict[str, Any] = json.loads(unescape(noted[1]))
    return found
