"""What the tests of emulation share: whether this machine can, and a small scenario."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

import parshall as ps
from parshall.emulation import abilities
from parshall.errors import NoEmulationError

REQUIRED = os.environ.get("PARSHALL_EMULATE") == "required"


def reason_to_skip() -> str | None:
    try:
        return abilities().problem
    except NoEmulationError as error:
        return str(error)


WHY_NOT = reason_to_skip()
needs_the_kernel = pytest.mark.skipif(WHY_NOT is not None and not REQUIRED, reason=f"no emulation here: {WHY_NOT}")
# An emulation runs in real time: a machine that is busy for a moment can make a test fail. A fault of ours fails twice.
tried_twice = pytest.mark.flaky(reruns=1)


ON_THE_KERNEL = [pytest.mark.slow, needs_the_kernel, tried_twice]
"""The marks of a test that emulates: it is skipped where that cannot be, and slow, as emulations take turns."""


def on_the_kernel(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that emulates, in a module where others do not."""
    for mark in ON_THE_KERNEL:
        test = mark(test)
    return test


def scenario(*flows: dict[str, Any], rate: str = "10 Mbit/s", seconds: float = 3, **more: Any) -> ps.Scenario:
    return ps.Scenario.from_document(
        {
            "name": "emulated",
            "duration": f"{seconds} s",
            "bottleneck": {"rate": rate, "queue": {"name": "drop_tail", "limit": "100 packets"}},
            "flows": list(flows),
            **more,
        }
    )


BULK = {"rtt": "20 ms", "congestion_control": "cubic"}


def eventually(true: Callable[[], Any], within_s: float = 20.0) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False
