"""Having calls done that a store lacks: the one way of it, for sweeps and studies, by whatever workers.

An agenda says which call is wanted next, and is told what came of each. An archive says which answers are there, and
who may do a call. A call whose answer is there is not done. One that another program does is waited for, and done if
that program ended without an answer. Workers do the others, which count as done when the archive has their answers: a
worker's word is not enough.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from parshall.campaign.call import Call, CallError, Failed, Lost, Outcome, Returned, Written
from parshall.campaign.pool import Pool, Workers
from parshall.campaign.store import Store
from parshall.foundations.errors import ClusterError, ParshallError, StorageError, StoreError

ATTEMPTS = 3
"""So many processes may end with a call before it counts as failed."""

_POLL_S = 0.2

_UNSEEN_S = 120.0
"""Longest delay of an answer that was sent, in seconds: a shared file system shows files a minute late."""

_HOPELESS = (StorageError, ClusterError)
"""Errors after which other calls would fail as well."""


class Agenda(ABC):
    """The calls that are wanted, in their order."""

    @property
    @abstractmethod
    def finished(self) -> bool:
        """True if no further call will be wanted."""

    @abstractmethod
    def next(self) -> Call | None:
        """A call that was not given before; None: none is wanted now."""

    @abstractmethod
    def done(self, call: Call, outcome: Written | Returned | None) -> None:
        """Take note of a call whose answer the archive has; the outcome is None if it was found there."""

    @abstractmethod
    def failed(self, call: Call, error: ParshallError) -> None:
        """Take note of a call that failed; raises what ends all others."""

    def look(self) -> None:  # noqa: B027 - most have nothing to do
        """Do what is to be done a few times a second; raises what ends all calls."""


class Archive(ABC):
    """The place of answers: a store, or nothing but this process.

    Parameters
    ----------
    store
        Where claims are shared with other programs.
    """

    def __init__(self, store: Store | None) -> None:
        self.store = store

    @abstractmethod
    def has(self, call: Call) -> bool:
        """True if the store has the answer now."""

    @abstractmethod
    def take(self, call: Call, outcome: Written | Returned) -> None:
        """Keep what a worker sent."""

    def claim(self, call: Call) -> Callable[[], None] | None:
        """Take the right to do a call; gives what gives it back, or None if another program has it."""
        if self.store is None:
            return lambda: None
        lock = self.store.lock(call.key)
        return None if lock is None else lock.release


@dataclass
class Executor:
    """Has the calls of an agenda done.

    Parameters
    ----------
    most
        So many processes of this machine at most.
    here
        Whether threads of this process are needed (`parshall.campaign.pool.Workers.pool`).
    ahead
        Whether workers are handed calls before they can begin them; long ones could be done elsewhere meanwhile.
    """

    agenda: Agenda
    archive: Archive
    by: Workers
    most: int | None = None
    here: bool = False
    ahead: bool = True
    running: dict[str, Call] = field(default_factory=dict)
    """Calls that workers have."""
    of_others: dict[str, Call] = field(default_factory=dict)
    """Calls that other programs do."""
    _claims: dict[str, Callable[[], None]] = field(default_factory=dict)
    _unseen: dict[str, tuple[Outcome, float]] = field(default_factory=dict)
    """Answers that were sent and that the store does not show yet, and until when it may."""
    _lost: Counter[str] = field(default_factory=Counter)
    """Number of processes that have ended with each call."""
    _pool: Pool | None = None

    def run(self) -> None:
        """Have everything done, or raise what ends it; then nothing goes on, and others may do what was not finished.

        Raises
        ------
        ParshallError
            What the agenda raises; or no call can be done any more: `StorageError`, `ClusterError`.
        StoreError
            A worker sent an answer that the store does not show.
        """
        try:
            self._dispatch()
            while self.running or self.of_others or not self.agenda.finished:
                for outcome in [*self._outcomes(), *(late for late, _ in self._unseen.values())]:
                    self._on_outcome(outcome)
                self._dispatch()
                self.agenda.look()
        finally:
            if self.running:  # calls whose locks are given back must not go on
                self.by.close()
            for give_back in self._claims.values():
                with suppress(OSError):
                    give_back()

    @property
    def workers(self) -> int:
        """Calls at a time."""
        return 1 if self._pool is None else self._pool.workers

    @property
    def packets(self) -> int:
        """Packets of the runs that are being done."""
        return 0 if self._pool is None else self._pool.live()[1]

    def _outcomes(self) -> list[Outcome]:
        if self._pool is None:
            time.sleep(_POLL_S)
            return []
        return self._pool.outcomes(_POLL_S)

    @property
    def _has_room(self) -> bool:
        if self._pool is None:
            return True
        return self._pool.room > 0 if self.ahead else len(self.running) < self._pool.workers

    def _dispatch(self) -> None:
        """Hand out what there is room for; answers of the store are taken at once."""
        for key in list(self.of_others):
            if not self._has_room:
                return
            self._begin(self.of_others.pop(key))
        while self._has_room and (call := self.agenda.next()) is not None:
            if self.archive.has(call):
                self.agenda.done(call, None)
            else:
                self._begin(call)

    def _begin(self, call: Call) -> None:
        """Have a call done, unless another program is at it, or has just done it."""
        give_back = self.archive.claim(call)
        if give_back is None:
            self.of_others[call.key] = call
        elif self.archive.has(call):
            give_back()
            self.agenda.done(call, None)
        else:
            self.running[call.key], self._claims[call.key] = call, give_back
            if self._pool is None:  # nothing is started before there is something to do
                self._pool = self.by.pool(self.most, here=self.here)
            self._pool.submit(call)

    def _on_outcome(self, outcome: Outcome) -> None:
        if outcome.key not in self.running:
            return  # of a worker that was thought lost
        call = self.running[outcome.key]
        if isinstance(outcome, Lost):
            self._again(call, outcome)
        elif isinstance(outcome, Failed):
            self._fail(call, outcome.error)
        elif self._is_there(call, outcome):
            self._done(call, outcome)

    def _again(self, call: Call, lost: Lost) -> None:
        """Have a call done by another process, unless its answer is there after all, or too many have ended with it."""
        self._lost[call.key] += 1
        if self.archive.has(call):
            self._done(call, None)
        elif self._lost[call.key] < ATTEMPTS and self._pool is not None:
            self._pool.submit(call)
        else:
            self._fail(call, CallError(f"its process ended {ATTEMPTS} times, the last time with {lost.how}"))

    def _done(self, call: Call, outcome: Written | Returned | None) -> None:
        self.agenda.done(call, outcome)
        self._end(call)

    def _fail(self, call: Call, error: ParshallError) -> None:
        if isinstance(error, _HOPELESS):
            raise error
        self.agenda.failed(call, error)
        self._end(call)

    def _end(self, call: Call) -> None:
        """Let others have a call that is no longer done."""
        del self.running[call.key]
        self._claims.pop(call.key)()

    def _is_there(self, call: Call, outcome: Written | Returned) -> bool:
        if call.key not in self._unseen:
            self.archive.take(call, outcome)
        _, until = self._unseen.setdefault(call.key, (outcome, time.monotonic() + _UNSEEN_S))
        if self.archive.has(call):
            del self._unseen[call.key]
            return True
        if time.monotonic() > until:
            raise StoreError(f"{call.label or f'run {call.key}'}: a worker has done it, and the store does not show it")
        return False
