"""Commands that are interrupted or killed while a control from outside loops: when they end, and what they leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from foreign_commands import alive, busy, command, descendants, ended, library, wait_until, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path)


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
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_all_processes_is_an_interruption(number: signal.Signals, folder: Path) -> None:
    process = looping("on_ack", folder)
    for each in (*descendants(process.pid), process.pid):
        os.kill(each, number)
        time.sleep(0.2)
    status, message = ended(process)
    assert (status, "interrupted" in message) == (130, True), message


@pytest.mark.slow
def test_an_interruption_while_code_is_loaded(folder: Path) -> None:
    process = looping("module", folder)
    children = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "parshall: interrupted\n")
    assert not list(alive(children))


@pytest.mark.slow
@pytest.mark.gate
@pytest.mark.needs("cc")
def test_nothing_is_left_when_the_command_is_killed(folder: Path) -> None:
    process = looping("C", folder)
    children = descendants(process.pid)
    assert children
    process.kill()
    ended(process)
    wait_until(lambda: not list(alive(children)), within_s=5.0)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_of_a_sweep_leave_nothing(number: signal.Signals, folder: Path) -> None:
    more = ("s.sweep.toml", "--no-page", "--store", "store", "--workers", "2", "--control", "mine=controls.py:Loops")
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
