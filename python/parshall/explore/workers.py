"""Processes that do the work of the server, and the order in which requests have their turn.

| bound | what happens beyond it |
| --- | --- |
| as many tasks at a time as there are processes | the others wait, in the order in which they came |
| `MOST_WAITING` requests that wait | `BusyError` |
| one request of a tab that waits | the older one is given up: `StaleError` |
| a time for each task | its process is killed and replaced: `TooLongError` |
| a client that has gone | its task is asked to stop; if it uses `STOP_S` more, its process is killed and replaced |
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

from parshall.explore.subject import Subject
from parshall.foundations.errors import InputError
from parshall.foundations.files import Scratch

MOST_WAITING = 64
MOST_TABS = 1000
"""Clients whose newest requests are known."""

LIMITS_S: Mapping[str, float] = {"simulate": 30.0, "save": 30.0}
"""Time limits of tasks: a hundred times their usual time, as the machine may be busy."""
PAGE_S = 120.0
"""The same for the others, which may have a large result to read."""
STOP_S = 1.5
"""Of the processor's time, for a task that nobody waits for: who comes next must not wait longer than 2 s for it.

It is not the time on the clock, for a process that loads its libraries while the machine is busy does no harm."""
LOOK_S = 0.1
"""Interval between looks at the processor time, in seconds."""


class BusyError(InputError):
    """Too many requests wait."""


class StaleError(InputError):
    """A newer request of the same tab has come."""


class TooLongError(InputError):
    """A task took longer than it may, or its process ended."""


@dataclass
class _ExplorerProcess:
    """A process, and the directory that it has for itself."""

    process: subprocess.Popen[bytes]
    connection: Connection
    scratch: Scratch

    @classmethod
    def start(cls, controls: Sequence[str] = ()) -> _ExplorerProcess:
        ours, theirs = Pipe()
        scratch = Scratch("parshall-explore-")
        path = os.pathsep.join(dict.fromkeys([str(Path(__file__).parents[2]), *filter(None, sys.path)]))
        # Each process does one task at a time; threads of its libraries would take the cores from the others.
        alone = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "TMPDIR": str(scratch.path), "PYTHONPATH": path}
        command = [sys.executable, "-c", "from parshall.explore.work import serve; serve()", str(theirs.fileno())]
        command += controls
        # Ctrl-C is the server's to answer, also while the process is still importing: it inherits that it is blocked.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process = subprocess.Popen(  # noqa: S603
                command, pass_fds=[theirs.fileno()], env={**os.environ, **alone}, stdin=subprocess.DEVNULL
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()
        return cls(process, ours, scratch)

    def receive(self, until: float) -> Any:
        """The next message; raises TimeoutError when it is too late, EOFError when the process has ended."""
        if not self.connection.poll(max(0.0, until - time.monotonic())):
            raise TimeoutError
        return self.connection.recv()

    def used_s(self) -> float:
        """Processor seconds that it has used; seconds on the clock where the system does not say."""
        try:
            return time.clock_gettime((~self.process.pid << 3) | 2)  # clock_getcpuclockid(3) of Linux
        except OSError:
            return time.monotonic()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.connection.close()
        self.scratch.remove()


@dataclass
class Newest:
    """The newest request of each tab."""

    known: OrderedDict[str, int] = field(default_factory=OrderedDict)

    def came(self, tab: str, number: int) -> None:
        """A request of a tab has come."""
        self.known[tab] = max(number, self.known.get(tab, number))
        self.known.move_to_end(tab)
        while len(self.known) > MOST_TABS:
            self.known.popitem(last=False)

    def is_stale(self, tab: str, number: int) -> bool:
        """True if a newer request has come since."""
        return self.known.get(tab, number) > number


class ExplorerWorkers:
    """The processes.

    Parameters
    ----------
    number
        How many.
    limits_s
        How long tasks may take, by name; others `PAGE_S`.
    controls
        Congestion controls that they declare, as assignments.
    """

    def __init__(self, number: int, limits_s: Mapping[str, float] = LIMITS_S, controls: Sequence[str] = ()) -> None:
        self._controls = controls
        self._processes = [_ExplorerProcess.start(controls) for _ in range(number)]
        self._limits_s = limits_s
        self._idle: asyncio.Queue[_ExplorerProcess] = asyncio.Queue()
        for process in self._processes:
            self._idle.put_nowait(process)
        self._waiting = 0
        self._closed = False
        self._settling: set[asyncio.Task[None]] = set()
        self.begun = 0
        """Number of tasks that were handed to a process."""
        self.newest = Newest()

    @property
    def processes(self) -> list[int]:
        """Their numbers."""
        return [each.process.pid for each in self._processes]

    async def answers(
        self, task: str, subject: Subject, request: Mapping[str, Any], tab: str = "", number: int = 0
    ) -> AsyncGenerator[dict[str, Any]]:
        """Have a task done, and pass on its answers as they come.

        Parameters
        ----------
        tab, number
            Who asks, and which of its requests that is; an older one that still waits is given up.

        Raises
        ------
        BusyError, StaleError, TooLongError
            As the table of this module says.
        InputError
            The task refused the request.
        """
        if tab:
            self.newest.came(tab, number)
        async with self._turn() as turn:
            if tab and self.newest.is_stale(tab, number):
                raise StaleError("a newer request has come")
            self.begun += 1
            turn.begin((task, subject, request), self._limits_s.get(task, PAGE_S))
            while (message := await turn.received()) is not None:
                if isinstance(message, InputError):
                    raise message
                yield message

    async def answer(self, task: str, subject: Subject, request: Mapping[str, Any]) -> dict[str, Any]:
        """The one answer of a task that has one."""
        async with contextlib.aclosing(self.answers(task, subject, request)) as answers:
            return await anext(answers)

    def close(self) -> None:
        """End all of them, whatever they do."""
        self._closed = True
        for process in self._processes:
            process.end()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[_Turn]:
        """A process for a task, when it is its turn."""
        if self._waiting >= MOST_WAITING:
            raise BusyError(f"{MOST_WAITING} requests wait already; try again in a moment")
        self._waiting += 1
        try:
            turn = _Turn(await self._idle.get())
        finally:
            self._waiting -= 1
        try:
            yield turn
        finally:  # whoever waits may be gone, and cancelled: the process is looked after without it
            settling = asyncio.create_task(self._settle(turn))
            self._settling.add(settling)
            settling.add_done_callback(self._settling.discard)

    async def _settle(self, turn: _Turn) -> None:
        """Have the process, or another in its place, take the next task."""
        process = turn.process
        try:
            if turn.is_busy:
                process.connection.send(None)  # nobody waits any more
            until_s = process.used_s() + STOP_S
            while turn.is_busy:
                try:
                    await asyncio.wait_for(turn.received(), LOOK_S)
                except TimeoutError:
                    if process.used_s() > until_s:
                        process.process.kill()
        except (TooLongError, OSError):
            if self._closed:
                return
            await asyncio.to_thread(process.end)
            at = self._processes.index(process)
            process = self._processes[at] = _ExplorerProcess.start(self._controls)
        self._idle.put_nowait(process)


class _Turn:
    """A process that does a task."""

    def __init__(self, process: _ExplorerProcess) -> None:
        self.process = process
        self.is_busy = False
        self._until = self._limit_s = 0.0
        self._receiving: asyncio.Future[Any] | None = None

    def begin(self, message: tuple[Any, ...], limit_s: float) -> None:
        """Hand a task to the process."""
        self._until, self._limit_s, self.is_busy = time.monotonic() + limit_s, limit_s, True
        with contextlib.suppress(OSError):  # it has ended, which is seen below
            self.process.connection.send(message)

    async def received(self) -> Any:
        """The next answer; None after the last one.

        A thread waits for it. It waits still when whoever asked is cancelled, and the next call takes over.
        """
        if self._receiving is None:
            loop = asyncio.get_running_loop()
            self._receiving = loop.run_in_executor(None, self.process.receive, self._until)
        try:
            message = await asyncio.shield(self._receiving)
        except TimeoutError:
            self._receiving = None
            raise TooLongError(f"this took longer than {self._limit_s:g} s, and was given up") from None
        except (EOFError, OSError):
            self._receiving = None
            raise TooLongError("the process that did this has ended; try again") from None
        self._receiving = None
        self.is_busy = message is not None
        return message
