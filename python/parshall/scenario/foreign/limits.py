"""Limits of the process of foreign code: time without an answer, and memory.

| variable | what | default |
| --- | --- | --- |
| ``PARSHALL_CONTROL_WAIT`` | a call of a control that takes longer ends the run | 10 s |
| ``PARSHALL_CONTROL_MEMORY`` | memory that the process may take | 4 GB, or what is available if that is less |

They are variables of the environment because the processes of sweeps inherit these. A control answers within
microseconds, one that asks a neural network within milliseconds; the first call may import that network's library,
which takes seconds. A process with 100,000 flows of a class in Python took 0.2 GB, PyTorch takes 0.5 GB, and two
processes of 4 GB are left room on a machine of 8 GB only because hardly any takes so much: what is available at the
moment is the other bound.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from parshall import _core
from parshall.foundations.errors import InputError
from parshall.foundations.machine import available_bytes

WAIT = "PARSHALL_CONTROL_WAIT"
MEMORY = "PARSHALL_CONTROL_MEMORY"

_MEMORY_BYTES = 4_000_000_000
_LEAST_BYTES = 100_000_000
"""The interpreter and the simulator take 20 MB."""
_LEAST_PS = 100_000_000_000
"""The parent looks every 50 ms."""


class Limits(NamedTuple):
    """Limits of the process of foreign code."""

    wait_s: float
    """Seconds without an answer."""
    memory_bytes: int


def limits() -> Limits:
    """Return the limits that hold now.

    Raises
    ------
    InputError
        A variable of the environment is no such quantity, or is too small.
    """
    wait_ps = _quantity(WAIT, "duration", "10 s", _LEAST_PS)
    chosen = MEMORY in os.environ
    available = _MEMORY_BYTES if chosen else available_bytes() or _MEMORY_BYTES
    memory_bytes = _quantity(MEMORY, "bytes", f"{min(_MEMORY_BYTES, available)} B", _LEAST_BYTES if chosen else 0)
    return Limits(wait_ps / 1e12, max(_LEAST_BYTES, memory_bytes))


def _quantity(variable: str, kind: str, default: str, least: int) -> int:
    text = os.environ.get(variable, default)
    try:
        value = _core.parse_quantity(kind, text)
    except ValueError as error:
        raise InputError(f"{variable}: {error}") from None
    if value < least:
        raise InputError(f"{variable}: found {text!r}; accepted: {_core.format_quantity(kind, least)} or more")
    return value
