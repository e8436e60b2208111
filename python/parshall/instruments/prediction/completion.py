"""Completion times of transfers, by the latency model of Cardwell, Savage & Anderson.

From the scenario alone the loss is that of the media, and the transfers of a group are taken to run at the
same time, each with an equal share of every link: the share times the RTT limits the window, as a receiver's
window would. The model is out of range where slow start would overflow a buffer, or long flows fill the link.
With a run, the loss and the RTT are the measured ones and the window is the network's affair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from parshall.analysis.models.entry import entry
from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.models.latency import transfer_latency
from parshall.instruments.prediction import validity
from parshall.instruments.prediction.answers import Completion, Reading, ratio
from parshall.instruments.prediction.at_measured import GroupMeasurements
from parshall.instruments.prediction.network import Group, Network
from parshall.instruments.prediction.tables import Table, numbers, texts

MODEL = "cardwell"
MOST_LOSS = 0.1
MOST_SIZES = 20
"""Sizes of one group that get an answer each; the smallest are taken."""
STEADY_SHARE = 0.2
"""Share of the time in the steady state, which the model has as Reno's, above which another control is out of range."""


@dataclass(frozen=True, slots=True)
class _Path:
    """The conditions that transfers of a group meet."""

    reading: Reading
    loss: float
    rtt_s: float
    queueing_s: float
    window_limit_packets: float
    holds_packets: float
    """Packets of a flow that the path and its buffers hold."""


def completion(
    network: Network, given_bps: FloatArray, measured: dict[str, GroupMeasurements], transfers: Table | None
) -> list[Completion]:
    """Predict completion times of every size of every group of transfers.

    Parameters
    ----------
    given_bps
        Of each link: load that does not depend on congestion, bit/s; shape (links,).
    measured
        Groups of the `flows` table.
    transfers
        The `transfers` table, if there is one.
    """
    rows: list[Completion] = []
    for group in network.groups:
        if group.is_tcp and group.kind == "transfer":
            rows.extend(_of_group(network, group, given_bps, measured.get(group.name), transfers))
    return rows


def _of_group(
    network: Network, group: Group, given_bps: FloatArray, seen: GroupMeasurements | None, transfers: Table | None
) -> Iterator[Completion]:
    sizes = sorted({int(size) for size in group.workload["sizes"] if size > 0})[:MOST_SIZES]
    times = {} if transfers is None else _mean_times(transfers, group.name)
    reason = _crowded(network, group)
    alone = _from_scenario(network, group, given_bps)
    for size in sizes:
        row = Completion(group.name, MODEL, alone.reading, size, False, reason)
        yield _with_measured(row if reason else _answer(group, alone, row), times.get(size))
    if seen is not None and seen.rtt_s.size and seen.loss_events is not None:
        path = _Path(
            Reading.MEASURED_EVENTS,
            seen.loss_events,
            float(seen.rtt_s.mean()),
            float(seen.queueing_s.mean()),
            group.window_limit_packets,
            inf,
        )
        for size in sizes:
            row = Completion(group.name, MODEL, path.reading, size, False, None)
            yield _with_measured(_answer(group, path, row), times.get(size))


def _from_scenario(network: Network, group: Group, given_bps: FloatArray) -> _Path:
    rtt_s = float(group.base_rtt_s @ group.weights) / group.count
    share_bps, buffer_s = group.access_bps, inf
    for i in group.path:
        link = network.links[i]
        flows = sum(other.count for other in network.crossing(i) if other.is_tcp)
        share_bps = min(share_bps, max(0.0, link.rate_bps - given_bps[i]) / flows)
        # Slow start cannot count on the room in a queue that drops or marks before it is full.
        acts_early = link.traits.drops != "tail" or (link.traits.marks and (group.tcp or {}).get("ecn"))
        buffer_s = 0.0 if acts_early else min(buffer_s, link.buffer_s(group.packet_bytes))
    per_s = share_bps / (group.packet_bytes * 8)
    medium = 1 - float(np.prod([1 - network.links[i].loss for i in group.path]))
    window = min(group.window_limit_packets, max(1.0, per_s * rtt_s))
    return _Path(Reading.UNCONGESTED, medium, rtt_s, 0.0, window, per_s * (rtt_s + buffer_s))


def _answer(group: Group, path: _Path, row: Completion) -> Completion:
    packets = np.ceil(row.size_bytes / group.payload_bytes)
    if reason := _unfit(group, path):
        return replace(row, reason=reason, loss=path.loss, rtt_s=path.rtt_s)
    latency = transfer_latency(
        packets,
        path.loss,
        path.rtt_s,
        float(group.rto_s(np.asarray(path.rtt_s), path.queueing_s)),
        initial_window=float((group.tcp or {})["initial_window"]),
        packets_per_ack=group.packets_per_ack,
        window_limit_packets=path.window_limit_packets,
        handshake=bool((group.tcp or {})["handshake"]),
        initial_rto_s=group.seconds("initial_rto"),
        delayed_ack_s=group.seconds("delayed_ack"),
    )
    total_s, steady_s = float(latency.total_s), float(latency.steady_s)
    context = replace(row, loss=path.loss, rtt_s=path.rtt_s)
    unlimited = _window_after(group, packets, path)
    if unlimited > path.holds_packets:
        reason = (
            f"slow start reaches a window of {unlimited:.4g} packets, more than the {path.holds_packets:.4g} "
            "that the flow's share of path and buffer holds"
        )
        return replace(context, reason=reason)
    if group.control != "reno" and steady_s > STEADY_SHARE * total_s:
        return replace(
            context, reason=f"most of the time is steady state, which the model has as Reno's, not {group.control}'s"
        )
    return replace(context, in_range=True, reason=None, completion_s=total_s)


def _unfit(group: Group, path: _Path) -> str | None:
    if path.loss > MOST_LOSS:
        return f"loss {path.loss:.3g} is above {MOST_LOSS:g}: beyond the losses the model was validated at"
    if group.control not in entry("cardwell").controls:
        return f"the model does not describe the slow start of {group.control!r}"
    tcp = group.tcp or {}
    if tcp.get("initial_ssthresh") is not None or tcp.get("ssthresh_cached", "off") != "off":
        return "slow start ends at a given threshold; the model has it end with the first loss"
    if tcp.get("persistent"):
        return "a transfer begins with the window of the one before; the model has each begin with slow start"
    if tcp.get("slow_start", "standard") != "standard":
        return f"slow start is {tcp['slow_start']}; the model has the standard one, until the first loss"
    return None


def _window_after(group: Group, packets: float, path: _Path) -> float:
    """Window at the end of slow start if only losses and the receiver's window stop it, packets."""
    latency = transfer_latency(
        packets,
        path.loss,
        path.rtt_s,
        1.0,
        initial_window=float((group.tcp or {})["initial_window"]),
        packets_per_ack=group.packets_per_ack,
        window_limit_packets=group.window_limit_packets,
    )
    return float(latency.window_packets)


def _crowded(network: Network, group: Group) -> str | None:
    """Say why an equal share of the links is not what a transfer gets."""
    if reason := validity.varying_delay(group):
        return reason
    for i in group.path:
        link = network.links[i]
        if link.varies:
            return f"the rate of link {link.name!r} follows a trace; the model has a constant one"
        if link.traits.separates != "flows" and (reason := validity.not_one_queue(link)):
            return reason  # queues of their own give flows the equal shares that the model has
        if reason := validity.dependent_losses(link):
            return reason
        for other in network.crossing(i):
            if other.is_tcp and other.kind != "transfer":
                return f"on link {link.name!r} the share depends on group {other.name!r} ({other.kind})"
    return None


def _mean_times(transfers: Table, group: str) -> dict[int, float]:
    """Mean completion time of each size, s, of which all transfers ended: of the others it is not known."""
    own = texts(transfers, "group") == group
    size, seconds = numbers(transfers, "size_bytes")[own], _durations(transfers)[own]
    sizes = sorted({*size[np.isfinite(size)].tolist()})
    by_size = {int(value): seconds[size == value] for value in sizes}
    return {value: float(times.mean()) for value, times in by_size.items() if np.isfinite(times).all()}


def _durations(transfers: Table) -> FloatArray:
    """From start to completion, s; NaN where a transfer was not finished. The columns are instants."""
    return numbers(transfers, "completion_s") - numbers(transfers, "start_s")


def _with_measured(row: Completion, seconds: float | None) -> Completion:
    return replace(row, measured_completion_s=seconds, ratio=ratio(row.completion_s, seconds))
