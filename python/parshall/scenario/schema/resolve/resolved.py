"""A resolved scenario, typed: what Rust reads as JSON (``crates/sim/src/scenario.rs``), with the same names.

Entries of catalogs (queues, losses, workloads, congestion controls) and values of each flow (spreads) are tables, as
their keys depend on the entry.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedLink:
    """A contended link."""

    name: str
    rate: Table
    """``constant``, bit/s; or ``trace``, the times at which a packet may leave, ms."""
    delay_ps: int
    queue: Table
    loss: Table
    jitter: Table | None = None
    """``distribution``, of times in s, and ``order``; None: packets take no times of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedGroup:
    """A group of flows."""

    name: str
    count: int
    external: bool
    """True if its packets come from real hosts."""
    path: Sequence[int]
    """Links, by their place."""
    reverse_path: Sequence[int]
    rtt_ps: Table
    """Of each flow: ``constant``, ``linear``, ``uniform``, ``list`` or ``distribution``; as `start_ps`."""
    jitter: Table | None = None
    """Of its data, on each flow's own part of the path; as that of a link."""
    reverse_jitter: Table | None = None
    access_bps: int | None
    access_packets: int | None
    dscp: int
    processing_ps: int
    marker: Table
    start_ps: Table
    packet_bytes: int
    header_bytes: int
    tcp: Table | None
    """None: it sends datagrams."""
    congestion_control: Table | None
    workload: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A scenario without defaults, in integers of the smallest unit."""

    seed: int
    duration_ps: int
    ends_with: Sequence[int]
    """Groups whose transfers end the run, by their place."""
    warm_up_ps: int
    links: tuple[ResolvedLink, ...]
    flows: tuple[ResolvedGroup, ...]
    probes: Table

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Make one of the tables that `document` gives."""
        links = tuple(ResolvedLink(**link) for link in document["links"])
        return cls(**{**document, "links": links, "flows": tuple(ResolvedGroup(**each) for each in document["flows"])})

    def document(self) -> dict[str, Any]:
        """Return its tables; those within are its own, not copies."""
        return {**_table(self), "links": [_table(link) for link in self.links], "flows": [*map(_table, self.flows)]}

    def json(self) -> str:
        """Return the text that Rust reads."""
        return json.dumps(self.document())


def _table(part: Resolved | ResolvedLink | ResolvedGroup) -> dict[str, Any]:
    return {each.name: getattr(part, each.name) for each in fields(part)}
