"""Metrics as a terminal shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def interval_text(interval: Mapping[str, Any], unit: str) -> str:
    """A mean and half the width of its confidence interval, in a scale that suits both."""
    from parshall.report.numbers import joined, quantity, scale_for, with_half_width

    mean, low, high = interval["mean"], interval["low"], interval["high"]
    if low is None or high is None:
        return quantity(mean, unit, 4)
    scale = scale_for(mean, unit)
    return joined(with_half_width(mean * scale.factor, (high - low) / 2 * scale.factor), scale.unit)
