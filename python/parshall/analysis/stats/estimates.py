"""The values of repetitions of one quantity, and their estimate: a mean, or a quantile of all values together.

Four kinds of series have the same methods, so that tiles, tables, sweeps, stopping rules and comparisons need not know
which they have:

| kind | a repetition gives | the estimate |
| --- | --- | --- |
| `Means` | one number | the mean over repetitions, Student's interval, cut to the values that the quantity can have |
| `Quantiles` | values | the quantile of all of them (`.quantiles`) |
| `BinnedQuantiles` | counts in bins | the same, never surer than the bin |
| `Censored` | durations, and whether they ended | a quantile (`.censored`), or the mean where all ended |

Where there is no estimate though something was measured, `lacking` says why. Where only some repetitions have a value,
the interval says of how many (`Interval.of`).

Cutting an interval to what is possible (a loss rate is not negative) leaves its level as it was: the part that is cut
off never holds the true value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.censored import Durations, KaplanMeier, not_reached, pooled_censored_quantile
from parshall.analysis.stats.confidence import ONE_VALUE, Interval, mean_interval
from parshall.analysis.stats.histogram import histogram_quantiles
from parshall.analysis.stats.quantiles import NoValue, Pooled, least_values, pooled_histogram_quantile, pooled_quantile

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
    among
        All repetitions that there are, those without a value too; None: those of `values`.
    """

    values: Mapping[int, float]
    least: float = -np.inf
    most: float = np.inf
    among: Collection[int] | None = None

    @property
    def repetitions(self) -> Collection[int]:
        """Those that gave something."""
        return self.values.keys()

    def estimate(self) -> Pooled | None:
        """The mean and its 95 % interval; `None` without a value."""
        if not self.values:
            return None
        interval = within(mean_interval(list(self.values.values())), self.least, self.most)
        of = interval.n if self.among is None else len(self.among)
        if of > interval.n:
            interval = replace(interval, of=of)
        return _one_of_several(Pooled(interval, self.values), self.among)

    def lacking(self) -> None:
        """Nothing: there is a mean wherever there is a value."""

    def own(self) -> dict[int, float]:
        """Return the value of each repetition by itself."""
        return dict(self.values)

    def numbered(self, numbers: Mapping[int, int]) -> Means:
        """The repetitions that are keys of `numbers`, under new numbers."""
        values = {new: self.values[old] for old, new in numbers.items() if old in self.values}
        return replace(self, values=values, among=_renumbered(self.among, numbers))


@dataclass(frozen=True)
class Quantiles:
    """Values of each repetition, of which a quantile is asked.

    Parameters
    ----------
    samples
        By repetition, shape (n_i,), in the unit of the quantity.
    probability
        Which quantile.
    among
        All repetitions that there are, those without a value too; None: those of `samples`.
    """

    samples: Mapping[int, FloatArray]
    probability: float
    among: Collection[int] | None = None

    @property
    def repetitions(self) -> Collection[int]:
        """Those that gave something."""
        return self.samples.keys()

    def estimate(self) -> Pooled | None:
        """The quantile of all values and its 95 % interval; `None` of too few."""
        return _one_of_several(pooled_quantile(self.samples, self.probability), self.among)

    def lacking(self) -> NoValue | None:
        """Return the number of values where they are too few; None where there are enough, or none."""
        return NoValue.too_few(sum(np.size(each) for each in self.samples.values()), self.probability)

    def own(self) -> dict[int, float]:
        """The quantiles of the repetitions that have enough values by themselves."""
        enough = least_values(self.probability)
        return {n: float(np.quantile(x, self.probability)) for n, x in self.samples.items() if x.size >= enough}

    def numbered(self, numbers: Mapping[int, int]) -> Quantiles:
        """The repetitions that are keys of `numbers`, under new numbers."""
        samples = {new: self.samples[old] for old, new in numbers.items() if old in self.samples}
        return replace(self, samples=samples, among=_renumbered(self.among, numbers))


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
    among
        All repetitions that there are, those without a value too; None: those of `bins`.
    """

    bins: Mapping[int, Bins]
    probability: float
    among: Collection[int] | None = None

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
        return _one_of_several(pooled_histogram_quantile(low, high, counts, self.probability), self.among)

    def lacking(self) -> NoValue | None:
        """Return the number of values where they are too few; None where there are enough, or none."""
        return NoValue.too_few(round(sum(float(each.counts.sum()) for each in self.bins.values())), self.probability)

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
        bins = {new: self.bins[old] for old, new in numbers.items() if old in self.bins}
        return replace(self, bins=bins, among=_renumbered(self.among, numbers))


@dataclass(frozen=True)
class Censored:
    """Durations in each repetition, of which some had not ended when the repetition did.

    Parameters
    ----------
    durations
        By repetition, in the unit of the quantity.
    probability
        Which quantile is asked; None: the mean.
    among
        All repetitions that there are, those without a value too; None: those of `durations`.
    """

    durations: Mapping[int, Durations]
    probability: float | None
    among: Collection[int] | None = None

    @property
    def repetitions(self) -> Collection[int]:
        """Those that gave something."""
        return self.durations.keys()

    def estimate(self) -> Pooled | None:
        """The quantile, or the mean over repetitions, with its 95 % interval; None where too few ended."""
        return _one_of_several(found, self.among) if isinstance(found := self._found, Pooled) else None

    def lacking(self) -> NoValue | None:
        """Return the reason why there is no estimate; None where there is one, or without a duration."""
        return found if isinstance(found := self._found, NoValue) else None

    @cached_property
    def _found(self) -> Pooled | NoValue | None:
        if self.probability is not None:
            return pooled_censored_quantile(self.durations, self.probability)
        of = sum(each.ended.size for each in self.durations.values())
        ended = sum(int(each.ended.sum()) for each in self.durations.values())
        if ended < of:
            return NoValue(not_reached(ended, of, None), ended, of)
        return Means(self.own(), 0.0).estimate()

    def own(self) -> dict[int, float]:
        """The quantiles or means of the repetitions that have one by themselves."""
        if self.probability is None:
            whole = {n: each for n, each in self.durations.items() if each.all_ended and each.ended.size}
            return {n: _mean(each.lasted) for n, each in whole.items()}
        filled = {n: KaplanMeier(each) for n, each in self.durations.items() if each.ended.size}
        values = {n: curve.known_quantile(self.probability) for n, curve in filled.items()}
        return {n: value for n, value in values.items() if value is not None}

    def numbered(self, numbers: Mapping[int, int]) -> Censored:
        """The repetitions that are keys of `numbers`, under new numbers."""
        own = {new: self.durations[old] for old, new in numbers.items() if old in self.durations}
        return replace(self, durations=own, among=_renumbered(self.among, numbers))


def _mean(values: FloatArray) -> float:
    return float(values.mean())


Series = Means | Quantiles | BinnedQuantiles | Censored


def joined(parts: Iterable[Series | None]) -> Series | None:
    """Series of different repetitions as one; `None` of none."""
    known: Sequence[Series] = [part for part in parts if part is not None]
    if not known:
        return None
    first = known[0]
    among = frozenset(n for each in known for n in (each.repetitions if each.among is None else each.among))
    if isinstance(first, Means):
        values = {n: x for each in known if isinstance(each, Means) for n, x in each.values.items()}
        return replace(first, values=values, among=among)
    if isinstance(first, Censored):
        durations = {n: x for each in known if isinstance(each, Censored) for n, x in each.durations.items()}
        return replace(first, durations=durations, among=among)
    if isinstance(first, Quantiles):
        samples = {n: x for each in known if isinstance(each, Quantiles) for n, x in each.samples.items()}
        return replace(first, samples=samples, among=among)
    bins = {n: x for each in known if isinstance(each, BinnedQuantiles) for n, x in each.bins.items()}
    return replace(first, bins=bins, among=among)


def _renumbered(among: Collection[int] | None, numbers: Mapping[int, int]) -> Collection[int] | None:
    return among and [new for old, new in numbers.items() if old in among]


def _one_of_several(pooled: Pooled | None, among: Collection[int] | None) -> Pooled | None:
    """The same estimate; where only one repetition of several has values, it says so."""
    if pooled is None or among is None or len(among) < 2 or pooled.interval.how != ONE_VALUE:
        return pooled
    return replace(pooled, interval=replace(pooled.interval, how=f"1 of {len(among)} repetitions"))


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
