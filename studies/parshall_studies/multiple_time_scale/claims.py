"""Claims as paired comparisons, seed by seed, with their intervals and verdicts; what their figures share.

A claim is a sign: that of the mean of differences on common random numbers. Where the 95 % interval holds 0 it is
undecided.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.stats.claim_rules import reported, sign
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.report.plot import Line, Points, Style

CONTROLS = ("reno", "vegas", "tcp_rate")
NAMES = {"reno": "Reno", "vegas": "Vegas", "tcp_rate": "TCP Rate", "cubic": "CUBIC"}
STEERED = (("aggressiveness", 6.0),)
"""Inverse linear schedule, A = 6 (Fig. 11), h = 8, T_L = 2 s."""


def claim(
    artefact: str, quantity: str, published: int, differences: ArrayLike, unit: str = "", *, reading: str = ""
) -> Claim:
    """The sign of a difference.

    Examples
    --------
    >>> check = claim("fig9", "gain", 1, [0.2, 0.3, 0.25])
    >>> check.verdict, check.note
    ('reproduced', '+0.25 (+0.126 to +0.374), 3 seeds')
    >>> claim("fig9", "gain", 1, [-0.2, -0.3, -0.25]).verdict
    'not_reproduced'
    >>> claim("fig9", "gain", 1, [-0.2, 0.3, 0.25]).verdict
    'compatible'
    """
    interval = mean_interval(np.asarray(differences, dtype=np.float64))
    note = f"{signed(interval, unit)}, {interval.n} seeds"
    return sign(artefact, quantity, published, interval, note, reading=reading)


def beyond(quantity: str, values: ArrayLike) -> Claim:
    """A relative difference that the source does not have."""
    interval = mean_interval(np.asarray(values, dtype=np.float64))
    note = signed(interval, "%")
    return reported("beyond the source", quantity, interval, note)


def signed(interval: Interval, unit: str = "") -> str:
    """A difference with its interval, in words; ``unit`` of ``%`` makes it a percentage."""
    if unit == "%":
        parts = [f"{value:+.1%}" for value in (interval.mean, interval.low, interval.high) if value is not None]
    else:
        ends = (interval.mean, interval.low, interval.high)
        parts = [f"{value:+.3g}{unit}" for value in ends if value is not None]
    return f"{parts[0]} ({parts[1]} to {parts[2]})" if len(parts) == 3 else parts[0]


def curve(
    x: Sequence[float], rows: Sequence[NDArray[np.float64]], name: str, style: int, scale: float = 1.0
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
