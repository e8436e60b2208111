"""Datagram loads, and the queues of Poisson traffic.

| symbol | meaning | unit |
| --- | --- | --- |
| lambda | packets a second that reach a link's queue | 1/s |
| 1/mu | mean transmission time of a packet | s |

A superposition of Poisson flows is one; losses on a link's medium thin it, which leaves it Poisson. Only the
first link of a path sees Poisson arrivals, and no link behind an access link, which spaces them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isinf

import numpy as np

from parshall.analysis.models.queues import LARGEST_MD1K, Queue, md1, md1k, mg1, mm1, mm1k
from parshall.instruments.prediction import validity
from parshall.instruments.prediction.answers import Datagrams, LinkQueue, ratio
from parshall.instruments.prediction.at_measured import Measured
from parshall.instruments.prediction.loads import given_loads
from parshall.instruments.prediction.network import Group, Link, Network
from parshall.instruments.prediction.tables import Table, numbers, texts
from parshall.scenario import properties


def datagrams(
    network: Network, measured: Mapping[str, Measured], known_loss: Mapping[str, float] | None = None
) -> list[Datagrams]:
    """Predict what the groups of datagram flows offer and deliver; `known_loss` is what another model says of some."""
    loads = given_loads(network)
    rows = []
    for group in network.groups:
        if group.is_tcp or group.name not in loads:
            continue
        row = Datagrams(group.name, True, None, loads[group.name])
        if known_loss and group.name in known_loss:
            loss = known_loss[group.name]
            row = replace(row, goodput_bps=row.offered_bps * (1 - loss) * _payload_share(group), loss=loss)
        else:
            row = _delivered(network, group, loads, row)
        seen = measured.get(group.name)
        if seen is not None:
            row = replace(row, measured_goodput_bps=seen.goodput_bps, ratio=ratio(row.goodput_bps, seen.goodput_bps))
        rows.append(row)
    return rows


def _delivered(network: Network, group: Group, loads: Mapping[str, float], row: Datagrams) -> Datagrams:
    arriving = row.offered_bps
    for i in group.path:
        link = network.links[i]
        for other in network.crossing(i):
            if other.is_tcp or other.name not in loads:
                reason = f"on link {link.name!r} losses depend on what group {other.name!r} ({other.kind}) sends"
                return replace(row, in_range=False, reason=reason)
        total = sum(loads[other.name] for other in network.crossing(i)) * (1 - link.loss)
        if (link.traits.own_rate or total > link.rate_bps) and (apart := validity.not_one_queue(link)):
            return replace(row, in_range=False, reason=apart)
        arriving *= 1 - link.loss
        arriving *= 1 - _queue_loss(network, i, total)
    return replace(row, goodput_bps=arriving * _payload_share(group), loss=1 - arriving / row.offered_bps)


def _queue_loss(network: Network, i: int, total: float) -> float:
    """Loss at a link's queue that is offered `total` bit/s: a finite queue's where it is known, and else the excess."""
    link = network.links[i]
    known = [row.loss for row in _of_link(network, i) if row.model.endswith("k") and row.loss is not None]
    return known[0] if known else 1 - link.rate_bps / max(total, link.rate_bps)


def _payload_share(group: Group) -> float:
    """Payload bits a bit on the wire."""
    if group.kind != "poisson":
        return group.payload_bytes / group.packet_bytes
    header = group.packet_bytes - group.payload_bytes
    sizes = properties.quantiles(group.workload["size"], (np.arange(4096) + 0.5) / 4096)
    return float(np.maximum(sizes - header, 0).mean() / sizes.mean())


@dataclass(frozen=True, slots=True)
class _Arrivals:
    """A Poisson stream of packets at a link."""

    per_s: float
    mean_bytes: float
    cv2: float


def queues(network: Network, links: Table | None) -> list[LinkQueue]:
    """Predict the queues of the links that Poisson datagrams cross; other links have no row."""
    measured_queues = {} if links is None else mean_queues(links)
    rows: list[LinkQueue] = []
    for i, link in enumerate(network.links):
        crossing = network.crossing(i)
        if not any(group.kind == "poisson" for group in crossing):
            continue
        for row in _of_link(network, i):
            seen = measured_queues.get(link.name)
            rows.append(replace(row, measured_mean_queue_packets=seen, ratio=ratio(row.mean_queue_packets, seen)))
    return rows


def _of_link(network: Network, i: int) -> Iterator[LinkQueue]:
    link = network.links[i]
    if reason := _not_poisson(network, i):
        yield LinkQueue(link.name, "mg1", False, reason)
        return
    arrivals = _arrivals(network.crossing(i), link)
    served = link.rate_bps / (8 * arrivals.mean_bytes)
    room = link.buffer_packets()
    if arrivals.cv2 < 1e-9:
        finite = md1k(arrivals.per_s, served, room) if room is not None and room <= LARGEST_MD1K else None
        yield _row(link, "md1", _unlimited(md1(arrivals.per_s, served), finite, room))
        if finite is not None:
            yield _row(link, "md1k", finite)
    elif abs(arrivals.cv2 - 1) < 1e-9:
        finite = None if room is None else mm1k(arrivals.per_s, served, room)
        yield _row(link, "mm1", _unlimited(mm1(arrivals.per_s, served), finite, room))
        if finite is not None:
            yield _row(link, "mm1k", finite)
    else:
        infinite = mg1(arrivals.per_s, served, service_cv2=arrivals.cv2)
        yield _row(link, "mg1", _unlimited(infinite, None, room))


def _unlimited(queue: Queue, finite: Queue | None, room: int | None) -> Queue:
    """The queue without a limit, out of range where the link's own limit matters."""
    if not queue.in_range or room is None or queue.mean_queue_packets is None:
        return queue
    loss = None if finite is None else finite.loss
    if loss is not None and loss > MOST_LOSS:
        reason = f"the buffer of {room} packets is full for {loss:.2g} of the packets; the model has no limit"
    elif loss is None and queue.mean_queue_packets > room / 10:
        reason = f"the mean queue would be more than a tenth of the buffer of {room} packets; the model has no limit"
    else:
        return queue
    return Queue(queue.utilisation, None, None, None, False, reason)


MOST_LOSS = 1e-3
"""Loss in the finite buffer above which the model of an infinite one is out of range."""


def _not_poisson(network: Network, i: int) -> str | None:
    link = network.links[i]
    if link.varies:
        return "the link's rate follows a trace; the models have a constant one"
    if reason := validity.not_one_queue(link):
        return reason
    if link.traits.drops != "tail":
        return f"the queue is {link.traits.title}; the models have a first-in, first-out one without early drops"
    if reason := validity.dependent_losses(link):
        return f"{reason}: what arrives is not Poisson"
    for group in network.crossing(i):
        if group.kind != "poisson":
            return f"group {group.name!r} ({group.kind}) is not Poisson"
        if group.path[0] != i:
            return f"group {group.name!r} has crossed another link before, and is not Poisson any more"
        if not isinf(group.access_bps):
            return f"group {group.name!r} has an access link, which spaces its packets"
    return None


def _arrivals(groups: list[Group], link: Link) -> _Arrivals:
    sizes = [group.workload["size"] for group in groups]
    means = np.array([properties.mean(size) for size in sizes])
    per_s = np.array([group.count * float(group.workload["rate"]) for group in groups]) / (8 * means)
    seconds = np.array([properties.cv2(size) + 1 for size in sizes]) * means**2
    share = per_s / per_s.sum()
    mean = float(share @ means)
    return _Arrivals(float(per_s.sum()) * (1 - link.loss), mean, max(0.0, float(share @ seconds) / mean**2 - 1))


def _row(link: Link, model: str, queue: Queue) -> LinkQueue:
    return LinkQueue(
        link.name,
        model,
        queue.in_range,
        queue.reason,
        queue.utilisation,
        queue.mean_queue_packets,
        queue.mean_wait_s,
        queue.loss,
    )


def mean_queues(links: Table) -> dict[str, float]:
    """Mean queue of each link over the repetitions, packets."""
    name, queue = texts(links, "link"), numbers(links, "mean_queue_packets")
    return {link: float(queue[name == link].mean()) for link in sorted({*name.tolist()})}
