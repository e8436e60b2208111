"""The content of a figure: panels of marks, from which all drawings are made.

`interactive` turns a `Plot` into plotly's JSON, `svg` into the page's own drawing, `static` into a matplotlib figure.
Values are already in the unit of their axis, already thinned (`thinning`), and finite: the constructors refuse anything
else, so that a gap in the data is decided in the preparation and not by what a drawing library makes of a NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.report.palette import SERIES, SYMBOLS
from parshall.results.records import Result

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """An axis: what it measures, in which unit (empty: a pure number), and how; `names` stand at 0, 1, 2, ...

    Names beside an ordinate take at most `names_share` of the figure's width and `names_lines` lines; others are cut.
    """

    label: str
    unit: str = ""
    log: bool = False
    minimum: float | None = None
    maximum: float | None = None
    names: tuple[str, ...] = ()
    names_share: float = 1 / 3
    names_lines: int = 1

    @property
    def title(self) -> str:
        """Label and unit, as printed beside the axis."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Style:
    """The look of a mark: `series` picks its colour and symbol, `dash` its pattern (0: solid).

    Smooth curves take both from the same number; a sawtooth is illegible when dashed. `faint`: what stands behind
    others. Of more series than there are colours, each has another pair of colour and symbol.
    """

    series: int = 0
    dash: int = 0
    thin: bool = False
    muted: bool = False
    faint: bool = False

    @property
    def index(self) -> int:
        """The place in the palette."""
        return self.series % SERIES

    @property
    def symbol(self) -> str:
        """The symbol of points, as plotly names it."""
        return SYMBOLS[(self.series + self.series // SERIES) % len(SYMBOLS)]

    @property
    def opacity(self) -> float:
        """Of a line."""
        return 0.45 if self.faint else 1.0


@dataclass(frozen=True)
class Line:
    """A curve. `steps`: each value holds until the next abscissa. Unnamed: not in the legend."""

    x: ArrayLike
    y: ArrayLike
    name: str = ""
    style: Style = field(default_factory=Style)
    steps: bool = False

    def __post_init__(self) -> None:
        _checked(self, "x", "y")


@dataclass(frozen=True)
class Band:
    """The area between two curves: a range or an interval, or one of areas that are stacked (`filled`)."""

    x: ArrayLike
    low: ArrayLike
    high: ArrayLike
    name: str = ""
    style: Style = field(default_factory=Style)
    filled: bool = False

    def __post_init__(self) -> None:
        _checked(self, "x", "low", "high")

    @property
    def opacity(self) -> float:
        """Of its colour: a range leaves what is behind it to be seen."""
        return 0.75 if self.filled else 0.22


@dataclass(frozen=True)
class Points:
    """Separate points, with error bars from `low` to `high` along one axis where these are given."""

    x: ArrayLike
    y: ArrayLike
    name: str = ""
    style: Style = field(default_factory=Style)
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    along: Literal["x", "y"] = "y"

    def __post_init__(self) -> None:
        _checked(self, "x", "y", *(() if self.low is None else ("low", "high")))


def box(y: float, low: float, high: float, style: Style, half: float = 0.12) -> Line:
    """An open bar from `low` to `high` along the abscissa: a range, where a closed bar would be a confidence interval.

    Parameters
    ----------
    half
        Half its height.
    """
    return Line([low, high, high, low, low], [y - half, y - half, y + half, y + half, y - half], "", style)


def cell_edges(centres: ArrayLike, *, log: bool = False) -> Values:
    """Edges of cells around ascending centres, halfway between them; of a logarithmic scale, by their ratio.

    >>> cell_edges([1.0, 2.0, 4.0]).tolist()
    [0.5, 1.5, 3.0, 5.0]
    """
    at = np.log(centres) if log else np.asarray(centres, dtype=np.float64)
    between = (at[1:] + at[:-1]) / 2
    edges = np.concatenate([[2 * at[0] - between[0]], between, [2 * at[-1] - between[-1]]])
    return np.exp(edges) if log else edges


@dataclass(frozen=True)
class Grid:
    """A map: a value for each cell of a grid, as a shade between the paper and the colour of `style`.

    Parameters
    ----------
    x, y
        Edges of the cells, ascending, shapes (columns + 1,) and (rows + 1,).
    z
        Values, shape (rows, columns); NaN leaves a cell empty.
    label
        What the values are, with their unit: stands at the scale of shades.
    texts
        What is written in the cells, shape (rows, columns); empty: nothing.
    """

    x: ArrayLike
    y: ArrayLike
    z: ArrayLike
    label: str
    style: Style = field(default_factory=Style)
    texts: Sequence[Sequence[str]] = ()

    def __post_init__(self) -> None:
        x, y, z = values(self.x), values(self.y), values(self.z)
        if z.shape != (len(y) - 1, len(x) - 1):
            raise ValueError(f"a Grid of {len(y) - 1} by {len(x) - 1} cells needs as many values, found {z.shape}")
        if self.texts and [*map(len, self.texts)] != [z.shape[1]] * len(z):
            raise ValueError(f"a Grid of {len(z)} by {z.shape[1]} cells needs as many texts, or none")
        if not (np.isfinite(x).all() and np.isfinite(y).all() and (np.diff(x) > 0).all() and (np.diff(y) > 0).all()):
            raise ValueError("the edges of a Grid must be finite and ascend")
        if np.isinf(z).any() or np.isnan(z).all():
            raise ValueError("a Grid needs values, and none that is infinite")
        for name, vector in (("x", x), ("y", y), ("z", z)):
            object.__setattr__(self, name, vector)


@dataclass(frozen=True)
class Guide:
    """A straight reference line across the panel, at `value` of one axis, with words beside it."""

    value: float
    text: str
    along: Literal["x", "y"] = "y"

    def before(self, axis: Axis) -> bool:
        """True if the words of a vertical line stand to its left, where they have more room."""
        return axis.maximum is not None and self.value > axis.maximum / 2


Mark = Line | Band | Points | Grid | Guide


@dataclass(frozen=True)
class Panel:
    """One coordinate system. Stacked panels of a plot share the first one's abscissa."""

    marks: Sequence[Mark]
    x: Axis
    y: Axis
    note: str = ""
    height: float = 1.0

    def extent(self, letter: Literal["x", "y"]) -> tuple[float, float] | None:
        """The smallest and the largest value along an axis that it can show; ``None`` if there is none."""
        limits = []
        for mark in self.marks:
            if isinstance(mark, Guide):
                continue
            ends = ("low", "high") if getattr(mark, "along", "y") == letter else ()
            given = (getattr(mark, name, None) for name in (letter, *ends))
            limits += [values(data) for data in given if data is not None]
        axis = self.x if letter == "x" else self.y
        shown = np.concatenate([np.empty(0), *(data[data > 0] if axis.log else data for data in limits)])
        return (float(shown.min()), float(shown.max())) if len(shown) else None

    def ends(self, letter: Literal["x", "y"]) -> tuple[float | None, float | None]:
        """The ends of an axis that are fixed, apart from each other: a run may hold one value only, or none.

        An end that the axis leaves open is ``None``, and the drawing library chooses it from the data; where there are
        no data along a logarithmic axis, it cannot, and both ends are given.
        """
        axis = self.x if letter == "x" else self.y
        low, high = axis.minimum, axis.maximum
        if axis.log:
            low, high = (end if end is not None and end > 0 else None for end in (low, high))
            if self.extent(letter) is None:
                low = low or (high / 10.0 if high else 1.0)
                high = high or 10.0 * low
            if low is not None and high is not None and high <= low:
                return low / 2.0, low * 2.0
        elif low is not None and high is not None and high <= low:
            return low, low + (abs(low) or 1.0)
        return low, high


@dataclass(frozen=True)
class Plot:
    """A figure's content: panels from top to bottom, and the caption that says what they show.

    With `columns`, panels stand in rows of so many, from left to right; the ordinate of a row is that of its first one.
    """

    panels: Sequence[Panel]
    caption: str
    columns: int = 1

    def __post_init__(self) -> None:
        if self.columns < 1 or len(self.panels) % self.columns:
            raise ValueError(f"{len(self.panels)} panels do not fill rows of {self.columns}")

    def row_heights(self, unit: float) -> list[float]:
        """The height of each row, that of its highest panel; a panel of height 1 has `unit`."""
        rows = range(0, len(self.panels), self.columns)
        return [unit * max(panel.height for panel in self.panels[at : at + self.columns]) for at in rows]


@dataclass(frozen=True)
class Missing:
    """The reason why a figure cannot be drawn from this run: one sentence."""

    reason: str


@dataclass(frozen=True)
class Figure:
    """An entry of the catalog of figures: a file name, a title, and how the data become a plot."""

    name: str
    title: str
    prepare: Callable[[Result], Plot | Missing]


def values(data: ArrayLike) -> Values:
    """`data` as a vector of numbers."""
    return np.asarray(data, dtype=np.float64)


def _checked(mark: Line | Band | Points, *names: str) -> None:
    vectors = {name: values(getattr(mark, name)) for name in names}
    if len({vector.shape for vector in vectors.values()}) != 1 or next(iter(vectors.values())).ndim != 1:
        shapes = {name: vector.shape for name, vector in vectors.items()}
        raise ValueError(f"a {type(mark).__name__} needs vectors of one length, found {shapes}")
    for name, vector in vectors.items():
        if not np.isfinite(vector).all():
            raise ValueError(f"{name} of a {type(mark).__name__} holds a value that is not finite")
        object.__setattr__(mark, name, vector)
