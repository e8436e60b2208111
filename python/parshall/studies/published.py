"""The printed values of a source, from a data file: with unit, place and resolution.

The file is ``published.toml`` beside the study. An entry is a table with the keys of `Entry`; tables without a value
group entries, whose names then have dots:

```toml
source = "Malouch & Liu, INRIA RR-4469, 2002"

[analytic.table1]
value = { T = 5927.97, p_in = 0.004134 }
unit = { T = "packets/s", p_in = "1" }
where = "Table 1, column Analytical"
resolution = { T = 0.005, p_in = 0.5e-6 }
```

Tables below ``tolerance`` say how far our values may be from the source's where its digits do not, and why (`Allowed`):

```toml
[tolerance.plot]
share = 0.05
reason = "what can be read off a plot of that size"
```
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, ValidationError, model_validator

from parshall.analysis.stats.claims import Tolerance
from parshall.foundations.errors import InputError

Model = TypeVar("Model", bound=BaseModel)
Number = Annotated[StrictInt | StrictFloat, Field(union_mode="smart")]
Value = Number | StrictStr | tuple[Number, ...]


class Entry(BaseModel):
    """A value, or several that stand at one place."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: Value | dict[str, Value] = Field(description="A number or text, a list, or a table of these by their names")
    unit: StrictStr | dict[str, StrictStr] = Field(description="Its unit, or that of each name; 1: none")
    where: StrictStr = Field(description="Section, table, figure or equation of the source", min_length=1)
    resolution: Number | dict[str, Number] | None = Field(
        None, description="How far it is known: half its last digit, or what a figure can be read to"
    )
    conditions: StrictStr = Field("", description="For what it holds")
    at: tuple[Number, ...] | None = Field(None, description="Of a list: the parameter that belongs to each")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for key in ("unit", "resolution"):
            given = getattr(self, key)
            if isinstance(given, dict):
                names = set(self.value) if isinstance(self.value, dict) else set()
                if set(given) != names:
                    raise ValueError(f"{key}: found {sorted(given)}; accepted: the names of value, {sorted(names)}")
        lists = self.value.values() if isinstance(self.value, dict) else [self.value]
        if self.at is not None and any(not isinstance(each, tuple) or len(each) != len(self.at) for each in lists):
            raise ValueError(f"at: found {len(self.at)} parameters; accepted: one for each of as many values")
        return self


class Allowed(BaseModel):
    """A tolerance with its reason: a share of the reference, or a value in its unit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    share: Number | None = Field(None, description="Of the reference")
    value: Number | None = Field(None, description="In the unit of the reference")
    reason: StrictStr = Field(description="Why so much; never our own values", min_length=1)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.share is None) == (self.value is None):
            raise ValueError(f"found share {self.share} and value {self.value}; accepted: one of them")
        return self


DIGITS = "half of its last digit"
"""Reason of a tolerance that is the resolution of a printed value."""


class Published:
    """The entries of a data file, by name."""

    def __init__(
        self, source: str, entries: Mapping[str, Entry], allowed: Mapping[str, Allowed] | None = None, path: str = ""
    ) -> None:
        self.source = source
        self.entries = entries
        self.allowed = allowed or {}
        self._path = path

    def __getitem__(self, name: str) -> Any:
        """The value of an entry, as the file has it."""
        return self.entries[name].value

    def number(self, name: str) -> float:
        """A number."""
        return float(self[name])

    def whole(self, name: str) -> int:
        """A whole number."""
        return int(self[name])

    def resolution(self, name: str) -> Any:
        """Return the resolution of an entry's value, or of each of its values."""
        return self.entries[name].resolution

    def digits(self, name: str, column: str | None = None) -> Tolerance:
        """The resolution of an entry, or of one of its values, as a tolerance.

        Raises
        ------
        InputError
            The entry has none.
        """
        found = self.entries[name].resolution
        value = found[column] if isinstance(found, dict) and column is not None else found
        if value is None or isinstance(value, dict):
            raise InputError(f"{self._path}: {name}: resolution: missing; a value that is compared needs one")
        return Tolerance(float(value), DIGITS)

    def within(self, name: str, of: float = 1.0) -> Tolerance:
        """The tolerance of that name, for a reference `of`, in its unit.

        Raises
        ------
        InputError
            There is none.
        """
        if name not in self.allowed:
            raise InputError(f"{self._path}: tolerance.{name}: missing; a tolerance stands there with its reason")
        found = self.allowed[name]
        value = float(found.value) if found.value is not None else float(found.share or 0.0) * abs(of)
        return Tolerance(value, found.reason)

    def table(self, name: str) -> Mapping[str, Any]:
        """Values by their names."""
        return dict(self[name])

    def by(self, name: str, column: str | None = None) -> dict[Any, Any]:
        """The values of a list by the parameter that belongs to each."""
        values = self[name] if column is None else self[name][column]
        return dict(zip(self.entries[name].at or (), values, strict=True))

    def group(self, name: str) -> dict[str, Any]:
        """The values of all entries whose names begin so, by the rest of the name."""
        before = f"{name}."
        return {key.removeprefix(before): each.value for key, each in self.entries.items() if key.startswith(before)}


@cache
def printed_in(package: str) -> Published:
    """Return the content of the data file of a package.

    Raises
    ------
    InputError
        It is refused; the message names the file and the entry.
    """
    path = resources.files(package) / "published.toml"
    try:
        return parsed(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        raise InputError(f"{path}: missing; a study keeps there what its source prints") from None


def parsed(text: str, path: str) -> Published:
    """Return the content of a data file's text; `path` is for messages."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from None
    source = document.pop("source", "")
    if not isinstance(source, str) or not source:
        raise InputError(f"{path}: source: missing; write what is cited")
    tolerances = document.pop("tolerance", {})
    if not isinstance(tolerances, dict):
        raise InputError(f"{path}: tolerance: found {tolerances!r}; accepted: tables with share or value, and reason")
    allowed = {name: validated(Allowed, table, f"{path}: tolerance.{name}") for name, table in tolerances.items()}
    entries = {name: validated(Entry, table, f"{path}: {name}") for name, table in _tables(document, path)}
    return Published(source, entries, allowed, path)


def validated(model: type[Model], table: Any, where: str) -> Model:
    """A table of a data file as a model has it; an error says where.

    Raises
    ------
    InputError
        The table is refused.
    """
    try:
        return model.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join([where, *(str(part) for part in first["loc"][:1])])
        raise InputError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None


def _tables(document: Mapping[str, Any], path: str, before: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        name = (*before, key)
        if not isinstance(value, Mapping):
            raise InputError(f"{path}: {'.'.join(name)}: found {value!r}; accepted: a table with value, unit and where")
        if "value" in value or "where" in value or not value:
            yield ".".join(name), value
        else:
            yield from _tables(value, path, name)
