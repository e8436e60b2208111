"""Metrics as a terminal shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parshall.stats.confidence import Interval


def interval_text(interval: Interval, unit: str) -> str:
    """An estimate and its confidence interval, in a scale that suits both."""
    from parshall.report.numbers import joined, quantity, scale_for, with_half_width
    from parshall.report.uncertainty import interval_text as with_ends
    from parshall.report.uncertainty import symmetric

    if interval.half_width is None:
        return quantity(interval.mean, unit, 4)
    if not symmetric(interval):
        return with_ends(interval, unit)
    scale = scale_for(interval.mean, unit)
    return joined(with_half_width(interval.mean * scale.factor, interval.half_width * scale.factor), scale.unit)
