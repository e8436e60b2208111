"""The delays that packets and round trips had, from their histograms, pooled over repetitions.

The histograms' buckets hold whole picoseconds: one from a to b has values from a to b - 1 ps, and the first of them are
of one value each. Quantiles are exact to the bucket (0.8 % wide at most) and interpolated within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from parshall.analysis.stats.histogram import histogram_quantiles
from parshall.report.plot import Values
from parshall.results.quantities.computing import delay_bins, largest
from parshall.results.quantities.measuring import places
from parshall.results.quantities.tables import Tables
from parshall.results.records import Result


@dataclass(frozen=True)
class Delays:
    """A histogram of delays that holds some: bucket i holds `number[i]` values from `least_s[i]` to `most_s[i]`."""

    least_s: Values
    most_s: Values
    number: Values

    def quantiles(self, levels: Sequence[float] | Values) -> Values:
        """The delays that these shares of all values do not exceed, s."""
        return cast("Values", histogram_quantiles(self.least_s, self.most_s, self.number, levels))


def pooled_delays(histogram: pl.DataFrame, number: str, largest_s: float | None = None) -> Delays | None:
    """The buckets of all repetitions together; ``None`` if they hold nothing.

    Parameters
    ----------
    number
        The column that counts.
    largest_s
        The largest delay of all, where it is known.
    """
    buckets = histogram.group_by("low_s", "high_s").agg(pl.col(number).sum()).filter(pl.col(number) > 0).sort("low_s")
    if buckets.is_empty():
        return None
    bins = delay_bins(buckets, number, largest_s)
    return Delays(bins.low, bins.high, bins.counts)


def of_link(tables: Tables, link: str) -> Delays | None:
    """The queueing delays at a link; None where none was recorded."""
    own = tables.of("link", link)
    histogram = own.get("delay_histogram")
    return None if histogram is None else pooled_delays(histogram, "packets", _longest(own, "links", "queueing_delay"))


def of_all(tables: Tables, measure: str) -> Delays | None:
    """The delays of all packets, or those of the group that the tables are of.

    Parameters
    ----------
    measure
        ``one_way_delay`` or ``rtt``.
    """
    histogram = tables.get("latency_histogram")
    if histogram is None:
        return None
    rows = histogram.filter(pl.col("measure") == measure)
    return pooled_delays(rows, "samples", _longest(tables, "groups", measure))


def of_groups(tables: Tables, measure: str, groups: Sequence[str] | None = None) -> dict[str, Delays]:
    """The delays of each group that has any, by default of all in their order; `measure` as of `of_all`."""
    histogram, recorded = tables.get("latency_histogram"), tables.get("groups")
    if histogram is None:
        return {}
    parts = histogram.filter(pl.col("measure") == measure).partition_by("group", as_dict=True)
    longest = {}
    if recorded is not None and f"max_{measure}_s" in recorded.columns:
        longest = dict(recorded.group_by("group").agg(pl.col(f"max_{measure}_s").max()).iter_rows())
    by_group = {
        group: pooled_delays(parts[group,], "samples", longest.get(group))
        for group in (places(tables, "group") if groups is None else groups)
        if (group,) in parts
    }
    return {group: delays for group, delays in by_group.items() if delays is not None}


def _longest(tables: Tables, table: str, measure: str) -> float | None:
    """The largest of all repetitions; None where it was not recorded."""
    found = largest(tables.get(table), f"max_{measure}_s")
    return max(found.values(), default=None)


def under_load(run: Result) -> str | None:
    """The group whose latency a reader asks for: it wants little, and suffers from the load of others.

    That is, of the groups that send datagrams or transfers, not data without end, the one with the least goodput a
    flow. ``None`` where this is the group with the most, or the only one.
    """
    flows, transfers = run.tables.get("flows"), run.tables.get("transfers")
    present = of_groups(run.tables, "one_way_delay")
    if flows is None or len(present) < 2:
        return None
    mean = flows.group_by("group").agg(
        pl.col("goodput_bps").mean(), datagrams=(pl.col("congestion_control") == "").all()
    )
    divided = set() if transfers is None else set(transfers["group"].unique().to_list())
    goodput = {group: value for group, value, _ in mean.iter_rows() if group in present and value is not None}
    limited = [
        group for group, _, datagrams in mean.iter_rows() if group in goodput and (datagrams or group in divided)
    ]
    least = min(limited, key=lambda group: (goodput[group], group), default=None)
    return None if least is None or goodput[least] >= max(goodput.values()) else least
