"""The picture of a page in the README: ``python -m tools.documentation.page_picture`` writes docs/figures/page.png.

It is the page of the shipped scenario `quickstart`, simulated now, as a browser shows it: light, and dark beside it. It
needs Playwright and a Chromium (`make setup`; Debian: ``apt install chromium``).
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from parshall.instruments.simulation import run
from parshall.report import write_page
from parshall.scenario import Scenario
from tools.documentation.tables import ROOT

TARGET = ROOT / "docs" / "figures" / "page.png"
WIDTH, HEIGHT = 800, 1040
"""Of each of the two, in pixels."""
COLOURS = 64
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def draw(target: Path = TARGET) -> Path:
    """Simulate, open the page in both colours, and write the picture.

    Raises
    ------
    RuntimeError
        There is no browser.
    """
    from PIL import Image  # noqa: PLC0415 - this and the browser are of the development environment

    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        write_page(run(Scenario.load("quickstart")), page)
        shots = [Image.open(io.BytesIO(shot)) for shot in _shots(page)]
    made = Image.new("RGB", (WIDTH * len(shots), HEIGHT))
    for place, shot in enumerate(shots):
        made.paste(shot, (place * WIDTH, 0))
    made.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
    return target


def _shots(page: Path) -> list[bytes]:
    """The page as PNG, light and dark."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise RuntimeError(f"no browser; one of {', '.join(BROWSERS)} is needed")
    shots = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            size = {"width": WIDTH, "height": HEIGHT}
            shown = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
            shown.goto(page.as_uri())
            shown.wait_for_selector("html[data-figures=drawn]")
            shots.append(shown.screenshot())
        browser.close()
    return shots


if __name__ == "__main__":
    draw()
