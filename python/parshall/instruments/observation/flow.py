"""One flow of a trace: what its windows say.

| symbol | name | unit |
| --- | --- | --- |
| W_i | `windows`: packets in the i-th slot of one round-trip time | packets |
| p(w) | `loss_function`: share of the slots with window w that begin a loss event | 1 |
| a | `increase`: growth of the window in a round trip without loss | packets |
| b | `decrease`: window after a loss event over the window before | 1 |

A loss event is a run of consecutive slots with losses, counted at its first one (`loss_events`).

Reference: P. Loiseau, P. Gonçalves, J. Barral, P. Vicat-Blanc Primet, Modeling TCP throughput: an elaborated
large-deviations-based model and its empirical validation, Performance Evaluation 67, 2010, §5.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.foundations.distributions import beta_quantile
from parshall.foundations.errors import InputError
from parshall.instruments.observation.loss_events import begins, trials

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

BINS = 24
"""The most intervals of windows for p(w)."""

LEAST_ROUNDS = 20
"""The fewest slots in an interval of windows."""

SLOW_START = 1.3
"""A window that grows by more than this factor in a round trip is in slow start."""

LEAST_PERIOD = 5
"""Slots that a period between two losses needs for a slope."""


@dataclass(frozen=True)
class LossBin:
    """p(w) over an interval of windows.

    Attributes
    ----------
    low, high, window
        The least, largest and mean window of the slots in it, packets.
    rounds, losses
        Slots, and those that begin a loss event.
    p, p_low, p_high
        Their ratio, and its 95 % binomial interval (Clopper-Pearson).
    """

    low: float
    high: float
    window: float
    rounds: int
    losses: int
    p: float
    p_low: float
    p_high: float


@dataclass(frozen=True)
class Decrease:
    """Changes of the window: quartiles over the periods between losses; None where there is none.

    Attributes
    ----------
    periods
        Periods without loss that are long enough for a slope.
    increase
        Growth in packets a round trip: lower quartile, median, upper quartile.
    factor
        Window after a loss event over the window at it.
    """

    periods: int
    increase: tuple[float, float, float] | None
    factor: tuple[float, float, float] | None

    @property
    def is_reno(self) -> bool | None:
        """True if the medians are those of Reno, +1 and 1/2, within a quarter; None if they are not known."""
        if self.increase is None or self.factor is None:
            return None
        return 0.75 <= self.increase[1] <= 1.25 and 0.375 <= self.factor[1] <= 0.625


@dataclass(frozen=True, eq=False)
class TracedFlow:
    """A flow of an observation; `Observation.flow` makes it.

    Parameters
    ----------
    row, facts
        Its rows of ``flows`` and ``trace_flows`` (empty for a series).
    rounds, samples
        Its rows of ``rounds`` and ``flow_samples``.
    capture
        What the trace held apart from its flows.
    """

    row: Mapping[str, Any]
    facts: Mapping[str, Any]
    rounds: pl.DataFrame
    samples: pl.DataFrame
    capture: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its ends, or the file of a series."""
        return str(self.row["group"])

    @cached_property
    def windows(self) -> FloatArray:
        """W_i, packets; shape (rounds,)."""
        return self.rounds["window_packets"].to_numpy().astype(np.float64)

    @cached_property
    def starts_s(self) -> FloatArray:
        """Start of each slot, s; shape (rounds,)."""
        return self.rounds["start_s"].to_numpy().astype(np.float64)

    @cached_property
    def lost(self) -> BoolArray:
        """True in slots of which a packet was lost; shape (rounds,)."""
        return self.rounds["lost"].to_numpy().astype(np.bool_)

    @cached_property
    def events(self) -> BoolArray:
        """True in slots in which a loss event begins; shape (rounds,)."""
        return begins(self.lost)

    @cached_property
    def steady(self) -> BoolArray:
        """True in slots that count for p(w): not in slow start, nor later in a loss event; shape (rounds,)."""
        counted = trials(self.lost)
        for start, end in self._periods():
            window = self.windows[start:end]
            growing = np.flatnonzero(window[1:] <= SLOW_START * window[:-1])
            counted[start : start + (int(growing[0]) if growing.size else len(window))] = False
        return counted

    def loss_function(self, bins: int = BINS) -> list[LossBin]:
        """p(w) over intervals of windows with about equally many slots, in ascending order.

        Raises
        ------
        InputError
            There are too few slots for a single interval.
        """
        windows, lost = self.windows[self.steady], self.events[self.steady]
        if windows.size < LEAST_ROUNDS:
            raise InputError(f"{self.name}: {windows.size} round trips outside slow start; p(w) needs {LEAST_ROUNDS}")
        count = max(1, min(bins, windows.size // LEAST_ROUNDS))
        edges = np.unique(np.quantile(windows, np.linspace(0, 1, count + 1), method="nearest"))
        place = np.clip(np.searchsorted(edges, windows, side="right") - 1, 0, max(edges.size - 2, 0))
        shares = []
        for index in np.unique(place):
            here = place == index
            n, k = int(here.sum()), int(lost[here].sum())
            low, high = clopper_pearson(k, n)
            inside = windows[here]
            shares.append(
                LossBin(float(inside.min()), float(inside.max()), float(inside.mean()), n, k, k / n, low, high)
            )
        return shares

    def changes(self) -> Decrease:
        """The increase and decrease of the window (AIMD, if it is one)."""
        slopes, factors = [], []
        previous: float | None = None
        for start, end in self._periods():
            window = self.windows[start:end]
            if previous is not None and len(window) > 1:
                # The slot after the loss still repairs it; the next one has the reduced window.
                factors.append(float(window[min(1, len(window) - 1)]) / previous)
            steady = self.windows[start:end][self.steady[start:end]]
            # Without the slots at both ends, of which the loss takes a part.
            steady = steady[1:-1]
            if len(steady) >= LEAST_PERIOD:
                slopes.append(_slope(steady))
            previous = float(self.windows[end]) if end < len(self.windows) and self.lost[end] else None
        return Decrease(len(slopes), _quartiles(slopes), _quartiles(factors))

    def _periods(self) -> list[tuple[int, int]]:
        """Runs of slots without loss, as start and end; the end is the slot of the next loss event."""
        edges = np.flatnonzero(np.diff(np.concatenate([[True], self.lost, [True]]).astype(np.int8)))
        return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def clopper_pearson(k: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """The exact binomial interval for `k` of `n`.

    Source: C. Clopper, E. Pearson, Biometrika 26, 1934.

    Examples
    --------
    >>> [round(end, 4) for end in clopper_pearson(2, 20)]
    [0.0123, 0.317]
    >>> clopper_pearson(0, 10)[0]
    0.0
    """
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else beta_quantile(tail, k, n - k + 1)
    high = 1.0 if k == n else beta_quantile(1 - tail, k + 1, n - k)
    return low, high


def _slope(window: FloatArray) -> float:
    """Growth of a window a round trip, by least squares; sums of whole numbers are exact: a constant one has 0."""
    places = 2 * np.arange(len(window)) - (len(window) - 1)
    return float(2 * np.dot(places, window) / np.dot(places, places))


def _quartiles(values: list[float]) -> tuple[float, float, float] | None:
    if not values:
        return None
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float(low), float(middle), float(high)
