"""What all pages share: the templates, the look, the figures as drawings and as data, and plotly.js itself.

Nothing is fetched when a page is read; a content security policy in it forbids it. Every figure is there as a static
drawing and as data for plotly.js, which is carried once, compressed (1.5 MB of gzip, 2.0 MB as text, against 4.8 MB as
it is): a page is readable at once, in print, and where JavaScript is off.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from typing import Any

import jinja2
from markupsafe import Markup, escape

from parshall.report.interactive import plotly
from parshall.report.palette import DARK, LIGHT, Scheme
from parshall.report.plot import Plot

ASSETS = resources.files("parshall.report") / "assets"


@dataclass(frozen=True)
class Drawing:
    """A figure as the templates want it."""

    name: str
    title: str
    caption: str
    image: str
    width: int
    height: int


def frame(plots: Mapping[str, Plot]) -> dict[str, Any]:
    """What ``base.html.j2`` needs besides the words: style, script, and the figures by their names."""
    return {
        "version": metadata.version("parshall"),
        "light": _variables(LIGHT),
        "dark": _variables(DARK),
        "style": Markup(_asset("page.css")),  # noqa: S704 - our own file
        "plots": _embedded({name: plotly(plot) for name, plot in plots.items()}),
        "library": _library(),
        "script": Markup(_asset("page.js")),  # noqa: S704 - our own file
    }


def drawing(name: str, title: str, plot: Plot) -> Drawing:
    """The static drawing of a figure, as a data URI."""
    from parshall.report.static import image  # noqa: PLC0415 - matplotlib takes a moment, and a page may have no figure

    svg = image(plot, "svg")
    uri = "data:image/svg+xml;base64," + base64.b64encode(svg.content).decode()
    return Drawing(name, title, plot.caption, uri, svg.width, svg.height)


def template(name: str) -> jinja2.Template:
    """A template of ours; what it is given is escaped."""
    return _environment().get_template(name)


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    made.filters["code"] = _code
    return made


def _code(text: str) -> Markup:
    """`text`, escaped, with what is between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _variables(scheme: Scheme) -> str:
    named = {"paper": scheme.paper, "ink": scheme.ink, "muted": scheme.muted, "grid": scheme.grid}
    named |= {f"series-{index}": colour for index, colour in enumerate(scheme.series)}
    return " ".join(f"--{name}: {colour};" for name, colour in named.items())


def _embedded(value: Any) -> Markup:
    """JSON that cannot end the script element it is in."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704


@cache
def _library() -> str:
    """plotly.js as the Python package carries it, compressed."""
    script = resources.files("plotly") / "package_data" / "plotly.min.js"
    return base64.b64encode(gzip.compress(script.read_bytes(), compresslevel=9, mtime=0)).decode()
