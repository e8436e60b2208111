"""Values of a sweep: what scenarios are given, and the numbers behind it.

A value with a unit is text (``"10 ms"``); to space a range, to draw from a distribution, and to plot, its number is
needed. The kinds:

| kind | text | unit of the number | suffix of a column |
| --- | --- | --- | --- |
| duration | ``"10 ms"`` | s | ``_s`` |
| rate | ``"48 Mbit/s"`` | bit/s | ``_bps`` |
| bytes | ``"64 kB"`` | B | ``_bytes`` |
| packets | ``"20 packets"`` | packets | ``_packets`` |
| BDP | ``"0.5 BDP"`` | BDP | ``_bdp`` |
| number, integer | no text: 0.5, 20 | 1 | |

>>> measured("10 ms")
MeasuredValue(kind='duration', number=0.01)
>>> written("rate", 5e6)
'5 Mbit/s'
>>> measured("red") is None
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from parshall.scenario.schema import quantities
from parshall.scenario.schema.problems import shown

UNITS = {
    "duration": "s",
    "rate": "bit/s",
    "bytes": "B",
    "packets": "packets",
    "BDP": "BDP",
    "number": "1",
    "integer": "1",
}
"""The unit of each kind's number."""

SUFFIXES = {"duration": "_s", "rate": "_bps", "bytes": "_bytes", "packets": "_packets", "BDP": "_bdp"}
"""Suffix of a parameter's name for the column of its numbers."""

_DIGITS = 6
"""Of a number that was drawn or spaced: more would only be noise in a table."""


@dataclass(frozen=True)
class MeasuredValue:
    """The number behind a value."""

    kind: str
    number: float


def measured(value: Any) -> MeasuredValue | None:
    """The kind and number of a value; ``None`` for a name, a table, a list, true or false."""
    match value:
        case bool():
            return None
        case int():
            return MeasuredValue("integer", float(value))
        case float():
            return MeasuredValue("number", value) if math.isfinite(value) else None
        case str():
            return _quantity(value)
        case _:
            return None


def common_kind(values: list[Any]) -> str | None:
    """The kind that all values have; integers among numbers are numbers."""
    measures = [measured(value) for value in values]
    kinds = {each.kind for each in measures if each is not None}
    if not measures or any(each is None for each in measures):
        return None
    if kinds == {"integer", "number"}:
        return "number"
    return kinds.pop() if len(kinds) == 1 else None


def written(kind: str, number: float) -> Any:
    """A number of a kind as a scenario writes it, to at most six significant digits.

    Whole numbers of bytes, packets, bit/s and picoseconds are the finest there is.

    Raises
    ------
    ValueError
        A quantity would be negative, or a rate zero.
    """
    rounded = float(f"{number:.{_DIGITS}g}")
    if rounded < 0 and kind in SUFFIXES:
        raise ValueError(f"found {rounded:g} {UNITS[kind]}; accepted: nothing below zero")
    match kind:
        case "integer":
            return round(number)
        case "number":
            return rounded
        case "duration":
            return quantities.written("duration", round(rounded * quantities.PS_PER_S))
        case "BDP":
            return f"{f'{rounded:.15f}'.rstrip('0').rstrip('.')} BDP"
        case _:
            return quantities.written(kind, round(rounded))


def label(value: Any) -> str:
    """A value as tables and legends show it: text without its quotes."""
    return value if isinstance(value, str) else shown(value)


def _quantity(text: str) -> MeasuredValue | None:
    factor = quantities.bdp_factor(text)
    if factor is not None:
        return MeasuredValue("BDP", factor)
    for kind in ("packets", "duration", "rate", "bytes"):
        try:
            number = quantities.parse(kind, text)
        except ValueError:
            continue
        return MeasuredValue(kind, number / quantities.PS_PER_S if kind == "duration" else float(number))
    return None
