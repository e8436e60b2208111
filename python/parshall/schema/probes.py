"""What a run records beyond its totals."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from parshall.schema.model import Part
from parshall.schema.quantities import POSITIVE_DURATION


def _interval_or_false(value: object) -> object:
    return value if value is False else POSITIVE_DURATION.validate(value)


Interval = Annotated[
    str | Literal[False],
    BeforeValidator(_interval_or_false),
    WithJsonSchema({"anyOf": [POSITIVE_DURATION.schema, {"const": False}]}),
]


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
        description="Bin width of the links' series (default: 1000 in a run); false: none",
    )
    latency: bool | None = Field(
        None,
        strict=True,
        description="Whether one-way delays, jitter and round-trip times are recorded (default: up to 10,000 flows)",
    )
    internals: bool = Field(
        False,
        strict=True,
        description="Whether the inner variables of congestion controls and queues are recorded with the samples",
    )
    transfers: bool = Field(True, strict=True, description="Whether each finished transfer is recorded")
