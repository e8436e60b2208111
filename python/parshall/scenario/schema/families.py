"""Pydantic models for the entries of the Rust catalogs.

A new congestion control, queue, loss, workload or distribution in Rust is accepted here without a change:
its model is made from the parameters it declares. In a scenario, an entry is a table with its name
(``{name = "cubic", c = 0.4}``), or the name alone when all parameters have defaults.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Tag,
    WithJsonSchema,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, SchemaValidator, core_schema

from parshall.scenario.schema import external, rules
from parshall.scenario.schema.catalog import Entry, Parameter, family
from parshall.scenario.schema.model import Part
from parshall.scenario.schema.problems import shown
from parshall.scenario.schema.quantities import (
    FRACTION_TEXT,
    Buffer,
    Bytes,
    Duration,
    PositiveSize,
    QuantityText,
    Rate,
    Size,
    fraction,
    is_none,
    or_none,
)

SIZE = "size"
TIME = "time"

EXTERNAL = "<external>"
"""The tag of controls from outside."""

INSTANTANEOUS = "instantaneous"
"""The word for a moving average that only knows the newest sample."""


def _value(role: str | None) -> type[Size] | type[Duration]:
    """Return the type of a distribution's values."""
    return Size if role == SIZE else Duration


class Configuration(Part):
    """An entry of a catalog with its parameters; the subclasses are made from the catalog."""

    entry: ClassVar[Entry]
    role: ClassVar[str | None]
    """Kind of a distribution's values: `SIZE` or `TIME`."""

    name: str


class External(Configuration):
    """A congestion control from outside, with whatever parameters it takes."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _plain_values(self) -> Self:
        for key, value in self.parameters.items():
            if not isinstance(value, bool | int | float | str):
                raise ValueError(f"{key}: found {shown(value)}; accepted: a number, text, true or false")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the keys that were given beside the name."""
        return self.__pydantic_extra__ or {}


class EmpiricalPoints(Part):
    """The source of a measured distribution's points: a file, or this table."""

    file: str | None = Field(
        default=None, description="File of lines with a value and the probability not to exceed it", min_length=1
    )
    unit: Literal["bytes", "packets", "s", "ms"] | None = Field(
        default=None,
        description="Unit of the file's values: bytes (default) or packets for sizes, s (default) or ms for times",
    )
    points: Annotated[list[tuple[Any, float]] | None, Field(description="The points themselves")] = None

    @field_validator("points")
    @classmethod
    def _read_points(cls, points: list[tuple[Any, float]] | None) -> list[tuple[Any, float]] | None:
        if points is not None and not points:
            raise ValueError("found no points; write [[value, probability], ...] up to probability 1")
        read = _value(getattr(cls, "role", None)).read
        return points and [(read(value) if isinstance(value, str) else value, of) for value, of in points]


_STEERABLE = (
    "a congestion control that can be steered (what is steered is an increase: bbr and bbr3 have none, they send "
    "at the bandwidth that they measured)"
)


@dataclass(frozen=True)
class _Choice:
    """The reader of one family: the name alone, or a table with the name, in which case does not matter.

    Pydantic's own unions would have the models of all entries built when Parshall is imported, a quarter of a second;
    here only those are that a scenario names.
    """

    what: str
    entries: tuple[Entry, ...]
    role: str | None
    external: bool = False
    """True if controls from outside are accepted."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries)

    def options(self) -> Iterator[Any]:
        """The models of all entries, each with the tag that stands for it in the places of errors."""
        for entry in self.entries:
            yield Annotated[_model(entry, self.role), Tag(f"<{entry.name}>")]
        if self.external:
            yield Annotated[External, Tag(EXTERNAL)]

    def validate(self, value: object) -> Any:
        table = {"name": value} if isinstance(value, str) else value
        name = table.get("name") if isinstance(table, dict) else getattr(table, "name", None)
        if self.external and external.declared(name):
            return _validator(None, None).validate_python(table)
        known = name.casefold() if isinstance(name, str) else name
        for entry in self.entries:
            if entry.name == known:
                found = {**table, "name": known} if isinstance(table, dict) else table
                return _validator(entry, self.role).validate_python(found)
        accepted = {"what": self.what, "names": " ".join(self.names)}
        raise PydanticCustomError("unknown_name", "not the name of {what}", accepted)

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.validate)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        models = {option.__metadata__[0].tag: option.__origin__.__pydantic_core_schema__ for option in self.options()}
        tables: dict[str, Any] = handler(core_schema.tagged_union_schema(models, "name"))
        options = tables.get("oneOf") or tables.get("anyOf") or [tables]
        return {"anyOf": [{"type": "string", "enum": list(self.names)}, *options]}


@cache
def _validator(entry: Entry | None, role: str | None) -> SchemaValidator:
    """Reads tables of one entry, or of controls from outside; the place of an error has the entry's tag."""
    model, tag = (External, EXTERNAL) if entry is None else (_model(entry, role), f"<{entry.name}>")
    return SchemaValidator(
        core_schema.tagged_union_schema({tag: model.__pydantic_core_schema__}, discriminator=lambda _: tag)
    )


@cache
def choice(family_name: str, what: str, role: str | None = None, only: tuple[str, ...] | None = None) -> Any:
    """The type of a field that holds one entry of a family, or one of those that are named."""
    entries = tuple(entry for entry in family(family_name) if only is None or entry.name in only)
    return Annotated[Any, _Choice(what, entries, role, external=family_name == "congestion_controls")]


def fields(parameters: Sequence[Parameter], role: str | None = None) -> dict[str, Any]:
    """Pydantic field definitions for parameters."""
    made: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind == "cdf_points":
            continue  # `EmpiricalPoints` has its fields
        made[parameter.name] = (_field_type(parameter, role), _field(parameter))
    return made


@cache
def _model(entry: Entry, role: str | None) -> type[BaseModel]:
    bases: tuple[type[Any], ...] = (Configuration,)
    if any(parameter.kind == "cdf_points" for parameter in entry.parameters):
        bases = (Configuration, EmpiricalPoints)
    title = entry.name.title().replace("_", "") + (role or "").title()
    make: Any = create_model
    model: type[Configuration] = make(
        title,
        __base__=bases,
        __doc__=f"{entry.summary} ({entry.reference}).",
        __module__=__name__,
        name=(Literal[entry.name], entry.name),
        **fields(entry.parameters, role),
    )
    model.entry = entry
    model.role = role
    return model


def _field(parameter: Parameter) -> Any:
    default: Any = ... if parameter.default is None else _default(parameter)
    bounds: dict[str, Any] = {}
    if parameter.kind == "sizes":
        bounds["validation_alias"] = AliasChoices(parameter.name, parameter.name.removesuffix("s"))
    if parameter.kind in {"number", "integer"}:
        bounds = {"ge": parameter.minimum, "le": parameter.maximum, "strict": True}
        if parameter.kind == "number":
            bounds["allow_inf_nan"] = False
    return Field(default, description=parameter.description, **bounds)


def _default(parameter: Parameter) -> Any:
    if parameter.kind in {"number", "integer", "boolean", "numbers", "queues"}:
        return json.loads(parameter.default or "null")
    return parameter.default


def _field_type(parameter: Parameter, role: str | None) -> Any:  # noqa: C901, PLR0912 - one line a kind
    match parameter.kind:
        case "number" if parameter.maximum is not None and parameter.maximum <= 1:
            number = {"type": "number", "minimum": parameter.minimum, "maximum": parameter.maximum}
            bounded = {key: value for key, value in number.items() if value is not None}
            kind: Any = Annotated[float, BeforeValidator(fraction), WithJsonSchema({"anyOf": [bounded, FRACTION_TEXT]})]
        case "number":
            kind = float
        case "integer":
            kind = int
        case "boolean":
            kind = Annotated[bool, Field(strict=True)]
        case "recovery":
            kind = Literal[tuple(entry.name for entry in family("recoveries"))]
        case "choice":
            kind = Literal[parameter.choices]
        case "rules":
            kind = Annotated[Any, BeforeValidator(rules.read), WithJsonSchema(rules.schema())]
        case "control":
            kind = choice("congestion_controls", _STEERABLE, only=parameter.choices)
        case "queue":
            kind = choice("queues", "a queue that can be within another one", only=parameter.choices)
        case "queues":
            one = choice("queues", "a queue that can be within another one", only=parameter.choices)
            kind = list[one]  # type: ignore[valid-type]
        case "numbers":
            kind = list[Annotated[float, Field(strict=True, allow_inf_nan=False)]]
        case "weight":
            kind = Annotated[
                Any, BeforeValidator(_Weight(parameter).validate), WithJsonSchema(_Weight(parameter).schema)
            ]
        case "size_distribution":
            kind = choice("distributions", "a distribution", SIZE)
        case "time_distribution":
            kind = choice("distributions", "a distribution", TIME)
        case "sizes":
            one = PositiveSize.schema
            kind = Annotated[
                list[PositiveSize],
                BeforeValidator(_as_list),
                WithJsonSchema({"anyOf": [one, {"type": "array", "items": one}]}),
            ]
        case "value":
            kind = _value(role)
        case _:
            kind = _quantity(parameter)
    return kind


_QUANTITIES: dict[str, type[QuantityText]] = {
    "duration": Duration,
    "rate": Rate,
    "bytes": Bytes,
    "packets": Size,
    "size": Size,
    "buffer": Buffer,
}


def _quantity(parameter: Parameter) -> Any:
    """The type of a field with a unit; it may be none if its default is."""
    kind = _QUANTITIES[parameter.kind]
    return or_none(kind, parameter.default) if parameter.default and is_none(parameter.default) else kind


@dataclass(frozen=True)
class _Weight:
    """The weight of a moving average: a number within the parameter's bounds, or `INSTANTANEOUS`."""

    parameter: Parameter

    @property
    def schema(self) -> dict[str, Any]:
        number = {"type": "number", "minimum": self.parameter.minimum, "maximum": self.parameter.maximum}
        return {"anyOf": [{"enum": [INSTANTANEOUS]}, number]}

    def validate(self, value: object) -> object:
        low, high = self.parameter.minimum or 0.0, self.parameter.maximum or 1.0
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value == INSTANTANEOUS or (is_number and low <= float(value) <= high):  # type: ignore[arg-type]
            return value
        raise ValueError(
            f'found {shown(value)}; accepted: "{INSTANTANEOUS}", or the newest sample\'s weight, {low:g} to {high:g}'
        )


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value
