"""What a run measured, as one number a repetition: the source of the headline, the tables and comparisons.

A metric holds only what there is: a repetition without a value (no packet sent, no transfer finished) is absent
from it, and a metric without any repetition is not made at all.

| key | meaning |
| --- | --- |
| goodput_bps, utilisation, loss_rate, ... | the figures of merit of `parshall.runs.summary`, as ``run.json`` has them |
| completion_p50_s, completion_p95_s | of the transfers that finished |
| link/NAME/... | of one link |
| group/NAME/... | the same of one group; goodput, window, RTT, timeouts are means over its flows |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from parshall.report.figures.common import group_names, link_names, timed
from parshall.report.source import RunLike, filled
from parshall.runs import summary
from parshall.stats.confidence import Interval, mean_interval
from parshall.stats.fairness import jain

Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """One quantity, a value for each repetition that has one."""

    key: str
    label: str
    unit: str
    values: Mapping[int, float]
    better: Better | None = None

    @property
    def interval(self) -> Interval:
        """Mean over the repetitions and its 95 % confidence interval."""
        return mean_interval(list(self.values.values()))

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]


Metrics = dict[str, Metric]


def all_metrics(run: RunLike) -> Metrics:
    """Everything, in the order of the page."""
    found = overall(run)
    links, flows = filled(run.links), filled(run.flows)
    for link in [] if links is None else link_names(links):
        found |= of_link(run, link)
    for group in [] if flows is None else group_names(run):
        found |= of_group(run, group)
    return found


_OVERALL: Mapping[str, tuple[str, Better | None]] = {
    "goodput_bps": ("Goodput, all flows", "higher"),
    "utilisation": ("Utilisation of the bottleneck", "higher"),
    "loss_rate": ("Packets lost at the bottleneck", "lower"),
    "loss_rate_in": ("In-profile packets lost at the bottleneck", "lower"),
    "loss_rate_out": ("Out-of-profile packets lost at the bottleneck", "lower"),
    "mean_queue_pkts": ("Mean queue at the bottleneck", None),
    "mean_queueing_delay_s": ("Mean queueing delay", "lower"),
    "queueing_delay_p99_s": ("99th percentile of the queueing delay", "lower"),
    "jain": ("Jain's index of the goodputs", "higher"),
    "mean_completion_s": ("Mean completion time", "lower"),
}


def overall(run: RunLike) -> Metrics:
    """Of all flows together, and of the bottleneck."""
    flows, links, transfers = filled(run.flows), filled(run.links), filled(run.transfers)
    found: list[Metric | None] = []
    if flows is not None and links is not None:
        order = links["repetition"].unique().sort().to_list()
        for key, numbers in summary.metric_values(flows, links, transfers).items():
            label, better = _OVERALL.get(key, (key, None))
            values = {
                int(repetition): number for repetition, number in zip(order, numbers, strict=True) if number is not None
            }
            found.append(_metric(key, label, summary.METRICS[key].unit, values, better))
        if flows.height == len(order):
            found = [metric for metric in found if metric is not None and metric.key != "jain"]
    found += _completions(transfers, "")
    return _kept(found)


def of_link(run: RunLike, link: str) -> Metrics:
    """Of one link."""
    links = filled(run.links)
    if links is None:
        return {}
    rows = links.filter(pl.col("link") == link)

    def metric(column: str, name: str, label: str, unit: str, better: Better | None = None) -> Metric | None:
        return _metric(f"link/{link}/{name}", f"{label}, {link}", unit, _pairs(rows, column), better)

    return _kept(
        [
            metric("utilisation", "utilisation", "Utilisation", "ratio", "higher"),
            metric("loss_rate", "loss_rate", "Packets lost", "ratio", "lower"),
            _metric(
                f"link/{link}/loss_rate_in", f"In-profile packets lost, {link}", "ratio", _class_losses(rows, "in")
            ),
            _metric(
                f"link/{link}/loss_rate_out",
                f"Out-of-profile packets lost, {link}",
                "ratio",
                _class_losses(rows, "out"),
            ),
            _metric(f"link/{link}/mark_rate", f"Packets marked, {link}", "ratio", _marked(rows)),
            metric("mean_queue_packets", "queue_packets", "Mean queue", "packets"),
            metric("mean_queueing_delay_s", "queueing_delay_s", "Mean queueing delay", "s", "lower"),
            metric("queueing_delay_p50_s", "queueing_delay_p50_s", "Median queueing delay", "s", "lower"),
            metric(
                "queueing_delay_p99_s", "queueing_delay_p99_s", "99th percentile of the queueing delay", "s", "lower"
            ),
            metric("max_queueing_delay_s", "max_queueing_delay_s", "Largest queueing delay", "s"),
        ]
    )


def of_group(run: RunLike, group: str) -> Metrics:
    """Of one group of flows."""
    flows = filled(run.flows)
    if flows is None:
        return {}
    rows = flows.filter(pl.col("group") == group)
    prefix = f"group/{group}/"

    def metric(name: str, label: str, unit: str, values: Values, better: Better | None = None) -> Metric | None:
        return _metric(prefix + name, f"{label}, {group}", unit, values, better)

    transfers = filled(run.transfers)
    own = None if transfers is None else filled(transfers.filter(pl.col("group") == group))
    windowed = rows.filter(pl.col("congestion_control") != "")
    return _kept(
        [
            metric("goodput_bps", "Goodput of a flow", "bit/s", _means(rows, "goodput_bps"), "higher"),
            metric("share", "Share of the goodput", "ratio", _shares(flows, group)),
            metric("loss_rate", "Packets lost", "ratio", _ratios(rows, "packets_dropped", "packets_sent"), "lower"),
            metric("in_profile", "Packets in profile", "ratio", _in_profile(rows)),
            metric("loss_rate_in", "In-profile packets lost", "ratio", _class_drops(rows, "in"), "lower"),
            metric("loss_rate_out", "Out-of-profile packets lost", "ratio", _class_drops(rows, "out"), "lower"),
            metric(
                "retransmitted", "Packets retransmitted", "ratio", _ratios(windowed, "retransmissions", "packets_sent")
            ),
            metric("timeouts", "Timeouts of a flow", "1", _means(windowed, "timeouts"), "lower"),
            metric("cwnd_packets", "Mean window", "packets", _means(rows, "mean_cwnd_packets")),
            metric("rtt_s", "Mean round-trip time", "s", _means(rows, "mean_rtt_s"), "lower"),
            metric("jain", "Jain's index", "1", _fairness(rows), "higher"),
            *_latencies(run, group),
            *_completions(own, group),
        ]
    )


_LATENCIES: tuple[tuple[str, str, str], ...] = (
    ("one_way_delay_s", "mean_one_way_delay_s", "Mean one-way delay"),
    ("one_way_delay_p50_s", "one_way_delay_p50_s", "Median one-way delay"),
    ("one_way_delay_p95_s", "one_way_delay_p95_s", "95th percentile of the one-way delay"),
    ("one_way_delay_p99_s", "one_way_delay_p99_s", "99th percentile of the one-way delay"),
    ("max_one_way_delay_s", "max_one_way_delay_s", "Largest one-way delay"),
    ("jitter_s", "jitter_s", "Jitter"),
    ("rtt_p50_s", "rtt_p50_s", "Median round-trip time"),
    ("rtt_p95_s", "rtt_p95_s", "95th percentile of the round-trip time"),
    ("rtt_p99_s", "rtt_p99_s", "99th percentile of the round-trip time"),
)
"""Of a group: the last part of the key, the column of the table `groups`, and the words."""


def _latencies(run: RunLike, group: str) -> list[Metric | None]:
    groups = filled(run.groups)
    if groups is None:
        return []
    rows = groups.filter(pl.col("group") == group)
    return [
        _metric(f"group/{group}/{name}", f"{label}, {group}", "s", _pairs(rows, column), "lower")
        for name, column, label in _LATENCIES
    ]


Values = dict[int, float]


def _metric(key: str, label: str, unit: str, values: Values, better: Better | None = None) -> Metric | None:
    return Metric(key, label, unit, values, better) if values else None


def _kept(found: Iterable[Metric | None]) -> Metrics:
    return {metric.key: metric for metric in found if metric is not None}


def _completions(transfers: pl.DataFrame | None, group: str) -> list[Metric | None]:
    if transfers is None:
        return []
    prefix, suffix = (f"group/{group}/", f", {group}") if group else ("", "")
    finished = timed(transfers)
    return [
        _metric(
            f"{prefix}completion_p{level}_s",
            f"{words} completion time{suffix}",
            "s",
            _by_repetition(finished, pl.col("duration_s").quantile(level / 100, "linear")),
            "lower",
        )
        for level, words in ((50, "Median"), (95, "95th percentile of the"))
    ]


def _by_repetition(table: pl.DataFrame, value: pl.Expr) -> Values:
    """`value` in each repetition; a repetition where it is null or not finite is left out."""
    rows = table.group_by("repetition").agg(value=value.cast(pl.Float64)).sort("repetition")
    rows = rows.filter(pl.col("value").is_finite())
    return {int(repetition): float(number) for repetition, number in rows.iter_rows()}


def _pairs(table: pl.DataFrame, column: str) -> Values:
    return _by_repetition(table, pl.col(column).first())


def _sums(table: pl.DataFrame, column: str) -> Values:
    return _by_repetition(table, pl.col(column).sum())


def _means(table: pl.DataFrame, column: str) -> Values:
    """Means over the flows that have a value; a repetition where none has is left out."""
    return _by_repetition(table, pl.col(column).cast(pl.Float64).mean())


def _ratios(table: pl.DataFrame, part: str, whole: str) -> Values:
    """Of sums; 0/0 is left out."""
    total = pl.col(whole).sum()
    return _by_repetition(table, pl.when(total > 0).then(pl.col(part).sum().cast(pl.Float64) / total))


def _marked(links: pl.DataFrame) -> Values:
    """Share of the packets that the queue marks (ECN); nothing of a link that marked none at all."""
    return _ratios(links, "marked_packets", "arrivals_packets") if links["marked_packets"].sum() else {}


def _class_losses(links: pl.DataFrame, name: str) -> Values:
    """Share of the packets of a class that a link drops or loses; nothing where there are no classes."""
    if f"arrivals_{name}_packets" not in links.columns:
        return {}
    lost = links.with_columns(lost=pl.col(f"dropped_{name}_packets") + pl.col(f"medium_losses_{name}_packets"))
    return _ratios(lost, "lost", f"arrivals_{name}_packets")


def _class_drops(flows: pl.DataFrame, name: str) -> Values:
    """Share of the packets of a class that are dropped or lost on any link; nothing without a marker."""
    if f"sent_{name}_packets" not in flows.columns:
        return {}
    return _ratios(flows, f"dropped_{name}_packets", f"sent_{name}_packets")


def _in_profile(flows: pl.DataFrame) -> Values:
    """Share of the packets that were marked; nothing without a marker."""
    if "sent_in_packets" not in flows.columns:
        return {}
    marked = flows.with_columns(entered=pl.col("sent_in_packets") + pl.col("sent_out_packets"))
    return _ratios(marked, "sent_in_packets", "entered")


def _shares(flows: pl.DataFrame, group: str) -> Values:
    own = pl.col("goodput_bps").filter(pl.col("group") == group).sum()
    total = pl.col("goodput_bps").sum()
    return _by_repetition(flows, pl.when(total > 0).then(own / total))


def _fairness(flows: pl.DataFrame) -> Values:
    """Jain's index; a single flow is not more or less fair than another."""
    found: Values = {}
    for repetition in flows["repetition"].unique().sort().to_list():
        rows = flows.filter(pl.col("repetition") == repetition)
        goodputs = rows["goodput_bps"].drop_nulls().to_numpy()
        index = jain(np.asarray(goodputs)) if len(goodputs) > 1 else None
        if index is not None:
            found[int(repetition)] = index
    return found
