"""A queue of a scenario as commands of ``tc``, for a router that runs Linux.

Which queues the kernel has, and what their parameters are called there, the catalog of queues says
(`parshall.scenario.properties.queue`); here values are written as ``tc`` takes them. The limits of both count alike but
for the packet in transmission, which ours counts and the kernel's does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from parshall.scenario.properties import Qdisc, QdiscOption, defaults, queue, title

PS_PER_US = 1_000_000
_SIXTEENTHS = 16
"""The kernel's PIE has alpha and beta in sixteenths (tc-pie(8): 2 and 20 are RFC 8033's 0.125 and 1.25)."""


@dataclass(frozen=True)
class Commands:
    """What to type, or why there is nothing.

    Parameters
    ----------
    lines
        Commands; empty where the kernel does not have the queue.
    note
        Why there is none; or what these do not set.
    """

    lines: tuple[str, ...]
    note: str = ""


def commands(
    given: Mapping[str, Any], packet_bytes: int, device: str = "eth0", parent: str = "root", handle: str = ""
) -> Commands:
    """The commands that set a queue.

    Parameters
    ----------
    given
        The queue as `Scenario.resolve` has it: its name, and its parameters in the smallest units.
    packet_bytes
        The size of packets, where one counts packets and the other bytes.
    device
        The network device.
    parent, handle
        What it hangs on, and the name of its own; of queues within others.

    Examples
    --------
    >>> codel = {"name": "codel", "limit": {"packets": 100}, "target": 5 * 10**9, "interval": 10**11, "ecn": True}
    >>> commands(codel, 1500).lines
    ('tc qdisc replace dev eth0 root codel limit 100 target 5ms interval 100ms ecn',)
    >>> commands({"name": "drop_tail", "limit": {"bytes": 64000}}, 1500).lines
    ('tc qdisc replace dev eth0 root bfifo limit 64000',)
    >>> commands({"name": "drr"}, 1500).lines
    ()
    """
    name = str(given["name"])
    linux = queue(name).linux
    if isinstance(linux, str):
        return Commands((), f"Linux has no {title(name)}: {linux}.")
    in_bytes = isinstance(given.get("limit"), Mapping) and "bytes" in given["limit"]
    arguments = [linux.name_in_bytes if in_bytes and linux.name_in_bytes else linux.name]
    below: list[str] = []
    for option in linux.options:
        value = given[option.parameter]
        if option.form == "queue":
            handle = handle or "1:"
            inner = commands(value, packet_bytes, device, f"parent {handle}1")
            below += inner.lines
            arguments += [option.word, _bytes(value["limit"], packet_bytes)]
        elif option.parameter == "limit" and in_bytes and linux.name_in_bytes:
            arguments += [option.word, _bytes(value, packet_bytes)]
        else:
            arguments += _option(option, value, packet_bytes)
    place = f"{parent} handle {handle}" if handle else parent
    line = f"tc qdisc replace dev {device} {place} {' '.join(arguments)}"
    return Commands((line, *below), _untold(name, given, linux))


def _option(option: QdiscOption, value: Any, packet_bytes: int) -> list[str]:
    """A parameter as words of a command."""
    match option.form:
        case "flag":
            return [option.word if value else f"no{option.word}"]
        case "word":
            return [option.words.get(value, value)]
        case "rate" if value is None:
            return ["unlimited"]
        case "time":
            text = _time(value)
        case "rate":
            text = _rate(value)
        case "packets":
            text = _packets(value, packet_bytes)
        case "bytes":
            text = _bytes(value, packet_bytes)
        case "sixteenths":
            text = f"{round(_SIXTEENTHS * value)}"
        case "percent":
            text = f"{round(100 * value)}"
        case _:
            text = f"{value:g}"
    return [option.word, text]


def _time(ps: int) -> str:
    """The kernel counts microseconds here."""
    microseconds = max(1, round(ps / PS_PER_US))
    return f"{microseconds // 1000}ms" if microseconds % 1000 == 0 else f"{microseconds}us"


def _rate(bps: int) -> str:
    for factor, unit in ((10**9, "gbit"), (10**6, "mbit"), (10**3, "kbit")):
        if bps % factor == 0:
            return f"{bps // factor}{unit}"
    return f"{bps}bit"


def _packets(limit: Any, packet_bytes: int) -> str:
    if isinstance(limit, Mapping):
        limit = limit["packets"] if "packets" in limit else ceil(limit["bytes"] / packet_bytes)
    return f"{limit}"


def _bytes(limit: Any, packet_bytes: int) -> str:
    if isinstance(limit, Mapping):
        limit = limit["bytes"] if "bytes" in limit else limit["packets"] * packet_bytes
    return f"{limit}"


def _untold(name: str, given: Mapping[str, Any], linux: Qdisc) -> str:
    """The parameters that have another value than by default, and no word in ``tc``."""
    parameters = {option.parameter for option in linux.options}
    usual = defaults(name, "queues")
    others = [key for key, value in usual.items() if key not in parameters and key in given and given[key] != value]
    if not others:
        return ""
    listed = ", ".join(f"`{key}`" for key in others)
    return f"`tc` has no word for {listed}: the kernel has a fixed value."
