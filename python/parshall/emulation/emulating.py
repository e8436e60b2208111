"""Emulating a scenario: repetitions in real time, one after another, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from parshall.emulation.kernel import emulated, left_to_the_kernel
from parshall.errors import EmulationError, ScenarioError
from parshall.runs import Progress, Run
from parshall.runs.execute import Instrument, execute, read_scenario
from parshall.runs.single import Interrupted, Monitor
from parshall.scenario import Scenario

POLL_S = 0.1
"""How soon an interruption is seen, s."""

MARGIN_S = 60.0
"""A repetition that takes so much longer than its scenario hangs: its set-up and its end take seconds."""


def emulate(
    scenario: Scenario | str | Path | Mapping[str, Any],
    directory: str | Path | None = None,
    *,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run a scenario with the kernel's own TCP at both ends of its flows, over its network in real time.

    The hosts are network namespaces of this machine, and traffic is between addresses within them alone. It takes as
    long as the scenario says; repetitions take turns.

    Parameters
    ----------
    scenario
        What is emulated: a scenario, the path of one in TOML, or its tables.
    directory, overwrite, progress
        As of `parshall.run`.

    Returns
    -------
    Run
        The same tables and quantities as of a simulation. `validity` says how far they can be believed.

    Raises
    ------
    ScenarioError
        The scenario is refused, or asks for what the kernel cannot do.
    EmulationError
        This machine permits no emulation, or it failed.
    OutputExistsError
        Something is in `directory`.
    StorageError
        Results cannot be written.
    """
    read = read_scenario(scenario)
    kernel = Instrument(
        "emulate",
        json.dumps(emulated(read)),
        _repetition,
        most_at_a_time=1,
        notes=left_to_the_kernel(read),
        describe=_described,
    )
    return execute(read, directory, kernel, overwrite=overwrite, progress=progress)


@contextmanager
def turn(monitor: Monitor) -> Iterator[None]:
    """Wait for the emulations of this user that are under way: two at a time would measure each other."""
    import fcntl  # noqa: PLC0415 - Linux has it

    place = Path(tempfile.gettempdir()) / f"parshall-emulation-{os.getuid()}.lock"
    with place.open("w") as lock:  # it is unlocked with its process, however that ends
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if monitor.cancelled:
                    raise Interrupted from None
                time.sleep(POLL_S)
        yield


def _repetition(
    resolved: str, repetition: int, directory: Path, monitor: Monitor, source: str | None
) -> dict[str, Any]:
    """One repetition, in a process of its own, when it is its turn; its totals."""
    with turn(monitor):
        return _in_a_child(resolved, repetition, directory, monitor, source)


def _in_a_child(
    resolved: str, repetition: int, directory: Path, monitor: Monitor, source: str | None
) -> dict[str, Any]:
    order = {"scenario": resolved, "repetition": repetition, "directory": str(directory), "parent": os.getpid()}
    command = [sys.executable, "-m", "parshall.emulation.child"]
    duration_s = json.loads(resolved)["duration_ps"] / 1e12
    left_s = duration_s + MARGIN_S
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:  # noqa: S603 - our own Python
        waiting: str | None = json.dumps(order)
        while True:
            try:
                said, _ = child.communicate(waiting, timeout=POLL_S)
                break
            except subprocess.TimeoutExpired:
                waiting, left_s = None, left_s - POLL_S
                monitor.advance(min(monitor.simulated_s + POLL_S, duration_s))
            if monitor.cancelled or left_s < 0:
                child.kill()
                child.communicate()
                if monitor.cancelled:
                    raise Interrupted
                raise EmulationError(f"repetition {repetition}: the emulation hung and was stopped")
    if child.returncode != 0 or not said:
        raise EmulationError(f"repetition {repetition}: the process of the emulation ended with {child.returncode}")
    match json.loads(said):
        case {"totals": dict(totals)}:
            return totals
        case {"refused": [str(key), str(problem)]}:
            raise ScenarioError([f"{key}: {problem}" if key else problem], source)
        case {"unwritten": [number, text, name]}:
            raise OSError(number, text, name)
        case {"failed": failed}:
            raise EmulationError(f"repetition {repetition}: {failed}")
        case other:
            raise EmulationError(f"repetition {repetition}: the process of the emulation said {other}")


@dataclass(frozen=True)
class Validity:
    """How far an emulation can be believed."""

    level: Literal["valid", "doubtful", "invalid"]
    """The worst of its repetitions."""
    reasons: list[str]
    """What was not as in the scenario, and what to do about it, the worst first."""

    def __str__(self) -> str:
        return f"the emulation is {self.level}" + (f": {self.reasons[0]}" if self.reasons else "")


LEVELS: tuple[Literal["valid", "doubtful", "invalid"], ...] = ("valid", "doubtful", "invalid")


def validity(run: Run) -> Validity | None:
    """How far an emulated run can be believed; None: it is a simulation."""
    described = run.metadata.get("emulation")
    return None if described is None else Validity(described["level"], described["reasons"])


def _described(totals: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `validity` reads, of the totals of the repetitions."""
    each = [one["emulation"] for one in totals]
    level = max((one["level"] for one in each), key=LEVELS.index, default="invalid")
    findings = [finding for one in each for finding in one["findings"]]
    findings.sort(key=lambda finding: -LEVELS.index(finding["level"]))
    reasons = dict.fromkeys(f"{finding['reason']}; {finding['remedy']}" for finding in findings)
    return {"emulation": {"level": level, "reasons": list(reasons)}}
