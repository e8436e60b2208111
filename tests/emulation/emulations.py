"""What the tests of emulation share: whether this machine can, and a small scenario."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

import parshall as ps
from parshall.foundations.errors import NoEmulationError
from parshall.instruments.emulation import abilities
from parshall.instruments.emulation.kernel import emulated

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

BECOME_NOBODY = """
if os.getuid() == 0:
    os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: /proc/self is its own, as after exec
"""


def answer_of_a_child(made: ps.Scenario, directory: str, preparation: str, extras: dict[str, Any]) -> dict[str, Any]:
    """What the process of a repetition answers that was prepared so; it writes to `directory`."""
    order = {
        "scenario": json.dumps(emulated(made)),
        "repetition": 0,
        "directory": directory,
        "parent": os.getpid(),
        "extras": json.dumps(extras),
    }
    code = (
        f"import ctypes, json, os, sys\nfrom parshall.instruments.emulation.child import answer\n{preparation}\n"
        "print(json.dumps(answer(json.load(sys.stdin))))\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(order), capture_output=True, text=True, timeout=60, check=False
    )
    assert said.returncode == 0, said.stderr
    answered: dict[str, Any] = json.loads(said.stdout)
    return answered


def eventually(true: Callable[[], Any], within_s: float = 20.0) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False
