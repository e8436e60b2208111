"""Keys of calls: each is a digest of all that decides the answer.

| what decides | of a run | of a function |
| --- | --- | --- |
| what is computed | resolved scenario, repetition | the function's name, its arguments (`canonical`) |
| the simulator | `about.code_version` | `about.code_version` |
| other code | | digests of Parshall's Python and data files, of quantities of users, of the function's package |
| controls from outside | their digests, in the scenario | digests of those that the arguments name |

So what was interrupted goes on where it was, and other code or another scenario starts anew.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from parshall.campaign.call import Call, Function
from parshall.campaign.store import FORMAT, name_of
from parshall.foundations.errors import InputError
from parshall.foundations.files import digest
from parshall.results.quantities.digest import of_users
from parshall.results.records import about
from parshall.scenario import Scenario
from parshall.scenario.schema import external


def key_of(scenario: str, repetition: int, code: str) -> str:
    """The key of a run."""
    return name_of(f"parshall run {FORMAT}\n{code}\n{repetition}\n{scenario}")


def call_of(function: Callable[..., Any], arguments: Sequence[Any]) -> Call:
    """The call of a function, under the key of its answer.

    Raises
    ------
    InputError
        An argument has no value that another process could tell.
    """
    code = [about.code_version(), about.python_digest(), of_users()]
    named = [canonical(function), canonical(arguments)]
    controls = [[each.name, each.digest] for each in external.codes(json.dumps(named[-1]))]
    key = name_of(json.dumps([*code, *named, *controls], sort_keys=True))
    return Call(key, Function(function, tuple(arguments)))


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
        return ["scenario", value.repetitions, value.resolved.document()]
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
