"""Controls from outside that loop, end their process, take the machine's memory, or say more than can be read.

Each is a command run as a process: its exit status, its one message, and that no process of it is left.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from parshall.templates import write_control

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "controls.py").write_text(CONTROLS)
    return tmp_path


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


def one_of_each(*cases: tuple[str, str], gate: int) -> list[object]:
    """The first so many in the gate, all others slow."""
    marks = [[pytest.mark.slow] if at >= gate else [] for at in range(len(cases))]
    return [pytest.param(*case, id=case[0], marks=mark) for case, mark in zip(cases, marks, strict=True)]


AT = r"at 0.\d+ s of flow a"


@pytest.mark.parametrize(
    ("control", "said"),
    one_of_each(
        ("Loops", rf"control mine has not answered for 1 s {AT}"),
        ("Exits", rf"control mine ended the process \(exit 0\) {AT}"),
        (
            "Huge",
            r"control mine, flow \d of group a, 0.\d+ s: its window \(cwnd\) is 100000000000; it must be a number of ",
        ),
        ("Remembers", rf"control mine took 0.\d GB of memory {AT}; its process may take 0.2 GB"),
        ("Shouts", r"control mine, flow \d of group a, 0.\d+ s: E+ ... \(cut\): x+ ... \(cut\)"),
        ("LoopsAtFirst", "control mine has not answered for 1 s at 0 s of flow a"),
        ("LoopsAtLast", "control mine has not answered for 1 s at 0 s of flow a"),
        ("Sleeps", rf"control mine has not answered for 1 s {AT}"),
        ("ExitsInLibrary", rf"control mine ended the process \(exit 0\) {AT}"),
        ("SysExits", r"control mine, flow \d of group a, 0.\d+ s: SystemExit: 0 \(controls.py, line \d+\)"),
        ("NullPointer", rf"control mine ended the process \(signal 11\) {AT}"),
        ("Aborts", rf"control mine ended the process \(signal 6\) {AT}"),
        ("Killed", rf"control mine ended the process \(signal 9\) {AT}"),
        ("Mute", r"flow \d of group a, 0.\d+ s: E: \(its text cannot be had: __str__ raises ValueError\)"),
        ("Wordy", r"flow \d of group a, 0.\d+ s: ValueError: cwnd is 9+ ... \(cut\)"),
        ("Garbles", r"control mine (ended the process \(\w+ \d+\)|broke the connection of its process)"),
        gate=5,
    ),
)
def test_what_foreign_code_does_is_told_and_is_a_failure(control: str, said: str, folder: Path) -> None:
    process = command(folder, f"controls.py:{control}", PARSHALL_CONTROL_MEMORY="200 MB")
    status, message = ended(process)
    assert status == 1, message
    assert re.search(said, message), message
    assert len(message) < 2500
    assert message.startswith("parshall: repetition 0"), message
    assert not (folder / "r").exists(), "nothing half-written"


def test_a_copy_of_the_process_ends_and_leaves_the_tables_alone(folder: Path) -> None:
    assert ended(command(folder, "controls.py:Forks")) == (0, "")
    (folder / "r").rename(folder / "forked")
    assert ended(command(folder, "controls.py:Base")) == (0, "")
    tables = sorted(path.relative_to(folder / "r") for path in (folder / "r").rglob("*.parquet"))
    assert tables
    for table in tables:
        assert (folder / "r" / table).read_bytes() == (folder / "forked" / table).read_bytes(), table


def test_what_needs_names_is_checked(folder: Path) -> None:
    status, message = ended(command(folder, "controls.py:NeedsNumber"))
    assert (status, message.count("\n")) == (2, 1)
    assert 'control "mine": controls.py:NeedsNumber has needs = 5; write a tuple; accepted: rate_samples' in message


def test_what_a_control_prints_is_seen(folder: Path) -> None:
    process = command(folder, "controls.py:Prints")
    out, message = process.communicate(timeout=120)
    assert (process.returncode, message, out.count("made\n")) == (0, "", 4), "a flow makes two controls"


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("import os\nos._exit(0)", 1, "control mine ended the process (exit 0) while it was loaded"),
        ("import sys\nsys.exit(0)", 2, "code.py cannot be run: SystemExit: 0"),
        ("import ctypes\nctypes.string_at(0)", 1, "control mine ended the process (signal 11) while it was loaded"),
        ("raise ValueError('x' * 10_000_000)", 2, "code.py cannot be run: ValueError: xxx"),
    ],
)
@pytest.mark.slow
def test_code_that_ends_the_process_when_it_is_loaded(text: str, status: int, said: str, folder: Path) -> None:
    (folder / "code.py").write_text(text)
    found, message = ended(command(folder, "code.py:Mine"))
    assert found == status
    assert said in message
    assert len(message) < 1000


C_ENDINGS = {
    "loops": ("for (volatile int goes_on = 1; goes_on;) {}", "has not answered for 1 s"),
    "exits": ("exit(0);", "ended the process (exit 0)"),
    "null_pointer": ("*(volatile int *)0 = 1;", "ended the process (signal 11)"),
    "aborts": ("abort();", "ended the process (signal 6)"),
    "forks": ("if (fork() == 0) exit(0);", ""),
}


def library(folder: Path, statement: str) -> str:
    write_control("mine", "c", folder)
    source = folder / "mine.c"
    text = re.sub(r"(static void on_ack\(.*\{\n)", rf"\1    {statement}\n", source.read_text())
    source.write_text("#include <stdlib.h>\n#include <unistd.h>\n" + text)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libmine.so", source, "-lm"], check=True)
    return "./libmine.so"


@pytest.mark.slow
@pytest.mark.needs("cc")
@pytest.mark.parametrize("ending", [pytest.param("loops", marks=pytest.mark.gate), *[*C_ENDINGS][1:]])
def test_a_library_cannot_take_the_command_with_it(ending: str, folder: Path) -> None:
    statement, said = C_ENDINGS[ending]
    status, message = ended(command(folder, library(folder, statement)))
    assert status == (1 if said else 0), message
    assert not said or re.search(rf"control mine {re.escape(said)} {AT}", message), message


# --- interruptions ---


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


def wait_until(condition: object, *, within_s: float = 60.0) -> None:
    assert callable(condition)
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


WHERE = {
    "on_ack": "controls.py:Loops",
    "__init__": "controls.py:LoopsAtFirst",
    "C": "for (volatile int goes_on = 1; goes_on;) {}",
    "module": "module.py:Mine",
}


def looping(where: str, folder: Path, *more: str) -> subprocess.Popen[str]:
    """A command whose control loops by now."""
    (folder / "module.py").write_text("while True:\n    pass\n")
    code = library(folder, WHERE[where]) if where == "C" else WHERE[where]
    process = command(folder, code, *more, PARSHALL_CONTROL_WAIT="300 s")
    wait_until(lambda: busy(descendants(process.pid)))
    return process


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("more", [(), ("--set", "repetitions=4", "--workers", "2")], ids=["one", "four"])
@pytest.mark.parametrize("where", [pytest.param("on_ack", marks=pytest.mark.gate), "__init__", "C"])
def test_an_interruption_is_answered_at_once(
    where: str, more: tuple[str, ...], number: signal.Signals, folder: Path
) -> None:
    process = looping(where, folder, *more)
    children = descendants(process.pid)
    begun = time.monotonic()
    process.send_signal(number)
    status, message = ended(process)
    assert time.monotonic() - begun < 2.0
    assert status == 130
    assert "interrupted" in message
    assert children
    assert not list(alive(children))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_all_processes_is_an_interruption(number: signal.Signals, folder: Path) -> None:
    process = looping("on_ack", folder)
    for each in (*descendants(process.pid), process.pid):
        os.kill(each, number)
        time.sleep(0.2)
    status, message = ended(process)
    assert (status, "interrupted" in message) == (130, True), message


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_interruption_while_code_is_loaded(folder: Path) -> None:
    process = looping("module", folder)
    children = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "parshall: interrupted\n")
    assert not list(alive(children))


@pytest.mark.slow
@pytest.mark.gate
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.needs("cc")
def test_nothing_is_left_when_the_command_is_killed(folder: Path) -> None:
    process = looping("C", folder)
    children = descendants(process.pid)
    assert children
    process.kill()
    ended(process)
    wait_until(lambda: not list(alive(children)), within_s=5.0)


# --- every command that takes controls ---

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
RECORDING = Path(__file__).parents[1] / "data/linux-6.18/reno-clean.csv.zst"
COMMANDS = {
    "sweep": ("s.sweep.toml", "--no-page", "--store", "store", "--workers", "2", "--control"),
    "suite": ("rfc9743", "mine", "--store", "store", "--workers", "2", "--control"),
    "itb": ("--cc", "mine", "--store", "store", "--workers", "2", "--control"),
    "check-control": ("--workers", "2"),
    "replay": (str(RECORDING), "--control"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("control", "said"),
    [("Loops", "has not answered for 1 s"), ("Exits", r"ended the process \(exit 0\)")],
    ids=["loops", "exits"],
)
@pytest.mark.parametrize("verb", COMMANDS)
def test_every_command_has_the_wall(verb: str, control: str, said: str, folder: Path) -> None:
    (folder / "s.sweep.toml").write_text(SWEEP)
    place = f"controls.py:{control}"
    code = place if verb == "check-control" else f"mine={place}"
    status, message = ended(command(folder, "", *COMMANDS[verb], code, verb=verb))
    assert status == 1, message
    assert re.search(rf"control \w+ {said}", message), message
    if verb in ("sweep", "suite", "itb"):
        assert re.search(rf"{said} at 0.\d+ s of flow \w+", message), message
    assert "Traceback" not in message


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_of_a_sweep_leave_nothing(number: signal.Signals, folder: Path) -> None:
    (folder / "s.sweep.toml").write_text(SWEEP)
    more = (*COMMANDS["sweep"], "mine=controls.py:Loops")
    process = command(folder, "", *more, verb="sweep", PARSHALL_CONTROL_WAIT="300 s")
    wait_until(lambda: busy(descendants(process.pid)))
    children = descendants(process.pid)
    assert len(children) > 2, "workers, and theirs"
    begun = time.monotonic()
    process.send_signal(number)
    status, _ = ended(process)
    assert status == (130 if number == signal.SIGINT else -number)
    assert time.monotonic() - begun < 2.0
    wait_until(lambda: not list(alive(children)), within_s=5.0)
