"""Functions called by workers: for work that is more than runs, as the cases of a study.

What comes back does not depend on how many workers there are: each call is done by one of them, alone, and even a
single one is a process of its own, with the same libraries and one thread. With a store, what is there is not done
again, and what another program is doing is waited for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from parshall.campaign.answers import Answers
from parshall.campaign.locks import Lock
from parshall.campaign.pool import Pool, Workers
from parshall.campaign.store import Store
from parshall.campaign.work import Call, Outcome
from parshall.errors import SimulationError
from parshall.schema import external

_POLL_S = 0.5


def run_calls(
    calls: Sequence[Call],
    workers: int | None = None,
    progress: Callable[[Call], None] = lambda _: None,
    *,
    scheduler: str | None = None,
    store: Store | None = None,
) -> list[Any]:
    """What each call returns, in their order; begun in their order, so that long ones are best first.

    Parameters
    ----------
    calls
        Of different names; with a store, those of `answers.call_of`.
    workers
        Processes; by default as many as there are cores.
    progress
        Told of each call when its answer is there, whether it was done now or found.
    scheduler
        The address of a Dask scheduler, whose workers do the calls instead.
    store
        Where what they return is kept.

    Raises
    ------
    ParshallError
        What the first call to fail raised.
    SimulationError
        A call raised something else, or its process ended again and again.
    InputError
        As `parshall.campaign.pool.Workers`.
    """
    by = Workers(workers, scheduler)
    if len({each.run for each in calls}) != len(calls):
        raise ValueError("calls: names must differ")
    with ExitStack() as stack:
        answers = None
        if store is not None:
            store.check_writable()
            store.remove_orphans()
            stack.enter_context(store.working())
            answers = Answers(store)
        calling = _Calling(deque(calls), answers, progress)
        stack.callback(calling.release)
        calling.find()
        if calling.left:
            # One call at a time and process: calls are long, and one that waits behind another could be done elsewhere.
            here = scheduler is None and bool(external.known_here_alone())
            calling.do(stack.enter_context(by).pool(most=calling.left, here=here))
    return [calling.values[each.run] for each in calls]


@dataclass
class _Calling:
    """Calls while they are done."""

    waiting: deque[Call]
    answers: Answers | None
    progress: Callable[[Call], None]
    running: dict[str, tuple[Call, Lock | None]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """How many are not done yet."""
        return len(self.waiting) + len(self.running)

    def find(self) -> None:
        """Take what the store has."""
        self.waiting = deque(call for call in self.waiting if not self._is_kept(call))

    def do(self, pool: Pool) -> None:
        """Have all that are left done."""
        while self.left:
            others = self._dispatch(pool)
            for outcome in pool.outcomes(_POLL_S):
                self._on_outcome(outcome)
            self.waiting.extend(call for call in others if not self._is_kept(call))

    def release(self) -> None:
        """Let others do what was not finished."""
        for _, lock in self.running.values():
            if lock is not None:
                with suppress(OSError):
                    lock.release()

    def _dispatch(self, pool: Pool) -> list[Call]:
        """Submit what there is a worker for; gives the calls that another program is doing."""
        others = []
        while self.waiting and len(self.running) < pool.workers:
            call = self.waiting.popleft()
            lock = None
            if self.answers is not None:
                lock = self.answers.store.lock(call.run)
                if lock is None:
                    others.append(call)
                    continue
                if self._is_kept(call):  # finished by another program since we looked
                    lock.release()
                    continue
            self.running[call.run] = call, lock
            pool.submit(call)
        return others

    def _is_kept(self, call: Call) -> bool:
        answer = None if self.answers is None else self.answers.get(call)
        if answer is not None:
            (self.values[call.run],) = answer
            self.progress(call)
        return answer is not None

    def _on_outcome(self, outcome: Outcome) -> None:
        if outcome.fatal is not None:
            raise outcome.fatal
        if outcome.run not in self.running:
            return  # a worker that was thought lost
        call, lock = self.running[outcome.run]
        if outcome.error is not None:
            raise SimulationError(f"{call.label or call.run}: {outcome.error}")
        if self.answers is not None:
            self.answers.put(call, outcome.value)
        del self.running[outcome.run]
        if lock is not None:
            lock.release()
        self.values[outcome.run] = outcome.value
        self.progress(call)
