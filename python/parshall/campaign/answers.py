"""What calls returned, kept in a store under all that decides it.

| what decides an answer | how it is named |
| --- | --- |
| the simulator | `about.code_version` |
| Parshall's Python and data files, quantities of users | their digests |
| functions, and the packages they are from | their names, and digests of the packages' files |
| its arguments | `canonical`: their values, scenarios as they are resolved |
| controls from outside that its arguments may name | digests of their code |

So an interrupted study goes on where it was, and other code or another scenario starts anew. An answer is JSON
(`parshall.campaign.encoding`) below ``answers/`` of the store, behind its digest: one that was cut or damaged, or that
is something else, counts as not there. Reading it runs nothing, whoever wrote it.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from parshall.campaign.damage import answer_of, behind_digest, is_answer
from parshall.campaign.encoding import ACCEPTED, NoEncodingError, decoded, encoded
from parshall.campaign.store import ANSWERS, Store
from parshall.campaign.work import Call
from parshall.errors import InputError
from parshall.files import digest, write_atomically
from parshall.quantities.digest import of_users
from parshall.records import about
from parshall.records.storage import storage_error
from parshall.scenario import Scenario
from parshall.schema import external


class Answers:
    """The answers of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def get(self, call: Call) -> tuple[Any] | None:
        """What a call returned; None if it is not there."""
        try:
            content = answer_of(self._path(call.run))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise storage_error(error) from None
        try:
            return None if content is None else (decoded(content, _packages(call)),)
        except NoEncodingError:
            return None

    def count(self, keys: Iterable[str]) -> tuple[int, int]:
        """How many of these answers are there, damaged or not; and how many in a format that is not read."""
        found = [is_answer(path) for path in map(self._path, keys) if path.exists()]
        return sum(found), len(found) - sum(found)

    def put(self, call: Call, answer: Any) -> None:
        """Keep what a call returned.

        Raises
        ------
        InputError
            It returned something that cannot be kept.
        StorageError
            It cannot be written.
        """
        try:
            content = encoded(answer, _packages(call))
        except NoEncodingError as error:
            raise InputError(f"{call.label or call.run}: {error}, which a store cannot keep; {ACCEPTED}") from None
        path = self._path(call.run)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, behind_digest(content.encode()), self.store.partial("answer"))
        except OSError as error:
            raise storage_error(error) from None

    def _path(self, key: str) -> Path:
        return self.store.directory / ANSWERS / key[:2] / key


def _packages(call: Call) -> frozenset[str]:
    """The packages whose classes an answer may have: of the function, and of the functions that it is given."""
    functions = [call.function, *(each for each in call.arguments if callable(each))]
    return frozenset(each.__module__.partition(".")[0] for each in functions if hasattr(each, "__module__"))


def call_of(function: Callable[..., Any], arguments: Sequence[Any]) -> Call:
    """A call under the key of its answer.

    Raises
    ------
    InputError
        An argument has no value that another process could tell.
    """
    named = [
        about.code_version(),
        about.python_digest(),
        of_users(),
        canonical(function),
        canonical(arguments),
    ]
    controls = [[each.name, each.digest] for each in external.codes(json.dumps(named[-1]))]
    text = json.dumps([*named, *controls], sort_keys=True)
    return Call(hashlib.sha256(text.encode()).hexdigest()[:32], function, tuple(arguments))


def canonical(value: Any) -> Any:
    """A value as JSON has it, the same in every process.

    >>> canonical({"rates": (1, 2.5)})
    [['rates', [1, 2.5]]]
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, np.generic):
        return canonical(value.item())
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()]
    if isinstance(value, Scenario):
        return ["scenario", value.repetitions, value.resolve()]
    if is_dataclass(value) and not isinstance(value, type):
        known = [[each.name, canonical(getattr(value, each.name))] for each in fields(value) if each.compare]
        return [_name(type(value)), known]
    if isinstance(value, Mapping):
        return sorted(([canonical(key), canonical(each)] for key, each in value.items()), key=json.dumps)
    if isinstance(value, Sequence):
        return [canonical(each) for each in value]
    if callable(value) and "<" not in _name(value) and value.__module__ != "__main__":
        return [_name(value), _package(value.__module__.partition(".")[0])]
    raise InputError(
        f"a call's function and arguments: found {value!r}, which another process cannot be told of; accepted are "
        "functions of modules, numbers, text, scenarios, arrays, dataclasses, and lists and tables of these"
    )


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


@cache
def _package(name: str) -> str:
    """A digest of the Python and data files of a package that is not ours; ours has its own."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if name == "parshall" or file is None:
        return ""
    path = Path(file)
    files = [path] if path.name != "__init__.py" else [*path.parent.rglob("*.py"), *path.parent.rglob("*.toml")]
    return hashlib.sha256("".join(digest(each) for each in sorted(files)).encode()).hexdigest()
