"""Metrics that a sweep may name: those of a run's page, by their keys.

| key | what |
| --- | --- |
| ``goodput_bps``, ``loss_rate``, ... | the figures of merit, which are always recorded |
| ``completion_p50_s``, ``completion_p95_s`` | of the transfers that finished |
| ``group/NAME/goodput_bps``, ... | of a group of flows |
| ``link/NAME/utilisation``, ... | of a link |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from parshall.report.metrics import Better, of_group, of_link, overall
from parshall.runs.merit import METRICS, Value
from parshall.schema.problems import did_you_mean


@dataclass(frozen=True)
class Tables:
    """The tables of one run, as the report's metrics read them."""

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


def of_tables(
    flows: pl.DataFrame,
    links: pl.DataFrame,
    transfers: pl.DataFrame | None,
    wanted: Iterable[str],
    groups: pl.DataFrame | None = None,
) -> dict[str, Value]:
    """The wanted metrics of one run; None for what it does not have."""
    tables = Tables(flows, links, transfers, groups=groups)
    found: dict[str, Value] = {}
    for source in dict.fromkeys(key.rpartition("/")[0] for key in wanted):
        kind, _, name = source.partition("/")
        made = {"": overall, "link": of_link, "group": of_group}[kind]
        metrics = made(tables, name) if kind else made(tables)  # type: ignore[operator]
        found |= {key: next(iter(metric.values.values()), None) for key, metric in metrics.items()}
    return {key: found.get(key) for key in wanted}


def problem_with(key: str, groups: Sequence[str], links: Sequence[str]) -> str | None:
    """Why there is no metric of that key, or None."""
    known = [*METRICS, "completion_p50_s", "completion_p95_s"]
    if key in known:
        return None
    known += [f"group/{name}/{last}" for name in groups for last in GROUP]
    known += [f"link/{name}/{last}" for name in links for last in LINK]
    if key in known:
        return None
    return f'found "{key}"; accepted: {", ".join(METRICS)}, group/NAME/..., link/NAME/...{did_you_mean(key, known)}'


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


def label(key: str) -> str:
    """A metric's name for people."""
    place, _, name = key.rpartition("/")
    if not place:
        return METRICS[key].label if key in METRICS else _words(key)
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
