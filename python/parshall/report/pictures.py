"""The figures of a result as objects: for notebooks, for papers, and as data.

>>> import parshall as ps
>>> run = ps.run({"duration": "2 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "20 ms", "count": 2}]})
>>> sorted(run.figures)[:3]
['cwnd', 'delay', 'goodput']
>>> run.figures["delay"].plotly()["data"][0]["type"]
'scatter'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parshall.foundations.errors import InputError
from parshall.foundations.extras import extra
from parshall.foundations.files import write_atomically
from parshall.report import data
from parshall.report.document import Chart
from parshall.report.interactive import painted, plotly
from parshall.report.layout import WIDTH_IN
from parshall.report.palette import LIGHT
from parshall.report.plot import Plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("csv", "pdf", "pgf", "png", "svg")
NARROWEST_IN, WIDEST_IN = 1.5, 20.0
_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
_WIDTH = re.compile(r"(\d+(?:\.\d+)?)\s*(in|cm|mm|pt)")


@dataclass(frozen=True)
class Picture:
    """A figure of a page."""

    name: str
    title: str
    plot: Plot

    @property
    def caption(self) -> str:
        """What it shows."""
        return self.plot.caption

    def plotly(self) -> dict[str, Any]:
        """Data and layout as plotly's JSON: ``plotly.graph_objects.Figure(picture.plotly())``."""
        figure: dict[str, Any] = painted(plotly(self.plot), LIGHT)
        return figure

    def matplotlib(self, width_in: float = WIDTH_IN) -> Figure:
        """A matplotlib figure of that width, to be changed and saved.

        Raises
        ------
        InputError
            The width is out of range.
        MissingExtraError
            matplotlib is not installed.
        """
        with extra("figures", "figures"):
            from parshall.report.static import figure  # noqa: PLC0415 - matplotlib takes a moment
        return figure(self.plot, checked_width(width_in))

    def csv(self) -> str:
        """What it shows, as a table (`parshall.report.data`)."""
        return data.text(self.plot)

    def save(self, path: str | Path, width_in: float = WIDTH_IN) -> Path:
        """Write it as the end of the name says: one of `FORMATS`.

        Raises
        ------
        InputError
            The format or the width is not accepted.
        MissingExtraError
            matplotlib is not installed; a CSV does not need it.
        OSError
            It cannot be written.
        """
        target = Path(path)
        file_format = target.suffix.removeprefix(".").lower()
        if file_format not in FORMATS:
            raise InputError(f'format: found "{file_format}"; accepted: {", ".join(FORMATS)}')
        if file_format == "csv":
            return write_atomically(target, self.csv())
        with extra("figures", "figures"):
            from parshall.report.static import image  # noqa: PLC0415 - matplotlib takes a moment
        return write_atomically(target, image(self.plot, file_format, checked_width(width_in)).content)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """What a notebook shows: an interactive figure where it can, else a drawing."""
        from parshall.report.svg import svg  # noqa: PLC0415

        return {"application/vnd.plotly.v1+json": self.plotly(), "image/svg+xml": svg(self.plot)[0]}


class Pictures(Mapping[str, Picture]):
    """The figures of a page by their names, in the order of the page."""

    def __init__(self, drawn: Iterable[Chart]) -> None:
        self._pictures = {each.name: Picture(each.name, each.title, each.plot) for each in drawn}

    def __getitem__(self, name: str) -> Picture:
        if name not in self._pictures:
            raise InputError(f'figure: found "{name}"; accepted: {", ".join(self._pictures) or "there is none"}')
        return self._pictures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pictures)

    def __len__(self) -> int:
        return len(self._pictures)

    def __contains__(self, name: object) -> bool:
        return name in self._pictures

    def __repr__(self) -> str:
        return f"<figures {', '.join(self._pictures)}>"


def width_of(text: str) -> float:
    """A width in inches, of text.

    Raises
    ------
    InputError
        It is none.

    Examples
    --------
    >>> round(width_of("84 mm"), 3)
    3.307
    """
    match = _WIDTH.fullmatch(text.strip())
    if match is None:
        raise InputError(f'width: found "{text}"; accepted: a length such as "3.3in", "84 mm", "8.4 cm" or "240 pt"')
    return checked_width(float(match[1]) * _INCHES[match[2]])


def checked_width(width_in: float) -> float:
    """A width in inches that a figure can have.

    Raises
    ------
    InputError
        It is too small or too large.
    """
    if not NARROWEST_IN <= width_in <= WIDEST_IN:
        raise InputError(f"width: found {width_in:g} in; accepted: {NARROWEST_IN:g} to {WIDEST_IN:g} in")
    return width_in
