"""Fewer points without a false impression: what is drawn when there is more data than a page can hold.

A series is cut into bins of equal count or time, and each bin keeps its smallest and largest value, so that no
peak and no collapse disappears. Whoever thins says so in the caption, with the sentence these functions return.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from parshall.foundations.numbers import count
from parshall.report.plot import Values

SERIES_POINTS = 1500
"""The most points of one curve."""

BINS = 1000
"""The most bins of one step curve."""

SCATTER_POINTS = 1500
"""The most separate points of one panel."""


@dataclass(frozen=True)
class Thinned:
    """A curve of at most `SERIES_POINTS` points, and the sentence for the caption ('' when nothing was left out)."""

    x: Values
    y: Values
    note: str


def extremes(x: Values, y: Values, points: int = SERIES_POINTS) -> Thinned:
    """The smallest and largest value of each bin of consecutive points, in their order, at their own places.

    `x` must be non-decreasing. A curve that is short enough comes back unchanged.
    """
    if len(x) <= points:
        return Thinned(x, y, "")
    bins = points // 2
    edges = np.linspace(0, len(x), bins + 1).astype(np.int64)
    keep = np.empty(2 * bins, dtype=np.int64)
    for index, (first, last) in enumerate(pairwise(edges.tolist())):
        lowest = first + int(np.argmin(y[first:last]))
        highest = first + int(np.argmax(y[first:last]))
        keep[2 * index : 2 * index + 2] = sorted((lowest, highest))
    keep = np.unique(keep)
    note = (
        f"Each curve of {count(len(x))} samples is drawn by the smallest and largest value of each of "
        f"{count(bins)} intervals."
    )
    return Thinned(x[keep], y[keep], note)


@dataclass(frozen=True)
class Binned:
    """A series averaged over bins of `width` x-units, with the extremes inside each bin."""

    x: Values
    mean: Values
    low: Values
    high: Values
    note: str

    @property
    def is_thinned(self) -> bool:
        """True if the extremes differ from the mean by construction."""
        return bool(self.note)


def averaged(x: Values, y: Values, points: int = BINS) -> Binned:
    """Means and extremes over groups of equally many consecutive points (the last group may be smaller)."""
    if len(x) <= points:
        return Binned(x, y, y, y, "")
    size = -(-len(x) // points)
    starts = np.arange(0, len(x), size)
    members = np.diff(np.append(starts, len(x)))
    note = f"Each drawn value is the mean of {count(size)} recorded bins; the shaded band spans their extremes."
    return Binned(
        x=x[starts],
        mean=np.add.reduceat(y, starts) / members,
        low=np.minimum.reduceat(y, starts),
        high=np.maximum.reduceat(y, starts),
        note=note,
    )


@dataclass(frozen=True)
class Spread:
    """The distribution of y over bins of x: median, and the 10th to 90th percentile."""

    x: Values
    median: Values
    low: Values
    high: Values
    sparse_x: Values
    sparse_y: Values
    """Points of bins with too few of them for percentiles."""


MEMBERS = 12
"""Bins with fewer points have no percentiles."""


def spread_over(x: Values, y: Values, bins: int = 60, *, log: bool = False) -> Spread:
    """Percentiles of `y` in bins of `x`, equally wide (in the logarithm, if `log`).

    Bins with fewer than `MEMBERS` points give their points instead.
    """
    places = np.log(x) if log else x
    low, high = float(places.min()), float(places.max())
    if low == high:
        edges = np.array([low, high])
        index = np.zeros(len(x), dtype=np.int64)
    else:
        edges = np.linspace(low, high, bins + 1)
        index = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, bins - 1)
    order = np.argsort(index, kind="stable")
    _, starts = np.unique(index[order], return_index=True)
    groups = np.split(order, starts[1:])
    dense = [group for group in groups if len(group) >= MEMBERS]
    sparse = np.concatenate([np.empty(0, np.int64), *(group for group in groups if len(group) < MEMBERS)])
    quantiles = np.array([np.quantile(y[group], (0.1, 0.5, 0.9)) for group in dense]).reshape(-1, 3)
    middle = np.array([float(np.median(x[group])) for group in dense])
    return Spread(middle, quantiles[:, 1], quantiles[:, 0], quantiles[:, 2], x[sparse], y[sparse])
