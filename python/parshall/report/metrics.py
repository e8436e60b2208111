"""What a run measured, as one series a quantity: the source of the headline, the tables and comparisons.

A metric holds only what there is: a repetition without a value (no packet sent, no transfer finished) is absent
from it, and a metric without any repetition is not made at all.

| key | meaning |
| --- | --- |
| goodput_bps, utilisation, completion_p95_s, ... | the figures of merit: `parshall.runs.summary` |
| link/NAME/... | of one link |
| group/NAME/... | the same of one group; goodput, window, RTT, timeouts are means over its flows |

Percentiles are those of all values of all repetitions together (`parshall.stats.quantiles`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from parshall.report import words
from parshall.report.figures.common import group_names, link_names
from parshall.report.source import RunLike, filled
from parshall.runs import merit
from parshall.runs.merit import Better, Tables, by_repetition, completion_times, latencies, queueing_delays
from parshall.stats.confidence import Interval
from parshall.stats.estimates import Means, Series
from parshall.stats.quantiles import Pooled


@dataclass(frozen=True)
class Metric:
    """One quantity of a run, and what each repetition gave of it; there is an estimate."""

    key: str
    label: str
    unit: str
    series: Series
    better: Better | None = None

    @cached_property
    def estimate(self) -> Pooled | None:
        """The mean or quantile over all repetitions."""
        return self.series.estimate()

    @property
    def interval(self) -> Interval:
        """The estimate over all repetitions and its 95 % confidence interval."""
        return self._estimated.interval

    @property
    def values(self) -> Mapping[int, float]:
        """A value a repetition, whose mean is the estimate; of a quantile without an interval nothing."""
        return self._estimated.by_repetition

    @property
    def resolution(self) -> float:
        """What the estimate is known to at best: the width of a histogram's bin, else 0."""
        return self._estimated.resolution

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]

    @property
    def _estimated(self) -> Pooled:
        if self.estimate is None:
            raise ValueError(f"{self.key}: nothing was measured")
        return self.estimate


Metrics = dict[str, Metric]


def all_metrics(run: RunLike, link: str | None = None) -> Metrics:
    """Everything, in the order of the page; `link` is the one that the figures of merit speak of."""
    found = overall(run, link)
    links, flows = filled(run.links), filled(run.flows)
    for name in [] if links is None else link_names(links):
        found |= of_link(run, name)
    for group in [] if flows is None else group_names(run):
        found |= of_group(run, group)
    return found


_LABELS: Mapping[str, str] = {
    "utilisation": "Utilisation of {link}",
    "loss_rate": "Packets lost at {link}",
    "loss_rate_in": "In-profile packets lost at {link}",
    "loss_rate_out": "Out-of-profile packets lost at {link}",
    "mean_queue_pkts": "Mean queue at {link}",
    "mean_queueing_delay_s": "Mean queueing delay at {link}",
    "queueing_delay_p99_s": "99th percentile of the queueing delay at {link}",
    "jain": "Jain's index of the goodputs",
}


def overall(
    run: RunLike, link: str | None = None, wanted: Collection[str] | None = None, *, every: bool = False
) -> Metrics:
    """Of all flows together, and of one link: `link`, or the busiest one.

    Parameters
    ----------
    wanted
        Which keys; all without.
    every
        Whether a metric has its place although it says nothing: Jain's index of one flow.
    """
    flows, links = filled(run.flows), filled(run.links)
    if flows is None or links is None:
        return {}
    if "forward" not in flows.columns:
        flows = merit.directed(flows, merit.backward(words.document(run)))
    tables = Tables(flows, links, filled(run.transfers), filled(run.delay_histogram))
    link = link or merit.busiest(links)
    both = not flows["forward"].all()
    alone = flows.height == links["repetition"].n_unique()  # one flow is not more or less fair than another
    found = []
    for key, metric in merit.METRICS.items():
        if (key == "jain" and alone and not every) or (wanted is not None and key not in wanted):
            continue
        label = _LABELS.get(key, metric.label[:1].upper() + metric.label[1:]).format(link=called(link))
        if key == "goodput_bps" and both:
            label = "Goodput, forward direction"
        found.append(_metric(key, label, metric.unit, metric.of(tables, link), metric.better))
    return _kept(found)


def called(link: str) -> str:
    """How a link is called in a sentence."""
    return {"bottleneck": "the bottleneck", "reverse": "the reverse bottleneck"}.get(link, link)


def of_link(run: RunLike, link: str) -> Metrics:
    """Of one link."""
    links = filled(run.links)
    if links is None:
        return {}
    rows = links.filter(pl.col("link") == link)

    def metric(column: str, name: str, label: str, unit: str, better: Better | None = None) -> Metric | None:
        return _metric(f"link/{link}/{name}", f"{label}, {link}", unit, _pairs(rows, column), better)

    def percentile(level: int, label: str) -> Metric | None:
        delays = queueing_delays(filled(run.delay_histogram), link, level / 100)
        return _metric(f"link/{link}/queueing_delay_p{level}_s", f"{label}, {link}", "s", delays, "lower")

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
            percentile(50, "Median queueing delay"),
            percentile(99, "99th percentile of the queueing delay"),
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


_LATENCIES = (("one_way_delay", "one-way delay"), ("rtt", "round-trip time"))


def _latencies(run: RunLike, group: str) -> list[Metric | None]:
    """One-way delays of its packets, and the percentiles of its round-trip times."""
    groups, histogram = filled(run.groups), filled(run.latency_histogram)
    prefix = f"group/{group}/"
    found = []
    if groups is not None:
        rows = groups.filter(pl.col("group") == group)
        found = [
            _metric(prefix + name, f"{label}, {group}", "s", _pairs(rows, column), "lower")
            for name, column, label in (
                ("one_way_delay_s", "mean_one_way_delay_s", "Mean one-way delay"),
                ("max_one_way_delay_s", "max_one_way_delay_s", "Largest one-way delay"),
                ("jitter_s", "jitter_s", "Jitter"),
            )
        ]
    for measure, words_of in _LATENCIES:
        for level, label in ((50, "Median"), (95, "95th percentile of the"), (99, "99th percentile of the")):
            values = latencies(histogram, group, measure, level / 100)
            found.append(_metric(f"{prefix}{measure}_p{level}_s", f"{label} {words_of}, {group}", "s", values, "lower"))
    return found


Values = dict[int, float]


def _metric(key: str, label: str, unit: str, values: Values | Series, better: Better | None = None) -> Metric | None:
    if isinstance(values, dict):
        values = Means(values, 0.0, 1.0 if unit == "ratio" or key.endswith("jain") else np.inf)
    made = Metric(key, label, unit, values, better)
    return None if made.estimate is None else made


def _kept(found: Iterable[Metric | None]) -> Metrics:
    return {metric.key: metric for metric in found if metric is not None}


def _completions(transfers: pl.DataFrame | None, group: str) -> list[Metric | None]:
    return [
        _metric(
            f"group/{group}/completion_p{level}_s",
            f"{label} completion time, {group}",
            "s",
            completion_times(transfers, level / 100),
            "lower",
        )
        for level, label in ((50, "Median"), (95, "95th percentile of the"))
    ]


def _pairs(table: pl.DataFrame, column: str) -> Values:
    return by_repetition(table, pl.col(column).first())


def _sums(table: pl.DataFrame, column: str) -> Values:
    return by_repetition(table, pl.col(column).sum())


def _means(table: pl.DataFrame, column: str) -> Values:
    """Means over the flows that have a value; a repetition where none has is left out."""
    return by_repetition(table, pl.col(column).cast(pl.Float64).mean())


def _ratios(table: pl.DataFrame, part: str, whole: str) -> Values:
    """Of sums; 0/0 is left out."""
    total = pl.col(whole).sum()
    return by_repetition(table, pl.when(total > 0).then(pl.col(part).sum().cast(pl.Float64) / total))


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
    return by_repetition(flows, pl.when(total > 0).then(own / total))


def _fairness(flows: pl.DataFrame) -> Values:
    """Jain's index; a single flow is not more or less fair than another."""
    return by_repetition(flows, pl.when(pl.col("goodput_bps").count() > 1).then(merit.jain()))
