"""Types of fields that accept more than they hold: a text is accepted where a quantity is held.

A type checker reads the type of an argument of ``FlowGroup(rtt=...)`` from the setter of a descriptor, and the type of
``group.rtt`` from its getter (PEP 681, *Descriptor-typed fields*). When the program runs, there is no descriptor:
``Accepts[Held, Given]`` is ``Held``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from parshall.scenario.schema.model import Part
from parshall.scenario.schema.quantities import (
    Bytes,
    Duration,
    PacketSize,
    PositiveDuration,
    PositivePackets,
    ProcessingTime,
    Rate,
    Size,
)

Held_co = TypeVar("Held_co", covariant=True)
Given_contra = TypeVar("Given_contra", contravariant=True)

if TYPE_CHECKING:

    class Accepts(Generic[Held_co, Given_contra]):
        """A field that holds its first type and accepts its second."""

        def __get__(self, instance: object, owner: Any) -> Held_co:
            """Return what the field holds."""
            raise NotImplementedError

        def __set__(self, instance: Any, value: Given_contra) -> None:
            """Accept what is given."""

else:

    class Accepts:
        """A field that holds its first type."""

        def __class_getitem__(cls, types: tuple[Any, Any]) -> Any:
            """Return the type that the field holds, which Pydantic validates."""
            return types[0]


def initial(value: Any) -> Any:
    """Return a field's default, for the type checker of any type."""
    return value


Table: TypeAlias = Mapping[str, Any]
"""A part of a scenario as TOML and JSON have it."""

Choice: TypeAlias = str | Mapping[str, Any] | Part
"""An entry of a catalog: its name, or a table with its name and its parameters."""

DurationField: TypeAlias = Accepts[Duration, str | timedelta]
OptionalDuration: TypeAlias = Accepts[Duration | None, str | timedelta | None]
PositiveDurationField: TypeAlias = Accepts[PositiveDuration, str | timedelta]
ProcessingTimeField: TypeAlias = Accepts[ProcessingTime, str | timedelta]
OptionalProcessingTime: TypeAlias = Accepts[ProcessingTime | None, str | timedelta | None]
OptionalRate: TypeAlias = Accepts[Rate | None, str | None]
BytesField: TypeAlias = Accepts[Bytes, str]
OptionalBytes: TypeAlias = Accepts[Bytes | None, str | None]
PacketSizeField: TypeAlias = Accepts[PacketSize, str]
OptionalPackets: TypeAlias = Accepts[PositivePackets | None, str | None]
SizeField: TypeAlias = Accepts[Size, str]
LimitField: TypeAlias = Accepts[Any, str | Literal[False]]
DurationOrOff: TypeAlias = Accepts[Any, str | timedelta | bool]
