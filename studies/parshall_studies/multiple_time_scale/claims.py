"""Claims as paired comparisons, seed by seed, with their intervals and verdicts; what their figures share.

A claim is a sign: that of the mean of differences on common random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.stats.claim_rules import reported, sign
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.report.document import Table
from parshall.report.plot import Guide, Line, Mark, Points, Style

CONTROLS = ("reno", "vegas", "tcp_rate")
NAMES = {"reno": "Reno", "vegas": "Vegas", "tcp_rate": "TCP Rate", "cubic": "CUBIC"}
BEYOND = "beyond the source"


def claim(artefact: str, quantity: str, published: int, differences: ArrayLike, unit: str = "") -> Claim:
    """The sign of a difference.

    Examples
    --------
    >>> check = claim("fig9", "gain", 1, [0.2, 0.3, 0.25])
    >>> check.verdict, check.note
    ('reproduced', '+0.25 (+0.126 to +0.374), 3 seeds')
    >>> claim("fig9", "gain", 1, [-0.2, -0.3, -0.25]).verdict
    'not_reproduced'
    """
    interval = mean_interval(np.asarray(differences, dtype=np.float64))
    return sign(artefact, quantity, published, interval, f"{signed(interval, unit)}, {interval.n} seeds")


def beyond(quantity: str, values: ArrayLike) -> Claim:
    """A relative difference that the source does not have."""
    interval = mean_interval(np.asarray(values, dtype=np.float64))
    return reported(BEYOND, quantity, interval, signed(interval, "%"))


def signed(interval: Interval, unit: str = "") -> str:
    """A difference with its interval, in words; ``unit`` of ``%`` makes it a percentage."""
    if unit == "%":
        parts = [f"{value:+.1%}" for value in (interval.mean, interval.low, interval.high) if value is not None]
    else:
        ends = (interval.mean, interval.low, interval.high)
        parts = [f"{value:+.3g}{unit}" for value in ends if value is not None]
    return f"{parts[0]} ({parts[1]} to {parts[2]})" if len(parts) == 3 else parts[0]


def percent(values: ArrayLike) -> str:
    """The mean of relative differences with its interval, in per cent."""
    return signed(mean_interval(values), "%")


def curve(
    x: Sequence[float], rows: Iterable[NDArray[np.float64]], name: str, style: int, scale: float = 1.0
) -> list[Line | Points]:
    """Means with their 95 % intervals, and a line through them."""
    intervals = [mean_interval(row * scale) for row in rows]
    means = [each.mean for each in intervals]
    return [
        Line(x, means, "", Style(style, thin=True)),
        Points(
            x,
            means,
            name,
            Style(style),
            [each.mean if each.low is None else each.low for each in intervals],
            [each.mean if each.high is None else each.high for each in intervals],
        ),
    ]


def gain_curves(x: Sequence[float], rows: Mapping[str, Iterable[NDArray[np.float64]]]) -> list[Mark]:
    """Gains in per cent by name, over an axis, with a line at 0."""
    curves: Iterator[Mark] = (
        mark for number, (name, row) in enumerate(rows.items()) for mark in curve(x, row, name, number, 100.0)
    )
    return [Guide(0.0, "no gain"), *curves]


T = TypeVar("T")


def table(caption: str, items: Iterable[T], columns: Mapping[str, Callable[[T], str]], words: int = 1) -> Table:
    """A table with a row an item; the first columns, so many, are words, and the others numbers.

    >>> table("", [1.5, 2.5], {"x": str, "its square": lambda x: f"{x**2:g}"}).rows
    [('1.5', '2.25'), ('2.5', '6.25')]
    """
    rows = [tuple(cell(item) for cell in columns.values()) for item in items]
    return Table(caption, tuple(columns), rows, numbers=range(words, len(columns)))
