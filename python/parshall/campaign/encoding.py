"""Answers of calls as JSON, from which nothing is run.

| value | JSON |
| --- | --- |
| none, booleans, integers, text, finite numbers | as JSON has them |
| lists | lists |
| every other value | an object with one member, whose name is one of `_READERS` |

Numbers come back bit by bit: JSON has the shortest digits that give the same number, and what is not finite is its
eight bytes. Arrays and frames are their bytes in base64 (a frame in Arrow's file format).

An object of a class is the class's name and the values of its fields. The class is one of Parshall's, or of the package
whose function was called: of such a package, only a module that was imported before is looked into. It must be a
dataclass, a named tuple, an enumeration or a kind of text. Fields of a dataclass are set without its ``__init__``.
So a store from elsewhere can give wrong numbers, as its tables can, but it imports and calls nothing else.
"""

from __future__ import annotations

import base64
import importlib
import io
import json
import math
import struct
import sys
from collections.abc import Callable, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from parshall.scenario import Scenario
from parshall.scenario.schema.quantities import Quantity

if TYPE_CHECKING:
    import polars as pl

OWN = "parshall"
"""The package whose classes are always known."""

ACCEPTED = (
    "accepted: numbers, text, bytes, scenarios, arrays of numbers or text, frames of Polars; dataclasses, named tuples "
    f"and enumerations of {OWN} or of the function's package; lists, tuples, sets and tables of these"
)

_KINDS = frozenset("biufcSUmM")
"""Kinds of arrays (`numpy.dtype.kind`) whose bytes are their values."""


class NoEncodingError(Exception):
    """A value, or a text, that has no other form; the message says where, and what was found."""


def encoded(value: Any, packages: Set[str] = frozenset()) -> str:
    """A value as JSON text.

    Parameters
    ----------
    packages
        Whose classes it may have beside those of Parshall.

    Raises
    ------
    NoEncodingError
        It holds something else than the module's table has.
    """
    try:
        return json.dumps(_Writer({OWN, *packages}).written(value, "the answer"), allow_nan=False)
    except RecursionError:
        raise NoEncodingError("the answer: it is nested too deeply, or holds itself") from None


def decoded(text: str | bytes, packages: Set[str] = frozenset()) -> Any:
    """The value of a JSON text.

    Raises
    ------
    NoEncodingError
        It is not what `encoded` gives, or names a class of another package.
    """
    try:
        return _Reader({OWN, *packages}).value(json.loads(text))
    except NoEncodingError:
        raise
    except Exception as error:  # noqa: BLE001 - of a text that others wrote, in whatever way it is wrong
        raise NoEncodingError(f"{type(error).__name__}: {error}") from None


# --- writing ---

_PACKED: Mapping[type, Callable[[Any], Any]] = {
    float: lambda value: struct.pack(">d", value).hex(),
    complex: lambda value: struct.pack(">dd", value.real, value.imag).hex(),
    bytes: lambda value: _base64(value),  # noqa: PLW0108 - defined below
    range: lambda value: [value.start, value.stop, value.step],
}


class _Writer:
    def __init__(self, packages: Set[str]) -> None:
        self._packages = packages

    def written(self, value: Any, where: str) -> Any:
        """A value as JSON has it; `where` it is, for an error."""
        kind = type(value)
        if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
            return value
        if kind in _PACKED:
            return {kind.__name__: _PACKED[kind](value)}
        if kind is list:
            return self._each(value, where)
        if kind is tuple:
            return {"tuple": self._each(value, where)}
        if kind in (set, frozenset):
            return {kind.__name__: sorted(self._each(value, where), key=json.dumps)}
        if kind is dict:
            return {"table": [[self.written(key, f"{where}, a key"), self._item(value, key, where)] for key in value]}
        return self._made(value, kind, where)

    def _made(self, value: Any, kind: type, where: str) -> Any:
        """A value of a class that is not built in."""
        match value:
            case np.generic():
                name, _, content = self._array(np.asarray(value), where)
                return {"scalar": [name, content]}
            case np.ndarray():
                return {"array": self._array(value, where)}
            case Enum():
                return {"member": [self._class(kind, where), value.name]}
            case Quantity():
                return {"text": [self._class(kind, where), str(value)]}
            case Scenario():
                return {"scenario": [value.document(), str(value.folder), value.source]}
        names = _fields(kind)
        if names is None:
            return self._frame(value, where)
        known = {name: self.written(getattr(value, name), f"{where}.{name}") for name in names}
        return {"object": [self._class(kind, where), known]}

    def _item(self, table: Mapping[Any, Any], key: Any, where: str) -> Any:
        return self.written(table[key], f"{where}[{key!r}]")

    def _each(self, values: Any, where: str) -> list[Any]:
        return [self.written(each, f"{where}[{number}]") for number, each in enumerate(values)]

    def _class(self, kind: type, where: str) -> str:
        if kind.__module__.partition(".")[0] not in self._packages or "<locals>" in kind.__qualname__:
            _refuse(kind, where)
        return f"{kind.__module__}:{kind.__qualname__}"

    def _array(self, array: np.ndarray[Any, Any], where: str) -> list[Any]:
        if array.dtype.kind not in _KINDS:
            raise NoEncodingError(f"{where}: found an array of {array.dtype}")
        return [array.dtype.str, list(array.shape), _base64(array.tobytes())]

    def _frame(self, value: Any, where: str) -> dict[str, str]:
        import polars as pl  # noqa: PLC0415 - most answers are no frames

        if type(value) is not pl.DataFrame or any(kind == pl.Object for kind in value.dtypes):
            _refuse(type(value), where)
        buffer = io.BytesIO()
        value.write_ipc(buffer)
        return {"frame": _base64(buffer.getvalue())}


def _refuse(kind: type, where: str) -> NoReturn:
    raise NoEncodingError(f"{where}: found {kind.__module__}.{kind.__qualname__}")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


# --- reading ---


class _Reader:
    def __init__(self, packages: Set[str]) -> None:
        self._packages = packages

    def value(self, found: Any) -> Any:
        if isinstance(found, list):
            return [self.value(each) for each in found]
        if isinstance(found, dict):
            ((kind, content),) = found.items()
            return _READERS[kind](self, content)
        return found

    def table_of(self, content: Any) -> dict[Any, Any]:
        return {self.value(key): self.value(each) for key, each in content}

    def array_of(self, content: Any) -> np.ndarray[Any, Any]:
        kind, shape, values = content
        dtype = np.dtype(str(kind))
        if dtype.kind not in _KINDS:
            raise NoEncodingError(f"found an array of {dtype}")
        return np.frombuffer(bytearray(_bytes(values)), dtype).reshape([int(each) for each in shape])

    def scalar_of(self, content: Any) -> Any:
        kind, values = content
        scalar: Any = self.array_of([kind, [], values])[()]
        return scalar

    def frame_of(self, content: Any) -> pl.DataFrame:
        import polars as pl  # noqa: PLC0415 - most answers are no frames

        try:
            return pl.read_ipc(io.BytesIO(_bytes(content)))
        except pl.exceptions.PanicException as error:  # no `Exception`, as all panics of Rust
            raise NoEncodingError(str(error)) from None

    def scenario_of(self, content: Any) -> Scenario:
        document, folder, source = content
        return Scenario(**document).placed(Path(str(folder)), None if source is None else str(source))

    def member_of(self, content: Any) -> Enum:
        kind = self._class(content[0], lambda each: issubclass(each, Enum))
        member: Enum = kind.__members__[content[1]]
        return member

    def text_of(self, content: Any) -> Quantity:
        kind = self._class(content[0], lambda each: issubclass(each, Quantity))
        text: Quantity = kind(str(content[1]))
        return text

    def object_of(self, content: Any) -> Any:
        kind = self._class(content[0], lambda each: _fields(each) is not None)
        known = {name: self.value(each) for name, each in content[1].items()}
        if list(known) != _fields(kind):
            raise NoEncodingError(f"{content[0]}: found fields {', '.join(known)}")
        if issubclass(kind, tuple):
            return tuple.__new__(kind, known.values())
        made = object.__new__(kind)
        for name, value in known.items():
            object.__setattr__(made, name, value)
        return made

    def _class(self, name: Any, is_accepted: Callable[[Any], bool]) -> Any:
        """The class of that name, if it is one of `_packages`, defined where it says, and of an accepted kind."""
        module, _, path = str(name).partition(":")
        package = module.partition(".")[0]
        if package not in self._packages or "__" in module:
            raise NoEncodingError(f"found the class {name}")
        found: Any = importlib.import_module(module) if package == OWN else sys.modules[module]
        for step in path.split("."):
            found = vars(found)[step]
            if not isinstance(found, type):
                raise NoEncodingError(f"found the class {name}")
        if (found.__module__, found.__qualname__) != (module, path) or not is_accepted(found):
            raise NoEncodingError(f"found the class {name}")
        return found


def _fields(kind: type) -> list[str] | None:
    """The names of what a dataclass or a named tuple holds; None of another class."""
    if issubclass(kind, tuple):
        return list(kind._fields) if hasattr(kind, "_fields") else None
    return [each.name for each in fields(kind)] if is_dataclass(kind) else None


def _bytes(content: Any) -> bytes:
    return base64.b64decode(content, validate=True)


_READERS: Mapping[str, Callable[[_Reader, Any], Any]] = {
    "array": _Reader.array_of,
    "bytes": lambda _, content: _bytes(content),
    "complex": lambda _, content: complex(*struct.unpack(">dd", bytes.fromhex(content))),
    "float": lambda _, content: struct.unpack(">d", bytes.fromhex(content))[0],
    "frame": _Reader.frame_of,
    "frozenset": lambda reader, content: frozenset(map(reader.value, content)),
    "member": _Reader.member_of,
    "object": _Reader.object_of,
    "range": lambda _, content: range(*content),
    "scalar": _Reader.scalar_of,
    "scenario": _Reader.scenario_of,
    "set": lambda reader, content: set(map(reader.value, content)),
    "table": _Reader.table_of,
    "text": _Reader.text_of,
    "tuple": lambda reader, content: tuple(map(reader.value, content)),
}
"""The function that reads each kind of object of the JSON."""
