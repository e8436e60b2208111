"""Throughput at the loss and round-trip time that a run measured: how good the formulas themselves are.

| symbol | column of `flows` | |
| --- | --- | --- |
| p, loss events | (`loss_events` + `timeouts` + `ecn_reductions`) / `packets_sent` | what the formulas' sources count |
| p, lost packets | `packets_dropped` / `packets_sent` | what a link counts |
| RTT | `mean_rtt_s`, of each flow | s |
| q | `mean_rtt_s` - `rtt_base_s` | s, queueing delay |

A formula gives what is sent at p. Of that the share of lost packets does not arrive, whatever p counts, if it is known.
Losses are pooled over the flows of a group (a flow sees few), round-trip times are each flow's own. A series
of back-to-back timeouts counts once a timeout, where PFTK counts it once: at high loss its p is somewhat too
large here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from parshall.analysis.models.answer import Conditions, ThroughputModel
from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.models.throughput import models_for
from parshall.instruments.prediction import validity
from parshall.instruments.prediction.answers import Reading, Throughput, ratio
from parshall.instruments.prediction.network import Group, Network, NetworkLink
from parshall.instruments.prediction.tables import Table, numbers, texts


@dataclass(frozen=True, slots=True)
class GroupMeasurements:
    """A group in the `flows` table, all repetitions together."""

    repetitions: int
    goodput_bps: float
    """Of the group, mean over repetitions."""
    loss_events: float | None
    """Loss events a packet sent; `None` if nothing was sent."""
    lost_packets: float | None
    rtt_s: FloatArray
    """Of each flow of each repetition; the group's mean where a flow has none. Empty if no flow has one."""
    queueing_s: FloatArray


def read(flows: Table) -> dict[str, GroupMeasurements]:
    """Return the measurements of each group.

    Raises
    ------
    KeyError
        If a column is missing.
    """
    group = texts(flows, "group")
    columns = {
        name: numbers(flows, name)
        for name in (
            *("repetition", "goodput_bps", "packets_sent", "packets_dropped", "loss_events", "timeouts"),
            *("ecn_reductions", "mean_rtt_s", "rtt_base_s"),
        )
    }
    return {
        name: _measured({key: column[group == name] for key, column in columns.items()})
        for name in sorted({*group.tolist()})
    }


def _measured(flows: dict[str, FloatArray]) -> GroupMeasurements:
    repetitions = len({*flows["repetition"].tolist()})
    sent = float(flows["packets_sent"].sum())
    events = float((flows["loss_events"] + flows["timeouts"] + flows["ecn_reductions"]).sum())
    rtt = flows["mean_rtt_s"]
    known = np.isfinite(rtt) & (rtt > 0)
    rtt = np.where(known, rtt, rtt[known].mean()) if np.any(known) else np.empty(0)
    return GroupMeasurements(
        repetitions=repetitions,
        goodput_bps=float(flows["goodput_bps"].sum()) / repetitions,
        loss_events=_share(events, sent),
        lost_packets=_share(float(flows["packets_dropped"].sum()), sent),
        rtt_s=rtt,
        queueing_s=np.maximum(rtt - flows["rtt_base_s"], 0) if rtt.size else np.empty(0),
    )


def _share(events: float, sent: float) -> float | None:
    """Events a packet; None if nothing was sent, or not all of them are known (a kernel does not tell all)."""
    return events / sent if sent > 0 and np.isfinite(events) else None


def throughput(network: Network, measured: dict[str, GroupMeasurements]) -> list[Throughput]:
    """Ask every model that describes a measured group of TCP flows."""
    rows: list[Throughput] = []
    for group in network.groups:
        seen = measured.get(group.name)
        if group.is_tcp and seen is not None:
            for model in models_for(group.control):
                rows.append(_answer(network, group, model, seen, Reading.MEASURED_EVENTS))
                if model.needs_loss:
                    rows.append(_answer(network, group, model, seen, Reading.MEASURED_PACKETS))
    return rows


def _answer(
    network: Network, group: Group, model: ThroughputModel, seen: GroupMeasurements, reading: Reading
) -> Throughput:
    loss = seen.loss_events if reading == Reading.MEASURED_EVENTS else seen.lost_packets

    def out(reason: str) -> Throughput:
        rtt_s = float(seen.rtt_s.mean()) if seen.rtt_s.size else None
        return Throughput(
            group=group.name,
            control=group.control,
            model=model.name,
            reading=reading,
            in_range=False,
            reason=reason,
            loss=loss,
            rtt_s=rtt_s,
            measured_goodput_bps=seen.goodput_bps,
        )

    if seen.rtt_s.size == 0:
        return out("the flows sent nothing, or no round-trip time was measured")
    if loss is None:
        return out("the flows sent nothing, or how many losses they had is not known")
    if reason := validity.workload_or_recovery(group) or _finished(network, group, seen):
        return out(reason)
    if not 0 <= loss < 1:
        return out(f"a measured loss of {loss:.3g} is no probability of a flow that sends")
    links = [network.links[i] for i in group.path]
    conditions = Conditions.of(
        loss=loss,
        rtt_s=seen.rtt_s,
        rto_s=group.rto_s(seen.rtt_s, seen.queueing_s),
        packets_per_ack=group.packets_per_ack,
        window_limit_packets=group.window_limit_packets,
        independent_losses=_independent(links, seen),
        queueing_delay_s=seen.queueing_s,
        parameters=group.parameters,
        lost=seen.lost_packets,
    )
    sent, delivered = (rate(conditions, group.access_per_s) for rate in (model.sent, model.delivered))
    held_back = model.needs_loss and loss == 0 and np.all(np.isfinite(sent))
    if not held_back and (reason := model.reason(conditions)):
        return out(reason)
    per_flow_bps = float(delivered.mean()) * group.payload_bytes * 8
    goodput_bps = per_flow_bps * delivered.size / seen.repetitions
    return Throughput(
        group=group.name,
        control=group.control,
        model=model.name,
        reading=reading,
        in_range=True,
        reason=None,
        goodput_bps=goodput_bps,
        flow_goodput_bps=per_flow_bps,
        window_packets=float((sent * conditions.rtt_s).mean()),
        loss=loss,
        rtt_s=float(seen.rtt_s.mean()),
        limited_by=_limited_by(group, sent, conditions.rtt_s),
        measured_goodput_bps=seen.goodput_bps,
        ratio=ratio(goodput_bps, seen.goodput_bps),
    )


def _independent(links: list[NetworkLink], seen: GroupMeasurements) -> bool:
    """True if most losses were a medium's, or those of random early detection."""
    medium = 1 - float(np.prod([1 - link.loss for link in links]))
    random_drops = all(link.drops_at_random for link in links)
    mostly_medium = medium >= (seen.lost_packets or 0.0) / 2
    return (random_drops or mostly_medium) and all(link.independent_losses for link in links)


def _limited_by(group: Group, sent: FloatArray, rtt_s: FloatArray) -> str:
    if np.mean(sent >= group.access_per_s * (1 - 1e-9)) > 0.5:
        return "access link"
    return "window" if np.mean(sent * rtt_s >= group.window_limit_packets * (1 - 1e-9)) > 0.5 else "loss"


def _finished(network: Network, group: Group, seen: GroupMeasurements) -> str | None:
    """Transfers that were over before the run was: their goodput is not a rate while sending."""
    if group.kind != "transfer":
        return None
    asked = 8 * sum(group.workload["sizes"]) * group.count
    delivered = seen.goodput_bps * (network.duration_s - network.warm_up_s)
    return "its transfers ended within the run: see completion times" if delivered > 0.99 * asked else None


def beside(row: Throughput, seen: GroupMeasurements | None) -> Throughput:
    """Put the measured goodput beside an answer."""
    if seen is None:
        return row
    return replace(row, measured_goodput_bps=seen.goodput_bps, ratio=ratio(row.goodput_bps, seen.goodput_bps))
