"""The figure of a study or suite: ours over what was published, or over the bound, a row a value, by verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from parshall.report.document import Chart
from parshall.report.numbers import counted
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot, Points, Style
from parshall.stats.claims import Claim
from parshall.stats.confidence import Interval
from parshall.studies.criterion import Criterion

MOST = 40
"""The most rows: those that are not reproduced come first, then the undecided, then the others in their order."""


_SERIES = {"failed": 3}
"""Those that are not drawn in the order of the verdicts: green would say that all is well."""


@dataclass(frozen=True)
class _Row:
    name: str
    verdict: str
    ratio: float
    low: float
    high: float


def forest(checks: Sequence[Claim]) -> Chart | None:
    """Ratios with their 95 % intervals, of values above 0 that were published, but for signs; None without any."""
    rows = [
        _row(
            f"{check.artefact}: {check.named}",
            check.verdict,
            Interval(check.ours, check.ci_low, check.ci_high, 1),
            check.published,
        )
        for check in checks
        if check.published is not None and check.published > 0 and check.ours > 0 and not check.is_sign
    ]
    order = ("not_reproduced", "undecided", "reproduced")
    caption = (
        "Each row is a published number; the bar is the 95 % interval of ours. Tolerances and signs are in the tables."
    )
    return (
        _drawn("published-and-ours", rows, order, title="Ours over published", guide="as published", caption=caption)
        if rows
        else None
    )


def against_bounds(criteria: Sequence[Criterion]) -> Chart | None:
    """Values above 0 over their bounds, with their 95 % intervals; None without any."""
    rows = [
        _row(_short(each), each.verdict, each.value, each.bound, turned=each.at_least)
        for each in criteria
        if each.value is not None and each.bound is not None and each.value.mean > 0 and each.bound > 0
    ]
    order = ("failed", "undecided", "passed")
    caption = (
        "Each row is a criterion, met below 1: the value over the bound, or the bound over what is to be at least it."
    )
    return (
        _drawn("value-over-bound", rows, order, title="Value over bound", guide="the bound", caption=caption)
        if rows
        else None
    )


def _short(criterion: Criterion) -> str:
    """What a row is called: there is room for little, so without the document, what it is a ratio to, and the path."""
    section = criterion.asked_by.rpartition(" ")[2]
    return f"{section}: {re.split(r',? over |;', criterion.quantity)[0]}"


def _row(name: str, verdict: str, value: Interval, reference: float, *, turned: bool = False) -> _Row:
    ends = (value.mean if end is None else end for end in (value.low, value.high))
    ratios = [each / reference for each in (value.mean, *ends)]
    if turned:
        mean, low, high = (1 / max(each, 1e-9) for each in ratios)
        return _Row(name, verdict, mean, high, low)
    return _Row(name, verdict, *ratios)


def _drawn(name: str, rows: Sequence[_Row], order: Sequence[str], *, title: str, guide: str, caption: str) -> Chart:
    shown = sorted(rows, key=lambda row: order.index(row.verdict))[:MOST]
    shown.sort(key=rows.index)
    places = {id(row): len(shown) - 1 - number for number, row in enumerate(shown)}
    least = 0.5 * min(row.ratio for row in shown)
    marks: list[Mark] = [Guide(1.0, guide, along="x")]
    for series, verdict in enumerate(reversed(order)):
        own = [row for row in shown if row.verdict == verdict]
        if own:
            y, ratio = [places[id(row)] for row in own], [row.ratio for row in own]
            low, high = [max(row.low, least) for row in own], [row.high for row in own]
            marks.append(
                Points(ratio, y, verdict.replace("_", " "), Style(_SERIES.get(verdict, series)), low, high, along="x")
            )
    panel = Panel(
        marks,
        Axis(title, log=True),
        Axis("", names=tuple(row.name for row in reversed(shown)), minimum=-0.6, maximum=len(shown) - 0.4),
        height=0.3 + 0.07 * len(shown),
    )
    if left_out := len(rows) - len(shown):
        caption += f" Not drawn: {counted(left_out, 'value')} that are {order[2]} or undecided."
    return Chart(name, title, Plot([panel], caption))
