"""Loads that are given: what a group offers whatever the network does."""

from __future__ import annotations

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.instruments.prediction.network import Group, Network
from parshall.scenario import properties


def offered_bps(group: Group) -> float | None:
    """Bits a second on the wire that the group offers, whatever the network; `None` if that depends on it.

    Raises
    ------
    InputError
        If a distribution is not in the catalog.
    """
    match group.workload:
        case {"name": "cbr" | "poisson", "rate": rate}:
            return min(float(rate), group.access_bps) * group.count
        case {"name": "on_off_cbr", "rate": rate, "on": on, "off": off}:
            busy, idle = properties.mean(on), properties.mean(off)
            return min(float(rate) * busy / (busy + idle), group.access_bps) * group.count
        case {"name": "open_loop", "size": size, "arrivals_per_s": arrivals}:
            payload_bps = 8 * properties.mean(size) * float(arrivals)
            return payload_bps * group.packet_bytes / group.payload_bytes * group.count
        case _:
            return None


def given_loads(network: Network) -> dict[str, float]:
    """What each group with a given load offers, bit/s."""
    return {group.name: load for group in network.groups if (load := offered_bps(group)) is not None}


def on_links(network: Network) -> FloatArray:
    """Given load of each link, less what media lose on the way, bit/s; shape (links,)."""
    load = np.zeros(len(network.links))
    for name, offered in given_loads(network).items():
        arriving = offered
        for i in next(group.path for group in network.groups if group.name == name):
            arriving *= 1 - network.links[i].loss
            load[i] += arriving
    return load
