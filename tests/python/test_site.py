"""The documentation site: built with every warning an error; nothing in it comes from another host."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from browser import needs_browser, serious_faults, tab
from built import ROOT, is_current

from parshall.cli.added import OF_EXTRAS
from parshall.cli.app import VERBS
from parshall.report.palette import LIGHT
from parshall.report.plot import Axis, Line, Panel, Plot, Points, values
from parshall.report.svg import svg
from parshall.scenario import Scenario
from tools.documentation import kernel
from tools.documentation.gallery import GALLERY, SCENARIOS, darkened
from tools.documentation.manual import commands
from tools.documentation.site import gallery

LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]*)\"|<link\b[^>]*\bhref=\"([^\"]*)\"|url\(([^)]*)\)"
)
"""What a browser loads without being asked: scripts, pictures, style sheets, fonts."""


def test_every_picture_has_a_scenario_that_is_valid() -> None:
    assert len({each.name for each in GALLERY}) == len(GALLERY)
    for each in GALLERY:
        Scenario.load(SCENARIOS / each.scenario, each.changes)
        assert each.command in gallery("docs")


def test_every_verb_is_described() -> None:
    told = set(re.findall(r"^## parshall ([\w-]+)", commands(), re.MULTILINE))
    assert told == {*VERBS, *(name for name in OF_EXTRAS if "." not in name)}
    assert "| `--set KEY.PATH=VALUE` |" in commands()


def test_a_dark_picture_has_no_colour_of_a_light_one() -> None:
    drawn, _, _ = svg(Plot([Panel([Line([0, 1], [0, 1], "a")], Axis("x"), Axis("y"))], ""))
    assert LIGHT.series[0] in drawn
    dark = darkened(drawn)
    assert not any(colour in dark for colour in (*LIGHT.series, LIGHT.ink, LIGHT.muted, LIGHT.grid, '"#fff"'))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with every warning an error: that of `make docs-site` if nothing has changed since."""
    sources = ("*.md", "[!.]*/*.md", "docs/**/*", "python/**/*.py", "crates/**/*.rs", "scenarios/*")
    if is_current(ROOT / "build/docs/.complete", *sources):
        return ROOT / "build/docs/html"
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--conf-dir", "docs", "--fail-on-warning", "--keep-going", "--quiet"]
    done = subprocess.run(
        [*command, ".", str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_is_complete_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = sorted(site.glob("**/*.html"))
    guides = (ROOT / "docs").glob("**/*.md")
    assert {path.stem for path in guides} <= {path.stem for path in pages}
    loaded = {
        target
        for path in [*pages, *site.glob("**/*.css")]
        for match in LOADED.finditer(path.read_text(encoding="utf-8"))
        for target in match.groups()
        if target
    }
    assert len(loaded) > 20
    assert [target for target in loaded if re.match(r"[\"']?(https?:)?//", target)] == []
    assert (site / "searchindex.js").stat().st_size > 10_000


READ = ("docs/index", "docs/getting-started", "docs/gallery", "docs/catalogs", "docs/api")
"""A landing page, a tutorial, pictures, wide tables, and what is made of docstrings."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, as others will read it: from files a browser refuses what axe asks for."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", READ)
def test_the_site_can_be_read_by_all(browser: Any, address: str, name: str) -> None:
    """Wide and light, and on a phone and dark: nothing serious for axe, nothing wider than the screen, no errors."""
    for width, scheme in ((1400, "light"), (390, "dark")):
        with tab(browser, width, color_scheme=scheme) as (shown, errors):
            shown.goto(f"{address}/{name}.html")
            assert shown.evaluate("document.documentElement.dataset.theme") == scheme
            assert shown.evaluate("document.documentElement.scrollWidth") <= width, (width, scheme)
            shown.wait_for_load_state("networkidle")
            assert errors == [], (width, scheme)  # before axe, which looks for imported style sheets in the wrong place
            assert serious_faults(shown) == [], (width, scheme)


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", READ)
def test_the_site_can_be_printed(browser: Any, address: str, name: str) -> None:
    """On white paper, all text of the page and nothing to press, and nothing cut off at the right."""
    with tab(browser, 720, 1000, color_scheme="dark") as (shown, errors):
        shown.goto(f"{address}/{name}.html")
        shown.emulate_media(media="print")
        shown.evaluate("dispatchEvent(new Event('beforeprint'))")
        seen = "(element) => element.getClientRects().length > 0"
        assert shown.evaluate(f"[...document.querySelectorAll('button, input, nav')].filter({seen}).length") == 0
        hidden = f"[...document.querySelectorAll('article :is(p, li, td)')].filter((each) => !({seen})(each)).length"
        assert shown.evaluate(hidden) == 0
        for part in ("documentElement", "body"):
            assert shown.evaluate(f"getComputedStyle(document.{part}).backgroundColor") == "rgb(255, 255, 255)"
        assert shown.evaluate("document.documentElement.dataset.theme") == "light"
        assert shown.evaluate("document.documentElement.scrollWidth") <= 720
        assert errors == []


def test_the_picture_of_linux_has_every_network_of_the_table() -> None:
    rows = kernel.networks(kernel.GUIDE.read_text(encoding="utf-8"))
    assert {row.flows for row in rows} == {flows for flows, _ in kernel.FLOWS}
    (panel,) = kernel.agreement().panels
    points = [mark for mark in panel.marks if isinstance(mark, Points)]
    measured = sum(pair is not None and min(pair) > 0 for row in rows for pair in row.pairs)
    assert sum(len(values(mark.y)) for mark in points) == measured > 2 * len(rows)
    low, high = panel.ends("y")
    assert all(low < ratio < high for mark in points for ratio in values(mark.y))
    with pytest.raises(ValueError, match=r"linux\.md has no table"):
        kernel.networks("| another | table |")
