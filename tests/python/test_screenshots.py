"""Figures in a browser beside pictures of what they looked like when somebody looked at them.

A picture is a map of ink: where a figure has colour, and where it has something dark. It is drawn without letters,
which take room and differ between machines. Ink counts as the same within one cell. A figure that is missing, empty or
drawn otherwise has ink elsewhere. Where a figure has changed on purpose, look at it, and store it again:
``PARSHALL_PICTURES=new pytest tests/python/test_screenshots.py``.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import needs_browser, tab
from PIL import Image
from scipy.ndimage import maximum_filter

import parshall as ps
from parshall.report.comparison_page import document as of_comparison
from parshall.report.document import Document, document_html
from parshall.report.page import document as of_run

pytestmark = [pytest.mark.slow, needs_browser]

PICTURES = Path(__file__).parent / "pictures"
COLUMNS = 64
"""Cells across a figure: one is a sixty-fourth of its width."""
TOLERANCE = 0.1
"""Share of the ink that is elsewhere. `test_it_tells_apart` holds it between other fonts and figures without curves."""
FEW = 3
"""Cells of ink that tell nothing."""

QUICK = {"duration": "20 s", "warm_up": "4 s", "repetitions": 2}


def run(**values: Any) -> ps.Run:
    return ps.run(ps.Scenario.load("quickstart", {**QUICK, **values}))


PAGES: dict[str, Callable[[], Document]] = {
    "run": lambda: of_run(run()),
    "comparison": lambda: of_comparison(
        ps.compare(run(), run(**{"bottleneck.queue": "codel"}), names=["one", "other"])
    ),
}


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(document_html(PAGES[request.param]()), encoding="utf-8")
    return request.param, path


def taken(browser: Any, page: Path, style: str = "") -> dict[str, np.ndarray[Any, Any]]:
    """The maps of the figures of a page by their names, with a style that is there before they are drawn."""
    styled = page.with_name("styled.html")
    rules = f"<style>svg text {{ display: none !important }} {style}</style></head>"
    styled.write_text(page.read_text(encoding="utf-8").replace("</head>", rules, 1), encoding="utf-8")
    with tab(browser, 1000, 900) as (shown, _):
        shown.goto(styled.as_uri())
        shown.wait_for_selector("html[data-figures=drawn]")
        names = shown.evaluate("[...document.querySelectorAll('figure[id]')].map((figure) => figure.id)")
        return {name: inked(shown.locator(f"#{name} .drawing").screenshot()) for name in names}


def inked(shot: bytes) -> np.ndarray[Any, Any]:
    """Which cells have colour, and which something dark: booleans, shape (rows, columns, 2)."""
    image = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=int)
    side = image.shape[1] / COLUMNS
    maps = np.stack([np.ptp(image, axis=2) > 40, image.min(axis=2) < 150], axis=2)
    rows = np.minimum((np.arange(image.shape[0]) / side).astype(int), int(image.shape[0] / side))
    columns = np.minimum((np.arange(image.shape[1]) / side).astype(int), COLUMNS - 1)
    cells = np.zeros((rows[-1] + 1, COLUMNS, 2), dtype=bool)
    np.logical_or.at(cells, (rows[:, None], columns[None, :]), maps)
    return cells


def elsewhere(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    """The share of the ink of one map, colour or dark, that is not within a cell of ink of the other; of both ways."""
    height = max(len(one), len(other))
    maps = [np.pad(each, ((0, height - len(each)), (0, 0), (0, 0))) for each in (one, other)]
    shares = [0.0]
    for kind in range(2):
        a, b = (each[..., kind] for each in maps)
        for ink, near in ((a, maximum_filter(b, 3)), (b, maximum_filter(a, 3))):
            if ink.sum() > FEW:
                shares.append(float((ink & ~near).sum() / ink.sum()))
    return max(shares)


def test_figures_look_as_they_did(browser: Any, page: tuple[str, Path]) -> None:
    name, path = page
    found = taken(browser, path)
    if os.environ.get("PARSHALL_PICTURES") == "new":
        PICTURES.mkdir(exist_ok=True)
        for old in PICTURES.glob(f"{name}-*.png"):
            old.unlink()
        for figure, cells in found.items():
            channels = np.concatenate([cells, np.zeros((*cells.shape[:2], 1), bool)], axis=2)
            Image.fromarray((255 * channels).astype(np.uint8)).save(PICTURES / f"{name}-{figure}.png", optimize=True)
    stored = {
        path.stem.removeprefix(f"{name}-"): np.asarray(Image.open(path))[..., :2] > 0
        for path in PICTURES.glob(f"{name}-*.png")
    }
    assert set(found) == set(stored)
    far = {figure: round(elsewhere(cells, stored[figure]), 3) for figure, cells in found.items()}
    assert {figure: share for figure, share in far.items() if share > TOLERANCE} == {}


def test_it_tells_apart(browser: Any, page: tuple[str, Path]) -> None:
    """Another font passes; a figure without its curves does not."""
    _, path = page
    found = taken(browser, path)
    for font in ("serif", "monospace"):
        other = taken(browser, path, f"body, body * {{ font-family: {font} !important }}")
        assert {name: far for name in found if (far := elsewhere(found[name], other[name])) > TOLERANCE} == {}
    empty = taken(browser, path, "svg .trace { display: none !important }")
    assert {name: far for name in found if (far := elsewhere(found[name], empty[name])) <= TOLERANCE} == {}
