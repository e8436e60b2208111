"""Catalog entries with their parameters, in the units that the simulator takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parshall import _core
from parshall.foundations.files import read_file
from parshall.scenario.schema import external
from parshall.scenario.schema.catalog import Parameter
from parshall.scenario.schema.families import INSTANTANEOUS, SIZE, Configuration, EmpiricalPoints, External
from parshall.scenario.schema.jitter import Jitter
from parshall.scenario.schema.model import Part, Problem
from parshall.scenario.schema.problems import shown
from parshall.scenario.schema.quantities import Buffer, Duration, Size, is_none

_MOST_PACKETS = 1e15
_UNITS = {"s": 1.0, "ms": 1e-3, "bytes": 1.0}


@dataclass(frozen=True)
class Context:
    """Surroundings that values are resolved against."""

    folder: Path
    """The folder in which relative paths start."""
    packet_bytes: int
    """Bytes of one packet in sizes that are given in packets."""
    bdp_bits: Callable[[], float] | None = None
    """The bandwidth-delay product, where there is one."""
    rate_bps: float | None = None
    """The mean rate of the link, where there is one."""


def configuration(chosen: Configuration, context: Context) -> dict[str, Any]:
    """A catalog entry as Rust reads it."""
    if isinstance(chosen, External):
        own = external.declared(chosen.name)
        if own is None:
            raise Problem(("name",), f'found "{chosen.name}", and nothing says what makes it')
        return own.resolved(chosen.parameters)
    return {
        "name": chosen.name,
        **parameters(chosen, chosen.entry.parameters, context, chosen.role),
    }


def parameters(
    part: Part, declared: tuple[Parameter, ...], context: Context, role: str | None = None
) -> dict[str, Any]:
    """The declared parameters that `part` holds, as Rust reads them."""
    resolved: dict[str, Any] = {}
    for parameter in declared:
        try:
            resolved[parameter.name] = _parameter(part, parameter, context, role)
        except ValueError as error:
            raise Problem((parameter.name,), str(error)) from None
    _check_order(part, resolved)
    return resolved


def _check_order(part: Part, resolved: dict[str, Any]) -> None:
    """Refuse a ``min_x`` above its ``max_x``."""
    for name, value in resolved.items():
        upper = name.replace("min_", "max_", 1)
        if name.startswith("min_") and upper in resolved and value > resolved[upper]:
            low, high = shown(getattr(part, name)), shown(getattr(part, upper))
            if name not in part.model_fields_set:
                raise Problem((upper,), f"found {high}; accepted: {name}, by default {low}, or more")
            raise Problem((name,), f"found {low}; accepted: {upper}, {high}, or less")


def refused(error: ValueError, *key: str | int) -> Problem:
    """An error of the Rust crates, which has a key and a message."""
    where, message = error.args
    return Problem((*key, *(part for part in where.split(".") if part)), message)


@contextmanager
def within(*key: str | int) -> Iterator[None]:
    """Name a key further outside in what is refused inside: a `Problem`, or an error of the Rust crates (`refused`)."""
    try:
        yield
    except Problem as problem:
        raise problem.within(*key) from None
    except ValueError as error:
        raise refused(error, *key) from None


def read_bytes(name: str, folder: Path, reader: str) -> bytes:
    """The content of a file that a scenario names, decompressed if need be.

    Parameters
    ----------
    name, folder
        Its path, and where relative paths start.
    reader
        Whose limits hold, one of `parshall.foundations.files.READERS`.

    Raises
    ------
    ValueError
        There is none, or none within the limits.
    """
    path = folder / Path(name).expanduser()
    try:
        return read_file(path, reader)
    except FileNotFoundError:
        raise ValueError(f'found "{name}", but there is no file {path}') from None
    except OSError as error:
        raise ValueError(f'found "{name}", but {path} is not readable: {error.strerror}') from None
    except ValueError as error:
        raise ValueError(f'found "{name}", but {path} is not readable: {error}') from None


def _parameter(part: Part, parameter: Parameter, context: Context, role: str | None) -> Any:
    if isinstance(part, EmpiricalPoints) and parameter.kind == "cdf_points":
        return _points(part, context, role)
    value = getattr(part, parameter.name)
    nullable = parameter.kind != "choice" and parameter.default is not None and is_none(parameter.default)
    if nullable and is_none(value):
        return None
    return _value(value, parameter, context)


def _value(value: Any, parameter: Parameter, context: Context) -> Any:
    match parameter.kind:
        case "duration" | "rate" | "bytes":
            return _in_range(value.base, value, parameter)
        case "packets":
            return _in_range(value.as_packets(context.packet_bytes), value, parameter)
        case "weight":
            return 1.0 if value == INSTANTANEOUS else float(value)
        case "buffer":
            return _limit(value, context)
        case "value":
            return _number(value, context)
        case "size":
            return _in_range(value.as_bytes(context.packet_bytes), value, parameter)
        case "sizes":
            return [each.as_bytes(context.packet_bytes) for each in value]
        case "size_distribution" | "time_distribution" | "control" | "queue":
            return configured((parameter.name,), value, context)
        case "queues":
            return [configured((parameter.name, index), each, context) for index, each in enumerate(value)]
        case _:
            return value


def configured(key: tuple[str | int, ...], chosen: Configuration, context: Context) -> dict[str, Any]:
    """A catalog entry as Rust reads it, where it is at `key`."""
    with within(*key):
        return configuration(chosen, context)


def jitter(key: str, given: Jitter | None, context: Context) -> dict[str, Any] | None:
    """The times of their own that packets take as Rust reads them, where they are at `key`; None: there are none."""
    if given is None:
        return None
    law = configured((key, "distribution"), given.distribution, context)
    with within(key, "distribution"):
        _core.check_distribution(json.dumps(law))
    return {"distribution": law, "order": given.order}


def _in_range(value: int, text: str, parameter: Parameter) -> int:
    if parameter.minimum is not None and value < parameter.minimum:
        raise ValueError(f'found "{text}"; accepted: {_bound(parameter, parameter.minimum)} or more')
    if parameter.maximum is not None and value > parameter.maximum:
        raise ValueError(f'found "{text}"; accepted: {_bound(parameter, parameter.maximum)} or less')
    return value


def _bound(parameter: Parameter, value: float) -> str:
    return _core.format_quantity("bytes" if parameter.kind == "size" else parameter.kind, int(value))


def _limit(limit: Buffer, context: Context) -> dict[str, int]:
    if limit.bdp is not None:
        if context.bdp_bits is None:
            raise ValueError(f'found "{limit}", but there is no bandwidth-delay product here; write "100 packets"')
        packets = limit.bdp * context.bdp_bits() / 8 / context.packet_bytes
        if not packets < _MOST_PACKETS:
            raise ValueError(f"found {shown(limit)}; accepted: {_MOST_PACKETS:.0e} packets or fewer")
        return {"packets": max(1, round(packets))}
    if limit.seconds is not None:
        if context.rate_bps is None:
            raise ValueError(f'found "{limit}", but there is no link here at whose rate it is a size; write "150 kB"')
        return {"bytes": _of_a_packet(round(limit.seconds * context.rate_bps / 8), limit, context)}
    if limit.in_packets:
        return {"packets": limit.base}
    return {"bytes": _of_a_packet(limit.base, limit, context)}


def _of_a_packet(size: int, limit: Buffer, context: Context) -> int:
    """Return a size in bytes that holds a packet."""
    if size < context.packet_bytes:
        raise ValueError(
            f'found "{limit}", which does not hold one packet of {context.packet_bytes} B; write that or more'
        )
    if size >= _MOST_PACKETS:
        raise ValueError(f"found {shown(limit)}; accepted: {_MOST_PACKETS:.0e} bytes or fewer")
    return size


def _number(value: Size | Duration, context: Context) -> float:
    """A value of a distribution: bytes or seconds."""
    return float(value.as_bytes(context.packet_bytes)) if isinstance(value, Size) else value.seconds


def _points(part: EmpiricalPoints, context: Context, role: str | None) -> list[list[float]]:
    if (part.file is None) == (part.points is None):
        found = "neither a file nor points" if part.file is None else "both a file and points"
        raise Problem((), f'found {found}; write one of them, e.g. file = "sizes.txt"')
    accepted = ("bytes", "packets") if role == SIZE else ("s", "ms")
    if part.unit is not None and part.unit not in accepted:
        raise Problem(("unit",), f'found "{part.unit}"; accepted: "{accepted[0]}" or "{accepted[1]}"')
    unit = float(context.packet_bytes) if part.unit == "packets" else _UNITS[part.unit or accepted[0]]
    if part.file is not None:
        return _points_of_file(part.file, unit, context)
    return [
        [_point(value, part.unit and unit, index, context), probability]
        for index, (value, probability) in enumerate(part.points or [])
    ]


def _point(value: Any, unit: float | None, index: int, context: Context) -> float:
    if isinstance(value, Size | Duration):
        return _number(value, context)
    if unit is None or isinstance(value, bool) or not isinstance(value, int | float):
        raise Problem(("points", index), f"found {shown(value)}; write a value with its unit, or give `unit`")
    return value * unit


def _points_of_file(name: str, unit: float, context: Context) -> list[list[float]]:
    try:
        content = read_bytes(name, context.folder, "cdf_files")
    except ValueError as error:
        raise Problem(("file",), f"{error}; write the path of a distribution function") from None
    try:
        return [list(point) for point in _core.read_cdf(content, unit)]
    except ValueError as error:
        raise Problem(("file",), f"{name}: {error}") from None
