"""Emulations as the benches run them: what they measured of themselves, and programs in their hosts."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import parshall as ps

HERE = Path(__file__).parent

ENDS = ("10.1.0.1", "10.2.0.1")
"""The addresses of an emulation's first flow (crates/hosts/src/plan.rs)."""


@dataclass(frozen=True)
class Emulation:
    """One repetition of a scenario, emulated."""

    run: ps.Run
    level: str
    reasons: list[str]
    """Why it is not valid, the worst first."""
    measured: dict[str, Any]
    """Its own measurements (`Measured` of crates/realtime/src/measured.rs)."""
    hosts: dict[str, Any]
    set_up_s: float

    @property
    def link(self) -> dict[str, Any]:
        """The row of its first link."""
        return self.run.links.row(0, named=True)

    def share(self, cpu_s: float) -> float:
        """CPU time as a share of the time that it ran."""
        wall_s: float = self.measured["wall_s"]
        return cpu_s / wall_s


def emulate(scenario: ps.Scenario) -> Emulation:
    """Emulates a scenario of one repetition."""
    return _described(ps.emulate(scenario))


def _described(run: ps.Run) -> Emulation:
    (totals,) = run.totals
    emulation = totals["emulation"]
    reasons = [finding["reason"] for finding in emulation["findings"] if finding["level"] != "valid"]
    return Emulation(run, emulation["level"], reasons, emulation["emulator"], emulation["hosts"], emulation["set_up_s"])


@dataclass(frozen=True)
class Host:
    """A thread that is a host, in whose namespaces programs can run."""

    process: int
    thread: int


@dataclass(frozen=True)
class UnderWay:
    """An emulation that runs."""

    parent: subprocess.Popen[bytes]
    process: int
    """That of the repetition."""
    directory: Path

    def host(self, name: str) -> Host:
        """``hosts-senders`` or ``hosts-receivers``."""
        thread = _thread(self.process, name)
        if thread is None:
            raise RuntimeError(f"the emulation has no thread {name}")
        return Host(self.process, thread)

    def finish(self) -> Emulation:
        """Waits for its end."""
        self.parent.wait()
        run = ps.load(self.directory)
        assert isinstance(run, ps.Run), "an emulation wrote it"
        return _described(run)


@contextmanager
def under_way(scenario: ps.Scenario) -> Iterator[UnderWay]:
    """A scenario that is being emulated, from when its hosts are there; it is stopped if it has not ended."""
    with tempfile.TemporaryDirectory() as folder:
        path, directory = Path(folder) / "scenario.toml", Path(folder) / "run"
        path.write_text(scenario.toml(), encoding="utf-8")
        command = [sys.executable, "-m", "parshall", "emulate", str(path), "-o", str(directory), "--quiet"]
        with subprocess.Popen([*command, "--accept-invalid"], stderr=subprocess.DEVNULL) as parent:
            try:
                yield UnderWay(parent, _repetition(parent), directory)
            finally:
                parent.terminate()
                parent.wait(timeout=30)


def _repetition(parent: subprocess.Popen[bytes]) -> int:
    """The process of the repetition, when its hosts are there."""
    end = time.monotonic() + 30
    while time.monotonic() < end and parent.poll() is None:
        for task in Path(f"/proc/{parent.pid}/task").iterdir():
            for number in map(int, (task / "children").read_text(encoding="ascii").split()):
                if _thread(number, "hosts-receivers") and _thread(number, "hosts-senders"):
                    return number
        time.sleep(0.05)
    raise RuntimeError("the emulation did not begin")


def _thread(process: int, name: str) -> int | None:
    for task in Path(f"/proc/{process}/task").iterdir():
        if (task / "comm").read_text(encoding="ascii").strip() == name:
            return int(task.name)
    return None


def ping(host: Host, seconds: float, interval_s: float, ends: tuple[str, str] = ENDS) -> list[float]:
    """Round-trip times from a host, s; by default between the ends of an emulation's first flow."""
    arguments = [str(each) for each in (host.process, host.thread, *ends, seconds, interval_s)]
    command = [sys.executable, str(HERE / "ping.py"), *arguments]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    times: list[float] = json.loads(said.stdout)
    return times
