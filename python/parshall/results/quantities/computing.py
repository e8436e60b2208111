"""What families of quantities have in common: values by repetition, and percentiles of values that were counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import polars as pl

from parshall.analysis.stats.estimates import BinnedQuantiles, Bins
from parshall.results.quantities.definition import Values
from parshall.results.quantities.tables import Tables

Of = Callable[[Tables], Values]

PERCENTILES = {50: "median", 95: "95th percentile of the", 99: "99th percentile of the"}

_PICOSECOND = 1e-12


def by_repetition(table: pl.DataFrame, value: pl.Expr) -> dict[int, float]:
    """`value` in each repetition; a repetition where it is null or not finite is left out."""
    # A plain sum or mean of many rows is added up in as many parts as there are cores, with other rounding for each
    # number of them; a condition is computed in one go.
    whole = pl.when(pl.len() > 0).then(value.cast(pl.Float64))
    rows = table.group_by("repetition", maintain_order=True).agg(value=whole).sort("repetition")
    rows = rows.filter(pl.col("value").is_finite())
    return {int(repetition): float(number) for repetition, number in rows.iter_rows()}


def column(table: str, name: str) -> Of:
    """A column of the only row of each repetition."""
    return lambda tables: by_repetition(tables.having(table, name), pl.col(name).first())


def aggregated(table: str, value: pl.Expr) -> Of:
    """An expression over the rows of each repetition."""
    return lambda tables: by_repetition(tables[table], value)


def mean_of(name: str) -> pl.Expr:
    """The mean of the rows that have a value.

    Each flow has a goodput and timeouts, be it 0. A round-trip time it has only of packets that were acknowledged: a
    mean of those leaves out who got nothing through, whose goodput of 0 counts in that of the flows.
    """
    return pl.col(name).cast(pl.Float64).mean()


def ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Of sums; 0/0 is null."""
    return pl.when(whole > 0).then(part.cast(pl.Float64) / whole)


def windowed(tables: Tables) -> pl.DataFrame:
    """The flows that a congestion control steers."""
    return tables["flows"].filter(pl.col("congestion_control") != "")


def parted(table: pl.DataFrame) -> Iterable[tuple[int, pl.DataFrame]]:
    """The rows of each repetition."""
    ordered = table.sort("repetition", maintain_order=True)
    for rows in ordered.partition_by("repetition", maintain_order=True):
        yield rows["repetition"][0], rows


def quantile_of_bins(
    rows: pl.DataFrame, counts: str, probability: float, largest_s: Mapping[int, float]
) -> BinnedQuantiles:
    """A quantile of what a histogram of delays counted.

    Parameters
    ----------
    counts
        The column that says how many are in a bin.
    largest_s
        The largest delay of each repetition in which it is known.
    """
    ordered = rows.sort("repetition", "low_s")
    bins = {int(n): delay_bins(own, counts, largest_s.get(n)) for n, own in parted(ordered)}
    return BinnedQuantiles(bins, probability)


def largest(table: pl.DataFrame | None, name: str) -> dict[int, float]:
    """The largest of a column in each repetition; empty where it was not recorded."""
    if table is None or name not in table.columns:
        return {}
    return by_repetition(table, pl.col(name).max())


def delay_bins(rows: pl.DataFrame, counts: str, largest_s: float | None = None) -> Bins:
    """Rows of a histogram of delays as bins.

    Delays are whole picoseconds, so the longest of a bin is one below its end; and none is longer than the largest one.

    Parameters
    ----------
    counts
        The column that says how many are in a bin.
    largest_s
        The largest delay, where it is known.
    """
    low, high = (rows[end].to_numpy() for end in ("low_s", "high_s"))
    ends = high - _PICOSECOND
    high = np.maximum(ends if largest_s is None else np.minimum(ends, largest_s), low)
    high[:-1] = np.minimum(high[:-1], low[1:])  # rounding of seconds must not make bins overlap
    return Bins(low, high, rows[counts].to_numpy().astype(np.float64))
