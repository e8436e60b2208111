"""Turns of emulations: one at a time on a machine, whoever's, as two would measure each other.

Whose turn it is has the socket of a name (`parshall.instruments.emulation.peers`), and another one that says since when
and until when; those who wait have one as well.

Anybody can take such a name and keep it. So nobody waits for ever:

| whose turn it is | passed over |
| --- | --- |
| a process that is stopped (Ctrl-Z, SIGSTOP) | when it has been so for `STOPPED_S` |
| one that has not ended when its scenario is over, with time to spare | then |
| one of another user, or one that cannot be asked who it is | after `OTHERS_S` of waiting |
| one of the same user, who can end it | never |

A turn that was passed over keeps its name, and the next emulation takes the next of `PLACES` names: those who come
later wait for it. The verdict of an emulation that passed others over says so.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from parshall.instruments.emulation.peers import (
    PLACES,
    UNKNOWN,
    Credentials,
    Participant,
    announced,
    connected,
    listening,
    participant,
    said_by,
    turn_name,
)
from parshall.instruments.simulation.single import Interrupted, Monitor

STOPPED_S = 30.0
OTHERS_S = 3600.0
LATE_S = 10.0
"""Longest delay of an emulation after its announced end, in seconds."""

POLL_S = 0.1
SAID_AFTER_S = 1.0
"""Shorter waits for other emulations are not worth a word, s."""

_LOOK_S = 5.0
"""Between two looks at what a holder says of itself."""

_DO_NOT_WAIT = ContextVar("_DO_NOT_WAIT", default=False)


@contextmanager
def without_turns() -> Iterator[None]:
    """Emulations that are done within do not wait for others, whatever calls them."""
    token = _DO_NOT_WAIT.set(True)
    try:
        yield
    finally:
        _DO_NOT_WAIT.reset(token)


@contextmanager
def turn(
    monitor: Monitor,
    waits: Callable[[str], None] = lambda _: None,
    *,
    lasts_s: float | None = None,
    at_once: bool = False,
) -> Iterator[list[Participant]]:
    """Wait for the emulations of this machine that are under way; gives those that were passed over.

    Parameters
    ----------
    monitor
        Asked whether to go on waiting.
    waits
        Told what is waited for if it takes longer than a second, and what changes then.
    lasts_s
        How long the turn takes at most.
    at_once
        Whether not to wait; so it is within `without_turns`. Others wait for this one all the same, if it found the
        turn free.

    Raises
    ------
    Interrupted
        `monitor` was cancelled.
    """
    with ExitStack() as stack:
        waiting = stack.enter_context(_Waiting(waits))
        while not waiting.take() and not (at_once or _DO_NOT_WAIT.get()):
            if monitor.cancelled:
                raise Interrupted
            waiting.say()
            time.sleep(POLL_S)
        waiting.end()
        if waiting.turn is not None:
            now = time.time()
            times = f"{now:.0f}" if lasts_s is None else f"{now:.0f}/{now + lasts_s:.0f}"
            stack.enter_context(announced(f"holds/{times}"))
        yield waiting.passed


class _Waiting:
    """One who waits: the others whose turn it is, and the name of the own turn when that has come."""

    def __init__(self, waits: Callable[[str], None]) -> None:
        self.turn: socket.socket | None = None
        self.passed: list[Participant] = []
        self._waits = waits
        self._began = time.monotonic()
        self._holders: dict[int, _Holder] = {}
        self._stack = ExitStack()
        self._said = ""

    def __enter__(self) -> _Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        for holder in self._holders.values():
            holder.close()
        if self.turn is not None:
            self.turn.close()

    def end(self) -> None:
        """Wait no longer."""
        self._stack.close()

    def take(self) -> bool:
        """Take the first name that is free, if all others whose turn it is are passed over."""
        self.passed = []
        for place in range(PLACES):
            if self.turn is None and (taken := listening(turn_name(place))) is not None:
                self.turn = taken
            elif (holder := self._holder(place)) is not None:
                if not holder.is_passed_over(time.monotonic() - self._began):
                    self._give_back()
                    return False
                self.passed.append(holder.participant())
        return True

    def say(self) -> None:
        """Say who is waited for, and again if that has changed."""
        if time.monotonic() - self._began < SAID_AFTER_S:
            return
        if not self._said:
            self._stack.enter_context(announced(f"waits/{time.time():.0f}"))
        holders = [each.participant() for each in self._holders.values() if each.peer is None or each.is_there()]
        text = "; ".join(
            f"{holder}{f': passed over when it has been so for {STOPPED_S:.0f} s' if holder.is_stopped else ''}"
            for holder in holders
        )
        if text != self._said:
            self._said = text
            self._waits(text)

    def _holder(self, place: int) -> _Holder | None:
        """The one that has a name; of a name below the own one there is one in any case."""
        known = self._holders.get(place)
        if known is not None and known.is_there():
            return known
        if known is not None:
            known.close()
            del self._holders[place]
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        process = connected(peer, turn_name(place))
        if process is None:
            peer.close()
            if self.turn is not None:  # nobody need have a name behind the own one
                return None
        holder = _Holder(None, UNKNOWN) if process is None else _Holder(peer, process)
        self._holders[place] = holder
        return holder

    def _give_back(self) -> None:
        if self.turn is not None:
            self.turn.close()
            self.turn = None


@dataclass
class _Holder:
    """One whose turn it is, with an open connection to it; None: it cannot be asked."""

    peer: socket.socket | None
    process: Credentials
    times: tuple[float, ...] = ()
    """Since when, and until when it has its turn, as far as it said that."""
    looked: float | None = None
    stopped: float | None = None
    """Time at which it was first found stopped, of the monotonic clock."""

    def is_there(self) -> bool:
        """True if it still has its turn: the connection carries no data, so it becomes readable only when it closes."""
        try:
            return self.peer is not None and bool(self.peer.recv(1, socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def is_passed_over(self, waited_s: float) -> bool:
        """True if a process that has waited so long goes on."""
        now = time.monotonic()
        known = self.participant()
        self.stopped = (self.stopped or now) if known.is_stopped else None
        if self.stopped is not None and now - self.stopped > STOPPED_S:
            return True
        if known.until is not None and time.time() > known.until + LATE_S:
            return True
        return self.process.uid != os.geteuid() and waited_s > OTHERS_S

    def participant(self) -> Participant:
        """The participant as it is known now."""
        now = time.monotonic()
        if not self.times and self.peer is not None and (self.looked is None or now - self.looked > _LOOK_S):
            self.looked, self.times = now, said_by(self.process)
        return participant(self.process, self.times)

    def close(self) -> None:
        """Ask no more."""
        if self.peer is not None:
            self.peer.close()
