"""Several groups of flows as one: tables whose quantities are those of all their flows, packets and transfers."""

from __future__ import annotations

from collections.abc import Callable, Collection

import polars as pl

from parshall.results.quantities.tables import Tables

_WEIGHED = {
    "packets": ("mean_one_way_delay_s", "jitter_s"),
    "rtt_samples": ("mean_rtt_s",),
}
"""Means of the table ``groups``, by what they are means over. Those of jitters are right but for a packet a flow."""


def together(tables: Tables, names: Collection[str], label: str) -> Tables:
    """The same tables with some groups under one name.

    Parameters
    ----------
    names
        The groups.
    label
        Their name together, which no group has.
    """
    chosen = list(names)

    def read(table: str) -> pl.DataFrame | None:
        rows = tables.get(table)
        if rows is None or "group" not in rows.columns:
            return rows
        joined = rows.with_columns(group=pl.when(pl.col("group").is_in(chosen)).then(pl.lit(label)).otherwise("group"))
        return _ADDED[table](joined) if table in _ADDED else joined

    return Tables(read)


def _histogram(rows: pl.DataFrame) -> pl.DataFrame:
    bucket = ["repetition", "group", "measure", "low_s", "high_s"]
    return rows.group_by(bucket, maintain_order=True).agg(pl.col("samples").sum()).sort("repetition", "low_s")


def _latencies(rows: pl.DataFrame) -> pl.DataFrame:
    """Means weighed by what they are over; percentiles are left to the histogram."""
    means = [
        (pl.col(name) * pl.col(weight)).sum() / pl.col(weight).filter(pl.col(name).is_not_null()).sum()
        for weight, columns in _WEIGHED.items()
        for name in columns
        if {name, weight} <= set(rows.columns)
    ]
    ends = [
        getattr(pl.col(name), end)()
        for name, end in (("min_one_way_delay_s", "min"), ("max_one_way_delay_s", "max"), ("max_rtt_s", "max"))
        if name in rows.columns
    ]
    counts = [pl.col(name).sum() for name in _WEIGHED if name in rows.columns]
    found = rows.group_by("repetition", "group", maintain_order=True).agg(*means, *ends, *counts)
    return found.with_columns(pl.col(pl.Float64).fill_nan(None))


def _bins(rows: pl.DataFrame) -> pl.DataFrame:
    bin_ = ["repetition", "group", "time_s", "bin_s"]
    return rows.group_by(bin_, maintain_order=True).agg(pl.col("delivered_bytes").sum())


_ADDED: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "latency_histogram": _histogram,
    "groups": _latencies,
    "group_samples": _bins,
}
"""Tables with a row a group, whose rows are added up; the others have a row a flow or transfer."""
