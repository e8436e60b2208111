"""Figures in a browser beside pictures of what they looked like when somebody looked at them.

A figure is taken as it is drawn, made 96 pixels wide, grey and a little blurred: letters of another font change little of
that, a figure that is missing, empty or drawn otherwise changes much. Where a figure has changed on purpose, look at it
and store it again: `PARSHALL_PICTURES=new pytest tests/python/test_screenshots.py`.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import browsing, needs_browser, tab
from PIL import Image, ImageFilter

import parshall as ps
from parshall.report.comparison_page import document as of_comparison
from parshall.report.document import Document, document_html
from parshall.report.page import document as of_run

pytestmark = [pytest.mark.slow, needs_browser]

PICTURES = Path(__file__).parent / "pictures"
WIDTH = 96
TOLERANCE = 4.0
"""Mean distance of the greys, of 255, in the worst of `BANDS` parts of a figure. Measured here: the same figure with
letters of a serif or a monospaced font is within 2.6; without its curves it is beyond 7 (`test_it_tells_apart`)."""
BANDS = 4

QUICK = {"duration": "20 s", "warm_up": "4 s", "repetitions": 2}


def run(**values: Any) -> ps.Run:
    return ps.run(ps.Scenario.load("quickstart", {**QUICK, **values}))


PAGES: dict[str, Callable[[], Document]] = {
    "run": lambda: of_run(run()),
    "comparison": lambda: of_comparison(
        ps.compare(run(), run(**{"bottleneck.queue": "codel"}), names=["one", "other"])
    ),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as opened:
        yield opened


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(document_html(PAGES[request.param]()), encoding="utf-8")
    return request.param, path.as_uri()


def taken(browser: Any, address: str, style: str = "") -> dict[str, Image.Image]:
    """The figures of a page by their names."""
    with tab(browser, 1000, 900) as (shown, _):
        shown.goto(address)
        shown.wait_for_selector("html[data-figures=drawn]")
        if style:
            shown.add_style_tag(content=style)
        names = shown.evaluate("[...document.querySelectorAll('figure[id]')].map((figure) => figure.id)")
        shots = {name: shown.locator(f"#{name} .drawing").screenshot() for name in names}
        shots["network"] = shown.locator(".network svg.broad").first.screenshot() if "network" in address else b""
    return {name: small(shot) for name, shot in shots.items() if shot}


def small(shot: bytes) -> Image.Image:
    grey = Image.open(io.BytesIO(shot)).convert("L")
    height = max(BANDS, round(WIDTH * grey.height / grey.width))
    return grey.resize((WIDTH, height), Image.Resampling.BOX).filter(ImageFilter.GaussianBlur(1))


def distance(one: Image.Image, other: Image.Image) -> float:
    """The mean distance of the greys in the worst band of two pictures; of other proportions, as far as can be."""
    if abs(one.height - other.height) > 2:
        return 255.0
    height = min(one.height, other.height)
    a, b = (np.asarray(each, dtype=float)[:height] for each in (one, other))
    return max(float(band.mean()) for band in np.array_split(np.abs(a - b), BANDS))


def test_figures_look_as_they_did(browser: Any, page: tuple[str, str]) -> None:
    name, address = page
    found = taken(browser, address)
    if os.environ.get("PARSHALL_PICTURES") == "new":
        PICTURES.mkdir(exist_ok=True)
        for old in PICTURES.glob(f"{name}-*.png"):
            old.unlink()
        for figure, image in found.items():
            image.save(PICTURES / f"{name}-{figure}.png", optimize=True)
    stored = {path.stem.removeprefix(f"{name}-"): Image.open(path) for path in PICTURES.glob(f"{name}-*.png")}
    assert set(found) == set(stored)
    far = {figure: round(distance(image, stored[figure]), 1) for figure, image in found.items()}
    assert {figure: apart for figure, apart in far.items() if apart > TOLERANCE} == {}


def test_it_tells_apart(browser: Any, page: tuple[str, str]) -> None:
    """Another font passes; a figure without its curves, or with another one in its place, does not."""
    _, address = page
    found = taken(browser, address)
    for font in ("serif", "monospace"):
        other = taken(browser, address, f"svg text {{ font-family: {font} !important }}")
        assert {name: apart for name in found if (apart := distance(found[name], other[name])) > TOLERANCE} == {}
    empty = taken(browser, address, "svg .cartesianlayer .plot { visibility: hidden !important }")
    assert {name for name in found if distance(found[name], empty[name]) > TOLERANCE}
