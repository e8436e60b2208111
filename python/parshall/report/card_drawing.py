"""A card as matplotlib draws it.

The picture is as wide in inches as a figure of a page, so that letters keep their sizes in points: the smallest, of 7.5
points, are 20 pixels high. Places are in inches from the upper left corner.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from parshall.report.headline import Tile
from parshall.report.layout import WIDTH_IN, Box, laid_out
from parshall.report.palette import LIGHT
from parshall.report.plot import Band, Guide, Line, Mark, Panel, Plot, Points
from parshall.report.static import SETTINGS, draw, metadata
from parshall.scenario.schema.printing import printable

if TYPE_CHECKING:
    from parshall.report.card import CardContent

WIDTH_PX, HEIGHT_PX = 1200, 630
_HEIGHT_IN = WIDTH_IN * HEIGHT_PX / WIDTH_PX
_MARGIN_IN = 0.25
_INNER_IN = WIDTH_IN - 2 * _MARGIN_IN
_TILE_IN, _BESIDE_IN = 1.72, 0.16
"""Width of the column of tiles, and the room between it and the figure."""
_TEXT_TOP_IN, _LEADING = 0.76, 1.3
_SIZES = (13.0, 11.5, 10.0, 9.2, 8.5)
"""Of sentences, in points: the first in which two sentences fit, or else the last."""
_LARGEST = 10.0
"""Of sentences above a figure."""
_ALONE_IN = 1.45
"""Height of sentences without a figure."""
_ABOVE_IN = {1: 0.73, 2: 0.56, 3: 0.47}
"""Height of sentences above a figure, by the rows of its legend."""
_GAP_IN = 0.24
"""Between two tiles, at most."""
_LABEL_LINES = 2
_FEW_NAMES, _ROW_CHARACTERS = 4, 26
"""So many names stand in at most two rows of the legend, and in one if all are short."""
_KEY_IN = 0.65
"""Width of the sign before a name, and of the room after it."""
_ABOVE_DATA_IN = 0.17
"""Height of the text of a vertical guide, which stands above the horizontal ones."""


@dataclass(frozen=True)
class _Font:
    """A size in points, and a weight."""

    size: float
    weight: str = "normal"

    def width_in(self, text: str) -> float:
        """Return the width of a text, in inches."""
        font = FontProperties(family=["DejaVu Sans"], size=self.size, weight=self.weight)
        return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]) / 72

    @property
    def line_in(self) -> float:
        """From one line to the next, in inches."""
        return self.size * _LEADING / 72


_SMALL, _LABEL, _VALUE = _Font(7.5), _Font(8.0), _Font(13.0, "bold")
_WARNING = _Font(7.5, "bold")
_TITLES = tuple(_Font(size, "bold") for size in (17.0, 15.0, 13.0))


def image(card: CardContent, file_format: str) -> bytes:
    """`card` as the content of a ``png`` or ``svg`` file, 1200 x 630 pixels."""
    with mpl.rc_context(SETTINGS):
        canvas = _drawn(card)
        stream = io.BytesIO()
        dpi = WIDTH_PX / WIDTH_IN
        canvas.savefig(stream, format=file_format, dpi=dpi, metadata=metadata(file_format))
    if file_format == "svg":
        return _in_pixels(stream.getvalue().decode()).encode()
    return stream.getvalue()


def _in_pixels(svg: str) -> str:
    """An SVG whose size is in points, in pixels; what is in it is scaled with it."""
    head, view, rest = svg.partition(" viewBox=")
    before, _, _ = head.rpartition(" width=")
    return f'{before} width="{WIDTH_PX}" height="{HEIGHT_PX}"{view}{rest}'


def _drawn(card: CardContent) -> Canvas:
    canvas = Canvas(figsize=(WIDTH_IN, _HEIGHT_IN), facecolor=LIGHT.paper)
    _heading(canvas, card)
    room, sizes = _ALONE_IN, [*_SIZES]
    if card.plot is not None:
        room, sizes = _ABOVE_IN[_rows(_names(card.plot))], [size for size in _SIZES if size <= _LARGEST]
    lines, font = fitting(card.sentences, _INNER_IN, room, sizes)
    for number, line in enumerate(lines):
        _write(canvas, _MARGIN_IN, _TEXT_TOP_IN + number * font.line_in, line, font)
    top = _TEXT_TOP_IN + len(lines) * font.line_in + 0.12
    if card.plot is None:
        _tiles_in_row(canvas, card.tiles, top + 0.1)
        return canvas
    left = _MARGIN_IN + (_TILE_IN + _BESIDE_IN if card.tiles else 0.0)
    _tiles_in_column(canvas, card.tiles, top)
    _figure(canvas, card.plot, Box(left, top - 0.05, WIDTH_IN - 0.1 - left, _HEIGHT_IN - 0.1 - top))
    return canvas


def _heading(canvas: Canvas, card: CardContent) -> None:
    """Facts, or what a reader must know first, and the title."""
    if card.warnings:
        _write(canvas, _MARGIN_IN, 0.16, _cut(" ".join(card.warnings), _WARNING, _INNER_IN), _WARNING)
    else:
        facts = _cut(" · ".join(("Parshall", *card.facts)), _SMALL, _INNER_IN)
        _write(canvas, _MARGIN_IN, 0.16, facts, _SMALL, colour=LIGHT.muted)
    font = next((each for each in _TITLES if each.width_in(card.title) <= _INNER_IN), _TITLES[-1])
    _write(canvas, _MARGIN_IN, 0.36, _cut(card.title, font, _INNER_IN), font)


def fitting(
    sentences: Sequence[str], width_in: float, height_in: float, sizes: Sequence[float] = _SIZES
) -> tuple[list[str], _Font]:
    """The lines of as many whole sentences as fit, in the largest letters in which two do, and their font.

    Of a first sentence that is too long, the beginning.
    """
    wanted = min(2, len(sentences))
    for font in map(_Font, sizes):
        most = int(height_in / font.line_in)
        texts = (" ".join(sentences[:number]) for number in range(1, len(sentences) + 1))
        fit = [lines for text in texts if len(lines := _wrapped(text, font, width_in)) <= most]
        if len(fit) >= wanted:
            break
    if fit:
        return fit[-1], font
    lines = _wrapped(sentences[0], font, width_in)
    return [*lines[: most - 1], _cut(" ".join(lines[most - 1 :]), font, width_in)], font


def _wrapped(text: str, font: _Font, width_in: float) -> list[str]:
    """Lines that are not wider; a word that is has a line of its own, without its end."""
    lines: list[str] = []
    for word in printable(text).split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.width_in(longer) <= width_in:
            lines[-1] = longer
        else:
            lines.append(_cut(word, font, width_in))
    return lines


def _cut(text: str, font: _Font, width_in: float) -> str:
    """A text, or the beginning of one that is too wide."""
    text = printable(text)
    if font.width_in(text) <= width_in:
        return text
    while text and font.width_in(f"{text}…") > width_in:
        text = text[:-1]
    return f"{text.rstrip(' …')}…"


def _abbreviated(name: str, font: _Font, width_in: float) -> str:
    """A name, or the beginning and the end of one that is too wide: names that begin alike often end otherwise."""
    name = short = printable(name)
    left = len(name)
    while left > 2 and font.width_in(short) > width_in:
        left -= 1
        short = f"{name[: left - left // 2]}…{name[len(name) - left // 2 :]}"
    return short


def _tiles_in_row(canvas: Canvas, tiles: Sequence[Tile], top: float) -> None:
    width = _INNER_IN / max(1, len(tiles))
    for number, tile in enumerate(tiles):
        _tile(canvas, tile, _MARGIN_IN + number * width, top, width - _BESIDE_IN)


def _tiles_in_column(canvas: Canvas, tiles: Sequence[Tile], top: float) -> None:
    """Tiles beside the figure, with what is left of the height between them."""
    heights = [_tile_height(tile, _TILE_IN) for tile in tiles]
    gap = min(_GAP_IN, (_HEIGHT_IN - 0.1 - top - sum(heights)) / max(1, len(tiles) - 1))
    for tile, height in zip(tiles, heights, strict=True):
        _tile(canvas, tile, _MARGIN_IN, top, _TILE_IN)
        top += height + gap


def _tile(canvas: Canvas, tile: Tile, left: float, top: float, width: float) -> None:
    """A label, and below it the number with its uncertainty, as far as there is room."""
    for line in _label(tile, width):
        _write(canvas, left, top, line, _LABEL, colour=LIGHT.muted)
        top += _LABEL.line_in
    value = _cut(tile.value, _VALUE, width)
    _write(canvas, left, top + 0.02, value, _VALUE)
    beside = _VALUE.width_in(value) + 0.07
    if tile.spread and beside + _SMALL.width_in(tile.spread) <= width:
        _write(canvas, left + beside, top + 0.085, tile.spread, _SMALL, colour=LIGHT.muted)


def _tile_height(tile: Tile, width: float) -> float:
    return len(_label(tile, width)) * _LABEL.line_in + _VALUE.line_in


def _label(tile: Tile, width: float) -> list[str]:
    """The lines of a label."""
    lines = _wrapped(tile.label, _LABEL, width)
    first, rest = lines[: _LABEL_LINES - 1], lines[_LABEL_LINES - 1 :]
    return [*first, _cut(" ".join(rest), _LABEL, width)] if rest else first


def _figure(canvas: Canvas, plot: Plot, box: Box) -> None:
    """Draw a figure of one panel into a box, its panel as high as the box leaves it."""
    named = _shortened(plot, box.width)
    usual = laid_out(named, _names(named), box.width)
    height = usual.boxes[0].height + box.height - usual.height
    panel = named.panels[0]
    panel = _with_room(replace(panel, height=panel.height * height / usual.boxes[0].height), height)
    right, below = WIDTH_IN - box.left - box.width, _HEIGHT_IN - box.top - box.height
    grid = canvas.add_gridspec(
        3, 3, width_ratios=[box.left, box.width, right], height_ratios=[box.top, box.height, below]
    )
    draw(replace(named, panels=[panel]), canvas.add_subfigure(grid[1, 1]), box.width)


def _with_room(panel: Panel, height_in: float) -> Panel:
    """A low panel with the texts of its horizontal guides above it, and room for those of vertical guides."""
    guides = [mark for mark in panel.marks if isinstance(mark, Guide)]
    across = [guide for guide in guides if guide.along == "y"]
    if not across or panel.y.log or panel.y.maximum is None:
        return panel
    note = ", ".join(filter(None, (panel.note, *(f"- - {guide.text}" for guide in across))))
    marks = [replace(mark, text="") if mark in across else mark for mark in panel.marks]
    most = panel.y.maximum
    if len(guides) > len(across):
        most = max(most, max(guide.value for guide in across) / (1.0 - min(0.5, _ABOVE_DATA_IN / height_in)))
    return replace(panel, marks=marks, y=replace(panel.y, maximum=most), note=note)


def _names(plot: Plot) -> list[str]:
    """The names in the legend of a figure of one panel, each once."""
    return list(dict.fromkeys(name for mark in plot.panels[0].marks if (name := getattr(mark, "name", ""))))


def _rows(names: Sequence[str]) -> int:
    """Return the largest number of rows of the legend: a short name needs no row of its own."""
    if len(names) > _FEW_NAMES:
        return 3
    return 1 if sum(len(name) for name in names) < _ROW_CHARACTERS else 2


def _shortened(plot: Plot, width_in: float) -> Plot:
    """The plot with names that fit into the rows of the legend; where two are then alike, the later has a number."""
    names, panel = _names(plot), plot.panels[0]
    room = width_in / -(-len(names) // _rows(names)) - _KEY_IN if names else width_in
    short: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        cut = _abbreviated(name, _LABEL, room)
        short[name] = cut if cut not in short.values() else f"{_abbreviated(name, _LABEL, room - 0.2)} {number}"

    def renamed(mark: Mark) -> Mark:
        if isinstance(mark, Line | Band | Points) and mark.name:
            return replace(mark, name=short[mark.name])
        return mark

    return replace(plot, panels=[replace(panel, marks=[renamed(mark) for mark in panel.marks])])


def _write(canvas: Canvas, left: float, top: float, text: str, font: _Font, *, colour: str = LIGHT.ink) -> None:
    """Write a line of which the upper left corner is given."""
    place = left / WIDTH_IN, 1.0 - (top + font.size / 72) / _HEIGHT_IN
    canvas.text(*place, text, va="baseline", fontsize=font.size, fontweight=font.weight, color=colour)
