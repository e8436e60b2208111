"""Processes of this machine that do runs, and outlive none of their owner's ends.

A run may take its process down (no memory, a fault, somebody's `kill`); then it is lost, and another process may do it.
Processes are started with the interpreter and not forked or re-imported, so that a script needs no
``if __name__ == "__main__"``. A process whose owner is gone ends at once.

A congestion control that only this process knows, as a class of a notebook, cannot be sent to others: then threads of
this process do the runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import traceback
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from queue import Empty, SimpleQueue
from typing import Protocol, Self

from parshall.campaign.call import Call, Failed, Lost, Outcome, Returned, Written
from parshall.campaign.work import execute
from parshall.foundations.errors import InputError
from parshall.instruments.simulation.single import Monitor
from parshall.results.records import about
from parshall.scenario.foreign.starting import start

_AHEAD = 2
"""Tasks that a process holds: the next one is there when one is done."""

_REPORT_S = 0.5


class Pool(Protocol):
    """A place that does runs."""

    @property
    def room(self) -> int:
        """Number of further tasks that it takes now."""

    @property
    def workers(self) -> int:
        """Runs at a time."""

    def submit(self, call: Call) -> None:
        """Have a call done."""

    def outcomes(self, timeout_s: float) -> list[Outcome]:
        """Return the tasks that are finished; wait for the first up to `timeout_s`."""

    def live(self) -> tuple[float, int]:
        """Simulated seconds and packets of the runs that are being done."""

    def close(self) -> None:
        """Stop, whatever is being done."""


@dataclass
class _PoolProcess:
    """A process, what it was given, and what it says of the run it does."""

    process: subprocess.Popen[bytes]
    connection: Connection
    tasks: deque[Call] = field(default_factory=deque)
    simulated_s: float = 0.0
    packets: int = 0


class Workers:
    """Workers of one or several sweeps: started when there is something to do, and closed at the end.

    Parameters
    ----------
    workers
        Processes of this machine; by default as many as it has cores.
    scheduler
        The address of a Dask scheduler, whose workers are taken instead.

    Raises
    ------
    InputError
        There are fewer than one, or a number of them for a cluster, which has its own.
    """

    def __init__(self, workers: int | None = None, scheduler: str | None = None) -> None:
        if workers is not None and workers < 1:
            raise InputError(f"workers: found {workers}; accepted: 1 or more")
        if workers is not None and scheduler is not None:
            raise InputError("workers: found beside scheduler; a cluster has as many as it was started with")
        self._workers = workers
        self._scheduler = scheduler
        self._pool: Pool | None = None

    @property
    def elsewhere(self) -> bool:
        """True if the workers are on other machines."""
        return self._scheduler is not None

    def pool(self, most: int | None = None, *, here: bool = False) -> Pool:
        """They, started if they are not; no more than `most` processes of this machine.

        Parameters
        ----------
        here
            Whether the work needs what only this process has, as a control that is a class of a notebook: threads.

        Raises
        ------
        MissingExtraError
            Dask is not installed.
        ClusterError
            The scheduler cannot be reached, or has no workers.
        """
        if here and not isinstance(self._pool, ThreadPool):
            self.close()
        if self._pool is None:
            self._pool = self._started(most, here=here)
        return self._pool

    def _started(self, most: int | None, *, here: bool) -> Pool:
        if self._scheduler is not None:
            from parshall.campaign.cluster import DaskPool  # noqa: PLC0415 - an extra

            return DaskPool(self._scheduler)
        wanted = min(self._workers or about.cores(), most or sys.maxsize)
        return ThreadPool(wanted) if here else LocalPool(wanted)

    def close(self) -> None:
        """Stop them, whatever they do; the next call of `pool` starts others."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ThreadPool:
    """Threads of this process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._threads = ThreadPoolExecutor(workers)
        self._finished: SimpleQueue[Outcome] = SimpleQueue()
        self._held: dict[str, Monitor | None] = {}

    @property
    def room(self) -> int:
        """Number of further tasks that it takes now."""
        return max(0, _AHEAD * self.workers - len(self._held))

    def submit(self, call: Call) -> None:
        """Have a call done."""
        self._held[call.key] = None
        self._threads.submit(self._do, call).add_done_callback(self._put)

    def outcomes(self, timeout_s: float) -> list[Outcome]:
        """Return the tasks that are finished; wait for the first up to `timeout_s`."""
        finished: list[Outcome] = []
        with suppress(Empty):
            finished.append(self._finished.get(timeout=timeout_s))
            while True:
                finished.append(self._finished.get_nowait())
        for outcome in finished:
            self._held.pop(outcome.key, None)
        return finished

    def live(self) -> tuple[float, int]:
        """Simulated seconds and packets of the runs that are being done."""
        monitors = [each for each in list(self._held.values()) if each is not None]
        return sum(each.simulated_s for each in monitors), sum(each.packets for each in monitors)

    def close(self) -> None:
        """Stop, whatever is being done."""
        for monitor in list(self._held.values()):
            if monitor is not None:
                monitor.cancel()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _do(self, call: Call) -> Outcome:
        return execute(call, lambda monitor: self._held.update({call.key: monitor}))

    def _put(self, future: Future[Outcome]) -> None:
        if not future.cancelled():
            self._finished.put(future.result())


class LocalPool:
    """Processes of this machine."""

    def __init__(self, workers: int) -> None:
        self._processes = [_start() for _ in range(workers)]
        self._waiting: deque[Call] = deque()
        self._lost: list[Outcome] = []

    @property
    def workers(self) -> int:
        """Runs at a time."""
        return len(self._processes)

    @property
    def room(self) -> int:
        """Number of further tasks that it takes now."""
        held = sum(len(each.tasks) for each in self._processes) + len(self._waiting)
        return max(0, _AHEAD * self.workers - held)

    @property
    def processes(self) -> list[int]:
        """Their numbers."""
        return [each.process.pid for each in self._processes]

    def submit(self, call: Call) -> None:
        """Have a call done."""
        self._waiting.append(call)
        self._hand_out()

    def outcomes(self, timeout_s: float) -> list[Outcome]:
        """Return the tasks that are finished; wait for the first up to `timeout_s`."""
        outcomes, self._lost = self._lost, []
        ready = wait([each.connection for each in self._processes], 0 if outcomes else timeout_s)
        for process in [each for each in self._processes if each.connection in ready]:
            outcomes += self._received(process)
        self._hand_out()
        return outcomes

    def live(self) -> tuple[float, int]:
        """Simulated seconds and packets of the runs that are being done."""
        return sum(each.simulated_s for each in self._processes), sum(each.packets for each in self._processes)

    def close(self) -> None:
        """Stop, whatever is being done."""
        for each in self._processes:
            each.process.kill()
        for each in self._processes:
            each.process.wait()
            each.connection.close()

    def _received(self, process: _PoolProcess) -> list[Outcome]:
        """Everything that a process has said."""
        outcomes: list[Outcome] = []
        try:
            while process.connection.poll():
                message = process.connection.recv()
                if isinstance(message, Written | Returned | Failed):
                    process.tasks.popleft()
                    process.simulated_s, process.packets = 0.0, 0
                    outcomes.append(message)
                else:
                    process.simulated_s, process.packets = message
        except (EOFError, OSError):
            outcomes += self._replace(process)
        return outcomes

    def _hand_out(self) -> None:
        while self._waiting:
            process = min(self._processes, key=lambda each: len(each.tasks))
            if len(process.tasks) >= _AHEAD:
                return
            task = self._waiting.popleft()
            process.tasks.append(task)
            try:
                process.connection.send(task)
            except OSError:
                self._lost += self._replace(process)

    def _replace(self, process: _PoolProcess) -> list[Outcome]:
        """Start another process for one that ended; the call that it did is lost, and others do what it had besides."""
        process.connection.close()
        process.process.kill()
        status = process.process.wait()
        self._processes[self._processes.index(process)] = _start()
        begun, waiting = list(process.tasks)[:1], list(process.tasks)[1:]
        self._waiting.extendleft(reversed(waiting))
        return [Lost(call.key, _words(status)) for call in begun]


def _start() -> _PoolProcess:
    ours, theirs = Pipe()
    process = start("parshall.campaign.pool", [str(theirs.fileno())], [theirs.fileno()])
    theirs.close()
    return _PoolProcess(process, ours)


def _words(status: int) -> str:
    if status >= 0:
        return f"exit code {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


# --- in the process ---


def serve() -> None:
    """Do what comes through the connection until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner decides
    connection = Connection(int(sys.argv[1]))
    tasks: SimpleQueue[Call] = SimpleQueue()
    sending = threading.Lock()
    current: list[Monitor] = []

    def receive() -> None:
        try:
            while True:
                tasks.put(connection.recv())
        except BaseException as error:  # noqa: BLE001 - a process that hears nothing more would never be missed
            if not isinstance(error, EOFError | OSError):
                traceback.print_exc()
            os._exit(1)

    def report() -> None:
        while not stopped.wait(_REPORT_S):
            for monitor in current:
                _send(connection, sending, (monitor.simulated_s, monitor.packets))

    stopped = threading.Event()
    for target in (receive, report):
        threading.Thread(target=target, daemon=True).start()
    while True:
        outcome = execute(tasks.get(), current.append)
        current.clear()
        _send(connection, sending, outcome)


def _send(connection: Connection, lock: threading.Lock, message: object) -> None:
    try:
        with lock:
            connection.send(message)
    except OSError:
        os._exit(1)
