"""Figures as parts of a page of the application: in its colours, light or dark, and as wide as it has room for."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup, escape

from parshall.report.html import Drawing
from parshall.report.layout import WIDTH_IN
from parshall.report.plot import Plot
from parshall.report.svg import inline


def in_page(width_in: float = WIDTH_IN) -> Callable[[str, str, Plot], Drawing]:
    """Return a function that draws figures as parts of the page, in its colours."""

    def drawn(name: str, title: str, plot: Plot) -> Drawing:
        label = escape(f"{title}. {plot.caption}")
        image = f'<div role="img" aria-label="{label}">{inline(plot, name, width_in)}</div>'
        return Drawing(name, title, plot.caption, Markup(image))  # noqa: S704 - escaped

    return drawn
