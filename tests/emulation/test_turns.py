"""Turns of emulations: who has one is told by the kernel, and nobody who stops, hangs or means ill keeps all others."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from emulations import BULK, eventually, on_the_kernel, scenario
from typer.testing import CliRunner

from parshall.cli.app import application
from parshall.instruments.emulation import emulate, peers, turns, validity
from parshall.instruments.emulation.peers import Participant, participants
from parshall.instruments.emulation.process import _passed_over
from parshall.instruments.emulation.turns import turn
from parshall.instruments.simulation.single import Interrupted, Monitor
from parshall.results.records.validity import verdict_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="emulations are of Linux")

HOLDS = """
import os, sys
from parshall.instruments.emulation import peers, turns
from parshall.instruments.simulation.single import Monitor
peers.FAMILY, lasts_s, uid = sys.argv[1].replace("@", chr(0)), float(sys.argv[2]), int(sys.argv[3])
turns.OTHERS_S = turns.STOPPED_S = 1e9
if uid:
    os.setgroups([]); os.setresgid(uid, uid, uid); os.setresuid(uid, uid, uid)
with turns.turn(Monitor(), lasts_s=lasts_s):
    print("holds", flush=True)
    sys.stdin.read()
"""
NOBODY = 65534


@pytest.fixture(autouse=True)
def family(monkeypatch: pytest.MonkeyPatch) -> str:
    """Names of sockets that no other test, and no emulation, has."""
    name = f"\0parshall/tests/{uuid.uuid4()}/"
    monkeypatch.setattr(peers, "FAMILY", name)
    return name


@contextmanager
def another(
    family: str, lasts_s: float = 1000.0, uid: int = 0, *, holds: bool = True
) -> Iterator[subprocess.Popen[str]]:
    """A process that takes its turn, and keeps it until the end."""
    words = [sys.executable, "-c", HOLDS, family.replace("\0", "@"), str(lasts_s), str(uid)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if holds:
            assert process.stdout.readline() == "holds\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def listed(*words: str) -> Any:
    """The output of `parshall emulate --list`."""
    return CliRunner().invoke(application(["emulate"]), ["emulate", "--list", *words])


class Waits:
    """The line that is printed while one waits; gives up after a while."""

    def __init__(self, seconds: float = 20.0) -> None:
        self.said: list[str] = []
        self.monitor = Monitor()
        self._ends = time.monotonic() + seconds

    def __call__(self, whose: str) -> None:
        self.said.append(whose)

    @property
    def cancelled(self) -> bool:
        return time.monotonic() > self._ends


def passed(waits: Waits) -> list[Participant]:
    """Those who were passed over, when the own turn has come."""
    with turn(waits, waits) as found:  # type: ignore[arg-type]
        return found


def test_whoever_looks_is_told_whose_turn_it_is_and_who_waits(family: str) -> None:
    assert participants() == []
    with another(family, 100.0) as first, another(family, holds=False) as second:
        assert eventually(lambda: len(participants()) == 2)
        holder, waiting = participants()
        assert (holder.waits, holder.pid, holder.is_stopped) == (False, first.pid, False)
        assert (waiting.waits, waiting.pid) == (True, second.pid)
        assert holder.user == waiting.user != ""
        assert holder.since is not None
        assert holder.until == pytest.approx(holder.since + 100, abs=1)
        assert abs(holder.since - time.time()) < 60
        assert holder.command is not None
        assert holder.command.startswith(f"{sys.executable} -c")
        first.kill()
        first.wait()
        assert eventually(lambda: [each.pid for each in participants()] == [second.pid])
        assert eventually(lambda: not participants()[0].waits)


def test_one_that_works_is_waited_for(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "STOPPED_S", 0.2)
    with another(family) as process:
        waits = Waits(3.0)
        with pytest.raises(Interrupted):
            passed(waits)
    (said,) = waits.said
    assert f"PID {process.pid}, since " in said


def test_one_that_is_stopped_is_passed_over(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "STOPPED_S", 2.0)
    with another(family) as process:
        process.send_signal(signal.SIGSTOP)
        waits = Waits()
        (over,) = passed(waits)
        assert (over.pid, over.is_stopped) == (process.pid, True)
        assert "stopped" in waits.said[-1]
        assert "passed over when it has been so for 2 s" in waits.said[-1]


def test_those_that_come_later_wait_for_the_one_that_went_on(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "STOPPED_S", 1.0)
    with another(family) as process:
        process.send_signal(signal.SIGSTOP)
        with turn(Waits()) as over:  # type: ignore[arg-type]
            assert [each.pid for each in over] == [process.pid]
            assert [each.pid for each in participants()] == [process.pid, os.getpid()]
            with pytest.raises(Interrupted):
                passed(Waits(4.0))
            # The one that was stopped goes on and ends: its name is free, and the other's turn is still waited for.
            process.kill()
            process.wait()
            with pytest.raises(Interrupted):
                passed(Waits(2.0))
        assert passed(Waits()) == []


def test_one_that_has_not_ended_when_it_said_is_passed_over(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LATE_S", 0.0)
    with another(family, 1.0) as process:
        assert [each.pid for each in passed(Waits())] == [process.pid]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_one_of_another_user_is_not_waited_for_for_ever(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "OTHERS_S", 2.0)
    with another(family, 1e9, NOBODY) as process:
        waits = Waits()
        (over,) = passed(waits)
        assert (over.pid, over.user) == (process.pid, "nobody")
        assert waits.said[0].startswith(f"nobody's, PID {process.pid}, ")


def test_one_that_cannot_be_asked_is_not_waited_for_for_ever(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as held:  # it has the name, and does not listen
        held.bind(f"{family}turn")
        with pytest.raises(Interrupted):
            passed(Waits(2.0))
        monkeypatch.setattr(turns, "OTHERS_S", 2.0)
        waits = Waits()
        (over,) = passed(waits)
        assert (over.pid, over.user) == (None, None)
        assert waits.said == ["an unknown user's"]


def test_one_who_has_all_names_keeps_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "OTHERS_S", 2.0)
    names = [peers.turn_name(place) for place in range(peers.PLACES)]
    held = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in names]
    for each, name in zip(held, names, strict=True):
        each.bind(name)
    assert len(passed(Waits())) == peers.PLACES
    for each in held:
        each.close()


@pytest.mark.parametrize(
    "name", ["holds/x/1/a", "holds/1e999/1/a", "waits/-1/a", "waits/a", "waits/" + "9" * 20 + "/a", "waits/1/\x1b[2J"]
)
def test_what_strangers_say_of_themselves_is_no_more_than_said(name: str, family: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
        stranger.bind(f"{family}{name}")
        stranger.listen(1)
        done = listed()
        assert done.exit_code == 0
        assert "\x1b" not in done.stdout
        for each in participants():
            assert each.pid == os.getpid()
            assert each.since is None or each.since == 1


def test_the_verdict_says_what_was_passed_over() -> None:
    totals = {"emulation": {"level": "valid", "findings": []}, "links": []}
    assert _passed_over(totals, []) is totals
    other = Participant(False, "alice", 7, None, None, True, "parshall emulate x.toml")
    verdict = verdict_of([_passed_over(totals, [other])])
    assert verdict.level == "doubtful"
    assert verdict.reasons[0].startswith(
        "another emulation may have been under way, whose turn was passed over: alice's, PID 7, stopped, `parshall "
    )
    invalid = {"emulation": {"level": "invalid", "findings": []}}
    assert _passed_over(invalid, [other])["emulation"]["level"] == "invalid"


def test_the_command_lists(family: str) -> None:
    assert listed().stdout == "no emulation of this machine is under way\n"
    with another(family) as process:
        assert f" {process.pid} " in listed().stdout
        process.send_signal(signal.SIGSTOP)
        assert eventually(lambda: "has its turn, stopped" in listed().stdout)
        (found,) = json.loads(listed("--json").stdout)
        assert (found["pid"], found["waits"], found["is_stopped"]) == (process.pid, False, True)
    refused = CliRunner().invoke(application(["emulate"]), ["emulate"])
    assert refused.exit_code == 2
    assert "accepted: a scenario in TOML, or --list" in refused.stderr


@on_the_kernel
def test_an_emulation_that_went_on_says_so(family: str, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr(turns, "STOPPED_S", 1.5)
    with another(family) as process:
        process.send_signal(signal.SIGSTOP)
        made = emulate(scenario(BULK, seconds=1))
    verdict = validity(made)
    assert verdict is not None
    assert verdict.level != "valid"
    assert any(f"whose turn was passed over: root's, PID {process.pid}" in each for each in verdict.reasons) or (
        os.getuid() != 0
    )
    assert "--at-once does not wait" in caplog.text
