"""A `Plot` as plotly draws it: a mapping that is plotly.js's JSON.

Colours are left as tokens that the page's script replaces, for the page is light or dark as the reader's system is:
``$0``, ``$1``, ... are the series of the palette, ``$ink``, ``$muted``, ``$grid`` and ``$paper`` the rest, and
``$0/0.2`` is a colour at 20 % opacity; only values of keys that end in ``color`` are tokens. The JSON is written
directly, not through plotly's Python classes, which cost half a second to import and check nothing that `plot` has not
checked.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from parshall.report.layout import has_few_decades
from parshall.report.palette import DASHES, Scheme
from parshall.report.plot import Axis, Band, Grid, Guide, Line, Mark, Panel, Plot, Points, Style, Values

Json = dict[str, Any]

PANEL_PX = 300.0
STACKED_PX = 165.0
_TOP_PX = 46.0
_GAP_PX = 40.0
_BOTTOM_PX = 52.0
_LEGEND_PX = 32.0
_BESIDE = 0.05
"""Between two columns, of the width."""
_PHONE_CHARACTERS = 40
_TICK_PX = 26.0
_FONT_PX = 12.5
_DIGITS = 6
_EXACT = 22


def plotly(plot: Plot) -> Json:
    """The data and layout of `plot`, with tokens for colours."""
    data: list[Json] = []
    unit = PANEL_PX if len(plot.panels) == 1 else STACKED_PX
    heights, columns = plot.row_heights(unit), plot.columns
    wide = (1.0 - _BESIDE * (columns - 1)) / columns
    inner = sum(heights) + _GAP_PX * (len(heights) - 1)
    layout: Json = {
        "margin": {"l": 8, "r": 20, "t": _TOP_PX, "pad": 0},
        "font": {"size": _FONT_PX, "color": "$ink"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "$muted", "activecolor": "$ink"},
        "hoverlabel": {"bgcolor": "$paper", "bordercolor": "$muted", "font": {"color": "$ink"}},
        "legend": {"orientation": "h", "x": 0, "y": 0, "xref": "container", "yref": "container", "yanchor": "bottom"},
        "separators": ".\u202f",
        "showlegend": False,
        "annotations": [],
        "shapes": [],
    }
    top, bottom = 1.0, 1.0
    named: set[str] = set()
    for index, panel in enumerate(plot.panels):
        row, column = divmod(index, columns)
        height = heights[row]
        if column == 0:
            top = bottom - (_GAP_PX / inner if row else 0.0)
            bottom = top - height / inner
        left = column * (wide + _BESIDE)
        suffix = _suffix(index)
        is_last = row == len(heights) - 1
        layout[f"xaxis{suffix}"] = _axis(panel, "x", titled=is_last) | {
            "anchor": f"y{suffix}",
            "showticklabels": is_last,
            **({"matches": "x"} if index else {}),
            **({"domain": [left, left + wide]} if columns > 1 else {}),
        }
        layout[f"yaxis{suffix}"] = _axis(panel, "y", titled=False) | {
            "anchor": f"x{suffix}",
            "domain": [max(0.0, bottom), top],
            "automargin": "left",
            "nticks": max(4, round(height / _TICK_PX)),
            **({"matches": f"y{_suffix(index - column)}", "showticklabels": False} if column else {}),
        }
        repeated = index > 0 and plot.panels[index - 1].y == panel.y
        layout["annotations"] += _headings(panel, (left, left + wide, top), columns, repeated=repeated)
        for mark in panel.marks:
            if isinstance(mark, Guide):
                _guide(layout, mark, panel, suffix)
                continue
            for trace in _traces(mark, panel):
                name = trace.get("name", "")
                trace |= {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
                trace["showlegend"] = bool(name) and trace.get("showlegend", True) and name not in named
                if trace["showlegend"]:
                    named.add(name)
                if name:
                    trace["legendgroup"] = name
                data.append(trace)
    layout["meta"] = [[panel.x.title, ", ".join(filter(None, (panel.y.title, panel.note)))] for panel in plot.panels]
    layout["showlegend"] = len(named) > 0
    layout["margin"]["b"] = _BOTTOM_PX + (_LEGEND_PX if named else 0.0)
    layout["height"] = inner + _TOP_PX + layout["margin"]["b"]
    return {"data": data, "layout": layout}


def painted(value: Any, scheme: Scheme) -> Any:
    """Return the output of `plotly`, with the colours of a scheme for their tokens."""
    if isinstance(value, list):
        return [painted(each, scheme) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: [[at, _painted(token, scheme)] for at, token in each]
        if name == "colorscale"
        else _painted(each, scheme)
        if isinstance(each, str) and name.endswith("color")
        else painted(each, scheme)
        for name, each in value.items()
    }


def _painted(token: str, scheme: Scheme) -> str:
    if not token.startswith("$"):
        return token
    name, _, opacity = token[1:].partition("/")
    colour = scheme.series[int(name)] if name.isdecimal() else str(getattr(scheme, name))
    if not opacity:
        return colour
    red, green, blue = bytes.fromhex(colour[1:])
    return f"rgba({red},{green},{blue},{opacity})"


def _suffix(index: int) -> str:
    """Return the suffix of the axes of a panel: plotly counts from 1, and leaves out the first number."""
    return "" if index == 0 else str(index + 1)


def _axis(panel: Panel, letter: Literal["x", "y"], *, titled: bool) -> Json:
    axis, ends = panel.x if letter == "x" else panel.y, panel.ends(letter)
    drawn: Json = {
        "type": "log" if axis.log else "linear",
        "gridcolor": "$grid",
        "linecolor": "$muted",
        "tickcolor": "$muted",
        "ticks": "outside",
        "ticklen": 4,
        "showline": True,
        "zeroline": False,
        "exponentformat": "power" if axis.log else "none",
        "separatethousands": True,
        "automargin": True,
        "nticks": 8,
    }
    if axis.log:
        least, most = panel.extent(letter) or (1.0, 10.0)
        low, high = ends[0] or least, ends[1] or most
        drawn |= {
            "minor": {"ticks": "outside", "ticklen": 2, "tickcolor": "$muted"},
            "dtick": "D2" if has_few_decades(panel, letter) else max(1, math.ceil(math.log10(high / low) / 8)),
            "tickformat": ",~g" if low >= 1e-4 and high <= 1e6 else "",
        }
    if axis.names:
        drawn |= {"tickmode": "array", "tickvals": [*range(len(axis.names))], "ticktext": [*map(escaped, axis.names)]}
    if titled:
        drawn["title"] = {"text": axis.title, "standoff": 8, "font": {"size": _FONT_PX}}
    if any(end is not None for end in ends):
        drawn["range"] = [math.log10(end) if axis.log and end is not None else end for end in ends]
        drawn["autorangeoptions"] = {
            key: end for key, end in zip(("minallowed", "maxallowed"), ends, strict=True) if end is not None
        }
        if None in ends:
            del drawn["range"]
    return drawn


def _headings(panel: Panel, place: tuple[float, float, float], columns: int, *, repeated: bool) -> list[Json]:
    """Return the texts above a panel, whose left, right and top end are given, of the whole figure."""
    left, right, top = place
    common: Json = {"xref": "paper", "yref": "paper", "y": top, "yanchor": "bottom", "showarrow": False, "yshift": 3}
    headings = []
    if not repeated:
        above = {"yshift": 20} if len(panel.y.title) + len(panel.note) > _PHONE_CHARACTERS / columns else {}
        headings.append(common | {"x": left, "xanchor": "left", "text": escaped(panel.y.title)} | above)
    if panel.note:
        muted = {"color": "$muted"}
        headings.append(common | {"x": right, "xanchor": "right", "text": escaped(panel.note), "font": muted})
    return headings


def _traces(mark: Mark, panel: Panel) -> list[Json]:
    hover = f"{_reading('x', panel.x)}<br>{_reading('y', panel.y)}"
    match mark:
        case Line():
            name = escaped(mark.name)
            return [
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": rounded(mark.x),
                    "y": rounded(mark.y),
                    "name": name,
                    "line": _pen(mark.style) | {"shape": "hv" if mark.steps else "linear"},
                    "hovertemplate": hover + (f"<extra>{name}</extra>" if name else "<extra></extra>"),
                }
            ]
        case Band():
            edge = {
                "type": "scatter",
                "mode": "lines",
                "x": rounded(mark.x),
                "line": {"width": 0},
                "hoverinfo": "skip",
                "name": escaped(mark.name),
            }
            fill = {"fill": "tonexty", "fillcolor": f"{_colour(mark.style)}/{mark.opacity:g}"}
            return [
                edge | {"y": rounded(mark.low), "showlegend": False},
                edge | {"y": rounded(mark.high)} | fill,
            ]
        case Points():
            return [_points(mark, hover)]
        case Grid():
            return [_grid(mark, panel)]
        case Guide():
            raise TypeError("a guide is a shape, not a trace")


def _grid(mark: Grid, panel: Panel) -> Json:
    z: Values = mark.z  # type: ignore[assignment]
    cells = [[float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None for value in row] for row in z.tolist()]
    return {
        "type": "heatmap",
        "x": rounded(mark.x),
        "y": rounded(mark.y),
        "z": cells,
        "colorscale": [[0, "$grid"], [1, _colour(mark.style)]],
        "colorbar": {"title": {"text": escaped(mark.label), "side": "right"}, "thickness": 12, "outlinewidth": 0},
        "hovertemplate": f"{_reading('x', panel.x)}<br>{_reading('y', panel.y)}<br>%{{z:.4~g}} {escaped(mark.label)}"
        "<extra></extra>",
        **({"text": [[*map(escaped, row)] for row in mark.texts], "texttemplate": "%{text}"} if mark.texts else {}),
    }


def _points(mark: Points, hover: str) -> Json:
    many = len(rounded(mark.x)) > 200 or mark.style.faint
    name = escaped(mark.name)
    trace: Json = {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "x": rounded(mark.x),
        "y": rounded(mark.y),
        "name": name,
        "marker": {
            "color": _colour(mark.style),
            "symbol": mark.style.symbol,
            "size": 5 if many else 8,
            "opacity": 0.55 if many else 0.9,
        },
        "hovertemplate": hover + (f"<extra>{name}</extra>" if name else "<extra></extra>"),
    }
    if mark.low is not None and mark.high is not None:
        middles = rounded(mark.y if mark.along == "y" else mark.x)
        trace[f"error_{mark.along}"] = {
            "type": "data",
            "symmetric": False,
            "array": [high - middle for high, middle in zip(rounded(mark.high), middles, strict=True)],
            "arrayminus": [middle - low for low, middle in zip(rounded(mark.low), middles, strict=True)],
            "color": _colour(mark.style),
            "thickness": 1.2,
            "width": 3,
        }
    return trace


def _guide(layout: Json, guide: Guide, panel: Panel, suffix: str) -> None:
    across, along = ("x", "y") if guide.along == "y" else ("y", "x")
    axis = panel.y if guide.along == "y" else panel.x
    if axis.log and guide.value <= 0:
        return
    domain = f"{across}{suffix} domain"
    pen = {"color": "$muted", "width": 1, "dash": "4px 3px"}
    layout["shapes"].append(
        {"type": "line", f"{across}ref": domain, f"{along}ref": f"{along}{suffix}", "line": pen, "layer": "below"}
        | {f"{across}0": 0, f"{across}1": 1, f"{along}0": guide.value, f"{along}1": guide.value}
    )
    place = math.log10(guide.value) if axis.log else guide.value
    layout["annotations"].append(
        {
            f"{across}ref": domain,
            f"{along}ref": f"{along}{suffix}",
            across: 1,
            along: place,
            "xanchor": "right" if guide.along == "y" or guide.before(panel.x) else "left",
            "yanchor": "bottom" if guide.along == "y" else "top",
            "bgcolor": "$paper/0.7",
            "borderpad": 1,
            "showarrow": False,
            "text": escaped(guide.text),
            "font": {"color": "$muted", "size": _FONT_PX - 1},
        }
    )


def _pen(style: Style) -> Json:
    colour = f"{_colour(style)}/{style.opacity:g}" if style.faint else _colour(style)
    pen: Json = {"color": colour, "width": 1.1 if style.thin else 1.8}
    pattern = DASHES[style.dash % len(DASHES)]
    return pen | ({"dash": " ".join(f"{length:g}px" for length in pattern)} if pattern else {})


def _colour(style: Style) -> str:
    return "$muted" if style.muted else f"${style.index}"


def _reading(letter: str, axis: Axis) -> str:
    if axis.names:
        return escaped(axis.label)  # the place beside a name has no value of its own
    return f"%{{{letter}:.4~g}} {escaped(axis.unit)}".rstrip()


def rounded(data: Any) -> list[float]:
    """Numbers with as many digits as a reader can see, and no more to carry."""
    numbers: Values = data
    size = np.abs(numbers)
    digits = _DIGITS - 1 - np.floor(np.log10(np.where(size > 0, size, 1.0)))
    if not ((digits >= -_EXACT) & (digits <= _EXACT)).all():
        return [float(f"{number:.{_DIGITS}g}") for number in numbers.tolist()]
    # A power of ten up to 10^22 is exact, and so is the nearest number to a whole one times or over it.
    up, down = 10.0 ** np.maximum(digits, 0.0), 10.0 ** np.maximum(-digits, 0.0)
    kept: list[float] = (np.rint(numbers * up / down) / up * down).tolist()
    return kept


def escaped(text: str) -> str:
    """`text` so that plotly, which reads a little HTML in its labels, shows it as it is."""
    replaced = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return replaced.replace("%{", "%\u200b{")
