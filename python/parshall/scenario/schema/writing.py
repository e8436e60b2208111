"""Scenarios as TOML."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any


def toml(document: Mapping[str, Any]) -> str:
    """A scenario as TOML: top-level values, then a table each, then the groups.

    >>> print(toml({"duration": "1 s", "probes": {"flows": 2}, "flows": [{"rtt": {"list": ["1 ms"]}}]}))
    duration = "1 s"
    <BLANKLINE>
    [probes]
    flows = 2
    <BLANKLINE>
    [[flows]]
    rtt = { list = ["1 ms"] }
    <BLANKLINE>
    """
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    tables = {key: value for key, value in document.items() if isinstance(value, Mapping)}
    lists = {key: value for key, value in document.items() if isinstance(value, list) and _is_tables(value)}
    for key, value in document.items():
        if key not in tables and key not in lists:
            yield _pair(key, value)
    for key, table in tables.items():
        yield from ("", f"[{_key(key)}]", *itertools.starmap(_pair, table.items()))
    for key, items in lists.items():
        for item in items:
            yield from ("", f"[[{_key(key)}]]", *itertools.starmap(_pair, item.items()))


def _is_tables(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(value, Mapping) for value in values)


def _pair(key: str, value: Any) -> str:
    return f"{_key(key)} = {value_text(value)}"


def _key(key: str) -> str:
    """A key with dots in it, as the name of a sysctl, is quoted: dots separate keys."""
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def value_text(value: Any) -> str:
    """A value as TOML, on one line."""
    match value:
        case Mapping():
            return "{ " + ", ".join(itertools.starmap(_pair, value.items())) + " }"
        case list() | tuple():
            return "[" + ", ".join(value_text(item) for item in value) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False, allow_nan=False)
