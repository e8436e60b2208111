"""The families that the Rust crates list, as Python objects.

>>> [entry.name for entry in family("congestion_controls")][:2]
['reno', 'reno_linux']
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from parshall import _core


@dataclass(frozen=True)
class Parameter:
    """One parameter of an entry; `minimum` and `maximum` are in the unit the simulator takes."""

    name: str
    kind: str
    default: str | None
    minimum: float | None
    maximum: float | None
    description: str
    choices: tuple[str, ...] = ()
    """The accepted names, if it is a choice."""


@dataclass(frozen=True)
class Variable:
    """An inner variable of an entry, which ``probes.internals`` records."""

    name: str
    unit: str
    description: str


@dataclass(frozen=True)
class Entry:
    """One entry of a family."""

    name: str
    summary: str
    reference: str
    parameters: tuple[Parameter, ...]
    defaults: tuple[tuple[str, str | bool], ...] = ()
    """Keys of a group of flows that have another default with this entry, and that default."""
    variables: tuple[Variable, ...] = ()
    """Inner variables that ``probes.internals`` records."""


@dataclass(frozen=True)
class Deviation:
    """A deviation of the code, on purpose, from the source that it follows: a test of this name holds it."""

    crate: str
    """The folder in ``crates``."""
    id: str
    source: str
    there: str
    """The rule of the source."""
    here: str
    """The behaviour of the code."""
    why: str
    file: str
    """From the crate's folder on."""


@cache
def deviations() -> tuple[Deviation, ...]:
    """Every declared deviation, crate by crate, in the order of the lists."""
    declared: dict[str, list[dict[str, str]]] = json.loads(_core.deviations())
    return tuple(Deviation(crate=crate, **each) for crate, listed in declared.items() for each in listed)


@dataclass(frozen=True)
class RuleDifference:
    """A rule of a policy that Linux and the RFCs have in another form."""

    what: str
    rfc: str
    linux: str
    """With the functions of the kernel."""


@dataclass(frozen=True)
class Policy:
    """A policy of TCP that Linux and the RFCs have in another form, which the key ``rules`` switches."""

    name: str
    summary: str
    rfc: str
    """Its form by the RFCs, in one line."""
    linux: str
    differences: tuple[RuleDifference, ...]


@cache
def policies() -> tuple[Policy, ...]:
    """Every policy of TCP that can be switched, in the order of the documentation."""
    listed: list[dict[str, Any]] = json.loads(_core.policies())
    return tuple(
        Policy(**{**each, "differences": tuple(RuleDifference(**rule) for rule in each["differences"])})
        for each in listed
    )


@cache
def families() -> Mapping[str, tuple[Entry, ...]]:
    """Every family by its name."""
    listed: dict[str, list[dict[str, Any]]] = json.loads(_core.catalog())
    return {name: tuple(_entry(item) for item in items) for name, items in listed.items()}


def family(name: str) -> tuple[Entry, ...]:
    """The entries of one family, in the catalog's order."""
    return families()[name]


@cache
def sends_datagrams(workload: str) -> bool:
    """True if a workload of the catalog sends datagrams, without TCP.

    >>> sends_datagrams("cbr"), sends_datagrams("bulk")
    (True, False)
    """
    return bool(dict(json.loads(_core.properties())["workloads"])[workload]["datagrams"])


_BOOLEANS = {"true": True, "false": False}


def _entry(item: dict[str, Any]) -> Entry:
    parameters = tuple(
        Parameter(p["name"], p["kind"], p["default"], p["min"], p["max"], p["description"], tuple(p["choices"]))
        for p in item["parameters"]
    )
    defaults = tuple((key, _BOOLEANS.get(default, default)) for key, default in item.get("defaults", ()))
    variables = tuple(Variable(**each) for each in item["variables"])
    return Entry(item["name"], item["summary"], item["reference"], parameters, defaults, variables)
