"""A repetition in a process of its own, when it is its turn (`.child` is that process)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from parshall.foundations.errors import EmulationError, NoEmulationError, ScenarioError
from parshall.instruments.emulation.kernel import objects
from parshall.instruments.emulation.peers import Participant
from parshall.instruments.emulation.turns import turn
from parshall.instruments.simulation.single import Interrupted, Monitor

POLL_S = 0.1
"""Longest time until an interruption is noticed, s."""

CALLS_FILE = "calls.csv.zst"
"""The recording of the calls that the kernel's congestion controls get (crates/replay)."""

MARGIN_S = 60.0
"""A repetition that takes so much longer than its scenario hangs: its set-up and its end take seconds."""


def repetition(
    resolved: str,
    number: int,
    directory: Path,
    monitor: Monitor,
    source: str | None = None,
    *,
    programs: Mapping[str, Any] | None = None,
    waits: Callable[[str], None] = lambda _: None,
    record_controls: bool = False,
    at_once: bool = False,
) -> dict[str, Any]:
    """Emulate one repetition, when it is its turn; its totals.

    Parameters
    ----------
    resolved
        The scenario as `parshall.instruments.emulation.kernel.emulated` gives it, as JSON.
    number
        Which repetition, from 0.
    directory
        Where its tables go.
    monitor
        Told how far it is, and asked whether to go on.
    source
        The scenario's file, for messages.
    programs
        What runs in the place of a group's workload (crates/emulation/src/programs.rs).
    waits
        Told what is waited for if its turn does not come within a second.
    record_controls
        Whether the calls of the kernel's congestion controls are recorded, in `CALLS_FILE` of `directory`.
    at_once
        Whether it does not wait for its turn.

    Raises
    ------
    ScenarioError
        The hosts refuse what the scenario asks for.
    NoEmulationError
        This machine does not permit what it needs.
    EmulationError
        The emulation failed.
    Interrupted
        `monitor` was cancelled.
    OSError
        Results cannot be written.
    """
    read = json.loads(resolved)
    controls = {
        "objects": objects(read),
        "recording": str(directory / CALLS_FILE) if record_controls else None,
    }
    order = {
        "scenario": resolved,
        "repetition": number,
        "directory": str(directory),
        "parent": os.getpid(),
        "extras": json.dumps({"programs": programs, "controls": controls}),
    }
    duration_s = read["duration_ps"] / 1e12
    with turn(monitor, waits, lasts_s=duration_s + MARGIN_S, at_once=at_once) as passed:
        answer = _answer(order, duration_s, monitor)
    match answer:
        case {"totals": dict(totals)}:
            return _passed_over(totals, passed)
        case {"refused": [str(key), str(problem)]}:
            raise ScenarioError([f"{key}: {problem}" if key else problem], source)
        case {"unwritten": [code, text, name]}:
            raise OSError(code, text, name)
        case {"not_permitted": why}:
            raise NoEmulationError(f"this machine cannot do that: {why}")
        case {"failed": failed}:
            raise EmulationError(f"repetition {number}: {failed}")
        case other:
            raise EmulationError(f"repetition {number}: the process of the emulation said {other}")


def _passed_over(totals: dict[str, Any], others: Sequence[Participant]) -> dict[str, Any]:
    """Totals whose verdict says that other emulations may have been under way."""
    if not others:
        return totals
    emulation = totals["emulation"]
    found = [
        {
            "level": "doubtful",
            "reason": f"another emulation may have been under way, whose turn was passed over: {other}",
            "remedy": "end it and emulate again (`parshall emulate --list` says whose turn it is)",
        }
        for other in others
    ]
    level = "doubtful" if emulation["level"] == "valid" else emulation["level"]
    return {**totals, "emulation": {**emulation, "level": level, "findings": [*emulation["findings"], *found]}}


def _answer(order: Mapping[str, Any], duration_s: float, monitor: Monitor) -> Any:
    """Return the child's reply to an order; files carry both, as programs of the emulation use the standard streams."""
    with tempfile.TemporaryFile("w+") as asked, tempfile.TemporaryFile("w+") as answered:
        json.dump(order, asked)
        asked.flush()
        asked.seek(0)
        files = (asked.fileno(), answered.fileno())
        command = [sys.executable, "-m", "parshall.instruments.emulation.child", *map(str, files)]
        with subprocess.Popen(command, pass_fds=files) as child:  # noqa: S603 - our own Python
            _wait(child, duration_s, monitor)
        answered.seek(0)
        text = answered.read()
    if child.returncode != 0 or not text:
        raise EmulationError(f"the process of the emulation ended with {child.returncode}")
    return json.loads(text)


def _wait(child: subprocess.Popen[bytes], duration_s: float, monitor: Monitor) -> None:
    left_s = duration_s + MARGIN_S
    while True:
        try:
            child.wait(POLL_S)
            return
        except subprocess.TimeoutExpired:
            left_s -= POLL_S
            monitor.advance(min(monitor.simulated_s + POLL_S, duration_s))
        if monitor.cancelled or left_s < 0:
            child.kill()
            child.wait()
            if monitor.cancelled:
                raise Interrupted
            raise EmulationError("the emulation hung and was stopped")
