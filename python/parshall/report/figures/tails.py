"""The complementary distribution of delays, by name: how figures draw it, and its percentiles in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from parshall.foundations.numbers import quantity, scale_for
from parshall.report.figures.delays import Delays
from parshall.report.plot import Axis, Line, Mark, Panel, Points, Style, Values

LEVELS = (0.5, 0.9, 0.99, 0.999)

_SHARES = 400
"""Shares at which a curve is drawn, at equal ratios: steps are too small to be seen."""

_FAR = 20.0
"""A tail that reaches so many times the median is drawn on a logarithmic axis."""

_MOST = 0.99
"""The share from which curves are drawn on a logarithmic axis if the least delay is nothing."""

_NEAR = 0.5
"""Delays that all are above this part of the largest are drawn on an axis that does not begin at 0."""


@dataclass(frozen=True)
class Tail:
    """P(delay > `delay_s`) = `share`, at shares that fall."""

    delay_s: Values
    share: Values
    percentiles_s: Values
    """At `LEVELS`."""


def tail_of(delays: Delays) -> Tail:
    """The curve from the least delay to the last value but one, with the percentiles on it."""
    total = float(delays.number.sum())
    last = min(1.0 / total, 1.0 - LEVELS[-1])
    shares = np.unique(np.concatenate([np.geomspace(last, 1.0, _SHARES), 1.0 - np.array(LEVELS)]))[::-1]
    return Tail(delays.quantiles(1.0 - shares), shares, delays.quantiles(LEVELS))


def tails_panel(tails: Mapping[str, Tail], what: str, verb: str) -> tuple[Panel, str]:
    """A curve for each name, with percentiles as points on it; and the sentences that tell the percentiles."""
    scale = scale_for(max(float(tail.delay_s[-1]) for tail in tails.values()), "s")
    floor = float(10.0 ** np.floor(np.log10(min(float(tail.share[-1]) for tail in tails.values()) * 1.001)))
    several = len(tails) > 1
    marks: list[Mark] = []
    notes: list[str] = []
    for index, (name, tail) in enumerate(tails.items()):
        style = Style(series=index, dash=index)
        marks.append(Line(tail.delay_s * scale.factor, tail.share, name if several else "", style))
        marks.append(Points(tail.percentiles_s * scale.factor, 1.0 - np.array(LEVELS), "", style))
        named = ", ".join(
            f"{100 * level:g} %: {quantity(delay, 's')}"
            for level, delay in zip(LEVELS, tail.percentiles_s, strict=True)
        )
        notes.append(f"{name}: {named}." if several else f"Percentiles (points): {named}.")
    axis, cut = _abscissa(tails, f"{what} x", scale.unit)
    shares = Axis(f"Share of packets that {verb} longer than x", log=True, minimum=floor, maximum=1.0)
    return Panel(marks, axis, shares), " ".join([*notes, *cut])


def _abscissa(tails: Mapping[str, Tail], label: str, unit: str) -> tuple[Axis, list[str]]:
    """An axis that shows all curves: from 0, from near the least delay, or logarithmic."""
    least = min(float(tail.delay_s[0]) for tail in tails.values())
    most = max(float(tail.delay_s[-1]) for tail in tails.values())
    middle = min(float(tail.percentiles_s[0]) for tail in tails.values())
    if least > 0 and most > _FAR * middle:
        return Axis(label, unit, log=True), []
    if most > _FAR * middle > 0:  # few wait next to nothing: the curves begin where one in a hundred waits no longer
        return Axis(label, unit, log=True, minimum=_beginning(tails) * scale_for(most, "s").factor), []
    if least > _NEAR * most:
        return Axis(label, unit), ["The axis of delays does not begin at 0."] if most > least else []
    return Axis(label, unit, minimum=0.0), []


def _beginning(tails: Mapping[str, Tail]) -> float:
    """The least delay above 0 that one packet in a hundred does not exceed, of all curves."""
    starts = (tail.delay_s[(tail.delay_s > 0) & (tail.share <= _MOST)] for tail in tails.values())
    return min((float(delays[0]) for delays in starts if len(delays)), default=1e-9)
