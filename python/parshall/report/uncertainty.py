"""A mean over repetitions and its confidence interval, as the page prints them."""

from __future__ import annotations

from parshall.report.numbers import (
    NO_BREAK,
    THIN,
    Scale,
    half_width_text,
    joined,
    matching,
    negligible,
    scale_for,
    significant,
)
from parshall.stats.confidence import Interval

IDENTICAL = f"identical in all{NO_BREAK}repetitions"
"""In place of an interval of no width, where there is room for words."""

ZERO = f"±{THIN}0"
"""The same in a table."""


def in_scale(interval: Interval, scale: Scale, identical: str = ZERO) -> tuple[str, str]:
    """The mean to the digits that its interval supports, without the unit; and the half width ('' if unknown).

    Repetitions that all gave the same value have `identical` for a half width, not the rounding error of their mean.
    """
    mean, half = interval.mean * scale.factor, interval.half_width
    if half is None:
        return significant(mean), ""
    if negligible(half, interval.mean):
        return significant(mean, 4), identical
    return matching(mean, half * scale.factor), half_width_text(half * scale.factor, mean)


def with_unit(interval: Interval, unit: str, identical: str = ZERO) -> tuple[str, str]:
    """The mean with its unit, in the scale that suits it; and the half width in that scale."""
    scale = scale_for(interval.mean, unit)
    number, spread = in_scale(interval, scale, identical)
    return joined(number, scale.unit), spread
