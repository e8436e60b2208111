"""The measures of a run: reliable throughput, tracking of the background, and the cost for others.

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
from typing import Any

import numpy as np
import polars as pl

from parshall.instruments.simulation.single import Recorded, is_sampled, recorded
from parshall.report.starved import locked_out, with_shares
from parshall.scenario import Scenario
from parshall_studies.multiple_time_scale.network import BOTTLENECK, CLIENTS, COMPETING, INTERVAL_S, MEASURED

_TABLES = ("flows", "links", "link_samples")
_OPTIONAL = ("flow_samples", "transfers")


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
    least_share: float | None = None
    """The least throughput of these, over an equal share of all flows; None: none competes."""
    locked_out: tuple[str, ...] = ()
    """The groups of connections that got next to nothing (`parshall.report.starved`), one a connection."""
    levels: tuple[float, ...] = ()
    """Link's throughput in bins of `ALONE_BIN_S`, bytes; only without measured connections."""
    others: tuple[float, ...] = ()
    """The background by interval of T_L from the beginning, bytes; only if asked for."""
    delivered: tuple[float, ...] = ()
    """Payload of the measured connection by multiples of T_L, bytes since the beginning; only if asked for."""
    completion_s: float | None = None
    """Mean time from start to completion of its transfers; None: it has none, or not all ended (`_completion`)."""
    slopes: tuple[float, ...] = ()
    """Its largest slope A at the same times."""


def with_series(scenario: Scenario) -> Measured:
    """As `measured`, and the course of the measured connection."""
    return measured(scenario, series=True)


def measured(scenario: Scenario, *, series: bool = False) -> Measured:
    """Run one repetition and measure."""
    resolved = scenario.resolve()
    wanted = [*_TABLES, *(name for name in _OPTIONAL if is_sampled(resolved, name))]
    return measured_of(recorded(resolved, *wanted, source=scenario.source), resolved, series=series)


def measured_of(run: Recorded, resolved: Mapping[str, Any], *, series: bool = False) -> Measured:
    """The measures, from the tables of one repetition."""
    packet_bytes, header_bytes = (resolved["flows"][0][key] for key in ("packet_bytes", "header_bytes"))
    flows = run.tables["flows"]
    mine = flows.filter(pl.col("group") == MEASURED)
    clients = flows.filter(pl.col("group") == CLIENTS)
    link = run.tables["links"].row(by_predicate=pl.col("link") == BOTTLENECK, named=True)
    forwarded = _forwarded(run)
    own = None
    if "flow_samples" in run.tables:
        own = _own(run, packet_bytes / (packet_bytes - header_bytes))
    each = tuple(float(value) / 1e6 for value in mine["goodput_bps"])
    return Measured(
        goodput_mbps=sum(each),
        each_mbps=each,
        background_mbps=float(clients["throughput_bps"].sum()) / 1e6,
        tracking=_tracking(own, forwarded),
        loss_rate=float(link["loss_rate"]),
        queueing_delay_ms=float(link["mean_queueing_delay_s"]) * 1e3,
        competing_mbps={
            group.removeprefix(COMPETING): goodput / 1e6
            for group, goodput in flows.select("group", "goodput_bps").iter_rows()
            if group.startswith(COMPETING)
        },
        least_share=_least_share(flows),
        locked_out=tuple(locked_out(flows)["group"].cast(pl.String)),
        completion_s=_completion(run, resolved),
        levels=() if each else tuple(forwarded[int(forwarded.size / 10) :].tolist()),
        **(_series(run, own, forwarded) if series else {}),
    )


def _series(run: Recorded, own: np.ndarray | None, forwarded: np.ndarray) -> dict[str, tuple[float, ...]]:
    """By sample, a T_L apart; a connection has none before it starts."""
    samples = _samples(run)
    return {
        "others": () if own is None else tuple(_others(own, forwarded).tolist()),
        "delivered": tuple(samples["delivered_bytes"].to_list()),
        "slopes": tuple(samples["largest_slope"].drop_nulls().to_list()),
    }


def _samples(run: Recorded) -> pl.DataFrame:
    """Of the measured connection, which is flow 0, in the order of time."""
    return run.tables["flow_samples"].filter(pl.col("flow") == 0).sort("time_s")


def _forwarded(run: Recorded) -> np.ndarray:
    """Bytes that the bottleneck forwarded, by bin of T_L."""
    samples = run.tables["link_samples"].filter(pl.col("link") == BOTTLENECK)
    return samples["forwarded_bytes"].to_numpy().astype(np.float64)


def _least_share(flows: pl.DataFrame) -> float | None:
    """Of the competing connections."""
    competing = with_shares(flows).filter(pl.col("group").cast(pl.String).str.starts_with(COMPETING))
    return float(competing["share"].to_numpy().min()) if competing.height else None


def _completion(run: Recorded, resolved: Mapping[str, Any]) -> float | None:
    """Mean time that the measured connections' transfers took from start to completion, s; None unless all ended.

    Of those that began after the first tenth of the run and before its last tenth: when a transfer begins says nothing
    of how long it takes, and the last tenth is there for all of them to end.
    """
    if "transfers" not in run.tables:
        return None
    end_s = resolved["duration_ps"] / 1e12
    begun = pl.col("start_s").is_between(resolved["warm_up_ps"] / 1e12, 0.9 * end_s, closed="left")
    mine = run.tables["transfers"].filter(pl.col("group") == MEASURED, begun)
    took = (mine["completion_s"] - mine["start_s"]).to_numpy()
    return float(took.mean()) if took.size and np.isfinite(took).all() else None


def _own(run: Recorded, on_the_link: float) -> np.ndarray:
    """Bytes on the link that the measured connection delivers by bin of T_L, up to the last sample.

    A run's end is no sample: its last bin is left out. `on_the_link`: bytes there for a byte of payload; every packet
    is full.
    """
    samples = _samples(run)
    ends = np.rint(samples["time_s"].to_numpy() / INTERVAL_S).astype(np.int64)
    delivered = np.zeros(ends.max(initial=0) + 1)
    delivered[ends] = samples["delivered_bytes"].to_numpy() * on_the_link
    return np.asarray(np.diff(np.maximum.accumulate(delivered)))


def _others(own: np.ndarray, forwarded: np.ndarray) -> np.ndarray:
    """The background by bin of T_L, where what the connection delivers is known."""
    return np.asarray(forwarded[: own.size] - own)


def _tracking(own: np.ndarray | None, forwarded: np.ndarray) -> float | None:
    """Correlation of the measured connection's throughput with the background's after the warm-up."""
    if own is None:
        return None
    start = forwarded.size // 10
    own, others = own[start:], _others(own, forwarded)[start:]
    if own.size < 3 or own.std() == 0 or others.std() == 0:
        return None
    return float(np.corrcoef(own, others)[0, 1])
