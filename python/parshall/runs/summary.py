"""The figures of merit of a run, and their confidence intervals over repetitions.

Each repetition gives one value of a metric, and the summary has their mean; percentiles are those of the values of all
repetitions together. Counts and times spent are totals over the repetitions. All are measured from the warm-up on,
except ``simulated_s``, ``cpu_s`` and ``peak_rss_bytes``. The link they speak of is the busiest one
(`parshall.runs.merit`), and ``link`` names it.

| key | unit | what |
| --- | --- | --- |
| ``link`` | | the link that these speak of: |
| ``packets_forwarded`` | packets | that left it, in all repetitions |
| ``packets_dropped`` | packets | lost there, in its queue or on its medium, in all repetitions |
| ``loss_rate`` | | of the packets that arrive there |
| ``loss_rate_in``, ``loss_rate_out`` | | the same of packets within their flow's profile, and of the others |
| ``utilisation`` | | of its capacity |
| ``mean_queue_pkts`` | packets | over time, without the packet in service |
| ``mean_queueing_delay_s`` | s | waiting there, over packets |
| ``queueing_delay_p99_s`` | s | wait that 99 % of the packets of all repetitions do not exceed |
| ``goodput_bps`` | bit/s | of all flows together; where a dumbbell has flows in both directions, of those forth |
| ``goodput_reverse_bps`` | bit/s | of those in the other direction |
| ``jain`` | | Jain's index of the TCP flows' goodputs (of all flows', if none is TCP's) |
| ``mean_completion_s`` | s | from start to completion, of the transfers that ended |
| ``completion_p50_s``, ``completion_p95_s`` | s | percentiles of it, over all transfers of all repetitions |
| ``flows`` | | flows in one repetition |
| ``transfers`` | | transfers that ended, in all repetitions |
| ``simulated_s``, ``cpu_s`` | s | in all repetitions |
| ``peak_rss_bytes`` | bytes | of the process |

What cannot be known (the loss rate of a link without arrivals) is ``None``, never 0. A mean over repetitions needs a
value of each: a metric that one of them does not have is ``None``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from parshall.runs.merit import METRICS, Metric, Tables, busiest
from parshall.stats.estimates import Means

__all__ = ["METRICS", "Metric", "Tables", "busiest", "intervals", "summarise"]


def intervals(tables: Tables, link: str) -> dict[str, dict[str, Any] | None]:
    """Estimate and 95 % confidence interval of each metric; None if it is unknown, or a repetition does not have it."""
    repetitions = tables.links["repetition"].n_unique()
    found: dict[str, dict[str, Any] | None] = {}
    for key, metric in METRICS.items():
        series = metric.of(tables, link)
        whole = not isinstance(series, Means) or len(series.values) == repetitions
        estimate = series.estimate() if whole else None
        found[key] = None if estimate is None else asdict(estimate.interval)
    return found


def summarise(tables: Tables, totals: Sequence[Mapping[str, Any]], peak_rss_bytes: int) -> dict[str, Any]:
    """The summary of a run, ready for JSON."""
    link = busiest(tables.links)
    estimated = intervals(tables, link)
    own = tables.links.filter(pl.col("link") == link)
    return {
        "link": link,
        "packets_forwarded": int(own["forwarded_packets"].sum()),
        "packets_dropped": int(own.select(pl.sum("dropped_packets") + pl.sum("medium_losses_packets")).item()),
        **{key: None if interval is None else interval["mean"] for key, interval in estimated.items()},
        "flows": len(tables.flows) // len(totals),
        "transfers": 0 if tables.transfers is None else tables.transfers["completion_s"].drop_nulls().len(),
        "simulated_s": sum(each["simulated_s"] for each in totals),
        "cpu_s": sum(each["cpu_s"] for each in totals),
        "peak_rss_bytes": peak_rss_bytes,
        "intervals": estimated,
    }
