"""Times of their own that packets take on a link, or on their flow's own part of the path."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from parshall.scenario.schema.accepted import Accepts, Choice, Table
from parshall.scenario.schema.model import Part
from parshall.scenario.schema.spread import TimeDistribution


class Jitter(Part):
    """A time that is drawn for each packet, beside the delay that all packets have."""

    distribution: Accepts[TimeDistribution, Choice] = Field(description="What each packet's time is drawn from")
    order: Literal["kept", "free"] = Field(
        default="kept",
        description="Whether packets keep their order (a packet waits for the one before), or overtake each other",
    )


OptionalJitter: TypeAlias = Accepts[Jitter | None, Jitter | Table | None]
