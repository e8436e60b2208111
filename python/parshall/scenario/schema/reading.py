"""TOML files and ``--set key.path=value``.

>>> document = {"flows": [{"name": "video", "count": 1}]}
>>> override(document, "flows.video.count=10")
>>> document["flows"][0]["count"]
10
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from parshall.foundations.errors import InputError, ParshallError, ScenarioError
from parshall.foundations.files import read_file
from parshall.scenario.schema.flows import FlowGroup
from parshall.scenario.schema.links import Link
from parshall.scenario.schema.problems import did_you_mean, quoted, shown
from parshall.scenario.templates.shipped import paths

_DEFAULTS: dict[str, Any] = {
    "queue": Link.model_fields["queue"].default,
    "congestion_control": FlowGroup.model_fields["congestion_control"].default,
}
"""Keys whose default is an entry of a catalog that has parameters, and the entry."""


def read_toml(path: Path) -> dict[str, Any]:
    """The document in a TOML file.

    Raises
    ------
    ScenarioError
        The file is missing, not readable, or not TOML.
    """
    try:
        with within_limits(str(path)):
            return _parsed(read_file(path, "scenarios").decode("utf-8"))
    except FileNotFoundError:
        accepted = "the path of a scenario in TOML, or the name of one of `parshall list scenarios`"
        raise ScenarioError([f"no such file; write {accepted}{did_you_mean(path.name, paths())}"], str(path)) from None
    except OSError as error:
        raise ScenarioError([f"not readable: {error.strerror}"], str(path)) from None


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        if text.lstrip().startswith("{"):
            raise ValueError("this is JSON, as run.json is; write the path of a scenario in TOML") from None
        raise


@contextmanager
def within_limits(source: str | None = None) -> Iterator[None]:
    """The last guard where something that was given is read: limits of Python itself become a message.

    Nesting that is too deep, integers of thousands of digits, numbers that no float holds, NUL in a path, ``~nobody``.

    Raises
    ------
    ScenarioError
        Such a limit was met.
    """
    try:
        yield
    except ParshallError:
        raise
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError([f"not TOML: {error}"], source) from None
    except UnicodeDecodeError as error:
        raise ScenarioError([f"not TOML: byte {error.start} is not UTF-8"], source) from None
    except RecursionError:
        raise ScenarioError(["not readable: tables or lists are nested too deeply"], source) from None
    except ArithmeticError as error:
        reason = str(error.args[-1]) if error.args else "overflow"
        raise ScenarioError([f"not usable: a number is too large or too small: {reason}"], source) from None
    except (ValueError, RuntimeError) as error:
        raise ScenarioError([f"not usable: {error}"], source) from None


FILE_KEYS = ("rate_trace", "file")
"""Keys whose values are paths of files."""


def with_absolute_paths(value: Any, folder: Path) -> Any:
    """The same tables, with the absolute paths of the files that they name; relative ones start at `folder`."""
    if isinstance(value, Mapping):
        return {
            key: str((folder / Path(each).expanduser()).absolute())
            if key in FILE_KEYS and isinstance(each, str)
            else with_absolute_paths(each, folder)
            for key, each in value.items()
        }
    return [with_absolute_paths(each, folder) for each in value] if isinstance(value, list) else value


def apply(document: dict[str, Any], overrides: str | Mapping[str, Any] | Iterable[str]) -> None:
    """Set values of `document`: one assignment, several, or values by key path."""
    if isinstance(overrides, Mapping):
        for key, value in overrides.items():
            set_value(document, key.split("."), deepcopy(value))
        return
    for assignment in [overrides] if isinstance(overrides, str) else overrides:
        override(document, assignment)


def override(document: dict[str, Any], assignment: str) -> None:
    """Set one value of `document`, as ``key.path=value``.

    The value is TOML; what is not TOML is taken as text, so that quotes can be left out. Items of a list are
    named by their index or by their ``name``; tables on the way are made if they are not there.

    Raises
    ------
    InputError
        It is no assignment, or the path leads nowhere.
    """
    path, equals, value = assignment.partition("=")
    parts = path.strip().split(".")
    if not equals or not all(parts):
        raise InputError(f'--set: found "{assignment}"; write key.path=value, e.g. bottleneck.rate="10 Mbit/s"')
    set_value(document, parts, _value(value))


def set_value(document: dict[str, Any], parts: list[str], value: Any) -> None:
    """Put `value` at the path `parts` of `document`."""
    place: Any = document
    for position, part in enumerate(parts[:-1]):
        place = _step(place, part, parts[:position])
    last = parts[-1]
    if isinstance(place, list):
        place[_index(place, last, parts[:-1])] = value
    else:
        place[last] = value


def value_at(document: Mapping[str, Any], parts: list[str]) -> Any:
    """What is at the path `parts` of `document`; None: a key on the way is not there.

    >>> value_at({"links": [{"name": "uplink", "queue": "codel"}]}, ["links", "uplink", "queue"])
    'codel'

    Raises
    ------
    InputError
        A list on the way has no such item.
    """
    place: Any = document
    for position, part in enumerate(parts):
        if isinstance(place, list):
            place = place[_index(place, part, parts[:position])]
        else:
            place = place.get(part) if isinstance(place, Mapping) else None
    return place


def _step(place: Any, part: str, before: list[str]) -> Any:
    if isinstance(place, list):
        index = _index(place, part, before)
        inner = place[index]
    else:
        if part not in place:  # `queue.limit = ...` of a scenario that leaves the queue out is that of the usual one
            place[part] = {"name": _DEFAULTS[part]} if part in _DEFAULTS else {}
        inner = place[part]
        if isinstance(inner, str) and inner.isidentifier():  # `queue = "red"` and then `queue.limit = ...`
            inner = place[part] = {"name": inner}
    if not isinstance(inner, dict | list):
        raise InputError(f"--set: {'.'.join([*before, part])} is {shown(inner)}, which has no keys")
    return inner


def _index(items: list[Any], part: str, before: list[str]) -> int:
    where = ".".join(before)
    if part.isdecimal():
        if int(part) < len(items):
            return int(part)
        raise InputError(f"--set: {where}.{part} does not exist; {where} has {len(items)}, counted from 0")
    usual = [f"{where}{index}" for index in range(len(items))]
    names = [
        item.get("name", name) if isinstance(item, dict) else name for item, name in zip(items, usual, strict=True)
    ]
    if part in names:
        return names.index(part)
    hint = did_you_mean(part, names) or f"; names there: {quoted(names)}"
    raise InputError(f'--set: {where} has nothing named "{part}"; write an index from 0 or a name{hint}')


def _value(text: str) -> Any:
    try:
        with within_limits("--set"):
            return tomllib.loads(f"value = {text}")["value"]
    except ScenarioError as error:
        if error.problems[0].startswith("not TOML"):
            return text.strip()
        raise
