"""Controls from outside that do what no control should, and commands that are given them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from parshall.scenario.templates import write_control

PARSHALL = [sys.executable, "-m", "parshall"]

SCENARIO = """
duration = "3 s"
[bottleneck]
rate = "5 Mbit/s"
queue = { name = "drop_tail", limit = "20 packets" }
[[flows]]
name = "a"
count = 2
rtt = "40 ms"
congestion_control = "mine"
"""

CONTROLS = """
import ctypes, os, sys

class Base:
    def __init__(self, start):
        self.cwnd = start.cwnd
        self.acks = 0
    def on_ack(self, ack):
        self.acks += 1
        if self.acks > 20:
            self.act()
    def act(self):
        pass
    def on_loss(self, event):
        self.cwnd = max(2.0, event.in_flight / 2)
    def on_timeout(self, event):
        self.cwnd = 1.0

class Loops(Base):
    def act(self):
        while True:
            pass
class LoopsAtFirst(Base):
    def __init__(self, start):
        while True:
            pass
class LoopsAtLast(Base):
    def __del__(self):
        while True:
            pass
class Sleeps(Base):
    def act(self):
        import time
        time.sleep(1000)
class Exits(Base):
    def act(self):
        os._exit(0)
class ExitsInLibrary(Base):
    def act(self):
        ctypes.CDLL(None).exit(0)
class SysExits(Base):
    def act(self):
        sys.exit(0)
class NullPointer(Base):
    def act(self):
        ctypes.string_at(0)
class Aborts(Base):
    def act(self):
        os.abort()
class Killed(Base):
    def act(self):
        os.kill(os.getpid(), 9)
class Huge(Base):
    def act(self):
        self.cwnd = 1e11
class Remembers(Base):
    kept = []
    def act(self):
        self.kept.append(bytearray(b"x" * 5_000_000))
class Shouts(Base):
    def act(self):
        raise type("E" * 1_000_000, (Exception,), {})("x" * 10_000_000)
class Mute(Base):
    def act(self):
        class E(Exception):
            def __str__(self):
                raise ValueError("no")
        raise E()
class Wordy(Base):
    def act(self):
        self.cwnd = "9" * 10_000_000
class Garbles(Base):
    def act(self):
        for file in range(3, 20):
            try:
                os.write(file, b"x" * 100)
            except OSError:
                pass
        os._exit(0)
class Forks(Base):
    def act(self):
        if self.acks == 25:
            os.fork()
class NeedsNumber(Base):
    needs = 5
class Prints(Base):
    def __init__(self, start):
        super().__init__(start)
        print("made")
"""


SWEEP = """
name = "s"
repetitions = 2
metrics = ["goodput_bps"]
[scenario]
duration = "3 s"
bottleneck = { rate = "5 Mbit/s", queue = { name = "drop_tail", limit = "20 packets" } }
flows = [{ name = "a", rtt = "40 ms", congestion_control = "mine" }]
[parameters]
"bottleneck.rate" = ["5 Mbit/s", "10 Mbit/s"]
"""


def written(folder: Path) -> Path:
    """The folder, with the scenario, the sweep and the controls."""
    (folder / "s.toml").write_text(SCENARIO)
    (folder / "s.sweep.toml").write_text(SWEEP)
    (folder / "controls.py").write_text(CONTROLS)
    return folder


def command(folder: Path, code: str, *more: str, verb: str = "run", **environment: str) -> subprocess.Popen[str]:
    given = ("s.toml", "-o", "r", "--no-page", "--quiet", "--control", f"mine={code}", *more) if verb == "run" else more
    return subprocess.Popen(
        [*PARSHALL, verb, *given],
        cwd=folder,
        env={**os.environ, "PARSHALL_CONTROL_WAIT": "1 s", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Its exit status, and its message."""
    _, message = process.communicate(timeout=120)
    return process.returncode, message


def library(folder: Path, statement: str) -> str:
    """A library in C whose `on_ack` begins with a statement."""
    write_control("mine", "c", folder)
    source = folder / "mine.c"
    text = re.sub(r"(static void on_ack\(.*\{\n)", rf"\1    {statement}\n", source.read_text())
    source.write_text("#include <stdlib.h>\n#include <unistd.h>\n" + text)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libmine.so", source, "-lm"], check=True)
    return "./libmine.so"


def descendants(process: int) -> list[int]:
    """Processes that a process has started, and those that they have."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found, new = [], [process]
    while new:
        new = [child for child, parent in parents.items() if parent in new]
        found += new
    return found


def alive(processes: list[int]) -> Iterator[int]:
    for process in processes:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            yield process


def wait_until(condition: Callable[[], bool], *, within_s: float = 60.0) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)


def busy(processes: list[int]) -> bool:
    """Whether one of them has computed for longer than it takes to begin: it loops."""
    ticks = 0.3 * os.sysconf("SC_CLK_TCK")
    for process in alive(processes):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[11]) > ticks:
            return True
    return False
