"""What a run records beyond its totals."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from parshall.scenario.schema.model import Part
from parshall.scenario.schema.problems import shown
from parshall.scenario.schema.quantities import PositiveDuration


def _interval_or_false(value: object) -> object:
    return value if value is False else PositiveDuration.read(value)


Interval = Annotated[
    PositiveDuration | Literal[False],
    PlainValidator(_interval_or_false),
    WithJsonSchema({"anyOf": [PositiveDuration.schema, {"const": False}]}),
]


def _all_or_names(value: object) -> object:
    named = isinstance(value, list) and value and all(isinstance(name, str) for name in value)
    if not isinstance(value, bool) and not named:
        raise ValueError(f'found {shown(value)}; write true, false, or names of links, e.g. ["bottleneck"]')
    return value


Captured = Annotated[bool | list[str], BeforeValidator(_all_or_names)]


class Probes(Part):
    """What is recorded; nothing costs anything when off."""

    flow_samples: Interval | None = Field(
        None,
        description="Time between samples of a flow (default: 1000 in a run); false: none",
    )
    flows: int = Field(5, ge=0, le=2**32 - 1, strict=True, description="Flows of each group that are sampled")
    rounds: int = Field(
        0,
        ge=0,
        le=2**32 - 1,
        strict=True,
        description="Flows of each group whose every round trip is recorded",
    )
    link_samples: Interval | None = Field(
        None,
        description="Bin width of the series of links, and the least of groups (default: 1000 in a run); false: none",
    )
    latency: bool | None = Field(
        None,
        strict=True,
        description="Whether one-way delays, jitter and round-trip times are recorded (default: up to 10,000 flows)",
    )
    internals: bool = Field(
        False,
        strict=True,
        description="Whether the inner variables of controls, queues and markers are recorded with the samples",
    )
    pcap: Captured = Field(
        False,
        description="Links that are captured, for Wireshark and its like: true: all; or their names",
    )
    qlog: bool = Field(
        False,
        strict=True,
        description="Whether each sampled flow of TCP writes a log of its packets and windows, for qvis",
    )
    transfers: bool = Field(True, strict=True, description="Whether each finished transfer is recorded")
