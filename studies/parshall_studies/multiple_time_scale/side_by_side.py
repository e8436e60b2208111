"""Many networks of the source in one scenario: what takes real time takes it once for all of them.

An emulation of a minute lasts a minute, and one run of heavy-tailed traffic says little. So all settings and seeds are
networks side by side: each has a bottleneck, 32 clients and a measured connection of its own, whose names end with its
number, and shares nothing with the others. Random numbers follow from the seed and from names: the clients of a network
do the same whatever stands beside it, and each network is normalised by itself. The clients are simulated, with the TCP
of ns-2, in one queue with the measured connection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from parshall.instruments.simulation import Run
from parshall.instruments.simulation.single import Recorded, recorded
from parshall.scenario import Scenario
from parshall_studies.multiple_time_scale import grid, network
from parshall_studies.multiple_time_scale.grid import SOURCE, Normalised
from parshall_studies.multiple_time_scale.measure import Measured, measured_of
from parshall_studies.multiple_time_scale.network import (
    BOTTLENECK,
    CLIENTS,
    FIRST_SEED,
    Background,
    Connections,
    Network,
)

Control = str | dict[str, Any]
_TABLES = {"flows": "group", "links": "link", "link_samples": "link"}
"""Tables of a run, and their columns of names."""
_OF_A_HOST = {"name", "rtt", "congestion_control", "start", "packet_size", "receive_window", "access_rate", "path"}
"""Keys of a measured connection that say nothing of ns-2's TCP but its window limit."""
RECEIVE_BUFFER = "76 kB"
"""Of a real host, in which a flow alone on a path of 200 ms has 32 segments of 1 kB a round trip, the source's window
limit: a kernel's socket offers less than half of its buffer as window. With twice 32 kB it has 22 to 27."""
HOST = "host"
"""Rules of real hosts, and of no TCP of the simulator."""


@dataclass(frozen=True)
class Place:
    """A network, and the plain connection that is measured in it."""

    number: int
    control: str
    rtt_ms: int
    load_mbps: float = 5.0
    tail_index: float = 1.05
    network: Network = field(default_factory=lambda: SOURCE)


@dataclass(frozen=True)
class Loaded:
    """A network with its normalised clients."""

    place: Place
    normalised: Normalised


def loaded(place: Place, duration_s: float) -> Loaded:
    """Find the mean size with which the clients of a network bring its load."""

    def alone(background: Background) -> Measured:
        made = Scenario.from_document(_one(place, background, None, duration_s, None))
        return _measured(made, [place.number])[0]

    key = place.tail_index, place.load_mbps, place.network, None
    return Loaded(place, grid.normalised_by(alone, key, FIRST_SEED))


def scenario(
    loads: Sequence[Loaded], controls: Sequence[Control], duration_s: float, rules: Mapping[str, Any] | None
) -> Scenario:
    """Networks side by side, of whose duration a tenth is warm-up.

    Parameters
    ----------
    controls
        Of the measured connection of each.
    rules
        Keys of the measured connections: whose TCP they have; ``{"host": True}``: real hosts; None: ns-2's.
    """
    made = [
        _one(each.place, each.normalised.background, control, duration_s, rules)
        for each, control in zip(loads, controls, strict=True)
    ]
    merged = {key: [each for one in made for each in one[key]] for key in ("links", "flows")}
    return Scenario.from_document({**made[0], **merged})


def _one(
    place: Place, clients: Background, control: Control | None, duration_s: float, rules: Mapping[str, Any] | None
) -> dict[str, Any]:
    connections = None if control is None else Connections(control, place.rtt_ms)
    document = network.scenario(clients, connections, duration_s).document()
    links = [{"name": BOTTLENECK, **document.pop("bottleneck")}] if "bottleneck" in document else document["links"]
    document["links"] = [{**link, "name": f"{link['name']}-{place.number}"} for link in links]
    document["flows"] = [_group(group, place, rules) for group in document["flows"]]
    document["probes"] = {"link_samples": document["probes"]["link_samples"], "flow_samples": False, "transfers": False}
    return document


def _group(group: dict[str, Any], place: Place, rules: Mapping[str, Any] | None) -> dict[str, Any]:
    path = [f"{link}-{place.number}" for link in group.get("path", [BOTTLENECK])]
    named = {**group, "name": f"{group['name']}-{place.number}", "path": path}
    if group["name"] == CLIENTS:
        return {**named, "endpoint": "simulated"}
    if rules is None:
        return named
    own = {key: value for key, value in named.items() if key in _OF_A_HOST}
    return {**own, **(_of_hosts(place.network) if HOST in rules else rules)}


def _of_hosts(network: Network) -> dict[str, Any]:
    """Keys of real hosts with the network's window limit."""
    if network.window is None:
        return {}
    if network.window != SOURCE.window:
        raise ValueError(f"found a window limit of {network.window} packets; accepted: {SOURCE.window}, or none")
    return {"kernel": {"receive_buffer": RECEIVE_BUFFER}}


def simulated(
    loads: Sequence[Loaded], controls: Sequence[Control], duration_s: float, rules: Mapping[str, Any] | None
) -> list[Measured]:
    """The simulator's answer of each network."""
    return _measured(scenario(loads, controls, duration_s, rules), [each.place.number for each in loads])


def _measured(made: Scenario, numbers: Sequence[int]) -> list[Measured]:
    resolved = made.resolve()
    return _each(recorded(resolved, *_TABLES, source=made.source).tables, resolved, numbers)


def of_run(run: Run) -> list[Measured]:
    """The measures of each network of an emulated run, in the order of the scenario."""
    tables = {"flows": run.flows, "links": run.links, "link_samples": run.link_samples}
    known = {name: table for name, table in tables.items() if table is not None}
    resolved = run.scenario.resolve()
    links = (link["name"].rpartition("-") for link in resolved["links"])
    return _each(known, resolved, [int(number) for name, _, number in links if name == BOTTLENECK])


def _each(tables: Mapping[str, pl.DataFrame], resolved: Mapping[str, Any], numbers: Sequence[int]) -> list[Measured]:
    known = {name: table.with_columns(pl.col(_TABLES[name]).cast(pl.String)) for name, table in tables.items()}

    def of(suffix: str) -> dict[str, pl.DataFrame]:
        mine = {name: table.filter(pl.col(_TABLES[name]).str.ends_with(suffix)) for name, table in known.items()}
        return {
            name: table.with_columns(pl.col(_TABLES[name]).str.strip_suffix(suffix)) for name, table in mine.items()
        }

    return [measured_of(Recorded({}, of(f"-{number}")), resolved) for number in numbers]
