"""The contended links of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from parshall.scenario.schema.accepted import (
    Accepts,
    Choice,
    DurationField,
    OptionalDuration,
    OptionalRate,
    Table,
    initial,
)
from parshall.scenario.schema.families import choice
from parshall.scenario.schema.jitter import OptionalJitter
from parshall.scenario.schema.model import Part
from parshall.scenario.schema.quantities import Duration

if TYPE_CHECKING:
    Queue = Any
    Loss = Any
else:
    Queue = choice("queues", "a queue")
    Loss = choice("losses", "a loss model")

NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"
"""Names of links and groups: they are part of key paths, so no dots."""


class Link(Part):
    """A queue, a transmitter and a propagation delay."""

    rate: OptionalRate = Field(default=initial(None), description="Constant rate")
    rate_trace: str | None = Field(
        default=None,
        description="Instead of a rate: file with the milliseconds at which one 1500-byte packet can be delivered",
        min_length=1,
    )
    delay: DurationField = Field(default=initial(Duration("1 ms")), description="One-way propagation delay")
    queue: Accepts[Queue, Choice] = Field(
        default=initial("drop_tail"), description="What happens to packets that find the link busy"
    )
    loss: Accepts[Loss, Choice] = Field(default=initial("none"), description="Losses on the medium, before the queue")
    jitter: OptionalJitter = Field(
        default=initial(None), description="What each packet takes beside the delay (default: nothing)"
    )

    @model_validator(mode="after")
    def _one_rate(self) -> Link:
        if (self.rate is None) == (self.rate_trace is None):
            found = "neither" if self.rate is None else "both"
            raise ValueError(
                f'found {found} rate and rate_trace; write one of them, e.g. rate = "48 Mbit/s"'.replace(
                    "neither rate and", "neither rate nor"
                )
            )
        return self


class ReverseLink(Part):
    """The way back through a bottleneck; what is not given is as on the way forth."""

    rate: OptionalRate = Field(default=initial(None), description="Constant rate")
    rate_trace: str | None = Field(default=None, description="Instead of a rate: file with delivery opportunities")
    delay: OptionalDuration = Field(default=initial(None), description="One-way propagation delay")
    queue: Accepts[Queue | None, Choice | None] = Field(
        default=initial(None), description="What happens to packets that find the link busy"
    )
    loss: Accepts[Loss | None, Choice | None] = Field(
        default=initial(None), description="Losses on the medium, before the queue"
    )
    jitter: OptionalJitter = Field(default=initial(None), description="What each packet takes beside the delay")

    @model_validator(mode="after")
    def _at_most_one_rate(self) -> ReverseLink:
        if self.rate is not None and self.rate_trace is not None:
            raise ValueError('found both rate and rate_trace; write one of them, e.g. rate = "48 Mbit/s"')
        return self

    def like(self, forward: Link) -> Link:
        """The complete link, what is not given being as in `forward`."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        known = {name: value for name, value in given.items() if value is not None}
        inherited = {name: getattr(forward, name) for name in type(self).model_fields if name not in known}
        if "rate" in known or "rate_trace" in known:
            inherited.pop("rate", None)
            inherited.pop("rate_trace", None)
        return Link(**inherited, **known)


class Bottleneck(Link):
    """The one contended link of a dumbbell, and the way back."""

    reverse: Accepts[ReverseLink | None, ReverseLink | Table | None] = Field(
        default=initial(None), description="The way back, if it is contended; without it, ACKs meet no queue"
    )


class NamedLink(Link):
    """One of several contended links."""

    name: str = Field(description="What flows call it in their paths", pattern=NAME)
