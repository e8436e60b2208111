"""What is measured of a run: loss, delay, throughput, sampled sizes, and the mean rate of transfers against their size.

Means are over repetitions; the rate against size has block-bootstrap intervals over time: transfers of the same minute
share its congestion, so that whole blocks of start times are drawn, not transfers.

References: B. Efron, R. Tibshirani, An Introduction to the Bootstrap, 1993, §8.6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.studies.tail_index.network import PAYLOAD
from parshall.studies.tail_index.running import Tables

FloatArray = NDArray[np.float64]
METRICS = ("loss", "delay_ms", "throughput_mbps")
WORDS = {"loss": "loss rate", "delay_ms": "mean queueing delay", "throughput_mbps": "throughput"}
_BLOCKS, _DRAWS = 20, 200
_FEWEST = 20


@dataclass(frozen=True)
class Rates:
    """Mean rate of transfers by size: middles of bins in packets, Mbit/s, and the ends of 95 % intervals."""

    packets: FloatArray
    mbps: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Measured:
    """A run: a value a repetition for each metric, shape (repetitions,), and the sizes that were drawn."""

    loss: FloatArray
    delay_ms: FloatArray
    throughput_mbps: FloatArray
    mean_packets: float
    transfers: int
    rates: Rates

    def values(self, metric: str) -> FloatArray:
        """One metric, a value a repetition."""
        found: FloatArray = getattr(self, metric)
        return found


def measured(tables: Tables) -> Measured:
    """What a run comes to."""
    links = tables.links.sort("repetition")
    flows = tables.flows.filter(pl.col("group") == "sources")
    throughput = flows.group_by("repetition").agg(pl.col("throughput_bps").sum()).sort("repetition")
    transfers = tables.transfers.filter(pl.col("group") == "sources", pl.col("size_bytes").is_not_null())
    return Measured(
        loss=links["loss_rate"].to_numpy().astype(np.float64),
        delay_ms=links["mean_queueing_delay_s"].to_numpy().astype(np.float64) * 1e3,
        throughput_mbps=throughput["throughput_bps"].to_numpy().astype(np.float64) / 1e6,
        mean_packets=float(transfers.select(pl.col("size_bytes").mean()).item()) / PAYLOAD,
        transfers=transfers.height,
        rates=_rates(transfers),
    )


def _rates(transfers: pl.DataFrame) -> Rates:
    done = transfers.filter(pl.col("completion_s").is_not_null())
    packets = np.ceil(done["size_bytes"].to_numpy() / PAYLOAD)
    seconds = (done["completion_s"] - done["start_s"]).to_numpy()
    rate = packets * 1500 * 8 / 1e6 / seconds
    start, repetition = done["start_s"].to_numpy(), done["repetition"].to_numpy().astype(np.int64)
    span = max(float(start.max(initial=0.0)), 1e-9) * (1 + 1e-12)
    block = repetition * _BLOCKS + (start / span * _BLOCKS).astype(np.int64)
    bin_ = np.floor(4 * np.log10(np.maximum(packets, 1))).astype(np.int64)
    blocks, bins = int(block.max(initial=0)) + 1, int(bin_.max(initial=0)) + 1
    cell = block * bins + bin_
    sums = np.bincount(cell, weights=rate, minlength=blocks * bins).reshape(blocks, bins)
    counts = np.bincount(cell, minlength=blocks * bins).reshape(blocks, bins)
    drawn = np.random.default_rng(1).multinomial(blocks, np.full(blocks, 1 / blocks), size=_DRAWS)
    shown = counts.sum(axis=0) >= _FEWEST
    if not shown.any():
        return Rates(*(np.empty(0) for _ in range(4)))
    totals = drawn @ counts[:, shown]
    # A draw of blocks without any transfer of a size says nothing of its rate.
    means = np.divide(drawn @ sums[:, shown], totals, out=np.full(totals.shape, np.nan), where=totals > 0)
    low, high = np.nanquantile(means, (0.025, 0.975), axis=0)
    middle = 10 ** ((np.flatnonzero(shown) + 0.5) / 4)
    return Rates(middle, sums[:, shown].sum(axis=0) / counts[:, shown].sum(axis=0), low, high)
