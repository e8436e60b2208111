"""Scenarios that must be refused, made of random ones that are accepted: one thing is wrong with each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from random_scenarios import Document, Draw

from parshall.scenario.schema.catalog import Entry, family


def invalid(seed: int, document: Document) -> tuple[str, str]:
    """What is wrong with it, and the text of a scenario that must be refused, made of one that is accepted."""
    draw = Draw(seed)
    name, spoil = draw.choice(list(_SPOILERS.items()))
    for _ in range(100):
        spoiled = spoil(draw, json.loads(json.dumps(document)))
        if spoiled is not None:
            return name, spoiled if isinstance(spoiled, str) else toml(spoiled)
        name, spoil = draw.choice(list(_SPOILERS.items()))
    raise AssertionError("no way to spoil this scenario")


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values that are no tables or lists."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if children is None:
        return [path]
    return [leaf for key, child in children for leaf in _leaves(child, (*path, key))]


def _tables(value: Any) -> list[Document]:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return ([value] if isinstance(value, dict) else []) + [table for each in inner for table in _tables(each)]


def _get(document: Any, path: Sequence[Any]) -> Any:
    for part in path:
        document = document[part]
    return document


def _replaced(document: Document, path: Sequence[Any], value: Any) -> Document:
    _get(document, path[:-1])[path[-1]] = value
    return document


def _quantity(draw: Draw, document: Document) -> tuple[Any, ...] | None:
    """The path of a text with a unit."""
    paths = [
        path
        for path in _leaves(document)
        if isinstance(found := _get(document, path), str) and found[:1].isdigit() and " " in found
    ]
    return draw.choice(paths) if paths else None


def _unknown_key(draw: Draw, document: Document) -> Document:
    draw.choice(_tables(document))[draw.choice(("colour", "Rate", "flow", "ünïcode", "a.b", ""))] = 1
    return document


def _table_for_a_value(draw: Draw, document: Document) -> Document:
    return _replaced(document, draw.choice(_leaves(document)), {"nonsense": 1})


def _no_unit(draw: Draw, document: Document) -> Document | None:
    path = _quantity(draw, document)
    return None if path is None else _replaced(document, path, draw.choice((10, 0.5, "10", True)))


def _other_unit(draw: Draw, document: Document) -> Document | None:
    path = _quantity(draw, document)
    return None if path is None else _replaced(document, path, draw.choice(("10 parsec", "10 V", "ms", "1 s 2", "")))


def _negative(draw: Draw, document: Document) -> Document | None:
    path = _quantity(draw, document)
    return None if path is None else _replaced(document, path, "-" + _get(document, path))


def _too_large(draw: Draw, document: Document) -> Document | None:
    path = _quantity(draw, document)
    return None if path is None else _replaced(document, path, "9" * 30 + " " + _get(document, path).split(" ")[1])


def _count(draw: Draw, document: Document) -> Document:
    key = draw.choice(("count", "seed", "repetitions"))
    table = draw.choice(document["flows"]) if key == "count" else document
    table[key] = draw.choice((-1, 1.5, "many", 2**70, [], float("nan")))
    return document


def _no_such_name(draw: Draw, document: Document) -> Document | None:
    named = [
        table for table in _tables(document) if set(table) & {"name"} and "rtt" not in table and "rate" not in table
    ]
    if not named:
        return None
    table = draw.choice(named)
    table["name"] = draw.choice((table["name"] + "x", "", "no such", 7))
    return document


def _missing(draw: Draw, document: Document) -> Document:
    key = draw.choice(("duration", "flows", "rtt", "network"))
    if key == "rtt":
        del draw.choice(document["flows"])["rtt"]
    elif key == "network":
        document.pop("links", None)
        document.pop("bottleneck", None)
    else:
        del document[key]
    return document


def _two_networks(_: Draw, document: Document) -> Document:
    other = (
        {"links": [{"name": "a", "rate": "1 Mbit/s"}]}
        if "bottleneck" in document
        else {"bottleneck": {"rate": "1 Mbit/s"}}
    )
    return {**document, **other}


def _long_warm_up(_: Draw, document: Document) -> Document:
    return {**document, "warm_up": document["duration"]}


def _short_rtt(draw: Draw, document: Document) -> Document:
    for link in [*document.get("links", []), *([document["bottleneck"]] if "bottleneck" in document else [])]:
        link["delay"] = "10 ms"
    draw.choice(document["flows"])["rtt"] = "9 ms"
    return document


def _ends_with(draw: Draw, document: Document) -> Document:
    return {**document, "ends_with": draw.choice((["nobody"], [], "group0", [1]))}


def _same_names(_: Draw, document: Document) -> Document:
    document["flows"].append(dict(document["flows"][0]))
    return document


def _wrong_path(draw: Draw, document: Document) -> Document:
    group = draw.choice(document["flows"])
    if "links" in document:
        group["path"] = draw.choice((["nowhere"], [], ["link0", "link0"]))
    else:
        group["path"] = ["bottleneck"]
    return document


def _no_such_file(draw: Draw, document: Document) -> Document:
    link = document["bottleneck"] if "bottleneck" in document else draw.choice(document["links"])
    link.pop("rate", None)
    link["rate_trace"] = draw.choice(("no-such-file", "..", "sizes.txt", "/"))
    return document


def _tcp_of_datagrams(draw: Draw, document: Document) -> Document:
    group = draw.choice(document["flows"])
    group["workload"] = {"name": "cbr", "rate": "1 Mbit/s"}
    group["recovery"] = "sack"
    return document


def _out_of_bounds(draw: Draw, document: Document) -> Document:
    entry = draw.choice([each for each in family("congestion_controls") if _bounded(each)])
    parameter = draw.choice(_bounded(entry))
    wrong = draw.choice((parameter.minimum - 1.0, 2.0 * parameter.maximum + 1.0, float("inf"), float("nan"), "1 %"))
    group = draw.choice(document["flows"])
    group["workload"] = {"name": "bulk"}
    group["congestion_control"] = {"name": entry.name, parameter.name: wrong}
    return document


def _bounded(entry: Entry) -> list[Any]:
    return [
        each
        for each in entry.parameters
        if each.kind == "number" and each.minimum is not None and each.maximum is not None
    ]


def _broken_toml(draw: Draw, document: Document) -> str:
    text = toml(document)
    place = draw.randrange(len(text))
    return text[:place] + draw.choice(('"', "\x00", "\n[", "= =", "}}", "\x1b[31m")) + text[place:] + "\n]"


_SPOILERS: dict[str, Callable[[Draw, Document], Document | str | None]] = {
    "unknown key": _unknown_key,
    "a table for a value": _table_for_a_value,
    "no unit": _no_unit,
    "other unit": _other_unit,
    "negative": _negative,
    "too large": _too_large,
    "count": _count,
    "no such name": _no_such_name,
    "missing": _missing,
    "two networks": _two_networks,
    "long warm-up": _long_warm_up,
    "short RTT": _short_rtt,
    "ends_with": _ends_with,
    "same names": _same_names,
    "wrong path": _wrong_path,
    "no such file": _no_such_file,
    "TCP of datagrams": _tcp_of_datagrams,
    "out of bounds": _out_of_bounds,
    "broken TOML": _broken_toml,
}


def toml(document: Mapping[str, Any]) -> str:
    """The document as a TOML file."""
    return "".join(f"{_key(key)} = {_toml(value)}\n" for key, value in document.items())


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("_", "a").replace("-", "a").isalnum() else json.dumps(key)


def _toml(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{_key(key)} = {_toml(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case bool() | str():
            return json.dumps(value)
        case _:
            return str(value)
