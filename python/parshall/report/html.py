"""What all pages share: the templates, the look, the figures as drawings and as data, and plotly.js itself.

Nothing is fetched when a page is read; a content security policy in it forbids it. Every figure is there as a static
drawing and as data for plotly.js, which is carried once, compressed (0.60 MB as text, against 1.5 MB as it is): a page
is readable at once, in print, and where JavaScript is off. It is plotly.js for Cartesian axes, as published
(plotly.js-cartesian-dist-min on npm, MIT, ``assets/plotly-LICENSE``), compressed by zopfli.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

import jinja2
import numpy as np
from markupsafe import Markup, escape

from parshall.foundations.version import __version__
from parshall.report.interactive import plotly
from parshall.report.plot import Plot
from parshall.report.style import ASSETS, style_sheet
from parshall.report.svg import svg

PLOTLY = "plotly-cartesian-4.1.1.min.js.gz"


@dataclass(frozen=True)
class Drawing:
    """A figure as the templates want it."""

    name: str
    title: str
    caption: str
    drawn: Markup
    """The element that shows it."""


def frame(plots: Mapping[str, Plot], choices: Mapping[str, tuple[str, Plot]] | None = None) -> dict[str, Any]:
    """What ``base.html.j2`` needs besides the words: style, script, and the figures by their names.

    `choices` are figures with their titles that a field chooses from, by its values.
    """
    chosen = {key: plotly(plot) | {"words": [title, plot.caption]} for key, (title, plot) in (choices or {}).items()}
    return {
        "version": __version__,
        "style": Markup(style_sheet()),  # noqa: S704 - our own file
        "plots": _packed({name: plotly(plot) for name, plot in plots.items()} | chosen),
        "library": _library(),
        "script": Markup(_asset("page.js")),  # noqa: S704 - our own file
    }


def drawing(name: str, title: str, plot: Plot) -> Drawing:
    """The static drawing of a figure, as an image."""
    text, width, height = svg(plot)
    label = escape(f"{title}. {plot.caption}")
    look = "max-width: 100%; height: auto; background: #fff"
    image = f'<img alt="{label}" src="{_uri(text)}" width="{width}" height="{height}" style="{look}">'
    return Drawing(name, title, plot.caption, Markup(image))  # noqa: S704 - escaped


def template(name: str, package: str = "parshall.report") -> jinja2.Template:
    """A template of ours, or of another package whose templates may use ours; what it is given is escaped."""
    return _environment(package).get_template(name)


@cache
def _environment(package: str) -> jinja2.Environment:
    assets = resources.files(package) / "assets"

    def text(name: str) -> str:
        return (assets / name).read_text(encoding="utf-8") if (assets / name).is_file() else _asset(name)

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(text), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    made.filters["code"] = _code
    made.filters["gauge"] = _gauge
    made.filters["bar"] = _bar
    return made


def _code(text: str) -> Markup:
    """`text`, escaped, with what is between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704


def _gauge(ratio: float) -> Markup:
    """A ratio on a logarithmic scale from 1/2 to 2, as a small drawing; an arrow head where it is beyond."""
    place = min(1.0, max(-1.0, math.log2(ratio))) if ratio > 0 else -1.0
    x = 50 + 46 * place
    beyond = not 0.5 <= ratio <= 2.0
    mark = (
        f'<path d="M{x - 4 * place:g} 3L{x + 4 * place:g} 8L{x - 4 * place:g} 13z" fill="var(--series-0)"/>'
        if beyond
        else f'<circle cx="{x:.1f}" cy="8" r="4" fill="var(--series-0)"/>'
    )
    return Markup(  # noqa: S704 - numbers only
        '<svg viewBox="0 0 100 16" aria-hidden="true"><path d="M4 8H96" stroke="var(--grid)" stroke-width="2"/>'
        f'<path d="M50 1V15" stroke="var(--muted)"/>{mark}</svg>'
    )


def _bar(share: float) -> Markup:
    """A share from 0 to 1 as a small bar."""
    width = 100 * min(1.0, max(0.0, share))
    return Markup(  # noqa: S704 - numbers only
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<path d="M0 4H100" stroke="var(--grid)" stroke-width="8"/>'
        f'<path d="M0 4H{width:.1f}" stroke="var(--series-0)" stroke-width="8"/></svg>'
    )


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _uri(drawn: str) -> Markup:
    """A drawing as a data URI; as text it is half as long as in base64.

    Its attributes hold no apostrophes, which take the place of the quotation marks around them.
    """
    requoted = _TAG.sub(lambda tag: tag[0].replace('"', "'"), drawn)
    text = _ENCODED.sub(lambda match: quote(match[0]), requoted)
    return Markup(f"data:image/svg+xml,{text}")  # noqa: S704 - percent-encoded


_TAG = re.compile(r"<[^>]*>")
_ENCODED = re.compile(r"[^\w !$'()*+,\-./:;=?@\[\]^`{|}~]+", re.ASCII)
"""What a data URI has in percent: all but what may stand between quotation marks."""


def _packed(value: Any) -> Markup:
    """JSON, compressed, as text."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _printable(gzip.compress(text.encode(), compresslevel=6, mtime=0))


@cache
def _library() -> Markup:
    """plotly.js, compressed."""
    return _printable((ASSETS / PLOTLY).read_bytes())


_DIGITS = np.frombuffer(
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~", dtype=np.uint8
)


def _printable(data: bytes) -> Markup:
    """Bytes as text: five characters for four, where base64 has four for three; none of them opens a tag.

    It is base 85 in the alphabet of RFC 1924, but for a comma in place of ``<``; the same as `base64.b85encode`, which
    takes ten times as long.
    """
    padding = -len(data) % 4
    numbers = np.frombuffer(data + bytes(padding), dtype=">u4").astype(np.uint32)
    digits = numbers[:, None] // np.array([85**4, 85**3, 85**2, 85, 1], dtype=np.uint32) % 85
    text = _DIGITS[digits].tobytes().decode()
    return Markup(text[: len(text) - padding])  # noqa: S704 - opens no tag
