"""Many networks of the source in one scenario: what takes real time takes it once for all of them.

An emulation of a minute lasts a minute, and one run of heavy-tailed traffic says little. So all settings and seeds are
networks side by side: each has a bottleneck, 32 clients and a measured connection of its own, whose names end with its
number, and shares nothing with the others. Random numbers follow from the seed and from names: the clients of a network
do the same whatever stands beside it, and each network is normalised by itself (`background`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from parshall.instruments.simulation import Run
from parshall.instruments.simulation.single import Recorded, recorded
from parshall.scenario import Scenario
from parshall_studies.multiple_time_scale import background, network
from parshall_studies.multiple_time_scale.background import Normalised
from parshall_studies.multiple_time_scale.measure import Measured, measured_of
from parshall_studies.multiple_time_scale.network import (
    BOTTLENECK,
    CLIENTS,
    FIRST_SEED,
    SOURCE,
    Background,
    Connections,
    Network,
)

_TABLES = ("flows", "links", "link_samples")
_OF_A_HOST = {"name", "rtt", "congestion_control", "start", "packet_size", "receive_window", "access_rate", "path"}
"""Keys of a measured connection that say nothing of ns-2's TCP but its window limit."""
RECEIVE_BUFFER = "76 kB"
"""Of a real host, in which a flow alone on a path of 200 ms has 32 segments of 1 kB a round trip, the source's window
limit: a kernel's socket offers less than half of its buffer as window. With twice 32 kB it has 22 to 27."""


def real(network: Network = SOURCE) -> dict[str, Any]:
    """Keys of the measured connections of real hosts, so that they have the network's window limit.

    Raises
    ------
    ValueError
        The limit is not the one that `RECEIVE_BUFFER` is for.
    """
    if network.window is None:
        return {}
    if network.window != SOURCE.window:
        raise ValueError(f"found a window limit of {network.window} packets; accepted: {SOURCE.window}, or none")
    return {"kernel": {"receive_buffer": RECEIVE_BUFFER}}


@dataclass(frozen=True)
class Place:
    """A network, and what is measured in it."""

    number: int
    rtt_ms: int
    load_mbps: float
    tail_index: float
    network: Network = SOURCE


@dataclass(frozen=True)
class Loaded:
    """A network with its normalised clients."""

    place: Place
    normalised: Normalised


def loaded(place: Place, duration_s: float) -> Loaded:
    """Find the mean size with which the clients of a network bring its load."""

    def alone(background: Background) -> Measured:
        return simulated([(place, background, None)], duration_s, None)[0]

    return Loaded(place, background.normalised_by(alone, place.tail_index, place.load_mbps, FIRST_SEED, place.network))


def scenario(
    networks: Sequence[tuple[Place, Background, str | dict[str, Any] | None]],
    duration_s: float,
    rules: Mapping[str, Any] | None,
) -> Scenario:
    """Networks side by side.

    Parameters
    ----------
    networks
        Of each: which it is, its clients, and the measured connection's control; None: it has no such connection.
    duration_s
        Of which a tenth is warm-up.
    rules
        Keys of the measured connections: whose TCP they have; None: ns-2's.
    """
    made = [_one(place, clients, control, duration_s, rules) for place, clients, control in networks]
    return Scenario.from_document(
        {**made[0], **{key: [each for one in made for each in one[key]] for key in ("links", "flows")}}
    )


def _one(
    place: Place,
    clients: Background,
    control: str | dict[str, Any] | None,
    duration_s: float,
    rules: Mapping[str, Any] | None,
) -> dict[str, Any]:
    connections = None if control is None else Connections(control, place.rtt_ms)
    document = network.scenario(clients, connections, duration_s).document()
    links = [{"name": BOTTLENECK, **document.pop("bottleneck")}] if "bottleneck" in document else document["links"]
    document["links"] = [{**link, "name": f"{link['name']}-{place.number}"} for link in links]
    document["flows"] = [_group(group, place.number, rules) for group in document["flows"]]
    document["probes"] = {"link_samples": document["probes"]["link_samples"], "flow_samples": False, "transfers": False}
    return document


def _group(group: dict[str, Any], number: int, rules: Mapping[str, Any] | None) -> dict[str, Any]:
    path = [f"{link}-{number}" for link in group.get("path", [BOTTLENECK])]
    named = {**group, "name": f"{group['name']}-{number}", "path": path}
    if group["name"] == CLIENTS:
        return {**named, "endpoint": "simulated"}
    if rules is None:
        return named
    return {**{key: value for key, value in named.items() if key in _OF_A_HOST}, **rules}


def with_controls(
    loads: Sequence[Loaded], control: str | dict[str, Any], duration_s: float, rules: Mapping[str, Any] | None
) -> Scenario:
    """The networks with a measured connection in each."""
    return scenario([(each.place, each.normalised.background, control) for each in loads], duration_s, rules)


def simulated(
    networks: Sequence[tuple[Place, Background, str | dict[str, Any] | None]],
    duration_s: float,
    rules: Mapping[str, Any] | None,
) -> list[Measured]:
    """What the simulator says of each."""
    made = scenario(networks, duration_s, rules)
    resolved = made.resolve()
    tables = recorded(resolved, *_TABLES, source=made.source)
    return _each(tables.tables, resolved, [place.number for place, _, _ in networks])


def simulated_with(
    loads: Sequence[Loaded], control: str | dict[str, Any], duration_s: float, rules: Mapping[str, Any] | None
) -> list[Measured]:
    """The same of networks with a measured connection in each."""
    return simulated([(each.place, each.normalised.background, control) for each in loads], duration_s, rules)


def of_run(run: Run) -> list[Measured]:
    """What an emulated run says of each, in the order of the scenario."""
    tables = {"flows": run.flows, "links": run.links, "link_samples": run.link_samples}
    known = {name: table for name, table in tables.items() if table is not None}
    resolved = run.scenario.resolve()
    links = (link["name"].rpartition("-") for link in resolved["links"])
    numbers = [int(number) for name, _, number in links if name == BOTTLENECK]
    return _each(known, resolved, numbers)


def _each(tables: Mapping[str, pl.DataFrame], resolved: Mapping[str, Any], numbers: Sequence[int]) -> list[Measured]:
    named = {"flows": "group", "links": "link", "link_samples": "link"}
    known = {name: table.with_columns(pl.col(named[name]).cast(pl.String)) for name, table in tables.items()}
    values = []
    for number in numbers:
        suffix = f"-{number}"
        mine = {
            name: table.filter(pl.col(named[name]).str.ends_with(suffix)).with_columns(
                pl.col(named[name]).str.strip_suffix(suffix)
            )
            for name, table in known.items()
        }
        values.append(measured_of(Recorded({}, mine), resolved))
    return values
