"""Colours, dashes and symbols, the same in both drawings of a figure.

The series colours are chosen for contrast of at least 3:1 with the paper (light and dark), and to stay apart for
readers with red-green and blue-yellow colour blindness; a test checks both. Each colour always comes with a dash
pattern and a symbol of its own, so that a page printed in grey can be read too.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scheme:
    """The colours of one appearance of the page."""

    series: tuple[str, ...]
    paper: str
    ink: str
    muted: str
    grid: str

    def variables(self) -> dict[str, str]:
        """The colours by the names of the variables that pages have for them."""
        named = {"paper": self.paper, "ink": self.ink, "muted": self.muted, "grid": self.grid}
        return named | {f"series-{index}": colour for index, colour in enumerate(self.series)}


LIGHT = Scheme(
    series=("#2a7fd0", "#cc6a0a", "#185c4a", "#8c1a86", "#604a07", "#0d0d0d"),
    paper="#ffffff",
    ink="#1b1b1b",
    muted="#5f6368",
    grid="#e3e3df",
)
DARK = Scheme(
    series=("#4f94e4", "#e0703f", "#3fdc96", "#b86a90", "#ebc92a", "#f4f4f4"),
    paper="#15181c",
    ink="#e8e6e1",
    muted="#a2a6ab",
    grid="#30353b",
)

DASHES: tuple[tuple[float, ...], ...] = ((), (7, 3), (2, 2), (9, 3, 2, 3), (4, 2), (1, 3))
"""Lengths on and off, in points; empty: a solid line."""

SYMBOLS: tuple[str, ...] = ("circle", "square", "triangle-up", "diamond", "x", "cross")
"""Names as plotly has them."""

MARKERS: dict[str, str] = {
    "circle": "o",
    "square": "s",
    "triangle-up": "^",
    "diamond": "D",
    "x": "X",
    "cross": "P",
}
"""The same symbols as matplotlib calls them."""

SERIES = len(LIGHT.series)
"""Number of series that can be told apart in one panel."""
