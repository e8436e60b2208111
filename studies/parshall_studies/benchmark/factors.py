"""The factors of the benchmark: infrastructure, useful workload, adverse workload.

| symbol | field | unit | standard values (Table 5) |
| --- | --- | --- | --- |
| RTT | `rtt_s` | s | 1, 20, 200 ms, or a mix of them |
| C_a | `access_bps` | bit/s | 100, 1000, 10000 Mbit/s |
| K = C/C_a | `aggregation` | 1 | 1, 10, 1000 |
| M | `sources` | 1 | 1, about K, much more than K |
| C_g = M C_a/C | `congestion` | 1 | 0.8, 1.0, 2.0 |
| N_s | `streams` | 1 | 1, 5, 10 |
| R | `reverse` | 1 | 0, 0.8, 1.5 |
| B | `background` | | 0, WMI, WMII |
| interface_queue | `interface_queue` | packets | not in Table 5 |
| socket_buffer | `socket_buffer` | bytes | not in Table 5 |
| tcp_no_metrics_save | `tcp_no_metrics_save` | 0, 1 | not in Table 5 |
| tcp_slow_start_after_idle | `tcp_slow_start_after_idle` | 0, 1 | not in Table 5 |
| hystart | `hystart` | 0, 1 | not in Table 5 |

M and C_g are one factor: M = C_g K, or C_g = M/K where M is given. Other values than these are accepted, and named on
the page as non-standard: results with them are not comparable with those of others.

What the last five do to a host is said in `parshall_studies.benchmark.hosts`.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.3, §4.4, §5.2, Table 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeVar, cast

from parshall.foundations.errors import InputError
from parshall.scenario.schema.problems import did_you_mean, quoted
from parshall.scenario.schema.quantities import Bytes, Duration, Rate

Number = TypeVar("Number", int, float)
Background = Literal["0", "WMI", "WMII"]
MIX_S = (0.001, 0.020, 0.200)
"""RTTs of a mix: each value of Table 5 as often as the others."""

STANDARD: dict[str, tuple[float, ...]] = {
    "rtt_s": MIX_S,
    "access_bps": (100e6, 1000e6, 10000e6),
    "aggregation": (1, 10, 1000),
    "congestion": (0.8, 1.0, 2.0),
    "streams": (1, 5, 10),
    "reverse": (0.0, 0.8, 1.5),
}
"""Table 5; M follows from C_g and K."""

SYMBOLS = {
    "rtt_s": "RTT",
    "access_bps": "C_a",
    "aggregation": "K",
    "sources": "M",
    "congestion": "C_g",
    "streams": "N_s",
    "reverse": "R",
    "background": "B",
    "interface_queue": "interface_queue",
    "socket_buffer": "socket_buffer",
    "tcp_no_metrics_save": "tcp_no_metrics_save",
    "tcp_slow_start_after_idle": "tcp_slow_start_after_idle",
    "hystart": "hystart",
}
HOSTS = ("interface_queue", "socket_buffer", "tcp_no_metrics_save", "tcp_slow_start_after_idle", "hystart")
"""What a host is told; not in Table 5."""
BACKGROUNDS = ("0", "WMI", "WMII")


@dataclass(frozen=True)
class Factors:
    """Where and under what load an application runs; the table above says what each field is.

    `rtt_s` is None for a mix. `sources` is None where it follows from `congestion`. Those of `HOSTS` are None where
    hosts are as the benchmark has them.
    """

    rtt_s: float | None
    access_bps: float
    aggregation: float
    congestion: float
    reverse: float
    streams: int = 1
    background: Background = "0"
    sources: int | None = None
    interface_queue: int | None = None
    socket_buffer: int | None = None
    tcp_no_metrics_save: int | None = None
    tcp_slow_start_after_idle: int | None = None
    hystart: int | None = None

    @property
    def capacity_bps(self) -> float:
        """C = K C_a, bit/s."""
        return self.aggregation * self.access_bps

    @property
    def source_count(self) -> int:
        """M, at least 1."""
        return self.sources if self.sources is not None else max(1, round(self.congestion * self.aggregation))

    @property
    def level(self) -> float:
        """C_g of the sources there are: M/K."""
        return self.source_count / self.aggregation

    @property
    def reverse_count(self) -> int:
        """N_r = R K: how many nodes send against the useful traffic."""
        return 0 if self.reverse == 0 else max(1, round(self.reverse * self.aggregation))

    @property
    def mean_rtt_s(self) -> float:
        """Mean RTT, s."""
        return sum(MIX_S) / len(MIX_S) if self.rtt_s is None else self.rtt_s


def non_standard(factors: Factors) -> list[str]:
    """What of it is not in Table 5.

    >>> non_standard(Factors(0.1, 1e9, 10, 0.8, 0.0))
    ['RTT = 100 ms']
    """
    changed = []
    for name, standard in STANDARD.items():
        value = getattr(factors, name)
        if name == "congestion" and factors.sources is not None:
            value = factors.level
        if value is not None and not any(math.isclose(value, each, rel_tol=1e-9) for each in standard):
            changed.append(f"{SYMBOLS[name]} = {shown(name, value)}")
    given = ((name, getattr(factors, name)) for name in HOSTS)
    return changed + [f"{SYMBOLS[name]} = {shown(name, value)}" for name, value in given if value is not None]


def shown(name: str, value: float | str | None) -> str:
    """A factor's value for people."""
    match name:
        case "rtt_s":
            return "mix" if value is None else f"{1000 * float(value):g} ms"
        case "access_bps":
            return f"{float(cast('float', value)) / 1e6:g} Mbit/s"
        case "background" | "sources":
            return str(value)
        case "interface_queue":
            return f"{value} packets"
        case "socket_buffer":
            return f"{value} B"
    return f"{float(cast('float', value)):g}"


def changed(factors: Factors, assignments: list[str]) -> Factors:
    """The factors with ``SYMBOL=VALUE`` applied, such as ``RTT=100 ms`` or ``N_s=5``.

    Raises
    ------
    InputError
        The symbol or the value is not accepted.
    """
    for assignment in assignments:
        symbol, equals, text = (part.strip() for part in assignment.partition("="))
        names = {each.lower(): field for field, each in SYMBOLS.items()}
        name = names.get(symbol.lower())
        if name is None or not equals:
            hint = did_you_mean(symbol, SYMBOLS.values())
            raise InputError(f'--factor: found "{assignment}"; accepted: {quoted(SYMBOLS.values())} with =VALUE{hint}')
        values = {name: _value(name, symbol, text)}
        if name == "congestion":
            values["sources"] = None
        factors = replace(factors, **values)  # type: ignore[arg-type]
    if factors.sources is not None:
        factors = replace(factors, congestion=factors.level)
    return factors


def _value(name: str, symbol: str, text: str) -> float | int | str | None:
    read: dict[str, Callable[[str], float | int | str | None]] = {
        "rtt_s": _rtt_s,
        "access_bps": lambda text: _positive(float(Rate(text).bps)),
        "background": _background,
        "sources": _whole,
        "streams": _whole,
        "reverse": lambda text: _number(text, least=0.0),
        "interface_queue": lambda text: _whole(text.removesuffix("packets").strip()),
        "socket_buffer": lambda text: _positive(Bytes(text).bytes),
        "tcp_no_metrics_save": _switch,
        "tcp_slow_start_after_idle": _switch,
        "hystart": _switch,
    }
    try:
        return read.get(name, _above_zero)(text)
    except ValueError as error:
        raise InputError(f"--factor {symbol}: {error}") from None


def _above_zero(text: str) -> float:
    return _positive(_number(text, least=0.0))


def _rtt_s(text: str) -> float | None:
    return None if text.lower() == "mix" else _positive(Duration(text).seconds)


def _background(text: str) -> str:
    if text.upper() not in BACKGROUNDS:
        raise ValueError(f'found "{text}"; accepted: {quoted(BACKGROUNDS)}{did_you_mean(text, BACKGROUNDS)}')
    return text.upper()


def _number(text: str, least: float) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f'found "{text}"; accepted: a number') from None
    if not (math.isfinite(number) and number >= least):
        raise ValueError(f'found "{text}"; accepted: a number, {least:g} or more')
    return number


def _positive(number: Number) -> Number:
    if number <= 0:
        raise ValueError(f"found {number:g}; accepted: values above zero")
    return number


def _switch(text: str) -> int:
    if text not in {"0", "1"}:
        raise ValueError(f'found "{text}"; accepted: 0 or 1')
    return int(text)


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f'found "{text}"; accepted: a whole number, 1 or more')
    return int(text)


def names() -> list[str]:
    """The fields, in the order of Table 5."""
    return [field.name for field in fields(Factors) if field.name in SYMBOLS]
