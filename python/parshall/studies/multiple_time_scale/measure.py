"""What a run says: the measured connections' reliable throughput, how well they track the background, what they cost.

| symbol | field | unit |
| --- | --- | --- |
| Lambda | `goodput_mbps` | Mbit/s, of all measured connections together |
| correlation (§5.2.3) | `tracking` | of throughput and background in bins of T_L |

The source does not say in which bins the correlation is taken; traces have bins of 10 ms, in which a window's bursts
hide everything. The background is what the bottleneck forwards less what the measured connection delivers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from parshall.runs.single import Recorded, recorded
from parshall.scenario import Scenario
from parshall.studies.multiple_time_scale.network import CLIENTS, COMPETING, INTERVAL_S, MEASURED

_TABLES = ("flows", "links", "link_samples")


@dataclass(frozen=True)
class Measured:
    """One repetition."""

    goodput_mbps: float
    each_mbps: tuple[float, ...]
    background_mbps: float
    tracking: float | None
    loss_rate: float
    queueing_delay_ms: float
    competing_mbps: Mapping[str, float] = field(default_factory=dict)
    """Reliable throughput of the connections that compete, by control."""
    levels: tuple[float, ...] = ()
    """Link's throughput in bins of `ALONE_BIN_S`, bytes; only without measured connections."""
    delivered: tuple[float, ...] = ()
    """Payload of the measured connection by multiples of T_L, bytes since the beginning; only if asked for."""
    slopes: tuple[float, ...] = ()
    """Its largest slope A at the same times."""


def with_series(scenario: Scenario) -> Measured:
    """As `measured`, and the course of the measured connection."""
    return measured(scenario, series=True)


def measured(scenario: Scenario, *, series: bool = False) -> Measured:
    """Run one repetition and measure."""
    resolved = scenario.resolve()
    sampled = resolved["probes"]["flow_samples"] is not None
    run = recorded(resolved, *_TABLES, *(["flow_samples"] if sampled else []), source=scenario.source)
    packet_bytes, header_bytes = (resolved["flows"][0][key] for key in ("packet_bytes", "header_bytes"))
    flows = run.tables["flows"]
    mine = flows.filter(pl.col("group") == MEASURED)
    clients = flows.filter(pl.col("group") == CLIENTS)
    link = run.tables["links"].row(0, named=True)
    forwarded = _forwarded(run)
    each = tuple(float(value) / 1e6 for value in mine["goodput_bps"])
    return Measured(
        goodput_mbps=sum(each),
        each_mbps=each,
        background_mbps=float(clients["throughput_bps"].sum()) / 1e6,
        tracking=_tracking(run, forwarded, packet_bytes / (packet_bytes - header_bytes)) if sampled else None,
        loss_rate=float(link["loss_rate"]),
        queueing_delay_ms=float(link["mean_queueing_delay_s"]) * 1e3,
        competing_mbps={
            group.removeprefix(COMPETING): goodput / 1e6
            for group, goodput in flows.select("group", "goodput_bps").iter_rows()
            if group.startswith(COMPETING)
        },
        levels=() if each else tuple(forwarded[int(forwarded.size / 10) :].tolist()),
        **(_series(run) if series else {}),
    )


def _series(run: Recorded) -> dict[str, tuple[float, ...]]:
    """By sample, a T_L apart; a connection has none before it starts."""
    samples = _samples(run)
    return {
        "delivered": tuple(samples["delivered_bytes"].to_list()),
        "slopes": tuple(samples["largest_slope"].drop_nulls().to_list()),
    }


def _samples(run: Recorded) -> pl.DataFrame:
    """Of the measured connection, which is flow 0, in the order of time."""
    return run.tables["flow_samples"].filter(pl.col("flow") == 0).sort("time_s")


def _forwarded(run: Recorded) -> np.ndarray:
    """Bytes that the bottleneck forwarded, by bin of T_L."""
    return run.tables["link_samples"]["forwarded_bytes"].to_numpy().astype(np.float64)


def _tracking(run: Recorded, forwarded: np.ndarray, on_the_link: float) -> float | None:
    """Correlation of the measured connection's throughput with the background's after the warm-up.

    `on_the_link`: bytes there for a byte of payload; every packet is full.
    """
    samples = _samples(run)
    ends = np.rint(samples["time_s"].to_numpy() / INTERVAL_S).astype(np.int64)
    delivered = np.zeros(forwarded.size + 1)
    known = ends <= forwarded.size
    delivered[ends[known]] = samples["delivered_bytes"].to_numpy()[known] * on_the_link
    own = np.diff(np.maximum.accumulate(delivered))
    start = forwarded.size // 10
    own, others = own[start:], (forwarded - own)[start:]
    if own.size < 3 or own.std() == 0 or others.std() == 0:
        return None
    return float(np.corrcoef(own, others)[0, 1])
