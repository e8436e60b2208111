"""What a run is summarised by: quantities of the catalogue, totals, what it took; docs/json.md lists the keys.

Quantities are means over the repetitions, or percentiles of the values of all of them together, with their confidence
intervals. Those of a link are of the busiest one (`parshall.results.quantities.measuring`), and ``link`` names it.
Counts and times spent are totals over the repetitions. All are measured from the warm-up on, except ``simulated_s``,
``cpu_s`` and ``peak_rss_bytes``.

What cannot be known (the loss rate of a link without arrivals) is ``None``, never 0. A mean over repetitions needs a
value of each: a quantity that one of them does not have is ``None``, and so is a completion time that too few transfers
reached. Its entry among the intervals says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from parshall.analysis.stats.estimates import Means, Series
from parshall.results.quantities import catalog, completion, digest, naming
from parshall.results.quantities.measuring import busiest, series_of
from parshall.results.quantities.tables import Tables


def of_this_code() -> str:
    """A digest of what computes the quantities of a summary."""
    return digest.of_quantities(naming.named(name).quantity for name in catalog.SUMMARY)


def estimated(tables: Tables) -> dict[str, Any]:
    """What is computed from the tables, and from nothing else."""
    link = busiest(tables["links"])
    series = series_of(tables, catalog.SUMMARY, link)
    repetitions = tables["links"]["repetition"].n_unique()
    intervals = {name: _interval(series.get(name), repetitions) for name in catalog.SUMMARY}
    own = tables["links"].filter(pl.col("link") == link)
    return {
        "link": link,
        "packets_forwarded": int(own["forwarded_packets"].sum()),
        "packets_dropped": int(own.select(pl.sum("dropped_packets") + pl.sum("medium_losses_packets")).item()),
        **{name: None if interval is None else interval["mean"] for name, interval in intervals.items()},
        "intervals": intervals,
    }


def summarise(tables: Tables, totals: Sequence[Mapping[str, Any]], peak_rss_bytes: int) -> dict[str, Any]:
    """The summary of a run, ready for JSON."""
    made = estimated(tables)
    intervals = made.pop("intervals")
    flows = tables.get("flows")
    ended, begun = completion.counts(tables)
    return {
        **made,
        "flows": 0 if flows is None else len(flows) // len(totals),
        "transfers": ended,
        "transfers_begun": begun,
        "simulated_s": sum(each["simulated_s"] for each in totals),
        "cpu_s": sum(each["cpu_s"] for each in totals),
        "peak_rss_bytes": peak_rss_bytes,
        "intervals": intervals,
    }


def _interval(series: Series | None, repetitions: int) -> dict[str, Any] | None:
    """The estimate and its 95 % interval; without a value the reason, where there is one; else None."""
    if series is None:
        return None
    if isinstance(series, Means) and len(series.values) != repetitions:
        having = len(series.values)
        have = "has one" if having == 1 else "have one"
        return _without(f"{having} of {repetitions} repetitions {have}", having, repetitions)
    why = series.lacking()
    if why is not None:
        return _without(why.reason, why.found, why.of)
    estimate = series.estimate()
    return None if estimate is None else asdict(estimate.interval)


def _without(reason: str, having: int, of: int) -> dict[str, Any]:
    """No value: why, and how many of how many repetitions or transfers have one."""
    return {"mean": None, "low": None, "high": None, "n": having, "level": 0.95, "how": reason, "of": of}
