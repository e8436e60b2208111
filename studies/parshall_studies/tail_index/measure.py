"""What is measured of a run: loss, delay, throughput, sampled sizes, ssthresh, and the rate of transfers by their size.

Means are over repetitions; transfers are those that begin after the warm-up. Those that had not ended when the run did,
most of them large and slow, count by Kaplan and Meier's curve of the time a packet takes, a curve for each bin of size
(`parshall.analysis.stats.censored.shares`): a mean rate of n transfers is the sum of n times their shares of the curve
times their rates, over n. The rate against size has block-bootstrap intervals over time: transfers of the same minute
share its congestion, so that whole blocks of start times are drawn, not transfers.

References: B. Efron, R. Tibshirani, An Introduction to the Bootstrap, 1993, §8.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.analysis.stats.censored import Durations, shares
from parshall.results.quantities.naming import named
from parshall_studies.tail_index.network import HOSTS, MEAN_PACKETS, PAYLOAD
from parshall_studies.tail_index.running import Tables

FloatArray = NDArray[np.float64]
METRICS = ("loss", "delay_ms", "throughput_mbps")
WORDS = {
    "loss": named("loss_rate").label(),
    "delay_ms": named("queueing_delay_s").label(),
    "throughput_mbps": "throughput",
}
_SENDING = pl.col("group").is_in(["sources", HOSTS])
_BLOCKS, _DRAWS = 20, 200
_BINS = 4
"""Bins of size in a decade."""
_FEWEST = 20
MEDIUM = (MEAN_PACKETS / 10**0.5, MEAN_PACKETS * 10**0.5)
"""Sizes of transfers of "medium size": within half a decade of the mean. The largest ones are all beyond it."""


@dataclass(frozen=True)
class Rates:
    """Mean rate of transfers by size: middles of bins in packets, Mbit/s, and the ends of 95 % intervals."""

    packets: FloatArray
    mbps: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Cells:
    """Sums of weighted rates, Mbit/s, and their number, by block of time and bin of size (blocks, bins)."""

    sums: FloatArray
    counts: FloatArray


@dataclass(frozen=True)
class Measured:
    """Runs of a point: a value a run for each metric, shape (runs,), and the sizes that were drawn.

    Parameters
    ----------
    loss, delay_ms, throughput_mbps
        The bottleneck's loss rate, its mean queueing delay, and what all sources send over it.
    mean_packets, transfers, ended
        Mean size and number of the transfers, of all runs, and how many of them had ended.
    cells
        Their rates by time and size.
    medium_mbps, largest_mbps
        Mean rates of transfers of medium size (`MEDIUM`) and of the largest; NaN without any.
    ssthresh_packets
        Median over sources and the run's second half; NaN where it was not recorded, or there was none.
    """

    loss: FloatArray
    delay_ms: FloatArray
    throughput_mbps: FloatArray
    mean_packets: float
    transfers: int
    ended: int
    cells: Cells
    medium_mbps: FloatArray
    largest_mbps: FloatArray
    ssthresh_packets: FloatArray

    def values(self, metric: str) -> FloatArray:
        """One metric, a value a run."""
        values: FloatArray = getattr(self, metric)
        return values

    @cached_property
    def rates(self) -> Rates:
        """Mean rate against size, of all runs."""
        sums, counts = self.cells.sums, self.cells.counts
        blocks = len(sums)
        shown = counts.sum(axis=0) >= _FEWEST
        if not shown.any():
            return Rates(*(np.empty(0) for _ in range(4)))
        drawn = np.random.default_rng(1).multinomial(blocks, np.full(blocks, 1 / blocks), size=_DRAWS)
        totals = drawn @ counts[:, shown]
        # A draw of blocks without any transfer of a size says nothing of its rate.
        means = np.divide(drawn @ sums[:, shown], totals, out=np.full(totals.shape, np.nan), where=totals > 0)
        low, high = np.nanquantile(means, (0.025, 0.975), axis=0)
        middle = 10 ** ((np.flatnonzero(shown) + 0.5) / _BINS)
        return Rates(middle, sums[:, shown].sum(axis=0) / counts[:, shown].sum(axis=0), low, high)


def ended_of(points: Iterable[Measured]) -> str:
    """How many of the transfers had ended, for the note of a claim on their rates."""
    every = list(points)
    ended, of = sum(each.ended for each in every), sum(each.transfers for each in every)
    if ended == of:
        return "all transfers ended"
    return f"{ended} of {of} transfers ended, the others count by Kaplan and Meier"


_ARRAYS = (*METRICS, "medium_mbps", "largest_mbps", "ssthresh_packets")


def joined(parts: Sequence[Measured]) -> Measured:
    """Several runs of a point as one."""
    bins = max(each.cells.sums.shape[1] for each in parts)
    number = sum(each.transfers for each in parts)
    return Measured(
        mean_packets=sum(each.mean_packets * each.transfers for each in parts) / number,
        transfers=number,
        ended=sum(each.ended for each in parts),
        cells=Cells(*(np.vstack([_wide(getattr(each.cells, what), bins) for each in parts]) for what in _CELLS)),
        **{name: np.concatenate([getattr(each, name) for each in parts]) for name in _ARRAYS},
    )


_CELLS = ("sums", "counts")


def _wide(cells: FloatArray, bins: int) -> FloatArray:
    return np.pad(cells, ((0, 0), (0, bins - cells.shape[1])))


def measured(tables: Tables) -> Measured:
    """What a run comes to."""
    links = tables.links.sort("repetition")
    flows = tables.flows.filter(_SENDING)
    throughput = flows.group_by("repetition").agg(pl.col("throughput_bps").sum()).sort("repetition")
    transfers = tables.transfers.filter(
        _SENDING, pl.col("size_bytes").is_not_null(), pl.col("start_s") >= tables.warm_up_s
    )
    rated = with_rate(transfers, tables.transfers)
    low, high = MEDIUM
    return Measured(
        loss=links["loss_rate"].to_numpy().astype(np.float64),
        delay_ms=links["mean_queueing_delay_s"].to_numpy().astype(np.float64) * 1e3,
        throughput_mbps=throughput["throughput_bps"].to_numpy().astype(np.float64) / 1e6,
        mean_packets=float(transfers.select(pl.col("size_bytes").mean()).item()) / PAYLOAD,
        transfers=transfers.height,
        ended=transfers["completion_s"].count(),
        cells=_cells(rated, tables.warm_up_s),
        medium_mbps=_mean_rates(rated.filter(pl.col("packets").is_between(low, high)), links.height),
        largest_mbps=_mean_rates(rated.filter(pl.col("packets") > high), links.height),
        ssthresh_packets=_ssthresh(tables.flow_samples, links.height),
    )


def with_rate(transfers: pl.DataFrame, every: pl.DataFrame) -> pl.DataFrame:
    """The transfers with ``packets``, the ``bin_`` of their size, and ``mbps``: n shares of the curve times the rate.

    A bin in which none ended is left out. A run ends with the last moment that any of its transfers, `every`, tells of.
    """
    ends = every.group_by("repetition").agg(_end_s=pl.max_horizontal("start_s", "completion_s").max())
    lasted = (pl.col("completion_s").fill_null(pl.col("_end_s")) - pl.col("start_s")).cast(pl.Float64)
    known = (
        transfers.join(ends, on="repetition", how="left", maintain_order="left")
        .with_columns(packets=(pl.col("size_bytes") / PAYLOAD).ceil(), lasted_s=lasted)
        .filter(pl.col("lasted_s") > 0)
        .with_columns(bin_=(_BINS * pl.max_horizontal("packets", 1).log10()).floor().cast(pl.Int64))
        .filter(pl.col("completion_s").is_not_null().any().over("bin_"))
    )
    a_packet_s = (known["lasted_s"] / known["packets"]).to_numpy()
    ended, bin_ = known["completion_s"].is_not_null().to_numpy(), known["bin_"].to_numpy()
    weights = np.empty(a_packet_s.size)
    for number in np.unique(bin_):
        own = bin_ == number
        weights[own] = own.sum() * shares(Durations(a_packet_s[own], ended[own]))
    return known.with_columns(mbps=pl.Series(weights * 1500 * 8 / 1e6 / a_packet_s))


def _mean_rates(transfers: pl.DataFrame, repetitions: int) -> FloatArray:
    return _by_repetition(transfers, pl.col("mbps").mean(), repetitions)


def _ssthresh(samples: pl.DataFrame, repetitions: int) -> FloatArray:
    if samples.is_empty():
        return np.full(repetitions, np.nan)
    # Datagrams have no ssthresh, and a median leaves out what is null.
    late = samples.filter(pl.col("time_s") >= pl.col("time_s").max() / 2)
    return _by_repetition(late, pl.col("ssthresh_packets").median(), repetitions)


def _by_repetition(rows: pl.DataFrame, what: pl.Expr, repetitions: int) -> FloatArray:
    """A value a repetition; NaN for those without any."""
    by_repetition = dict(rows.group_by("repetition").agg(what).iter_rows())
    return np.array(
        [np.nan if (value := by_repetition.get(number)) is None else value for number in range(repetitions)]
    )


def _cells(rated: pl.DataFrame, warm_up_s: float) -> Cells:
    bin_, rate = rated["bin_"].to_numpy(), rated["mbps"].to_numpy()
    start, repetition = rated["start_s"].to_numpy() - warm_up_s, rated["repetition"].to_numpy().astype(np.int64)
    span = max(float(start.max(initial=0.0)), 1e-9) * (1 + 1e-12)
    block = repetition * _BLOCKS + (start / span * _BLOCKS).astype(np.int64)
    blocks, bins = int(block.max(initial=0)) + 1, int(bin_.max(initial=0)) + 1
    cell = block * bins + bin_
    sums: FloatArray = np.bincount(cell, weights=rate, minlength=blocks * bins).reshape(blocks, bins).astype(np.float64)
    counts: FloatArray = np.bincount(cell, minlength=blocks * bins).reshape(blocks, bins).astype(np.float64)
    return Cells(sums, counts)
