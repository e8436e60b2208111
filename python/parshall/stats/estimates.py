"""What repetitions gave of one quantity, and what is estimated from it: a mean, or a quantile of all values together.

Three kinds of series have the same methods, so that tiles, tables, sweeps, stopping rules and comparisons need not know
which they have:

| kind | a repetition gives | the estimate |
| --- | --- | --- |
| `Means` | one number | the mean over repetitions, Student's interval, cut to the values that the quantity can have |
| `Quantiles` | values | the quantile of all of them (`parshall.stats.quantiles`) |
| `BinnedQuantiles` | counts in bins | the same, never surer than the bin |

Cutting an interval to what is possible (a loss rate is not negative) leaves its level as it was: the part that is cut
off never holds the true value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from parshall.stats.confidence import Interval, mean_interval
from parshall.stats.histogram import histogram_quantiles
from parshall.stats.quantiles import Pooled, least_values, pooled_histogram_quantile, pooled_quantile

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Means:
    """A number a repetition.

    Parameters
    ----------
    values
        By repetition, in the unit of the quantity.
    least, most
        What the quantity can be.
    """

    values: Mapping[int, float]
    least: float = -np.inf
    most: float = np.inf

    @property
    def repetitions(self) -> Collection[int]:
        """Those that gave something."""
        return self.values.keys()

    def estimate(self) -> Pooled | None:
        """The mean and its 95 % interval; `None` without a value."""
        if not self.values:
            return None
        return Pooled(within(mean_interval(list(self.values.values())), self.least, self.most), self.values)

    def own(self) -> dict[int, float]:
        """What each repetition has by itself."""
        return dict(self.values)

    def numbered(self, numbers: Mapping[int, int]) -> Means:
        """The repetitions that are keys of `numbers`, under new numbers."""
        return replace(self, values={new: self.values[old] for old, new in numbers.items() if old in self.values})


@dataclass(frozen=True)
class Quantiles:
    """Values of each repetition, of which a quantile is asked.

    Parameters
    ----------
    samples
        By repetition, shape (n_i,), in the unit of the quantity.
    probability
        Which quantile.
    """

    samples: Mapping[int, FloatArray]
    probability: float

    @property
    def repetitions(self) -> Collection[int]:
        """Those that gave something."""
        return self.samples.keys()

    def estimate(self) -> Pooled | None:
        """The quantile of all values and its 95 % interval; `None` of too few."""
        return pooled_quantile(self.samples, self.probability)

    def own(self) -> dict[int, float]:
        """The quantiles of the repetitions that have enough values by themselves."""
        enough = least_values(self.probability)
        return {n: float(np.quantile(x, self.probability)) for n, x in self.samples.items() if x.size >= enough}

    def numbered(self, numbers: Mapping[int, int]) -> Quantiles:
        """The repetitions that are keys of `numbers`, under new numbers."""
        return replace(self, samples={new: self.samples[old] for old, new in numbers.items() if old in self.samples})


@dataclass(frozen=True)
class Bins:
    """Counts of values: the bins that hold any, in increasing order, shape (m,) each."""

    low: FloatArray
    high: FloatArray
    counts: FloatArray


@dataclass(frozen=True)
class BinnedQuantiles:
    """Counts of each repetition in bins of one division, of which a quantile is asked.

    Parameters
    ----------
    bins
        By repetition; empty bins may be missing.
    probability
        Which quantile.
    """

    bins: Mapping[int, Bins]
    probability: float

    @property
    def repetitions(self) -> Collection[int]:
        """Those that gave something."""
        return self.bins.keys()

    def estimate(self) -> Pooled | None:
        """The quantile of all values and its 95 % interval; `None` of too few."""
        if not self.bins:
            return None
        low, place = np.unique(np.concatenate([each.low for each in self.bins.values()]), return_inverse=True)
        high = np.full(low.size, -np.inf)
        # A bin may be cut at the largest value of its repetition.
        np.maximum.at(high, place, np.concatenate([each.high for each in self.bins.values()]))
        counts = {}
        for number, each in self.bins.items():
            row = np.zeros(low.size)
            row[np.searchsorted(low, each.low)] = each.counts
            counts[number] = row
        return pooled_histogram_quantile(low, high, counts, self.probability)

    def own(self) -> dict[int, float]:
        """The quantiles of the repetitions that have enough values by themselves."""
        enough = least_values(self.probability)
        values = {
            number: histogram_quantiles(each.low, each.high, each.counts, [self.probability])
            for number, each in self.bins.items()
            if each.counts.sum() >= enough
        }
        return {number: float(value[0]) for number, value in values.items() if value is not None}

    def numbered(self, numbers: Mapping[int, int]) -> BinnedQuantiles:
        """The repetitions that are keys of `numbers`, under new numbers."""
        return replace(self, bins={new: self.bins[old] for old, new in numbers.items() if old in self.bins})


Series = Means | Quantiles | BinnedQuantiles


def joined(parts: Iterable[Series | None]) -> Series | None:
    """Series of different repetitions as one; `None` of none."""
    known: Sequence[Series] = [part for part in parts if part is not None]
    if not known:
        return None
    first = known[0]
    if isinstance(first, Means):
        return replace(
            first, values={n: x for each in known if isinstance(each, Means) for n, x in each.values.items()}
        )
    if isinstance(first, Quantiles):
        values = {n: x for each in known if isinstance(each, Quantiles) for n, x in each.samples.items()}
        return replace(first, samples=values)
    bins = {n: x for each in known if isinstance(each, BinnedQuantiles) for n, x in each.bins.items()}
    return replace(first, bins=bins)


def within(interval: Interval, least: float, most: float) -> Interval:
    """An interval cut to what is possible; the estimate itself stays in it.

    Examples
    --------
    >>> within(Interval(0.1, -0.2, 0.4, n=4), 0.0, 1.0).low
    0.0
    """
    if interval.low is None or interval.high is None:
        return interval
    low, high = max(interval.low, min(least, interval.mean)), min(interval.high, max(most, interval.mean))
    return replace(interval, low=low, high=high)
