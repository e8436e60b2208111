"""The base of every part of a scenario."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Discriminator

from parshall.scenario.schema.printing import cut


class Part(BaseModel):
    """A part of a scenario: unknown keys are errors, and nothing changes after it was made."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class FormOf(Discriminator):
    """Says which of several forms a value has; hashable, so that it can be part of a union's annotation."""

    def __hash__(self) -> int:
        return id(self)


class Problem(Exception):  # noqa: N818 - a message in the making, which `ScenarioError` carries
    """Something that only shows when the parts of a scenario are seen together.

    Parameters
    ----------
    key
        Where, as names and list indices.
    message
        What was found, and what is accepted.
    """

    def __init__(self, key: tuple[str | int, ...], message: str) -> None:
        self.key = key
        self.message = message
        super().__init__(f"{dotted(key)}: {message}")

    def within(self, *parents: str | int) -> Problem:
        """The same problem seen from further outside."""
        return Problem((*parents, *self.key), self.message)


def dotted(key: tuple[Any, ...]) -> str:
    """``("flows", 0, "rtt")`` as ``flows.0.rtt``."""
    return ".".join(cut(str(part)) for part in key)
