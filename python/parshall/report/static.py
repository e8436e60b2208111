"""A `Plot` as matplotlib draws it: files for papers (PDF, PGF, PNG, SVG). The page has drawings of its own (`svg`).

The figures are made without pyplot, so nothing is kept between them and any thread may draw. An SVG comes out the
same bytes every time. Letters stay letters: PDF carries its font, SVG names it, PGF leaves them to LaTeX.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.backends.backend_pgf import RendererPgf
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure as Canvas
from matplotlib.figure import SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from parshall.foundations.numbers import tick
from parshall.report.layout import SHADES_IN, WIDTH_IN, Box, has_few_decades, laid_out, name_lines
from parshall.report.palette import DASHES, LIGHT, MARKERS
from parshall.report.plot import Band, Grid, Guide, Line, Mark, Panel, Plot, Points, Style, Values
from parshall.report.svg import legible

_DPI = 200

SETTINGS = mpl.RcParams(
    {
        "font.family": ["DejaVu Sans"],
        "font.size": 8.5,
        "text.parse_math": False,
        "axes.edgecolor": LIGHT.muted,
        "axes.labelcolor": LIGHT.ink,
        "axes.linewidth": 0.7,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.titlesize": 8.5,
        "axes.unicode_minus": True,
        "grid.color": LIGHT.grid,
        "grid.linewidth": 0.6,
        "legend.fontsize": 8,
        "legend.frameon": False,
        "legend.handlelength": 2.6,
        "path.simplify_threshold": 0.3,
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "parshall",
        "text.color": LIGHT.ink,
        "xtick.color": LIGHT.muted,
        "xtick.labelcolor": LIGHT.ink,
        "ytick.color": LIGHT.muted,
        "ytick.labelcolor": LIGHT.ink,
    }
)


_OF_LATEX = mpl.RcParams({**SETTINGS, "font.family": ["serif"]})
"""What is serif is set in the font of the paper."""


@dataclass(frozen=True)
class Image:
    """A drawing as a file, and its size in points."""

    content: bytes
    width: int
    height: int


def image(plot: Plot, file_format: str, width_in: float = WIDTH_IN) -> Image:
    """`plot` as the content of a ``pdf``, ``pgf``, ``png`` or ``svg`` file, so many inches wide."""
    with mpl.rc_context(_OF_LATEX if file_format == "pgf" else SETTINGS):
        canvas = drawn(plot, width_in)
        stream = io.BytesIO()
        if file_format == "pgf":
            stream.write(_pgf(canvas).encode())
        else:
            canvas.savefig(stream, format=file_format, dpi=_DPI, metadata=metadata(file_format))
        width, height = (round(72 * inches) for inches in canvas.get_size_inches())
    return Image(stream.getvalue(), width, height)


def of_latex(text: str) -> str:
    r"""Text as LaTeX reads it, but for ``%`` and ``^``, of which the backend takes care.

    >>> print(of_latex("a_b: 5×10⁻⁶"))
    a\_b: 5\ensuremath{\times}10\textsuperscript{\ensuremath{-}6}
    """
    raised = _RAISED.sub(lambda match: f"\1{match[0].translate(_FROM_RAISED)}\2", text)
    written = "".join(_IN_LATEX.get(letter, letter) for letter in raised)
    return written.replace("\1", r"\textsuperscript{").replace("\2", "}")


_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_FROM_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789−")

_IN_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    **{letter: f"\\{letter}" for letter in "{}$&#_"},
    "\u00a0": "~",
    "\u202f": r"\,",
    "…": r"\dots{}",
    **{
        letter: rf"\ensuremath{{{command}}}"
        for letter, command in {
            "−": "-",
            "×": r"\times",
            "±": r"\pm",
            "·": r"\cdot",
            "→": r"\to",
            "≤": r"\le",
            "≥": r"\ge",
            "≈": r"\approx",
            "∞": r"\infty",
            "µ": r"\mu",
            "α": r"\alpha",
            "β": r"\beta",
            "γ": r"\gamma",
            "ε": r"\varepsilon",
            "θ": r"\theta",
            "λ": r"\lambda",
            "μ": r"\mu",
            "ν": r"\nu",
            "ρ": r"\rho",
            "σ": r"\sigma",
            "τ": r"\tau",
            "√": r"\surd",
            "₁": "{}_1",
            "₂": "{}_2",
        }.items()
    },
}
"""Letters that LaTeX means something else by, and those that its fonts of text do not have."""


class _Renderer(RendererPgf):
    """Writes text as LaTeX reads it, and measures it by itself: the backend would start LaTeX for that."""

    def draw_text(self, gc: Any, x: float, y: float, s: str, *more: Any, **named: Any) -> None:
        super().draw_text(gc, x, y, of_latex(s), *more, **named)  # type: ignore[no-untyped-call]

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple[float, float, float]:
        return RendererBase.get_text_width_height_descent(self, s, prop, ismath)


def _pgf(canvas: Canvas) -> str:
    """The commands of a picture for LaTeX's package pgf."""
    width, height = canvas.get_size_inches()
    stream = io.StringIO()
    stream.write("% Needs \\usepackage{pgf} and a LaTeX that reads UTF-8.\n\\begingroup\\makeatletter%\n")
    stream.write(
        f"\\begin{{pgfpicture}}%\n\\pgfpathrectangle{{\\pgfpointorigin}}{{\\pgfqpoint{{{width:g}in}}{{{height:g}in}}}}%\n"
    )
    stream.write("\\pgfusepath{use as bounding box, clip}%\n")
    canvas.draw(_Renderer(canvas, stream))  # type: ignore[no-untyped-call]
    stream.write("\\end{pgfpicture}%\n\\makeatother\\endgroup%\n")
    return stream.getvalue()


def pages(plots: Iterable[Plot]) -> bytes:
    """All `plots` as one PDF, a page each."""
    stream = io.BytesIO()
    with mpl.rc_context(SETTINGS), PdfPages(stream, metadata=metadata("pdf")) as pdf:
        for plot in plots:
            pdf.savefig(drawn(plot))
    return stream.getvalue()


def metadata(file_format: str) -> dict[str, Any]:
    """Nothing that changes from one drawing to the next."""
    match file_format:
        case "svg":
            return {"Date": None, "Creator": None, "Format": None, "Type": None}
        case "pdf":
            return {"CreationDate": None}
        case _:
            return {}


def figure(plot: Plot, width_in: float = WIDTH_IN) -> Canvas:
    """`plot` as a matplotlib figure of one's own, to change and to save."""
    with mpl.rc_context(SETTINGS):
        return drawn(plot, width_in)


def drawn(plot: Plot, width_in: float = WIDTH_IN) -> Canvas:
    """The same within the settings that are in force."""
    canvas = Canvas()
    canvas.set_size_inches(width_in, draw(plot, canvas, width_in))
    return canvas


def draw(plot: Plot, canvas: Canvas | SubFigure, width_in: float) -> float:
    """Draw `plot` into all of a figure, or of a part of one; return the height in inches for which it is laid out."""
    rows, columns = len(plot.panels) // plot.columns, plot.columns
    axes = [canvas.add_subplot(rows, columns, index + 1) for index in range(len(plot.panels))]
    for index, (panel, ax) in enumerate(zip(plot.panels, axes, strict=True)):
        repeated = index > 0 and plot.panels[index - 1].y == panel.y
        _draw(panel, ax, width_in, repeated=repeated)
    for ax, panel in zip(axes[-columns:], plot.panels[-columns:], strict=True):
        ax.set_xlabel(panel.x.title)
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    layout = laid_out(plot, [*entries], width_in)
    _legend(canvas, entries, layout.legend_columns)

    def place(box: Box) -> tuple[float, float, float, float]:
        bottom = layout.height - box.top - box.height
        return box.left / width_in, bottom / layout.height, box.width / width_in, box.height / layout.height

    for index, (ax, panel, box) in enumerate(zip(axes, plot.panels, layout.boxes, strict=True)):
        row, column = divmod(index, columns)
        if column > 0:
            ax.tick_params(labelleft=False)
            ax.set_ylim(axes[index - column].get_ylim())
        ax.set_position(place(box))
        _shades(canvas, ax, panel, place(replace(box, left=box.left + box.width + 0.1, width=SHADES_IN)))
        if row < rows - 1:
            ax.tick_params(labelbottom=False)
    return layout.height


def _shades(canvas: Canvas | SubFigure, ax: Axes, panel: Panel, place: tuple[float, float, float, float]) -> None:
    """The scale of shades beside a map."""
    meshes = [mesh for mesh in ax.collections if isinstance(mesh, QuadMesh)]
    labels = [mark.label for mark in panel.marks if isinstance(mark, Grid)]
    for mesh, label in zip(meshes, labels, strict=True):
        scale = canvas.colorbar(mesh, cax=canvas.add_axes(place), label=label)
        scale.outline.set_visible(False)


def _draw(panel: Panel, ax: Axes, width_in: float, *, repeated: bool) -> None:
    for letter, axis in (("x", panel.x), ("y", panel.y)):
        getattr(ax, f"set_{letter}scale")("log" if axis.log else "linear")
    for mark in panel.marks:
        _mark(mark, ax, panel)
    _scale(panel, ax, "x", width_in)
    _scale(panel, ax, "y", width_in)
    if not repeated:
        ax.set_title(panel.y.title, loc="left", pad=4)
    if panel.note:
        ax.set_title(panel.note, loc="right", pad=4, color=LIGHT.muted)


def _mark(mark: Mark, ax: Axes, panel: Panel) -> None:
    label = _label(getattr(mark, "name", ""))
    match mark:
        case Line():
            drawstyle = "steps-post" if mark.steps else "default"
            ax.plot(_v(mark.x), _v(mark.y), label=label, drawstyle=drawstyle, **_pen(mark.style))
        case Band():
            colour = _colour(mark.style)
            ax.fill_between(
                _v(mark.x), _v(mark.low), _v(mark.high), color=colour, alpha=mark.opacity, linewidth=0, label=label
            )
        case Points():
            _points(mark, ax, label)
        case Grid():
            shades = LinearSegmentedColormap.from_list("shades", [LIGHT.grid, _colour(mark.style)])
            mesh = ax.pcolormesh(_v(mark.x), _v(mark.y), np.ma.masked_invalid(_v(mark.z)), cmap=shades)
            _cell_texts(mark, ax, mesh)
        case Guide():
            _guide(mark, ax, panel)


def _cell_texts(mark: Grid, ax: Axes, mesh: QuadMesh) -> None:
    """What is written in the cells of a map."""
    x, y, z = _v(mark.x), _v(mark.y), _v(mark.z)
    for row, texts in enumerate(mark.texts):
        for column, text in enumerate(texts):
            if text and np.isfinite(z[row, column]):
                across, up = (
                    _middle(x[column : column + 2], ax.get_xscale()),
                    _middle(y[row : row + 2], ax.get_yscale()),
                )
                colour = legible(to_hex(tuple(mesh.to_rgba(z[row, column]))))
                ax.text(across, up, text, ha="center", va="center", color=colour, fontsize=7.5)


def _middle(ends: Values, scale: str) -> float:
    return float(np.sqrt(ends.prod()) if scale == "log" else ends.mean())


def _label(name: str) -> str:
    """`name` for the legend: none if empty; matplotlib would drop one that begins with an underscore."""
    if not name:
        return "_unnamed"
    return "\u200b" + name if name.startswith("_") else name


def _points(mark: Points, ax: Axes, label: str) -> None:
    x, y = _v(mark.x), _v(mark.y)
    many = len(x) > 200 or mark.style.faint
    colour = _colour(mark.style)
    bars = None
    if mark.low is not None and mark.high is not None:
        middles = y if mark.along == "y" else x
        bars = np.array([middles - _v(mark.low), _v(mark.high) - middles])
    ax.errorbar(
        x,
        y,
        yerr=bars if mark.along == "y" else None,
        xerr=bars if mark.along == "x" else None,
        linestyle="none",
        marker=MARKERS[mark.style.symbol],
        markersize=2.4 if many else 4.2,
        color=colour,
        alpha=0.55 if many else 0.95,
        markeredgewidth=0,
        elinewidth=0.9,
        capsize=1.5,
        label=label,
        clip_on=False,
        zorder=3,
    )


def _guide(guide: Guide, ax: Axes, panel: Panel) -> None:
    pen: dict[str, Any] = {"color": LIGHT.muted, "linewidth": 0.8, "dashes": (4, 3), "zorder": 1.5}
    left = guide.along == "y" or guide.before(panel.x)
    offset: dict[str, Any] = {
        "xytext": (-2 if left else 2, 2 if guide.along == "y" else -2),
        "textcoords": "offset points",
        "fontsize": 7.5,
    }
    if guide.along == "y":
        ax.axhline(guide.value, **pen)
        place, transform, vertical = (1.0, guide.value), ax.get_yaxis_transform(), "bottom"
    else:
        ax.axvline(guide.value, **pen)
        place, transform, vertical = (guide.value, 1.0), ax.get_xaxis_transform(), "top"
    ax.annotate(
        guide.text, place, xycoords=transform, ha="right" if left else "left", va=vertical, color=LIGHT.muted, **offset
    )


def _scale(panel: Panel, ax: Axes, letter: Literal["x", "y"], width_in: float) -> None:
    axis, ends = panel.x if letter == "x" else panel.y, panel.ends(letter)
    drawn = getattr(ax, f"{letter}axis")
    if axis.log:
        getattr(ax, f"set_{letter}scale")("log")
        few = has_few_decades(panel, letter)
        drawn.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=9))
        drawn.set_minor_formatter(NullFormatter())
    if axis.names:
        drawn.set_ticks(range(len(axis.names)), ["\n".join(name_lines(name, axis, width_in)) for name in axis.names])
    else:
        drawn.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    getattr(ax, f"set_{letter}lim")(*ends)


def _legend(canvas: Canvas | SubFigure, entries: Mapping[str, Any], columns: int) -> None:
    """Add the legend below the axes, its entries in rows."""
    if not entries:
        return
    order = [index for column in range(columns) for index in range(column, len(entries), columns)]
    labels, handles = list(entries), list(entries.values())
    canvas.legend(
        [handles[index] for index in order],
        [labels[index] for index in order],
        loc="lower left",
        bbox_to_anchor=(0.0, 0.0),
        ncols=columns,
        columnspacing=1.6,
        borderaxespad=0.2,
    )


def _pen(style: Style) -> dict[str, Any]:
    pattern = DASHES[style.dash % len(DASHES)]
    width = 0.75 if style.thin else 1.25
    pen: dict[str, Any] = {"color": _colour(style), "linewidth": width, "alpha": style.opacity}
    return pen | ({"dashes": [length / width / 1.6 for length in pattern]} if pattern else {})


def _colour(style: Style) -> str:
    return LIGHT.muted if style.muted else LIGHT.series[style.index]


def _v(data: Any) -> Values:
    return cast("Values", data)
