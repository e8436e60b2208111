"""What a source prints, from a data file: values with their unit, where they stand, and how far they are known.

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
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, ValidationError, model_validator

from parshall.errors import InputError

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


class Published:
    """The entries of a data file, by name."""

    def __init__(self, source: str, entries: Mapping[str, Entry]) -> None:
        self.source = source
        self.entries = entries

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
        """How far the value of an entry is known, or each of its values."""
        return self.entries[name].resolution

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
    """What the data file of a package says.

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
    """What the text of a data file says; `path` is for messages."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from None
    source = document.pop("source", "")
    if not isinstance(source, str) or not source:
        raise InputError(f"{path}: source: missing; write what is cited")
    entries: dict[str, Entry] = {}
    for name, table in _tables(document, path):
        try:
            entries[name] = Entry.model_validate(table)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join([name, *(str(part) for part in first["loc"][:1])])
            raise InputError(f"{path}: {where}: {first['msg'].removeprefix('Value error, ')}") from None
    return Published(source, entries)


def _tables(document: Mapping[str, Any], path: str, before: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        name = (*before, key)
        if not isinstance(value, Mapping):
            raise InputError(f"{path}: {'.'.join(name)}: found {value!r}; accepted: a table with value, unit and where")
        if "value" in value or "where" in value or not value:
            yield ".".join(name), value
        else:
            yield from _tables(value, path, name)
