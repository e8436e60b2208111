"""Metrics that a sweep may name: those of a run's page, by their keys.

| key | what |
| --- | --- |
| ``goodput_bps``, ``loss_rate``, ... | the figures of merit (`parshall.runs.merit`) |
| ``group/NAME/goodput_bps``, ... | of a group of flows |
| ``link/NAME/utilisation``, ... | of a link |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from parshall.report.metrics import Metric, of_group, of_link, overall
from parshall.runs.merit import METRICS, Better
from parshall.schema.problems import did_you_mean
from parshall.stats.estimates import Series


@dataclass(frozen=True)
class Tables:
    """The tables of runs, as the report's metrics read them."""

    flows: pl.DataFrame
    links: pl.DataFrame
    transfers: pl.DataFrame | None
    scenario: Any = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    predicted: Sequence[Any] = ()
    rounds: pl.DataFrame | None = None
    flow_samples: pl.DataFrame | None = None
    link_samples: pl.DataFrame | None = None
    delay_histogram: pl.DataFrame | None = None
    groups: pl.DataFrame | None = None
    latency_histogram: pl.DataFrame | None = None
    internals: pl.DataFrame | None = None


def of_tables(tables: Tables, wanted: Sequence[str], link: str | None = None) -> dict[str, Series]:
    """The wanted metrics of tables; what there is not is left out.

    Parameters
    ----------
    link
        The link that metrics without a name of their own speak of; else the busiest one.
    """
    found: dict[str, Metric] = {}
    for source in dict.fromkeys(key.rpartition("/")[0] for key in wanted):
        kind, _, name = source.partition("/")
        if kind == "link":
            found |= of_link(tables, name)
        elif kind == "group":
            found |= of_group(tables, name)
        else:
            found |= overall(tables, link, wanted, every=True)
    return {key: found[key].series for key in wanted if key in found}


def problem_with(key: str, groups: Sequence[str], links: Sequence[str]) -> str | None:
    """Why there is no metric of that key, or None."""
    known = [*METRICS]
    known += [f"group/{name}/{last}" for name in groups for last in GROUP]
    known += [f"link/{name}/{last}" for name in links for last in LINK]
    if key in known:
        return None
    return f'found "{key}"; accepted: {", ".join(METRICS)}, group/NAME/..., link/NAME/...{did_you_mean(key, known)}'


def undecided(key: str, links: Sequence[str]) -> str | None:
    """Why a metric cannot decide how often points are repeated, or None: the link must be known before any run is."""
    if key not in METRICS or not METRICS[key].of_link or len(links) < 2:
        return None
    names = {"mean_queue_pkts": "queue_packets", "mean_queueing_delay_s": "queueing_delay_s"}
    accepted = ", ".join(f"link/{link}/{names.get(key, key)}" for link in links)
    return f'found "{key}", of the busiest link, which is known only when all runs are done; accepted: {accepted}'


GROUP = (
    "goodput_bps",
    "share",
    "loss_rate",
    "retransmitted",
    "timeouts",
    "cwnd_packets",
    "rtt_s",
    "jain",
    "one_way_delay_s",
    "one_way_delay_p50_s",
    "one_way_delay_p95_s",
    "one_way_delay_p99_s",
    "max_one_way_delay_s",
    "jitter_s",
    "rtt_p50_s",
    "rtt_p95_s",
    "rtt_p99_s",
    "completion_p50_s",
    "completion_p95_s",
)
LINK = (
    "utilisation",
    "loss_rate",
    "mark_rate",
    "queue_packets",
    "queueing_delay_s",
    "queueing_delay_p50_s",
    "queueing_delay_p99_s",
    "max_queueing_delay_s",
)
"""The last parts of keys; a test holds them against the report's."""

_UNITS = {"_bps": "bit/s", "_s": "s", "_packets": "packets"}
_RATIOS = ("share", "loss_rate", "mark_rate", "retransmitted", "utilisation")
_HIGHER = ("goodput_bps", "utilisation", "jain")
_LOWER = (
    "loss_rate",
    "delay_s",
    "delay_p50_s",
    "delay_p95_s",
    "delay_p99_s",
    "jitter_s",
    "rtt_s",
    "rtt_p50_s",
    "rtt_p95_s",
    "rtt_p99_s",
    "completion_s",
    "completion_p50_s",
    "completion_p95_s",
)


def label(key: str, link: str | None = None) -> str:
    """A metric's name for people, with the link that it speaks of if that is given."""
    place, _, name = key.rpartition("/")
    if not place:
        metric = METRICS.get(key)
        of = f", {link}" if link is not None and metric is not None and metric.of_link else ""
        return f"{metric.label}{of}" if metric is not None else _words(key)
    return f"{_words(name)}, {place.partition('/')[2]}"


def unit(key: str) -> str:
    """A metric's unit."""
    if key in METRICS:
        return METRICS[key].unit
    name = key.rpartition("/")[2]
    if name in _RATIOS:
        return "ratio"
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "1")


def better(key: str) -> Better | None:
    """Which direction is better, where one is."""
    name = key.rpartition("/")[2]
    if name.endswith(_HIGHER):
        return "higher"
    return "lower" if name.endswith(_LOWER) else None


def _words(name: str) -> str:
    for ending in _UNITS:
        name = name.removesuffix(ending)
    words = name.replace("_", " ")
    return words.replace("p50", "median").replace("p95", "95th percentile").replace("p99", "99th percentile")
