"""The figure of a study: ours over what was published, a row a value, by verdict."""

from __future__ import annotations

from collections.abc import Sequence

from parshall.report.document import Drawn
from parshall.report.numbers import counted
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot, Points, Style
from parshall.studies.check import Check, Verdict

MOST = 40
"""The most rows: those that are not reproduced come first, then the undecided, then the others in their order."""

_ORDER: tuple[Verdict, ...] = ("not_reproduced", "undecided", "reproduced")


def forest(checks: Sequence[Check]) -> Drawn | None:
    """Ratios with their 95 % intervals, of values above 0 that were published; None without any."""
    known = [check for check in checks if check.published is not None and check.published > 0 and check.ours > 0]
    if not known:
        return None
    shown = sorted(known, key=lambda check: _ORDER.index(check.verdict))[:MOST]
    shown.sort(key=checks.index)
    places = {id(check): len(shown) - 1 - number for number, check in enumerate(shown)}
    least = 0.5 * min(check.ours / (check.published or 1.0) for check in shown)
    marks: list[Mark] = [Guide(1.0, "as published", along="x")]
    for series, verdict in enumerate(reversed(_ORDER)):
        rows = [
            (places[id(check)], *(value / (check.published or 1.0) for value in _with_ends(check)))
            for check in shown
            if check.verdict == verdict
        ]
        if rows:
            y, ratio, low, high = zip(*rows, strict=True)
            name = verdict.replace("_", " ")
            marks.append(Points(ratio, y, name, Style(series), [max(each, least) for each in low], high, along="x"))
    names = tuple(f"{check.artefact}: {check.quantity}" for check in reversed(shown))
    panel = Panel(
        marks,
        Axis("Ours over published", log=True),
        Axis("", names=names, minimum=-0.6, maximum=len(shown) - 0.4),
        height=0.3 + 0.07 * len(shown),
    )
    said = "Each row is a published value; the bar is the 95 % interval of ours. Tolerances are in the tables."
    if left_out := len(known) - len(shown):
        said += f" Not drawn: {counted(left_out, 'value')} that are reproduced or undecided."
    return Drawn("published-and-ours", "Ours over published", Plot([panel], said))


def _with_ends(check: Check) -> tuple[float, float, float]:
    low = check.ours if check.ci_low is None else check.ci_low
    high = check.ours if check.ci_high is None else check.ci_high
    return check.ours, low, high
