"""The rate of a bottleneck from the spacing of what leaves it.

While a queue stands, packets leave one after the other: bits over time of such a train are the rate, whatever the
senders do (Dovrolis, Ramanathan & Moore, IEEE/ACM ToN 12(6), 2004). Behind the bottleneck two packets are enough where
they came back to back, and clocks are exact: then the gaps of many have one length, and none is shorter. Elsewhere
trains are long enough that what hosts add to the times of single packets does not count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.estimates import FloatArray
from parshall.inference.queueing import Departures
from parshall.instruments.observation.packets import BoolArray

TRAIN = 64
"""Packets of a train: longer ones are cut, so that there are many."""
LEAST_TRAIN, LEAST_TRAINS = 4, 5
"""Packets, and trains, below which they show no rate."""
SPREAD = 0.05
"""Trains of which half differ by more from their median are not of one rate."""
PAIR_SPREAD = 0.005
"""Gaps within so much of each other have one length: less than the clock of a capture hides."""
LEAST_PAIRS, PAIR_SHARE = 20, 0.02
"""Gaps of one length below which, in number and as a share of all, they show no rate."""
ABOVE_SHARE = 0.1
"""Of the gaps of one length: so many may be shorter."""


def of_trains(left: Departures, stands: BoolArray, packets: int = TRAIN) -> tuple[FloatArray, FloatArray]:
    """Return the rate of each train that left while a queue stood, bit/s, and its packets, shape (trains,).

    Parameters
    ----------
    stands
        Whether a queue stood when each departure was seen, shape (departures,).
    packets
        Departures after which a longer train is cut.
    """
    if left.seen_s.size < LEAST_TRAIN:
        return np.empty(0), np.empty(0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], stands, [False]]).astype(np.int8)))
    total = np.cumsum(left.bits)
    cuts = [
        np.append(np.arange(first, max(last - packets // 2, first + 1), packets), last - 1)
        for first, last in edges.reshape(-1, 2)
    ]
    firsts = np.concatenate([each[:-1] for each in cuts]) if cuts else np.empty(0, dtype=np.int64)
    lasts = np.concatenate([each[1:] for each in cuts]) if cuts else np.empty(0, dtype=np.int64)
    seconds = left.seen_s[lasts] - left.seen_s[firsts]
    long = (lasts - firsts >= LEAST_TRAIN) & (seconds > 0)
    bits = (total[lasts] - total[firsts])[long]
    return bits / seconds[long], (lasts - firsts)[long].astype(np.float64)


def _cut(first: int, last: int, packets: int) -> NDArray[np.int64]:
    """Return the ends of trains from a departure to another one; the last is up to half longer, or half as long."""
    return np.append(np.arange(first, max(last - packets // 2, first) + 1, packets), last)


def of_pairs(left: Departures) -> FloatArray:
    """Return the rates of the pairs whose gap is the one that many have and hardly any is below, bit/s; else none."""
    gaps = np.diff(left.seen_s)
    whole = left.bits[1:] >= 0.9 * np.quantile(left.bits, 0.9) if left.bits.size else np.empty(0, dtype=bool)
    rates = np.sort(left.bits[1:][whole & (gaps > 0)] / gaps[whole & (gaps > 0)])
    together = int((whole & (gaps <= 0)).sum())
    ends = np.searchsorted(rates, rates * (1 + PAIR_SPREAD), side="right")
    alike = ends - np.arange(rates.size)
    above = rates.size - ends + together
    fits = (alike >= max(LEAST_PAIRS, PAIR_SHARE * rates.size)) & (above <= ABOVE_SHARE * alike)
    if not fits.any():
        return np.empty(0)
    best = int(np.flatnonzero(fits)[np.argmax(alike[fits])])
    return rates[best : ends[best]]


def median_of(rates: FloatArray, weights: FloatArray) -> tuple[float, float, float] | None:
    """Return the median of rates by weight, with its interval (95 %, free of distribution); None if they disagree."""
    if rates.size < LEAST_TRAINS:
        return None
    order = np.argsort(rates)
    share = np.cumsum(weights[order]) / weights.sum()
    half = 0.98 / np.sqrt(weights.sum() ** 2 / (weights**2).sum())

    def at(quantile: float) -> float:
        return float(rates[order][min(int(np.searchsorted(share, quantile)), rates.size - 1)])

    middle = at(0.5)
    if at(0.75) - at(0.25) > 2 * SPREAD * middle:
        return None
    return middle, at(max(0.5 - half, 0.0)), at(min(0.5 + half, 1.0))
