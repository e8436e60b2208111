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
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from parshall.foundations.errors import InputError
from parshall.scenario.schema.problems import did_you_mean, quoted
from parshall.scenario.schema.quantities import Bytes, Duration, Rate

Number = TypeVar("Number", int, float)
Background = Literal["0", "WMI", "WMII"]
BACKGROUNDS = ("0", "WMI", "WMII")
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
HOSTS = ("interface_queue", "socket_buffer", "tcp_no_metrics_save", "tcp_slow_start_after_idle", "hystart")
"""What a host is told; not in Table 5."""


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
    """The factors that are not in Table 5.

    >>> non_standard(Factors(0.1, 1e9, 10, 0.8, 0.0))
    ['RTT = 100 ms']
    """
    changed = []
    for name, standard in STANDARD.items():
        value = factors.level if name == "congestion" and factors.sources is not None else getattr(factors, name)
        if value is not None and not any(math.isclose(value, each, rel_tol=1e-9) for each in standard):
            changed.append(name)
    changed += [name for name in HOSTS if getattr(factors, name) is not None]
    return [
        f"{SYMBOLS[name]} = {shown(name, factors.level if name == 'congestion' else getattr(factors, name))}"
        for name in changed
    ]


def shown(name: str, value: Any) -> str:
    """A factor's value for people."""
    return _READ_AND_SHOWN[name][1](value)


def changed(factors: Factors, assignments: list[str]) -> Factors:
    """The factors with ``SYMBOL=VALUE`` applied, such as ``RTT=100 ms`` or ``N_s=5``.

    Raises
    ------
    InputError
        The symbol or the value is not accepted.
    """
    names = {each.lower(): field for field, each in SYMBOLS.items()}
    for assignment in assignments:
        symbol, equals, text = (part.strip() for part in assignment.partition("="))
        name = names.get(symbol.lower())
        if name is None or not equals:
            hint = did_you_mean(symbol, SYMBOLS.values())
            raise InputError(f'--factor: found "{assignment}"; accepted: {quoted(SYMBOLS.values())} with =VALUE{hint}')
        try:
            values = {name: _READ_AND_SHOWN[name][0](text)}
        except ValueError as error:
            raise InputError(f"--factor {symbol}: {error}") from None
        if name == "congestion":
            values["sources"] = None
        factors = replace(factors, **values)
    if factors.sources is not None:
        factors = replace(factors, congestion=factors.level)
    return factors


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f'found "{text}"; accepted: a number') from None
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f'found "{text}"; accepted: a number, 0 or more')
    return number


def _positive(number: Number) -> Number:
    if number <= 0:
        raise ValueError(f"found {number:g}; accepted: values above zero")
    return number


def _rtt_s(text: str) -> float | None:
    return None if text.lower() == "mix" else _positive(Duration(text).seconds)


def _background(text: str) -> str:
    if text.upper() not in BACKGROUNDS:
        raise ValueError(f'found "{text}"; accepted: {quoted(BACKGROUNDS)}{did_you_mean(text, BACKGROUNDS)}')
    return text.upper()


def _switch(text: str) -> int:
    if text not in {"0", "1"}:
        raise ValueError(f'found "{text}"; accepted: 0 or 1')
    return int(text)


def _whole(text: str) -> int:
    text = text.removesuffix("packets").strip()
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f'found "{text}"; accepted: a whole number, 1 or more')
    return int(text)


def _plain(value: float) -> str:
    return f"{value:g}"


def _above_zero(text: str) -> float:
    return _positive(_number(text))


_SWITCH: tuple[Callable[[str], Any], Callable[[Any], str]] = (_switch, _plain)
_READ_AND_SHOWN: dict[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    "rtt_s": (_rtt_s, lambda value: "mix" if value is None else f"{1000 * value:g} ms"),
    "access_bps": (lambda text: _positive(float(Rate(text).bps)), lambda value: f"{value / 1e6:g} Mbit/s"),
    "aggregation": (_above_zero, _plain),
    "sources": (_whole, str),
    "congestion": (_above_zero, _plain),
    "streams": (_whole, _plain),
    "reverse": (_number, _plain),
    "background": (_background, str),
    "interface_queue": (_whole, lambda value: f"{value} packets"),
    "socket_buffer": (lambda text: _positive(Bytes(text).bytes), lambda value: f"{value} B"),
    "tcp_no_metrics_save": _SWITCH,
    "tcp_slow_start_after_idle": _SWITCH,
    "hystart": _SWITCH,
}
_SYMBOLS = ("RTT", "C_a", "K", "M", "C_g", "N_s", "R", "B")
SYMBOLS = dict(zip(_READ_AND_SHOWN, (*_SYMBOLS, *HOSTS), strict=True))
"""By field, the factor's name for people; in the order of Table 5."""
