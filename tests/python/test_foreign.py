"""Processes of foreign code: what they may take, what reaches them, and when they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import parshall as ps
from parshall.foundations import machine
from parshall.foundations.errors import ControlError, InputError
from parshall.instruments.simulation.single import Monitor, simulate
from parshall.scenario.controls import declare, read
from parshall.scenario.foreign import limits as limits_module
from parshall.scenario.foreign.code import shortened
from parshall.scenario.foreign.limits import MEMORY, WAIT, limits
from parshall.scenario.foreign.process import close_idle
from parshall.scenario.foreign.starting import ended
from parshall.scenario.schema import external
from parshall.scenario.templates import write_control


@pytest.fixture(autouse=True)
def _nothing_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "_declared", {})


class Plain:
    """Reno without slow start after the first loss."""

    def __init__(self, start: Any) -> None:
        self.cwnd = start.cwnd

    def on_ack(self, ack: Any) -> None:
        if ack.may_grow:
            self.cwnd += ack.credit / self.cwnd

    def on_loss(self, event: Any) -> None:
        self.cwnd = max(2.0, event.in_flight / 2)

    def on_timeout(self, event: Any) -> None:  # noqa: ARG002 - the contract's
        self.cwnd = 1.0


def scenario(duration: str = "10 s", **changes: Any) -> dict[str, Any]:
    return {
        "duration": duration,
        "bottleneck": {"rate": "2 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
        "flows": [{"name": "a", "rtt": "40 ms", "congestion_control": "mine"}],
        **changes,
    }


# --- limits ---


def test_limits_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WAIT, "1500 ms")
    monkeypatch.setenv(MEMORY, "300 MB")
    assert limits() == (1.5, 300_000_000)


@pytest.mark.parametrize(("available", "may"), [(None, 4e9), (10**12, 4e9), (10**9, 1e9), (10**6, 1e8)])
def test_by_default_memory_is_what_is_available(
    available: int | None, may: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(WAIT, raising=False)
    monkeypatch.delenv(MEMORY, raising=False)
    monkeypatch.setattr(limits_module, "available_bytes", lambda: available)
    assert limits() == (10.0, int(may))


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        (WAIT, "soon", r"PARSHALL_CONTROL_WAIT: .*soon"),
        (WAIT, "1 ms", r"PARSHALL_CONTROL_WAIT: found '1 ms'; accepted: 100 ms or more"),
        (MEMORY, "5 s", r"PARSHALL_CONTROL_MEMORY: .*5 s"),
        (MEMORY, "1 MB", r"PARSHALL_CONTROL_MEMORY: found '1 MB'; accepted: 100 MB or more"),
    ],
)
def test_what_is_no_limit_is_refused(variable: str, text: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(InputError, match=said):
        ps.run(scenario(), controls={"mine": Plain})


def test_available_memory_is_known_here() -> None:
    assert (machine.available_bytes() or 10**9) > 10**7


class Slow(Plain):
    answers = 0

    def on_ack(self, ack: Any) -> None:
        super().on_ack(ack)
        type(self).answers += 1
        if self.answers < 4:
            time.sleep(0.4)


def test_a_control_that_is_slow_but_answers_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WAIT, "600 ms")
    begun = time.monotonic()
    ps.run(scenario(), controls={"mine": Slow})
    assert time.monotonic() - begun > 1.2, "longer than it may wait for one answer"


# --- what reaches them ---


GAIN = 1.0


class OfTheModule(Plain):
    def on_ack(self, ack: Any) -> None:
        self.cwnd += GAIN * ack.credit / self.cwnd


def test_a_class_is_sent_as_its_module_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    goodput = []
    for gain in (1.0, 0.01):
        monkeypatch.setattr(sys.modules[__name__], "GAIN", gain)
        goodput.append(ps.run(scenario(), controls={"mine": OfTheModule}).flows["retransmissions"][0])
    assert goodput[0] > goodput[1]


def test_a_class_that_cannot_be_sent_is_refused() -> None:
    lock = threading.Lock()

    class Locked(Plain):
        def on_ack(self, ack: Any) -> None:
            with lock:
                super().on_ack(ack)

    said = r'control "mine": class .*Locked runs in a process of its own, to which it cannot be sent: TypeError: .*lock'
    with pytest.raises(InputError, match=said + ".* write it to a file of its own: mine=FILE.py:CLASS"):
        declare({"mine": Locked})


def test_what_a_class_needs_is_a_tuple() -> None:
    for needs in (5, "pacing", None, {"pacing": True}):
        with pytest.raises(InputError, match=r'control "mine": class Asks has needs = .*; write a tuple; accepted: '):
            read("mine", type("Asks", (Plain,), {"needs": needs}))
    assert read("mine", type("Asks", (Plain,), {"needs": ["pacing"]})).needs == ("pacing",)


def test_a_keyword_is_no_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'class': this is a keyword of Python; choose another name"):
        read("class", Plain)
    with pytest.raises(InputError, match='found "class", which is a keyword of Python; choose another name'):
        write_control("class", "python", tmp_path)
    assert not list(tmp_path.iterdir())


def test_where_a_file_fails_when_it_is_read_can_be_seen(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def first():\n    1 / 0\n\nfirst()\n")
    with pytest.raises(InputError, match="cannot be run: ZeroDivisionError: division by zero") as caught:
        declare([f"mine={tmp_path / 'mine.py'}:Mine"])
    assert 'mine.py", line 2, in first' in "".join(caught.value.__notes__)


SCRIPT = """
import parshall as ps

gain = 1.0

class Mine:
    def __init__(self, start):
        self.cwnd = start.cwnd
    def on_ack(self, ack):
        self.cwnd += gain * ack.credit / self.cwnd
    def on_loss(self, event):
        self.cwnd = max(2.0, event.in_flight / 2)
    def on_timeout(self, event):
        self.cwnd = 1.0

run = ps.run(SCENARIO, controls={"mine": Mine})
print(run.flows["goodput_bps"][0] > 1e6)
"""


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("SCENARIO", repr(scenario())))
    made = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (made.returncode, made.stdout, made.stderr) == (0, "True\n", "")


@pytest.mark.slow
def test_a_fork_of_the_process_has_its_own(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    text = SCRIPT.replace("SCENARIO", repr(scenario())).replace("run = ", "import os, sys\nps.controls.declare")
    text = text.replace("declareps.run(", 'declare({"mine": Mine})\nchild = os.fork()\nrun = ps.run(')
    script.write_text(text + "if child:\n    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n")
    made = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (made.returncode, made.stdout, made.stderr) == (0, "True\nTrue\n", "")


# --- when they end ---


class Tells(Plain):
    """Writes the number of its process into a file."""

    file = ""

    def __init__(self, start: Any) -> None:
        super().__init__(start)
        with Path(self.file).open("a") as file:
            file.write(f"{os.getpid()}\n")


def test_repetitions_share_a_process_which_ends_with_the_run(tmp_path: Path) -> None:
    told = tmp_path / "told"
    control = type("Mine", (Tells,), {"file": str(told)})
    ps.run(scenario(repetitions=4), workers=1, controls={"mine": control})
    processes = {int(line) for line in told.read_text().splitlines()}
    assert len(processes) == 1
    assert os.getpid() not in processes
    assert not any(map(alive, processes))


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_process_that_failed_is_not_used_again(tmp_path: Path) -> None:
    told = tmp_path / "told"

    class Fails(Tells):
        file = str(told)

        def on_loss(self, event: Any) -> None:
            raise ValueError(event.signal)

    resolved = _resolved({"mine": Fails})
    for _ in range(2):
        with pytest.raises(ControlError, match=r"ValueError: loss \(test_foreign.py, line \d+\)"):
            simulate(resolved, 0, tmp_path, Monitor())
    assert len(set(told.read_text().splitlines())) == 2


def _resolved(controls: dict[str, Any]) -> str:
    declare(controls)
    return json.dumps(ps.Scenario.from_document(scenario()).resolve())


def test_what_keeps_much_memory_is_not_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY, "200 MB")
    told = tmp_path / "told"

    class Keeps(Tells):
        file = str(told)
        memory: Any = None

        def __init__(self, start: Any) -> None:
            super().__init__(start)
            if self.memory is None:
                type(self).memory = bytearray(b"x") * 120_000_000
                time.sleep(0.1)  # it is looked at every 20 ms

    resolved = _resolved({"mine": Keeps})
    for _ in range(2):
        simulate(resolved, 0, tmp_path, Monitor())
    assert len(set(told.read_text().splitlines())) == 2
    close_idle()


def test_how_far_it_is_can_be_seen_and_it_can_be_stopped(tmp_path: Path) -> None:
    class Dawdles(Plain):
        def on_ack(self, ack: Any) -> None:
            super().on_ack(ack)
            time.sleep(0.002)

    monitor = Monitor()
    seen: list[float] = []

    def watch() -> None:
        while not monitor.cancelled:
            seen.append(monitor.simulated_s)
            if monitor.simulated_s > 0 or len(seen) > 1000:
                monitor.cancel()
            time.sleep(0.01)

    declare({"mine": Dawdles})
    given = scenario("100 s", bottleneck={"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": "900 packets"}})
    resolved = json.dumps(ps.Scenario.from_document(given).resolve())
    thread = threading.Thread(target=watch)
    thread.start()
    with pytest.raises(ps.runs.single.Interrupted):
        simulate(resolved, 0, tmp_path, monitor)
    thread.join()
    assert seen[-1] > 0


def test_at_the_end_all_is_known_that_was_simulated(tmp_path: Path) -> None:
    declare({"mine": Plain})
    seen = []
    for control in ("mine", "reno"):
        given = json.dumps(scenario()).replace("mine", control)
        monitor = Monitor()
        simulate(json.dumps(ps.Scenario.from_document(json.loads(given)).resolve()), 0, tmp_path / control, monitor)
        seen.append((monitor.simulated_s, monitor.packets > 1000))
    assert seen[0] == seen[1] == (10.0, True)


def test_what_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError) as caught:
        simulate(_resolved({"mine": Plain}), 0, tmp_path / "file", Monitor())
    assert str(tmp_path / "file") in str(caught.value.filename)


@pytest.mark.slow
def test_time_in_which_the_command_is_stopped_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        SCRIPT[SCRIPT.index("class") : SCRIPT.index("run =")].replace(
            "self.cwnd += gain", "import time; time.sleep(0.0 if ack.now_s > 0.1 else 1.5); self.cwnd += 1.0"
        )
    )
    (tmp_path / "s.toml").write_text(ps.Scenario.from_document(scenario() | _reno()).toml().replace("reno", "mine"))
    command = [sys.executable, "-m", "parshall", "run", "s.toml", "--no-page", "--control", "mine=mine.py:Mine"]
    environment = {**os.environ, WAIT: "2500 ms"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    time.sleep(2.0)
    process.send_signal(signal.SIGSTOP)
    time.sleep(4.0)
    process.send_signal(signal.SIGCONT)
    _, message = process.communicate(timeout=120)
    assert process.returncode == 0, message


def _reno() -> dict[str, Any]:
    return {"flows": [{"name": "a", "rtt": "40 ms", "congestion_control": "reno"}]}


# --- texts ---


@given(st.text(max_size=2000))
@settings(max_examples=100)
def test_any_text_is_shortened(text: str) -> None:
    told = shortened(text)
    assert len(told) <= 510
    assert told == text or told.endswith("... (cut)")
    assert told.startswith(text[:500])


def test_a_text_that_cannot_be_had() -> None:
    class Mute:
        def __str__(self) -> str:
            raise OverflowError

    assert shortened(Mute()) == "(its text cannot be had: __str__ raises OverflowError)"


def test_ends_are_named() -> None:
    assert [ended(status) for status in (0, 1, -11)] == ["exit 0", "exit 1", "signal 11"]
