"""Is what arrived at the capture point long-range dependent? Arrivals in equal bins, H by every estimator, a verdict.

The bins of ``trace_arrivals`` are joined, two by two, until there are at most `MOST_BINS` and each holds a packet on
average: dependence over long times is what survives joining, and a series of zeros and ones says nothing about it.

References: W. Leland, M. Taqqu, W. Willinger, D. Wilson, On the self-similar nature of Ethernet traffic, IEEE/ACM ToN
2(1), 1994, which counts all packets and bytes of a network so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.confidence import StatisticsError
from parshall.foundations.numbers import counted, quantity
from parshall.instruments.observation.result import Observation
from parshall_studies.hurst import Verdict, verdict

FloatArray = NDArray[np.float64]

QUANTITIES = {"packets": "packets", "bytes": "bytes", "connections": "connections begun"}
"""Counted events, as in ``trace_arrivals``, and in words."""

MOST_BINS = 2**14
"""The most bins that are looked at: what more of them would add is at the shortest scales."""

LEAST_BINS = 256
"""The fewest bins: the estimators use scales from 8 bins on and need some 30 of the largest."""


@dataclass(frozen=True)
class Arrivals:
    """One arrival series of a trace, and what it is.

    Attributes
    ----------
    quantity
        `packets`, `bytes` or `connections`.
    bin_s
        Length of a bin, s.
    series
        Arrivals in each bin, shape (bins,).
    verdict
        H by every estimator, the surrogates, and the verdict; None where there is none.
    reason
        Why there is none; empty if there is one.
    """

    quantity: str
    bin_s: float
    series: FloatArray
    verdict: Verdict | None
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``parshall observe --json`` prints; docs/json.md describes it."""
        values = {"quantity": self.quantity, "bin_s": self.bin_s, "bins": int(self.series.size)}
        values |= {"mean": float(self.series.mean()) if self.series.size else None, "reason": self.reason or None}
        return {**values, "hurst": None if self.verdict is None else self.verdict.as_json()}


def arrivals(observation: Observation, trace: int = 0) -> tuple[Arrivals, ...]:
    """Packets, bytes and new connections over time, and whether they are long-range dependent.

    Parameters
    ----------
    observation
        With its rows of ``trace_arrivals``.
    trace
        The number of the trace; there are no arrivals of a series of a sender's kernel.
    """
    ordered = observation.arrival_bins(trace)
    if ordered.is_empty():
        return ()
    return tuple(
        _judged(name, float(ordered["bin_s"][0]), ordered[name].to_numpy().astype(np.float64)) for name in QUANTITIES
    )


def _judged(name: str, bin_s: float, series: FloatArray) -> Arrivals:
    # Where a bin holds a packet, it holds bytes; a packet's bytes are not many arrivals.
    total = float(np.count_nonzero(series)) if name == "bytes" else float(series.sum())
    while series.size > MOST_BINS or (series.size >= 2 * LEAST_BINS and total < series.size):
        series = series[: series.size // 2 * 2].reshape(-1, 2).sum(axis=1)
        bin_s *= 2
    if series.size < LEAST_BINS or total < series.size:
        counts = f"{counted(series.size, 'bin')} of {quantity(bin_s, 's')} with {counted(round(total), 'arrival')}"
        reason = f"{counts} say nothing about long times; {LEAST_BINS} bins with as many arrivals are needed"
        return Arrivals(name, bin_s, series, None, reason)
    try:
        return Arrivals(name, bin_s, series, verdict(series, bin_s), "")
    except StatisticsError as error:
        return Arrivals(name, bin_s, series, None, str(error))
