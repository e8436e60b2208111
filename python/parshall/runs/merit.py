"""The figures of merit of a run: what repetitions are averaged or pooled, and runs compared by.

`parshall.runs.summary` says what each means. Each is computed from the record tables for all repetitions at once, and
from nothing else, so that what is defined anew here is new everywhere, in runs that were made before too.

**The link that matters.** Figures of a link (utilisation, loss, queue, delay) speak of one: the one that is used most.
Of links that are used as much to within 1 % of their capacity, it is the one where packets wait longest. It is chosen
once for all repetitions of a run, all points of a sweep and both sides of a comparison, from means over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import polars as pl

from parshall.stats.estimates import BinnedQuantiles, Bins, Means, Quantiles, Series

Better = Literal["higher", "lower"]
Value = float | None

_AS_BUSY = 0.01
BUSY = 0.8
"""From this utilisation on a link is called busy."""

_PICOSECOND = 1e-12


@dataclass(frozen=True)
class Tables:
    """The record tables that figures of merit are made of; `repetition` numbers whatever is averaged over.

    `flows` may have the column `forward`; a dumbbell's flows in the other direction have it false.
    """

    flows: pl.DataFrame
    links: pl.DataFrame
    transfers: pl.DataFrame | None = None
    delay_histogram: pl.DataFrame | None = None


@dataclass(frozen=True)
class Metric:
    """A figure of merit: what people call it, its unit, and how tables give it; `of_link` if it speaks of one link."""

    label: str
    unit: str
    of: Callable[[Tables, str], Series]
    better: Better | None = None
    of_link: bool = False


def by_repetition(table: pl.DataFrame, value: pl.Expr) -> dict[int, float]:
    """`value` in each repetition; a repetition where it is null or not finite is left out."""
    rows = table.group_by("repetition").agg(value=value.cast(pl.Float64)).sort("repetition")
    rows = rows.filter(pl.col("value").is_finite())
    return {int(repetition): float(number) for repetition, number in rows.iter_rows()}


def means(table: pl.DataFrame, value: pl.Expr, unit: str) -> Means:
    """`value` in each repetition, of a quantity that is not negative; a ratio is not above 1 either."""
    return Means(by_repetition(table, value), 0.0, 1.0 if unit == "ratio" else np.inf)


def jain() -> pl.Expr:
    """Jain's index of the goodputs; null without any, or if all are 0 (as `parshall.stats.fairness`)."""
    rates = pl.col("goodput_bps").drop_nulls()
    squares = (rates**2).sum()
    return pl.when(squares > 0).then(rates.sum() ** 2 / (rates.len() * squares))


def completion_times(transfers: pl.DataFrame | None, probability: float) -> Quantiles:
    """A quantile of the times from start to completion, of the transfers that finished."""
    if transfers is None:
        return Quantiles({}, probability)
    ended = transfers.drop_nulls("completion_s").select(
        "repetition", duration_s=(pl.col("completion_s") - pl.col("start_s")).cast(pl.Float64)
    )
    return Quantiles(
        {int(number): rows["duration_s"].to_numpy() for number, rows in _parted(ended)},
        probability,
    )


def queueing_delays(histogram: pl.DataFrame | None, link: str, probability: float) -> BinnedQuantiles:
    """A quantile of the waits of all packets at a link."""
    if histogram is None:
        return BinnedQuantiles({}, probability)
    rows = histogram.filter(pl.col("link") == link).sort("repetition", "low_s")
    return BinnedQuantiles({int(number): delay_bins(rows) for number, rows in _parted(rows)}, probability)


def latencies(histogram: pl.DataFrame | None, group: str, measure: str, probability: float) -> BinnedQuantiles:
    """A quantile of what the packets of a group took: `measure` is ``one_way_delay`` or ``rtt``."""
    if histogram is None:
        return BinnedQuantiles({}, probability)
    rows = histogram.filter((pl.col("group") == group) & (pl.col("measure") == measure)).sort("repetition", "low_s")
    return BinnedQuantiles({int(number): delay_bins(rows, "samples") for number, rows in _parted(rows)}, probability)


def delay_bins(rows: pl.DataFrame, counts: str = "packets") -> Bins:
    """Rows of a histogram of delays as bins.

    Delays are whole picoseconds, so the longest of a bin is one below its end.

    Parameters
    ----------
    counts
        The column that says how many are in a bin.
    """
    low = rows["low_s"].to_numpy()
    high = np.maximum(rows["high_s"].to_numpy() - _PICOSECOND, low)
    high[:-1] = np.minimum(high[:-1], low[1:])  # rounding of seconds must not make bins overlap
    return Bins(low, high, rows[counts].to_numpy().astype(np.float64))


def busiest(links: pl.DataFrame) -> str:
    """The link that a summary speaks of; the module says which."""
    used = links.group_by("link", maintain_order=True).agg(
        pl.col("utilisation").mean(), pl.col("mean_queueing_delay_s").mean()
    )
    as_busy = used.filter(pl.col("utilisation") >= pl.col("utilisation").max() - _AS_BUSY)
    waiting = as_busy.sort("mean_queueing_delay_s", descending=True, nulls_last=True, maintain_order=True)
    return str((waiting if len(waiting) else used)["link"][0])


def busy(links: pl.DataFrame) -> list[str]:
    """The links that are used to more than 80 %, or else the busiest; that one first."""
    first = busiest(links)
    used = links.group_by("link", maintain_order=True).agg(pl.col("utilisation").mean())
    others = used.filter((pl.col("utilisation") > BUSY) & (pl.col("link") != first))["link"].to_list()
    return [first, *others]


def backward(scenario: Mapping[str, Any]) -> frozenset[str]:
    """The groups that send from the far end of a dumbbell, of a scenario as it is written or as it is resolved."""
    groups = [group for group in scenario.get("flows") or scenario.get("groups") or () if isinstance(group, Mapping)]
    names = [link.get("name") for link in scenario.get("links") or () if isinstance(link, Mapping)]
    dumbbell = names == ["bottleneck", "reverse"]
    return frozenset(
        str(group.get("name"))
        for group in groups
        if group.get("direction") == "reverse" or (dumbbell and group.get("path") == [1])
    )


def directed(flows: pl.DataFrame, groups: Iterable[str]) -> pl.DataFrame:
    """Flows with the column `forward`: false for these groups."""
    return flows.with_columns(forward=~pl.col("group").is_in(list(groups)))


def _parted(table: pl.DataFrame) -> Iterable[tuple[int, pl.DataFrame]]:
    ordered = table.sort("repetition", maintain_order=True)
    for rows in ordered.partition_by("repetition", maintain_order=True):
        yield rows["repetition"][0], rows


def _forward(flows: pl.DataFrame) -> pl.Expr:
    return pl.col("forward") if "forward" in flows.columns else pl.lit(value=True)


def _goodput(tables: Tables, _link: str, *, back: bool) -> Means:
    flows = tables.flows
    way = ~_forward(flows) if back else _forward(flows)
    return means(flows.filter(way), pl.col("goodput_bps").sum(), "bit/s")


def _fairness(tables: Tables, _link: str) -> Means:
    tcp = pl.col("congestion_control") != ""
    flows = tables.flows.filter(tcp | ~tcp.any().over("repetition"))
    return Means(by_repetition(flows, jain()), 0.0, 1.0)


def _completion(tables: Tables, _link: str) -> Means:
    if tables.transfers is None:
        return Means({})
    ended = tables.transfers.drop_nulls("completion_s")
    return means(ended, (pl.col("completion_s") - pl.col("start_s")).mean(), "s")


def _of_link(tables: Tables, link: str, *, value: pl.Expr, unit: str) -> Means:
    return means(tables.links.filter(pl.col("link") == link), value, unit)


def _class_loss(tables: Tables, link: str, *, name: str) -> Means:
    """The share of a class that is dropped or lost; nothing for a link that knows no classes."""
    arrived = f"arrivals_{name}_packets"
    if arrived not in tables.links.columns:
        return Means({})
    lost = pl.col(f"dropped_{name}_packets").sum() + pl.col(f"medium_losses_{name}_packets").sum()
    total = pl.col(arrived).sum()
    share = pl.when(total > 0).then(lost.cast(pl.Float64) / total)
    return _of_link(tables, link, value=share, unit="ratio")


def _link(label: str, unit: str, column: str, better: Better | None) -> Metric:
    return Metric(label, unit, partial(_of_link, value=pl.col(column).first(), unit=unit), better, of_link=True)


METRICS: Mapping[str, Metric] = {
    "goodput_bps": Metric("goodput, all flows", "bit/s", partial(_goodput, back=False), "higher"),
    "goodput_reverse_bps": Metric("goodput, other direction", "bit/s", partial(_goodput, back=True), "higher"),
    "utilisation": _link("utilisation", "ratio", "utilisation", "higher"),
    "loss_rate": _link("loss rate", "ratio", "loss_rate", "lower"),
    "loss_rate_in": Metric("loss rate, in profile", "ratio", partial(_class_loss, name="in"), "lower", of_link=True),
    "loss_rate_out": Metric(
        "loss rate, out of profile", "ratio", partial(_class_loss, name="out"), "lower", of_link=True
    ),
    "mean_queue_pkts": _link("mean queue", "packets", "mean_queue_packets", None),
    "mean_queueing_delay_s": _link("mean queueing delay", "s", "mean_queueing_delay_s", "lower"),
    "queueing_delay_p99_s": Metric(
        "99th percentile of the queueing delay",
        "s",
        lambda tables, link: queueing_delays(tables.delay_histogram, link, 0.99),
        "lower",
        of_link=True,
    ),
    "jain": Metric("Jain's index", "1", _fairness, "higher"),
    "mean_completion_s": Metric("mean completion time", "s", _completion, "lower"),
    "completion_p50_s": Metric(
        "median completion time", "s", lambda tables, _: completion_times(tables.transfers, 0.5), "lower"
    ),
    "completion_p95_s": Metric(
        "95th percentile of the completion time",
        "s",
        lambda tables, _: completion_times(tables.transfers, 0.95),
        "lower",
    ),
}
"""What repetitions are averaged or pooled, and runs compared by."""
