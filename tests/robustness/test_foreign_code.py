"""Controls from outside that loop, end their process, take the machine's memory, or say more than can be read.

Each is a command run as a process: its exit status, its one message, and what it leaves.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from foreign_commands import command, ended, library, written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path)


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


@pytest.mark.slow
@pytest.mark.needs("cc")
@pytest.mark.parametrize("ending", [pytest.param("loops", marks=pytest.mark.gate), *[*C_ENDINGS][1:]])
def test_a_library_cannot_take_the_command_with_it(ending: str, folder: Path) -> None:
    statement, said = C_ENDINGS[ending]
    status, message = ended(command(folder, library(folder, statement)))
    assert status == (1 if said else 0), message
    assert not said or re.search(rf"control mine {re.escape(said)} {AT}", message), message


# --- every command that takes controls ---

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
    place = f"controls.py:{control}"
    code = place if verb == "check-control" else f"mine={place}"
    status, message = ended(command(folder, "", *COMMANDS[verb], code, verb=verb))
    assert status == 1, message
    assert re.search(rf"control \w+ {said}", message), message
    if verb in ("sweep", "suite", "itb"):
        assert re.search(rf"{said} at 0.\d+ s of flow \w+", message), message
    assert "Traceback" not in message
