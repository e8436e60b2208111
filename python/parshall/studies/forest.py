"""The figure of a study or suite: how far each claim is from what is accepted, in tolerances, by artefact."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from parshall.analysis.stats.claims import SIGN, Claim
from parshall.report.document import Chart
from parshall.report.layout import characters
from parshall.report.palette import SERIES, SYMBOLS
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot, Points, Style

EDGE = 4.0
"""Tolerances beyond which values are drawn at the edge."""
CANNOT_FAIL = "cannot fail"
_NAMES, _MOST_LINES = 0.6, 3
"""The share of the width that names have, and how many lines at most: as many as nine names of ten need."""

_COLOURS = {"holds": 2, "compatible": 0, "undecided": 4, "fails": 3}
"""Places in the palette, from green to purple; claims that cannot fail are grey."""
_WORDS = {"holds": "reproduced", "fails": "not reproduced"}
_AXIS = "distance from what is accepted"
_HOW = (
    "Accepted is what lies between -1 and 1: a value that is to be equal to a published one is drawn as (ours - "
    "published) over the tolerance. Signs, orders, curves and bounds have no such distance: 1 is their bound, and the "
    "farther a value is on the accepted side, the nearer it is to 0. Bars are 95 % intervals; what is farther than "
    f"{EDGE:g} is drawn at the edge."
)


@dataclass(frozen=True)
class _Row:
    name: str
    reading: str
    verdict: str
    at: tuple[float, float, float]


def forest(checks: Sequence[Claim]) -> Chart | None:
    """Every claim of a source, a row each, its readings as symbols; None without any."""
    rows = [_row(each, _WORDS) for each in checks if each.basis == "published" and each.region is not None]
    return _drawn("published-and-ours", "Ours and published, in tolerances", rows, _WORDS) if rows else None


def against_bounds(criteria: Sequence[Claim]) -> Chart | None:
    """Every criterion with a bound and a value, a row each; None without any."""
    rows = [_row(each, {}) for each in criteria if each.region is not None and each.value is not None]
    return _drawn("value-and-bound", "Values and bounds", rows, {}) if rows else None


def place(claim: Claim) -> tuple[float, float, float]:
    """Return the place of a claim in the drawing: its value and the ends of its interval; -1 to 1 is accepted.

    >>> from parshall.analysis.stats.confidence import Interval
    >>> place(Claim("a", "q", Interval(11.0, 10.5, 12.0, 5), "equal", 10.0, 2.0))
    (0.5, 0.25, 1.0)
    >>> [round(each, 3) for each in place(Claim("a", "q: sign", Interval(0.0, -1.0, 1.0, 5), "sign", 1.0))]
    [1.0, 0.368, 2.718]
    """
    value = claim.value
    if value is None:
        return EDGE, -EDGE, EDGE
    ends = [value.mean if each is None else each for each in (value.mean, value.low, value.high)]
    region = claim.region
    centred = claim.rule in {"equal", "line"} or (claim.rule == "sign" and claim.reference == 0)
    if centred and region is not None:
        reference = claim.reference or 0.0
        unit = claim.tolerance or abs(reference) * 1e-2 or 1.0
        mean, low, high = ((each - reference) / unit for each in ends)
    else:
        bound, direction = _bound(claim)
        unit = max(value.half_width or 0.0, abs(bound) / 2, abs(value.mean - bound) / 2) or 1.0
        mean, *others = (math.exp(min(5.0, -direction * (each - bound) / unit)) for each in ends)
        low, high = min(others), max(others)
    return _cut(mean), _cut(low), _cut(high)


def _bound(claim: Claim) -> tuple[float, int]:
    """The bound of a claim that has one, and on which side of it values are accepted: 1 above, -1 below."""
    region = claim.region
    if region is None or math.isfinite(region.low):
        return (0.0 if region is None else region.low), 1
    return region.high, -1


def _cut(value: float) -> float:
    return max(-EDGE, min(EDGE, value))


def _row(claim: Claim, words: dict[str, str]) -> _Row:
    verdict = CANNOT_FAIL if claim.cannot_fail else words.get(claim.outcome, claim.outcome)
    return _Row(_named(claim), claim.reading, verdict, place(claim))


def _named(claim: Claim) -> str:
    """Artefact and quantity without its unit: there is room for little."""
    section = claim.artefact.rpartition(" ")[2] if claim.basis == "asked" else claim.artefact
    quantity = claim.quantity.removesuffix(SIGN)
    if claim.basis == "asked":
        quantity = re.split(r",? over |;", quantity)[0]
    return f"{section}: {quantity}"


def _drawn(name: str, title: str, rows: Sequence[_Row], words: dict[str, str]) -> Chart:
    names = sorted({row.name: None for row in rows}, key=_artefact_order(rows))
    places = {each: len(names) - 1 - number for number, each in enumerate(names)}
    symbols = _symbols(rows)
    marks: list[Mark] = [Guide(-1.0, "", along="x"), Guide(1.0, "accepted", along="x")]
    for verdict, style in _styles(words):
        for reading, number in symbols.items():
            own = [row for row in rows if row.verdict == verdict and row.reading == reading]
            if own:
                seen = any(isinstance(mark, Points) and mark.name == verdict for mark in marks)
                marks.append(
                    Points(
                        [row.at[0] for row in own],
                        [places[row.name] for row in own],
                        "" if seen else verdict,
                        _with_symbol(style, number),
                        [row.at[1] for row in own],
                        [row.at[2] for row in own],
                        along="x",
                    )
                )
    y = Axis("", names=tuple(reversed(names)), minimum=-0.6, maximum=len(names) - 0.4, names_share=_NAMES)
    needed = sorted(len(wrap(name, characters(y), break_long_words=False)) for name in names)
    lines = min(_MOST_LINES, needed[-1 - len(needed) // 10])
    x = Axis(_AXIS, minimum=-EDGE - 0.2, maximum=EDGE + 0.2)
    panel = Panel(marks, x, replace(y, names_lines=lines), height=0.3 + (0.025 + 0.045 * lines) * len(names))
    return Chart(name, title, Plot([panel], f"{_HOW}{_legend(symbols)}"))


def _artefact_order(rows: Sequence[_Row]) -> Callable[[str], int]:
    """Artefacts in the order in which they come, and their claims one below the other."""
    artefacts = list(dict.fromkeys(row.name.partition(":")[0] for row in rows))
    return lambda name: artefacts.index(name.partition(":")[0])


def _styles(words: dict[str, str]) -> list[tuple[str, Style]]:
    coloured = [(words.get(outcome, outcome), Style(series)) for outcome, series in _COLOURS.items()]
    return [*coloured, (CANNOT_FAIL, Style(5, muted=True))]


def _with_symbol(style: Style, number: int) -> Style:
    """The same colour with the symbol of that number."""
    wanted = SYMBOLS[number % len(SYMBOLS)]
    candidates = (Style(style.index + SERIES * turn, muted=style.muted) for turn in range(len(SYMBOLS)))
    return next(each for each in candidates if each.symbol == wanted)


def _symbols(rows: Sequence[_Row]) -> dict[str, int]:
    """The number of the symbol of each reading: no claim has two readings of one symbol, while there are enough."""
    together: dict[str, set[str]] = {}
    for row in rows:
        together.setdefault(row.name, set()).add(row.reading)
    numbers: dict[str, int] = {}
    for reading in dict.fromkeys(row.reading for row in rows):
        beside = {numbers[each] for own in together.values() if reading in own for each in own & numbers.keys()}
        free = [number for number in range(len(SYMBOLS)) if number not in beside]
        numbers[reading] = free[0] if free else len(numbers) % len(SYMBOLS)
    return numbers


def _legend(symbols: Mapping[str, int]) -> str:
    """Return the symbols of the readings in words; empty where there is one reading."""
    if len(symbols) < 2:
        return ""
    by_symbol: dict[int, list[str]] = {}
    for reading, number in symbols.items():
        by_symbol.setdefault(number, []).append(reading or "no reading")
    named = [f"{SYMBOLS[number]}: {', or '.join(own)}" for number, own in sorted(by_symbol.items())]
    return f" Symbols are readings of what the source leaves open: {'; '.join(named)}."
