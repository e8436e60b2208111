"""A `Plot` as the page carries it for readers without JavaScript, and for print: SVG, written directly.

`static` draws the same for papers with matplotlib, which takes a second to load and two to draw a page's figures; that
is more than a small simulation. Lengths are in tenths of a point, so that coordinates are short integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal, cast
from xml.sax.saxutils import escape

import numpy as np

from parshall.foundations.numbers import tick
from parshall.report.layout import LEGEND_ROW_IN, SHADES_IN, WIDTH_IN, Box, has_few_decades, laid_out, name_lines
from parshall.report.palette import DASHES, LIGHT
from parshall.report.plot import Axis, Band, Grid, Guide, Line, Mark, Panel, Plot, Points, Style, Values
from parshall.scenario.schema.printing import printable

INCH = 720
FONTS = "DejaVu Sans, Verdana, sans-serif"
"""As wide as what the figures are laid out for, where a reader has no DejaVu."""
_FONT, _CHARACTER = 85, 52
"""Height of the letters, and about the width of one."""
_SHORTEST = 1e-200
_LEAST_POWER, _MOST_POWER = -307, 307
"""Powers of ten that are numbers."""
_LINE = 95
"""From one line of a name to the next."""
_SMALL = 'font-size="75"'
_MANY_POINTS = 200
_SHAPES = {
    "circle": "m-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0z",
    "square": "m-{r}-{r}h{d}v{d}h-{d}z",
    "triangle-up": "m-{r} {r}h{d}l-{r}-{d}z",
    "diamond": "m-{r} 0l{r} {r} {r}-{r}-{r}-{r}z",
    "x": "m-{r}-{r}l{d} {d}m0-{d}l-{d} {d}",
    "cross": "m-{r} 0h{d}m-{r}-{r}v{d}",
}
_STROKED = ("x", "cross")


def svg(plot: Plot, width_in: float = WIDTH_IN) -> tuple[str, int, int]:
    """The drawing, and its width and height in points."""
    entries = _entries(plot)
    layout = laid_out(plot, [*entries], width_in)
    width, height = round(width_in * INCH), round(layout.height * INCH)
    numbers = count()
    parts: list[str] = []
    last_row = len(plot.panels) - plot.columns
    for index, (panel, box) in enumerate(zip(plot.panels, layout.boxes, strict=True)):
        column = index % plot.columns
        x = _Scale(plot.panels[0].x, *_ends(plot.panels, "x"), box.left, box.left + box.width)
        y = _Scale(panel.y, *_ends([plot.panels[index - column]], "y"), box.top + box.height, box.top, width_in)
        drawn = _Drawn(panel, x, y, _pixels(box), f"c{next(numbers)}")
        repeated = index > 0 and plot.panels[index - 1].y == panel.y
        parts += drawn.axes(with_x=index >= last_row, with_y=column == 0, titled=not repeated)
        parts += drawn.marks()
    parts += _legend(entries, layout.legend_columns, height)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="{FONTS}" '
    head += f'font-size="{_FONT}" fill="{LIGHT.ink}"><rect width="{width}" height="{height}" fill="#fff"/>'
    return head + "".join(parts) + "</svg>", round(width / 10), round(height / 10)


def inline(plot: Plot, name: str, width_in: float = WIDTH_IN) -> str:
    """The drawing as a part of a page: in the colours of the page, light or dark (`palette.Scheme.variables`).

    Of several drawings in one page, each needs a name.
    """
    drawn, _, _ = svg(plot, width_in)
    drawn = drawn.replace('fill="#fff"', 'fill="var(--paper)"')
    for variable, colour in LIGHT.variables().items():
        drawn = drawn.replace(f'"{colour}"', f'"var(--{variable})"')
    drawn = drawn.replace('id="c', f'id="{name}-c').replace("url(#c", f"url(#{name}-c")
    return drawn.replace("<svg ", '<svg aria-hidden="true" ', 1)


def _entries(plot: Plot) -> dict[str, Mark]:
    """Return the entries of the legend, each once."""
    entries: dict[str, Mark] = {}
    for mark in (mark for panel in plot.panels for mark in panel.marks):
        if name := getattr(mark, "name", ""):
            entries.setdefault(name, mark)
    return entries


def _ends(panels: Sequence[Panel], letter: Literal["x", "y"]) -> tuple[float, float]:
    """The ends of an axis that these panels share; what the axis leaves open is a little beyond the data.

    Of a logarithmic axis, their logarithms to base 10.
    """
    axis = panels[0].x if letter == "x" else panels[0].y

    def at(value: float) -> float:
        return math.log10(value) if axis.log else value

    low, high = next((ends for panel in panels if None not in (ends := panel.ends(letter))), panels[0].ends(letter))
    marks = [mark for panel in panels for mark in panel.marks]
    guides = [mark.value for mark in marks if isinstance(mark, Guide) and mark.along == letter]
    shown = [at(end) for panel in panels for end in panel.extent(letter) or ()]
    shown += [at(value) for value in guides if value > 0 or not axis.log]
    least = min(shown, default=0.0) if low is None else at(low)
    most = max(shown, default=1.0) if high is None else at(high)
    if any(isinstance(mark, Grid) for mark in marks) and most > least:
        return least, most
    span = most - least
    beyond = 0.05 * (span if span > max(_SHORTEST, 1e-9 * abs(least)) else max(abs(least), 1.0))
    return least - (beyond if low is None else 0.0), most + (beyond if high is None else 0.0)


@dataclass(frozen=True)
class _Scale:
    """From the values of an axis, or their logarithms, to places between two ends, in inches."""

    axis: Axis
    low: float
    high: float
    start: float
    end: float
    figure_in: float = WIDTH_IN
    """The width of the figure, by which names are cut."""

    def places(self, values: Values) -> Values:
        """Coordinates; of what a logarithmic axis cannot show, and of what is far outside, at the nearer end."""
        if self.axis.log:
            positive = values > 0
            values = np.where(positive, np.log10(np.where(positive, values, 1.0)), self.low - 1)
        share = np.clip((values - self.low) / (self.high - self.low), -1.0, 2.0)
        return np.rint((self.start + share * (self.end - self.start)) * INCH).astype(np.float64)

    def place(self, value: float) -> int:
        return int(self.places(np.array([value]))[0])

    def shows(self, value: float) -> bool:
        """True if a value is between the ends."""
        if self.axis.log and value <= 0:
            return False
        at = math.log10(value) if self.axis.log else value
        slack = 1e-9 * (self.high - self.low)
        return self.low - slack <= at <= self.high + slack

    def ticks(self, panel: Panel, letter: Literal["x", "y"]) -> Iterator[tuple[int, str]]:
        """Places and labels."""
        if self.axis.names:
            for at, name in enumerate(self.axis.names):
                yield self.place(at), "\n".join(name_lines(name, self.axis, self.figure_in))
            return
        places = self._decades(has_few_decades(panel, letter)) if self.axis.log else self._round_numbers()
        yield from ((self.place(value), tick(value)) for value in places if self.shows(value))

    def _decades(self, few: bool) -> list[float]:
        first, last = max(_LEAST_POWER, math.floor(self.low)), min(_MOST_POWER, math.ceil(self.high))
        step = max(1, math.ceil((last - first) / 8))
        return [
            factor * 10.0**power for power in range(first, last + 1, step) for factor in ((1, 2, 5) if few else (1,))
        ]

    def _round_numbers(self) -> list[float]:
        """Multiples of 1, 2, 2.5 or 5 times a power of ten, as many as there is room for."""
        most = max(2, min(8, int(abs(self.end - self.start) / 0.22)))
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(number * step, 12 - math.floor(math.log10(step))) for number in range(first, last + 1)]


def _pixels(box: Box) -> tuple[int, int, int, int]:
    """Left, top, right and bottom."""
    ends = box.left, box.top, box.left + box.width, box.top + box.height
    left, top, right, bottom = (round(each * INCH) for each in ends)
    return left, top, right, bottom


@dataclass(frozen=True)
class _Drawn:
    """A panel."""

    panel: Panel
    x: _Scale
    y: _Scale
    box: tuple[int, int, int, int]
    clip: str

    def axes(self, *, with_x: bool, with_y: bool, titled: bool) -> Iterator[str]:
        """Lines of the grid, labels, titles."""
        left, top, right, bottom = self.box
        columns, rows = [*self.x.ticks(self.panel, "x")], [*self.y.ticks(self.panel, "y")]
        grid = "".join(f"M{x} {top}V{bottom}" for x, _ in columns) + "".join(f"M{left} {y}H{right}" for y, _ in rows)
        ends = "".join(f"M{x} {bottom}v30" for x, _ in columns) + "".join(f"M{left} {y}h-30" for y, _ in rows)
        yield f'<path stroke="{LIGHT.grid}" stroke-width="6" d="{grid}"/>'
        yield f'<path fill="none" stroke="{LIGHT.muted}" stroke-width="7" d="M{left} {top}V{bottom}H{right}{ends}"/>'
        if with_x:
            yield from (_text(x, bottom + 115, label, "middle") for x, label in columns)
            yield _text((left + right) // 2, bottom + 235, self.x.axis.title, "middle")
        if with_y:
            yield from (text for y, label in rows for text in _lines(left - 45, y + 30, label, "end"))
        if titled:
            yield _text(left, top - 40, self.panel.y.title, "start")
        if self.panel.note:
            yield _text(right, top - 40, self.panel.note, "end", LIGHT.muted)
        yield f'<clipPath id="{self.clip}"><path d="M{left} {top}H{right}V{bottom}H{left}z"/></clipPath>'

    def marks(self) -> Iterator[str]:
        """Return the content of a panel: lines and areas end at its border, points do not."""
        points = [mark for mark in self.panel.marks if isinstance(mark, Points)]
        yield f'<g clip-path="url(#{self.clip})">'
        for mark in self.panel.marks:
            match mark:
                case Line():
                    places = self.x.places(_v(mark.x)), self.y.places(_v(mark.y))
                    yield f'<path fill="none" {_pen(mark.style)} d="{_polyline(*places, steps=mark.steps)}"/>'
                case Band():
                    x = self.x.places(_v(mark.x))
                    low, high = self.y.places(_v(mark.low)), self.y.places(_v(mark.high))
                    outline = _polyline(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]))
                    yield f'<path fill="{_colour(mark.style)}" fill-opacity="{mark.opacity:g}" d="{outline}z"/>'
                case Grid():
                    yield from self._cells(mark)
                case Guide():
                    yield self._guide_line(mark)
        yield "</g>"
        yield from (self._shades(mark) for mark in self.panel.marks if isinstance(mark, Grid))
        guides = (mark for mark in self.panel.marks if isinstance(mark, Guide))
        yield from (self._guide_text(guide) for guide in guides if self._scale(guide).shows(guide.value))
        yield from (self._points(mark) for mark in points)

    def _points(self, mark: Points) -> str:
        x, y = self.x.places(_v(mark.x)), self.y.places(_v(mark.y))
        many = len(x) > _MANY_POINTS
        bars = ""
        if mark.low is not None and mark.high is not None:
            low, high = (self._scale(mark).places(_v(end)) for end in (mark.low, mark.high))
            for a, b, low_, high_ in zip(*(each.astype(int).tolist() for each in (x, y, low, high)), strict=True):
                bars += f"M{a} {low_}V{high_}" if mark.along == "y" else f"M{low_} {b}H{high_}"
            bars = f'<path stroke="{_colour(mark.style)}" stroke-width="9" d="{bars}"/>'
        return bars + _symbols(mark.style, zip(x.tolist(), y.tolist(), strict=True), many=many or mark.style.faint)

    def _cells(self, mark: Grid) -> Iterator[str]:
        x, y, z = self.x.places(_v(mark.x)).astype(int), self.y.places(_v(mark.y)).astype(int), _v(mark.z)
        least, most = float(np.nanmin(z)), float(np.nanmax(z))
        for row, values in enumerate(z.tolist()):
            for column, value in enumerate(values):
                if math.isfinite(value):
                    shade = _shade(mark.style, (value - least) / (most - least) if most > least else 0.0)
                    yield f'<path fill="{shade}" d="M{x[column]} {y[row]}H{x[column + 1]}V{y[row + 1]}H{x[column]}z"/>'
        for row, texts in enumerate(mark.texts):
            for column, text in enumerate(texts):
                value = float(z[row, column])
                if text and math.isfinite(value):
                    share = (value - least) / (most - least) if most > least else 0.0
                    middle = (int(x[column] + x[column + 1]) // 2, int(y[row] + y[row + 1]) // 2 + 30)
                    yield _text(*middle, text, "middle", legible(_shade(mark.style, share)))

    def _shades(self, mark: Grid) -> str:
        """The scale of shades beside a map."""
        _, top, right, bottom = self.box
        left, width, z = right + 72, round(SHADES_IN * INCH), _v(mark.z)
        scale = _Scale(Axis(""), float(np.nanmin(z)), float(np.nanmax(z)), bottom / INCH, top / INCH)
        if scale.high <= scale.low:
            scale = _Scale(scale.axis, scale.low, scale.low + 1.0, scale.start, scale.end)
        steps = 32
        high = (bottom - top) / steps
        parts = [
            f'<path fill="{_shade(mark.style, (step + 0.5) / steps)}" '
            f'd="M{left} {bottom - step * high:.0f}v{-high - 2:.0f}h{width}v{high + 2:.0f}z"/>'
            for step in range(steps)
        ]
        parts += [_text(left + width + 30, y + 30, label, "start") for y, label in scale.ticks(self.panel, "y")]
        middle, across = (top + bottom) // 2, left + width + 370
        turned = f'transform="rotate(-90 {across} {middle})"'
        return "".join(parts) + _text(across, middle, mark.label, "middle", extra=turned)

    def _scale(self, mark: Guide | Points) -> _Scale:
        return self.y if mark.along == "y" else self.x

    def _guide_line(self, guide: Guide) -> str:
        left, top, right, bottom = self.box
        at = self._scale(guide).place(guide.value)
        line = f"M{left} {at}H{right}" if guide.along == "y" else f"M{at} {top}V{bottom}"
        return f'<path stroke="{LIGHT.muted}" stroke-width="8" stroke-dasharray="32 24" d="{line}"/>'

    def _guide_text(self, guide: Guide) -> str:
        _, top, right, _ = self.box
        if guide.along == "y":
            return _text(right - 20, self.y.place(guide.value) - 25, guide.text, "end", LIGHT.muted, extra=_SMALL)
        before = guide.before(self.panel.x)
        x = self.x.place(guide.value) + (-20 if before else 20)
        return _text(x, top + 80, guide.text, "end" if before else "start", LIGHT.muted, extra=_SMALL)


def _legend(entries: dict[str, Mark], columns: int, height: int) -> Iterator[str]:
    rows = -(-len(entries) // columns)
    widths = [max(map(len, [*entries][column::columns]), default=0) * _CHARACTER + 480 for column in range(columns)]
    for number, (name, mark) in enumerate(entries.items()):
        row, column = divmod(number, columns)
        x = 30 + sum(widths[:column])
        y = height - round((rows - row - 0.5) * LEGEND_ROW_IN * INCH) - 20
        style = cast("Style", getattr(mark, "style", Style()))
        match mark:
            case Points():
                yield _symbols(style, [(x + 110, y)], many=False)
            case Band():
                yield f'<path fill="{_colour(style)}" fill-opacity="{mark.opacity:g}" d="M{x} {y - 30}h220v60h-220z"/>'
            case _:
                yield f'<path fill="none" {_pen(style)} d="M{x} {y}h220"/>'
        yield _text(x + 290, y + 30, name, "start")


def _symbols(style: Style, places: Iterable[tuple[float, float]], *, many: bool) -> str:
    name = style.symbol
    radius = 12 if many else 21
    shape = _SHAPES[name].format(r=radius, d=2 * radius)
    colour = _colour(style)
    pen = f'fill="none" stroke="{colour}" stroke-width="{radius}"' if name in _STROKED else f'fill="{colour}"'
    path = "".join(f"M{x:.0f} {y:.0f}{shape}" for x, y in places)
    return f'<path {pen} opacity="{".55" if many else ".95"}" d="{path}"/>'


def _polyline(x: Values, y: Values, *, steps: bool = False) -> str:
    """A path by way of these places, relative; a place like the one before it is left out."""
    if not len(x):
        return ""
    if steps:
        return _staircase(x, y)
    moved = np.concatenate([[True], (np.diff(x) != 0) | (np.diff(y) != 0)])
    xs, ys = x[moved].astype(int), y[moved].astype(int)
    ways = np.stack([np.diff(xs), np.diff(ys)], axis=1).ravel().tolist()
    path = " ".join(map(str, ways)).replace(" -", "-")
    return f"M{xs[0]} {ys[0]}l{path}" if ways else f"M{xs[0]} {ys[0]}h0"


def _staircase(x: Values, y: Values) -> str:
    """The same of values that hold until the next place."""
    changed = np.concatenate([[True], np.diff(y) != 0])
    xs, ys = x[changed].astype(int), y[changed].astype(int)
    ways = zip(np.diff(xs).tolist(), np.diff(ys).tolist(), strict=True)
    return f"M{xs[0]} {ys[0]}" + "".join(f"h{across}v{up}" for across, up in ways) + f"H{int(x[-1])}"


def _pen(style: Style) -> str:
    pattern = DASHES[style.dash % len(DASHES)]
    dashes = f' stroke-dasharray="{" ".join(f"{length * 6.25:g}" for length in pattern)}"' if pattern else ""
    dashes += f' opacity="{style.opacity:g}"' if style.faint else ""
    return f'stroke="{_colour(style)}" stroke-width="{7.5 if style.thin else 12.5}" stroke-linejoin="round"{dashes}'


def _colour(style: Style) -> str:
    return LIGHT.muted if style.muted else LIGHT.series[style.index]


def legible(shade: str) -> str:
    """Black or white, whichever is the easier to read on a colour (WCAG 2.2, relative luminance).

    >>> legible("#e3e3df"), legible("#185c4a")
    ('#000', '#fefefe')
    """
    parts = [each / 255 for each in bytes.fromhex(shade[1:])]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    luminance = float(np.dot([0.2126, 0.7152, 0.0722], linear))
    return "#000" if luminance + 0.05 > (1.05 * 0.05) ** 0.5 else "#fefefe"


def _shade(style: Style, share: float) -> str:
    """Between the paper's grid and the colour, as a colour."""
    pale, full = (bytes.fromhex(colour[1:]) for colour in (LIGHT.grid, _colour(style)))
    return "#" + bytes(round(a + share * (b - a)) for a, b in zip(pale, full, strict=True)).hex()


def _text(x: int, y: int, text: str, anchor: str, colour: str = "", *, extra: str = "") -> str:
    """Letters; at their left end unless another anchor is named."""
    more = "" if anchor == "start" else f' text-anchor="{anchor}"'
    more += f' fill="{colour}"' if colour else ""
    return f'<text x="{x}" y="{y}"{more}{" " + extra if extra else ""}>{escape(printable(text))}</text>'


def _lines(x: int, y: int, text: str, anchor: str) -> Iterator[str]:
    """Letters in one line or more, their middle where one line would be."""
    lines = text.split("\n")
    first = y - _LINE * (len(lines) - 1) // 2
    yield from (_text(x, first + _LINE * number, line, anchor) for number, line in enumerate(lines))


def _v(data: object) -> Values:
    return cast("Values", data)
