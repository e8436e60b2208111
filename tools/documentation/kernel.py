"""The picture of the table in docs/linux.md: the simulator with ``tcp = "linux"``, over what the kernel does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style, values
from tools.documentation.tables import ROOT

GUIDE = ROOT / "docs" / "linux.md"

_HEADING = "| flows and network | goodput, Mbit/s | loss at the queue, % | mean queueing delay, ms | share of CUBIC |"
_PAIR = re.compile(r"(?P<ours>[0-9.]+) / (?P<kernels>[0-9.]+) \(")

FLOWS = (("reno", "Reno"), ("cubic", "CUBIC"), ("bbr", "BBR"), ("cubic and bbr", "CUBIC and BBR"))
QUANTITIES = (("Goodput", 0.03), ("Loss at the queue", 0.1), ("Mean queueing delay", 0.1))
"""The columns, with the tolerance of each (docs/linux.md says why)."""


@dataclass(frozen=True)
class Network:
    """A row of the table: whose flows they are, and of each quantity ours and the kernel's, if they were measured."""

    flows: str
    pairs: Sequence[tuple[float, float] | None]


def networks(guide: str) -> list[Network]:
    """The rows of the table.

    Raises
    ------
    ValueError
        The guide has no such table.
    """
    _, _, table = guide.partition(f"{_HEADING}\n")
    rows = table.partition("\n\n")[0].splitlines()[1:]
    if not rows:
        raise ValueError(f"{GUIDE.name} has no table with {_HEADING}")
    return [_network(row) for row in rows]


def _network(row: str) -> Network:
    name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
    flows = re.match(r"\d+ (?P<flows>[a-z ]+),", name)
    if flows is None:
        raise ValueError(f'found "{name}"; accepted: how many flows of what, and the network')
    matches = [_PAIR.match(cell) for cell in cells[: len(QUANTITIES)]]
    return Network(flows["flows"], [each and (float(each["ours"]), float(each["kernels"])) for each in matches])


def agreement() -> Plot:
    """The picture: simulated over kernel, a point each network, those of the same flows below each other."""
    rows = networks(GUIDE.read_text(encoding="utf-8"))
    x = Axis("", names=tuple(name for name, _ in QUANTITIES), minimum=-0.5, maximum=len(QUANTITIES) - 0.5)
    points = [*_points(rows)]
    farthest = max(2.0, *(max(ratio, 1 / ratio) for mark in points for ratio in values(mark.y)))
    y = Axis("Simulated over kernel", log=True, minimum=0.95 / farthest, maximum=1.05 * farthest)
    caption = (
        f"Each point is one of {len(rows)} networks, simulated and on Linux 6.18; dashed lines are the tolerances. "
        "Where hardly a packet is lost, there is no point for the loss."
    )
    return Plot([Panel([*_tolerances(), *points], x, y)], caption)


def _tolerances() -> Iterator[Line]:
    for column, (_, tolerance) in enumerate(QUANTITIES):
        for ratio in (1.0, 1 - tolerance, 1 + tolerance):
            style = Style(muted=True, thin=True, dash=0 if ratio == 1.0 else 1)
            yield Line([column - 0.42, column + 0.42], [ratio, ratio], style=style)


def _points(rows: Sequence[Network]) -> Iterator[Points]:
    for series, (flows, name) in enumerate(FLOWS):
        shown = [
            (column + (series - (len(FLOWS) - 1) / 2) / 5, ours / kernels)
            for row in rows
            for column, pair in enumerate(row.pairs)
            if row.flows == flows and pair is not None and (ours := pair[0]) > 0 and (kernels := pair[1]) > 0
        ]
        yield Points([x for x, _ in shown], [y for _, y in shown], name, Style(series=series))
