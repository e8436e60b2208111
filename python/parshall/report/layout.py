"""The places of the parts of a drawn figure, in inches: the same in files (`static`) and on the page (`svg`).

Margins have a fixed size, so that the axes of all figures of a page begin at the same place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from parshall.report.plot import Axis, Grid, Panel, Plot

WIDTH_IN = 6.3
SHADES_IN = 0.12
"""Width of the scale of shades beside a map."""
LEGEND_ROW_IN = 0.19
_PANEL_IN, _STACKED_IN = 2.7, 1.35
_LEFT_IN, _RIGHT_IN, _TOP_IN, _BOTTOM_IN = 0.62, 0.12, 0.27, 0.46
_RIGHT_OF_MAPS_IN = 0.95
_GAP_IN, _BESIDE_IN = 0.3, 0.25
_NAME_IN = 0.075
"""Of a character of a name beside the axis."""
_LEGEND_CHARACTERS = 104
_FEW_DECADES = 2.2
_LOWEST = 0.7
"""Of the height of panels, in the narrowest figures."""


@dataclass(frozen=True)
class Box:
    """The inside of a panel's axes, from the figure's upper left corner."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """The figure's size, a box a panel, and in how many columns the legend's entries stand."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    legend_columns: int


def laid_out(plot: Plot, entries: Sequence[str], width_in: float = WIDTH_IN) -> Layout:
    """Return the places of a plot's panels, above a legend of these entries; narrow figures have lower panels."""
    columns = plot.columns
    narrower = width_in / WIDTH_IN
    heights = plot.row_heights((_PANEL_IN if len(plot.panels) == 1 else _STACKED_IN) * max(_LOWEST, narrower))
    has_shades = any(isinstance(mark, Grid) for panel in plot.panels for mark in panel.marks)
    right = _RIGHT_OF_MAPS_IN if has_shades else _RIGHT_IN
    longest = max((len(name) for panel in plot.panels for name in panel.y.names), default=0)
    share = max((panel.y.names_share for panel in plot.panels), default=1 / 3)
    left = min(max(_LEFT_IN, _NAME_IN * longest + 0.12), width_in * share)
    width = (width_in - left - right - _BESIDE_IN * (columns - 1)) / columns
    boxes = []
    for index in range(len(plot.panels)):
        row, column = divmod(index, columns)
        top = _TOP_IN + sum(heights[:row]) + _GAP_IN * row
        boxes.append(Box(left + column * (width + _BESIDE_IN), top, width, heights[row]))
    widest = max((len(entry) for entry in entries), default=0) + 8
    legend_columns = max(1, min(len(entries), int(_LEGEND_CHARACTERS * narrower) // widest))
    legend = -(-len(entries) // legend_columns) * LEGEND_ROW_IN + 0.05 if entries else 0.0
    height = _TOP_IN + sum(heights) + _GAP_IN * (len(heights) - 1) + _BOTTOM_IN + legend
    return Layout(width_in, height, tuple(boxes), legend_columns)


def name_lines(name: str, axis: Axis, width_in: float = WIDTH_IN) -> list[str]:
    """The lines of a name that fits beside the axis; of a longer one the beginning and the end.

    Names that begin alike often end otherwise.

    Examples
    --------
    >>> name_lines("throughput of the model, packets/s", Axis("", names_share=0.25, names_lines=2))
    ['throughput of the', 'model, packets/s']
    >>> name_lines("throughput of the model, packets/s", Axis("", names_share=0.25))
    ['throughp…packets/s']
    """
    most = characters(axis, width_in)
    lines = wrap(name, most, break_long_words=False) if axis.names_lines > 1 else [name]
    if len(lines) <= axis.names_lines and all(len(line) <= most for line in lines):
        return lines
    room = most * axis.names_lines - axis.names_lines
    end = room // 2
    short = f"{name[: room - 1 - end]}…{name[-end:]}"
    return [short[at : at + most] for at in range(0, len(short), most)]


def characters(axis: Axis, width_in: float = WIDTH_IN) -> int:
    """Return the number of characters of a name that fit into a line beside the axis."""
    return int(width_in * axis.names_share / _NAME_IN) - 2


def has_few_decades(panel: Panel, letter: Literal["x", "y"]) -> bool:
    """True if a logarithmic axis is so short that it needs labels between the powers of ten."""
    ends, (least, most) = panel.ends(letter), panel.extent(letter) or (1.0, 10.0)
    return math.log10((ends[1] or most) / (ends[0] or least)) < _FEW_DECADES
