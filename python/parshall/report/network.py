"""The network of a run as a drawing: each link a column, each group of flows a lane through the links of its path.

A lane is as wide as its share of the goodput; a dot stands where its data go through a queue, a ring where its ACKs do.
There are two drawings, of which a page shows one; in that for phones several links have numbers, and a line each above.
The drawing takes its colours from the page, so that it is light or dark as that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from markupsafe import Markup, escape

from parshall.foundations.numbers import counted, quantity
from parshall.report import description
from parshall.report.palette import SERIES
from parshall.report.tables import population, span
from parshall.results.quantities.measuring import links_in, of_place, places
from parshall.results.records import Result
from parshall.scenario.properties import title
from parshall.scenario.schema.printing import printable

LANES = 8
"""The most groups drawn: those with the most goodput."""

LINKS = 5
"""The most links drawn: the busiest ones."""

_LANE, _TOP, _BOTTOM, _LINE = 44, 96, 30, 17
_BOX = 96
"""Width of a link's column."""


@dataclass(frozen=True)
class _Sheet:
    """What is drawn on: its width, the margins for names and for arrow heads, and the most characters of a text."""

    kind: str
    width: int
    left: int
    right: int
    characters: int


_WIDE, _NARROW = _Sheet("broad", 960, 250, 60, 34), _Sheet("narrow", 440, 172, 40, 24)
"""For pages, and for phones, where the texts of one link have room above it, but not those of two."""

_OF_A_LINE = 60
"""Characters of a text over the whole width of the drawing for phones."""

_ENTRY, _NUMBERS = 38, 40
"""Height of a link in the list above the lanes, and of the row of numbers below it."""


@dataclass(frozen=True)
class Drawing:
    """The drawing, and the sentence that explains it."""

    image: Markup
    note: str


@dataclass(frozen=True)
class _Link:
    """A column: its name, and up to three lines of text above it."""

    name: str
    lines: Sequence[str]

    @property
    def in_a_line(self) -> str:
        """The texts in one."""
        return ", ".join(self.lines)


@dataclass(frozen=True)
class _Lane:
    """A group: the links of its data and of its ACKs, and its share of the goodput."""

    name: str
    remark: str
    data: Sequence[str]
    acks: Sequence[str]
    share: float
    series: int


def network(run: Result) -> Drawing | None:
    """The network of `run`; None where its scenario is not known, or it has no flows or links."""
    table = run.tables.get("links")
    described = [group for group in description.document(run).get("flows") or () if isinstance(group, Mapping)]
    if table is None or not described:
        return None
    used = dict(table.group_by("link").agg(pl.col("utilisation").mean()).iter_rows())
    names = links_in(table)
    shown = sorted(sorted(names, key=lambda name: -(used.get(name) or 0.0))[:LINKS], key=names.index)
    links = [_Link(name, _texts(run, name)) for name in shown]
    lanes, others = _lanes(run, described, "reverse" in names)
    if not lanes:
        return None
    left_out = [
        counted(number, noun) for number, noun in ((others, "group"), (len(names) - len(shown), "link")) if number
    ]
    note = "A lane is as wide as its goodput; a dot: the data of the group go through that queue"
    note += "; a ring: its ACKs do." if any(lane.acks for lane in lanes) else "."
    if left_out:
        note += f" Not drawn: {description.listed(left_out)}, with the least goodput or load."
    return Drawing(Markup("").join(_drawn(links, lanes, sheet) for sheet in (_WIDE, _NARROW)), note)


def _lanes(run: Result, described: Sequence[Mapping[str, Any]], way_back: bool) -> tuple[list[_Lane], int]:
    """The groups with the most goodput, in the order of the scenario, and how many others there are."""
    by_name = {str(group.get("name")): group for group in described}
    table = run.tables["flows"]
    goodput = dict(table.group_by("group").agg(pl.col("goodput_bps").sum()).iter_rows())
    known = [name for name in places(run.tables, "group") if name in by_name]
    chosen = sorted(known, key=lambda name: -(goodput[name] or 0.0))[:LANES]
    lanes = []
    for index, name in enumerate(known):
        if name not in chosen:
            continue
        group, flows = by_name[name], table.filter(pl.col("group") == name)
        share = of_place(run.tables, "group", name).get(f"group/{name}/share")
        data, acks = _ways(group, way_back)
        remark = f"{population(flows)}, RTT {span(flows, 'rtt_base_s', 's')}"
        lanes.append(_Lane(name, remark, data, acks, 0.0 if share is None else share.interval.mean, index % SERIES))
    return lanes, len(known) - len(lanes)


def _ways(group: Mapping[str, Any], way_back: bool) -> tuple[list[str], list[str]]:
    """The links of a group's data, and those of its ACKs."""
    if group.get("path"):
        return [*map(str, group["path"])], [*map(str, group.get("reverse_path") or ())]
    ways = ["bottleneck"], ["reverse"] if way_back else []
    data, acks = ways[::-1] if group.get("direction") == "reverse" else ways
    return data, acks if group.get("congestion_control") else []


def _texts(run: Result, link: str) -> list[str]:
    metrics = of_place(run.tables, "link", link)
    document = description.link_of(description.document(run), link) or {}
    used, wait = (metrics.get(f"link/{link}/{key}") for key in ("utilisation", "queueing_delay_s"))
    queue = document.get("queue") or {}
    limit = queue.get("limit") if isinstance(queue, Mapping) else None
    rate = str(document.get("rate") or "varying rate")
    name = description.name_of(queue)
    measured = [quantity(used.interval.mean, "ratio") + " busy"] if used else []
    measured += [quantity(wait.interval.mean, "s") + " wait"] if wait else []
    buffer = ", ".join(text for text in (title(name) if name else "", str(limit or "")) if text)
    return [text for text in (rate, buffer, ", ".join(measured)) if text]


def _drawn(links: Sequence[_Link], lanes: Sequence[_Lane], sheet: _Sheet) -> Markup:
    listed = sheet is _NARROW and len(links) > 1
    top = _ENTRY * len(links) + _NUMBERS if listed else _TOP
    height = top + _LANE * len(lanes) + _BOTTOM
    step = (sheet.width - sheet.left - sheet.right) / len(links)
    centre = {link.name: sheet.left + step * (index + 0.5) for index, link in enumerate(links)}
    parts = [
        *(part for link in links for part in _box(centre[link.name], step, top, height)),
        *(
            part
            for number, link in enumerate(links)
            for part in (
                _listed(number, link, centre[link.name], top, sheet)
                if listed
                else _above(link, centre[link.name], sheet)
            )
        ),
        *(
            part
            for number, lane in enumerate(lanes)
            for part in _lane(lane, centre, top + _LANE * (number + 0.5), sheet)
        ),
    ]
    described = "; ".join(f"{link.name}: {link.in_a_line}" for link in links)
    described += ". " + "; ".join(f"{lane.name} ({lane.remark}) over {description.listed(lane.data)}" for lane in lanes)
    return Markup(  # noqa: S704 - texts are escaped
        f'<svg role="img" class="{sheet.kind}" aria-label="The network. {escape(printable(described))}." '
        f'viewBox="0 0 {sheet.width} {height}">{"".join(parts)}</svg>'
    )


def _box(x: float, step: float, top: int, height: int) -> Iterator[str]:
    """What all lanes of a link pass."""
    box = min(_BOX, step * 0.7)
    yield (
        f'<rect x="{x - box / 2:g}" y="{top}" width="{box:g}" height="{height - top - _BOTTOM}" rx="6" '
        'fill="var(--grid)" stroke="var(--muted)"/>'
    )


def _listed(number: int, link: _Link, x: float, top: int, sheet: _Sheet) -> Iterator[str]:
    """A link in the list, and its number above its box."""
    y = 16 + _ENTRY * number
    whole = replace(sheet, characters=_OF_A_LINE)
    yield _text(0, y, f"{number + 1}  {link.name}", whole, anchor="start", kind="bold")
    yield _text(18, y + _LINE, link.in_a_line, whole, anchor="start", kind="small")
    yield _text(x, top - 10, f"{number + 1}", sheet, anchor="middle", kind="bold")


def _above(link: _Link, x: float, sheet: _Sheet) -> Iterator[str]:
    """The texts of a link above its box."""
    first = _TOP - 12 - _LINE * len(link.lines)
    yield _text(x, first, link.name, sheet, anchor="middle", kind="bold")
    for number, line in enumerate(link.lines, 1):
        yield _text(x, first + _LINE * number, line, sheet, anchor="middle", kind="small")


def _lane(lane: _Lane, centre: Mapping[str, float], y: float, sheet: _Sheet) -> Iterator[str]:
    """A group: its name, and the way from its senders to its receivers."""
    yield _text(0, y - 3, lane.name, sheet, anchor="start", kind="bold")
    yield _text(0, y + 14, lane.remark, sheet, anchor="start", kind="small")
    colour = f"var(--series-{lane.series})"
    ends = sheet.left - 12, sheet.width - sheet.right + 24
    width = 2 + 12 * lane.share
    yield f'<path d="M{ends[0]} {y:g}H{ends[1]}" stroke="{colour}" stroke-width="{width:.1f}"/>'
    tip = max(7.0, width)
    yield f'<path d="M{ends[1]} {y - tip:g}l{1.4 * tip:g} {tip:g}l{-1.4 * tip:g} {tip:g}z" fill="{colour}"/>'
    radius = max(6.0, width / 2 + 3)
    for link in lane.data:
        if link in centre:
            yield f'<circle cx="{centre[link]:g}" cy="{y:g}" r="{radius:g}" fill="{colour}" stroke="var(--paper)"/>'
    for link in lane.acks:
        if link in centre:
            yield (
                f'<circle cx="{centre[link]:g}" cy="{y:g}" r="{radius:g}" fill="var(--paper)" stroke="{colour}" '
                'stroke-width="3"/>'
            )


def _text(x: float, y: float, text: str, sheet: _Sheet, *, anchor: str, kind: str) -> str:
    shown = text if len(text) <= sheet.characters else text[: sheet.characters - 1] + "…"
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{kind}">{escape(printable(shown))}</text>'
