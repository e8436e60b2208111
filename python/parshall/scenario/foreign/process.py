"""The parent's side of the wall: processes of foreign code, and the messages about their ends."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from multiprocessing.connection import Pipe
from typing import Any, NamedTuple

from parshall import _core
from parshall.foundations.errors import ControlError, InputError
from parshall.scenario.foreign.child import EXCEPTIONS, IDLE_S
from parshall.scenario.foreign.code import Description, ForeignCode
from parshall.scenario.foreign.limits import Limits, limits
from parshall.scenario.foreign.page import Page, Reading
from parshall.scenario.foreign.starting import ended, start

POLL_S = 0.05
"""Interval, in s, at which the parent looks for interruptions, ends and calls without an answer."""
LOADING_S = 60.0
"""Longest time, in s, to load code, which imports what it needs; if a call may take longer, that time."""
_ENDING_S = 5.0


class Group(NamedTuple):
    """A group of flows of a simulation."""

    name: str
    control: str | None
    """The name of its control from outside, if it has one."""


def describe(code: ForeignCode) -> Description:
    """Return the description of a control, whose code is loaded for that in a process of foreign code.

    Raises
    ------
    InputError
        It is no control.
    ControlError
        Its process ended, or it was not loaded in time.
    """
    process, names = _taken([code]), [code.name]
    try:
        description = process.load(code, limits())
    except InputError:
        _give_back(process)
        raise
    except _Failure as failure:
        process.close()
        raise ControlError(failure.told(names)) from None
    except BaseException:
        process.close()
        raise
    _give_back(process)
    return description


def call(
    function: str,
    controls: Mapping[str, ForeignCode],
    *arguments: Any,
    monitor: _core.Monitor | None = None,
    groups: Callable[[], Sequence[Group]] = tuple,
) -> str:
    """Call one of the functions of `parshall.scenario.foreign.child`, in a process of foreign code.

    Parameters
    ----------
    function
        ``simulate``, ``check_conformance`` or ``replay``.
    controls
        What makes the controls that are called there, by name.
    arguments
        Of the function of `parshall._core`, without monitor and controls.
    monitor
        Told how far it is, and asked whether to go on.
    groups
        Gives those of the simulation, in their order.

    Raises
    ------
    ControlError
        The process ended, took too much memory, or a control did not answer.
    Interrupted
        `monitor` was cancelled.
    InputError
        A control cannot be loaded.
    Exception
        What the function raises.
    """
    given, process = limits(), _taken(controls.values())
    try:
        for code in controls.values():
            process.load(code, given)
        names = {name: code.key() for name, code in controls.items()}
        most_flows = None if monitor is None else monitor.most_flows
        answer = process.ask((function, names, most_flows, list(arguments)), given, monitor)
        match answer:
            case ["value", str(text)]:
                _give_back(process)
                return text
            case ["raised", str(name), list(details)] if name in EXCEPTIONS:
                raise EXCEPTIONS[name](*details)
        raise process.nonsense()
    except _Failure as failure:
        process.close()
        raise ControlError(failure.told([*controls], groups())) from None
    except BaseException:
        process.close()  # a control that failed may have left anything behind
        raise


class _Failure(Exception):  # noqa: N818 - never seen outside
    """Foreign code did not answer, took too much memory, or ended its process."""

    def __init__(self, what: str, last: Reading, more: str = "") -> None:
        self.what = what
        self.last = last
        self.more = more
        super().__init__(what)

    def told(self, names: Sequence[str], groups: Sequence[Group] = ()) -> str:
        """Return the message for people: which control it was, when, and for which flow."""
        group = groups[self.last.group] if self.last.group is not None and self.last.group < len(groups) else None
        control = " or ".join(names) if group is None or group.control is None else group.control
        when = "" if group is None else f" at {self.last.at_s:.6g} s of flow {group.name}"
        return f"control {control} {self.what}{when}{self.more}"


class _Process:
    """A process of foreign code, and what was loaded there."""

    def __init__(self) -> None:
        self.loaded: dict[str, Description] = {}
        self.idle_since = time.monotonic()
        self._page = Page()
        self._connection, theirs = Pipe()
        files = [theirs.fileno(), self._page.file]
        self._process = start("parshall.scenario.foreign.child", map(str, [*files, os.getpid()]), files)
        theirs.close()

    def lives(self) -> bool:
        """Return whether the process waits for the next run, and will wait for a while."""
        return self._process.poll() is None and time.monotonic() - self.idle_since < IDLE_S / 2

    def has_room(self) -> bool:
        """Return whether earlier runs left little memory taken, as that counts against the next run."""
        return self._page.read().memory_bytes < limits().memory_bytes / 2

    def load(self, code: ForeignCode, given: Limits) -> Description:
        """Have the process load code, unless it has, and return the description."""
        key = code.key()
        if key not in self.loaded:
            match self.ask(("load", code, [path for path in sys.path if path]), given):
                case ["described", list(needs), bool(standard), list(steering)]:
                    self.loaded[key] = Description(tuple(needs), standard, tuple(steering))
                case ["refused", str(text), str(traceback)]:
                    error = InputError(f'control "{code.name}": {text}')
                    if traceback:
                        error.add_note(traceback)
                    raise error
                case _:
                    raise self.nonsense()
        return self.loaded[key]

    def ask(self, question: tuple[Any, ...], given: Limits, monitor: _core.Monitor | None = None) -> Any:
        """Send a question and return the answer."""
        loading = question[0] == "load"
        try:
            self._connection.send((given.memory_bytes, question))
            self._wait(monitor, max(LOADING_S, given.wait_s) if loading else given.wait_s, loading=loading)
            return json.loads(self._connection.recv_bytes())
        except (EOFError, OSError, MemoryError, ValueError):
            raise self._ended(given, loading=loading) from None

    def _wait(self, monitor: _core.Monitor | None, wait_s: float, *, loading: bool) -> None:
        """Wait for an answer.

        A call has not answered when the parent has looked at it for so long: what passes while the parent itself is
        stopped (Ctrl-Z, a suspended machine) does not count.
        """
        before, stuck_s, clock = self._page.read(), 0.0, time.monotonic()
        while not self._connection.poll(POLL_S):
            now, passed_s = self._page.read(), time.monotonic() - clock
            clock += passed_s
            same = loading or (now.calling and now.calls == before.calls)
            stuck_s = stuck_s + min(passed_s, 2 * POLL_S) if same else 0.0
            before = now
            if monitor is not None:
                # The simulator says how far it is once in 16,384 events, which with a slow control may take minutes.
                monitor.advance(max(now.simulated_s, now.at_s if now.calls else 0.0), now.packets)
                if monitor.cancelled:
                    raise _core.Interrupted(f"interrupted at {now.simulated_s:.3f} s of simulated time")
            if stuck_s >= wait_s:
                if loading:
                    raise _Failure(f"was not loaded within {wait_s:g} s", now)
                raise _Failure(f"has not answered for {wait_s:g} s", now)
        if monitor is not None:
            now = self._page.read()
            monitor.advance(now.simulated_s, now.packets)

    def _ended(self, given: Limits, *, loading: bool) -> _Failure:
        """Return the reason why there is no answer, as the process is gone."""
        try:
            status = self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            return self.nonsense()
        now = self._page.read()
        if now.too_much_memory:
            took, may = (f"{each / 1e9:.1f} GB" for each in (now.memory_bytes, given.memory_bytes))
            return _Failure(f"took {took} of memory", now, f"; its process may take {may}")
        return _Failure(f"ended the process ({ended(status)}){' while it was loaded' if loading else ''}", now)

    def nonsense(self) -> _Failure:
        """Return the failure for an answer that is none: foreign code wrote to the connection, or closed it."""
        return _Failure("broke the connection of its process", self._page.read())

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._page.close()


_idle: list[_Process] = []
"""Processes that wait for the next run."""
_others: list[_Process] = []
"""Those of the process of which this one is a fork: they do not answer here."""
_lock = threading.Lock()


def _taken(codes: Iterable[ForeignCode]) -> _Process:
    """Return a process that waits, if possible one that has loaded this code; else a new one."""
    keys = {code.key() for code in codes}
    with _lock:
        waiting = [each for each in _idle if each.lives() and each.has_room()]
        gone = [each for each in _idle if each not in waiting]
        best = max(waiting, key=lambda each: len(keys & each.loaded.keys()), default=None)
        _idle[:] = [each for each in waiting if each is not best]
    for each in gone:
        each.close()
    try:
        return best or _Process()
    except OSError as error:
        raise ControlError(f"no process can be started for a control from outside: {error}") from None


def _give_back(process: _Process) -> None:
    process.idle_since = time.monotonic()
    with _lock:
        _idle.append(process)
        extra = _idle[: max(0, len(_idle) - (os.cpu_count() or 1))]
        _idle[:] = _idle[len(extra) :]
    for each in extra:
        each.close()


def close_idle() -> None:
    """End the processes that wait for the next run."""
    with _lock:
        waiting, _idle[:] = list(_idle), []
    for each in waiting:
        each.close()


def _forget() -> None:
    """In a fork of this process: its own processes are yet to be started."""
    global _lock  # noqa: PLW0603 - whoever held it is not here
    _lock = threading.Lock()
    _others.extend(_idle)
    _idle.clear()


atexit.register(close_idle)
os.register_at_fork(after_in_child=_forget)
