"""A browser for tests: Debian's Chromium, driven by Playwright, without a network but that of loopback."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from parshall.foundations.debian import find

CHROMIUM = find("chromium")
WAIT_MS = 60_000
"""For a machine that does other things."""

needs_browser = pytest.mark.needs("chromium")


@contextlib.contextmanager
def tab(browser: Any, width: int = 1400, height: int = 900, **options: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page of so many pixels, and the errors that it had."""
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        yield page, errors
    finally:
        context.close()


def serious_faults(page: Any) -> list[str]:
    """What axe-core finds that keeps people from using a page: its serious and critical faults."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {fault['help']}: {[node['html'][:120] for node in fault['nodes'][:3]]}"
        for fault in found
        if fault["impact"] in {"serious", "critical"}
    ]
