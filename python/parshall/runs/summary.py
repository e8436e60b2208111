"""The figures of merit of a run, and their confidence intervals over repetitions.

Each repetition gives one value of each metric; the summary has their mean. Counts and times spent are totals over
the repetitions. All are measured from the warm-up on, except ``simulated_s``, ``cpu_s`` and ``peak_rss_bytes``. The
link they speak of is the *bottleneck*: that of a dumbbell, else the one that is used most.

| key | unit | what |
| --- | --- | --- |
| ``packets_forwarded`` | packets | that left the bottleneck, in all repetitions |
| ``packets_dropped`` | packets | lost at the bottleneck, in its queue or on its medium, in all repetitions |
| ``loss_rate`` | | of the packets that arrive at the bottleneck |
| ``loss_rate_in``, ``loss_rate_out`` | | the same of packets within their flow's profile, and of the others |
| ``utilisation`` | | of the bottleneck's capacity |
| ``mean_queue_pkts`` | packets | over time, without the packet in service |
| ``mean_queueing_delay_s`` | s | waiting at the bottleneck, over packets |
| ``goodput_bps`` | bit/s | of all flows together |
| ``jain`` | | Jain's index of the TCP flows' goodputs (of all flows', if none is TCP's) |
| ``mean_completion_s`` | s | from start to completion, of the transfers that ended |
| ``flows`` | | flows in one repetition |
| ``transfers`` | | transfers that ended, in all repetitions |
| ``simulated_s``, ``cpu_s`` | s | in all repetitions |
| ``peak_rss_bytes`` | bytes | of the process |

What cannot be known (the loss rate of a link without arrivals) is ``None``, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from parshall.runs.merit import METRICS, Metric, Repetition, Value, bottleneck_name
from parshall.stats.confidence import mean_interval

__all__ = ["METRICS", "Metric", "Repetition", "Value", "bottleneck_name", "intervals", "metric_values", "summarise"]


def metric_values(flows: pl.DataFrame, links: pl.DataFrame, transfers: pl.DataFrame | None) -> dict[str, list[Value]]:
    """The value of each metric in each repetition, in their order."""
    name = bottleneck_name(links)
    repetitions = [
        Repetition(
            flows.filter(pl.col("repetition") == number),
            links.row(by_predicate=(pl.col("repetition") == number) & (pl.col("link") == name), named=True),
            None if transfers is None else transfers.filter(pl.col("repetition") == number),
        )
        for number in links["repetition"].unique().sort().to_list()
    ]
    return {key: [metric.of(repetition) for repetition in repetitions] for key, metric in METRICS.items()}


def intervals(values: Mapping[str, Sequence[Value]]) -> dict[str, dict[str, Any] | None]:
    """Mean and 95 % confidence interval of each metric; None if a repetition does not have it."""
    return {
        key: None if any(value is None for value in given) else asdict(mean_interval([float(v or 0.0) for v in given]))
        for key, given in values.items()
    }


def summarise(
    flows: pl.DataFrame,
    links: pl.DataFrame,
    transfers: pl.DataFrame | None,
    totals: Sequence[Mapping[str, Any]],
    peak_rss_bytes: int,
) -> dict[str, Any]:
    """The summary of a run, ready for JSON."""
    estimated = intervals(metric_values(flows, links, transfers))
    means = {key: None if interval is None else interval["mean"] for key, interval in estimated.items()}
    bottleneck = links.filter(pl.col("link") == bottleneck_name(links))
    ended = 0 if transfers is None else transfers["completion_s"].drop_nulls().len()
    return {
        "packets_forwarded": int(bottleneck["forwarded_packets"].sum()),
        "packets_dropped": int(bottleneck.select(pl.sum("dropped_packets") + pl.sum("medium_losses_packets")).item()),
        **means,
        "flows": len(flows) // len(totals),
        "transfers": ended,
        "simulated_s": sum(each["simulated_s"] for each in totals),
        "cpu_s": sum(each["cpu_s"] for each in totals),
        "peak_rss_bytes": peak_rss_bytes,
        "intervals": estimated,
    }
