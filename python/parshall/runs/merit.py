"""The figures of merit of one repetition: what repetitions are averaged, and runs compared by.

`parshall.runs.summary` says what each means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from parshall.stats.fairness import jain

Value = float | None


@dataclass(frozen=True)
class Repetition:
    """The tables of one repetition."""

    flows: pl.DataFrame
    link: Mapping[str, Any]
    """The bottleneck's row."""
    transfers: pl.DataFrame | None


@dataclass(frozen=True)
class Metric:
    """A figure of merit: what tables call it, its unit, and how a repetition gives it."""

    label: str
    unit: str
    of: Callable[[Repetition], Value]


def _mean_completion(repetition: Repetition) -> Value:
    if repetition.transfers is None:
        return None
    ended = repetition.transfers.drop_nulls("completion_s")
    return None if ended.is_empty() else float((ended["completion_s"] - ended["start_s"]).to_numpy().mean())


def _fairness(repetition: Repetition) -> Value:
    tcp = repetition.flows.filter(pl.col("congestion_control") != "")
    return jain((tcp if len(tcp) else repetition.flows)["goodput_bps"].to_numpy())


def _from_link(column: str) -> Callable[[Repetition], Value]:
    return lambda repetition: repetition.link[column]


def _loss_of(name: str) -> Callable[[Repetition], Value]:
    """The share of a class that is dropped or lost; None for a link that knows no classes."""

    def of(repetition: Repetition) -> Value:
        link = repetition.link
        arrivals = link.get(f"arrivals_{name}_packets")
        if not arrivals:
            return None
        return float(link[f"dropped_{name}_packets"] + link[f"medium_losses_{name}_packets"]) / float(arrivals)

    return of


METRICS: Mapping[str, Metric] = {
    "goodput_bps": Metric(
        "goodput, all flows", "bit/s", lambda repetition: float(repetition.flows["goodput_bps"].sum())
    ),
    "utilisation": Metric("utilisation", "ratio", _from_link("utilisation")),
    "loss_rate": Metric("loss rate", "ratio", _from_link("loss_rate")),
    "loss_rate_in": Metric("loss rate, in profile", "ratio", _loss_of("in")),
    "loss_rate_out": Metric("loss rate, out of profile", "ratio", _loss_of("out")),
    "mean_queue_pkts": Metric("mean queue", "packets", _from_link("mean_queue_packets")),
    "mean_queueing_delay_s": Metric("mean queueing delay", "s", _from_link("mean_queueing_delay_s")),
    "queueing_delay_p99_s": Metric("99th percentile of it", "s", _from_link("queueing_delay_p99_s")),
    "jain": Metric("Jain's index", "1", _fairness),
    "mean_completion_s": Metric("mean completion time", "s", _mean_completion),
}
"""What repetitions are averaged, and runs compared by."""


def bottleneck_name(links: pl.DataFrame) -> str:
    """The link that a run's summary speaks of."""
    names = links["link"].unique(maintain_order=True).to_list()
    if "bottleneck" in names:
        return "bottleneck"
    used = links.group_by("link", maintain_order=True).agg(pl.col("utilisation").mean())
    return str(used.sort("utilisation", descending=True, maintain_order=True)["link"][0])
