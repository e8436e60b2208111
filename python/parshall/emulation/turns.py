"""Turns of emulations: one at a time on a machine, whoever's, as two would measure each other.

Whose turn it is has a name: that of an abstract socket (unix(7)), which is no file that anybody could leave, or break,
and which is gone with its process, however that ends. Whoever connects to it is told by the kernel which process that
is (SO_PEERCRED), and when it ends. A second socket, of a name with times in it, says since when and until when; those
who wait have one as well.

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
import pwd
import shlex
import socket
import struct
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from parshall.runs.single import Interrupted, Monitor
from parshall.schema.printing import cut

FAMILY = "\0parshall/emulation/"
"""All names begin so."""

PLACES = 8

STOPPED_S = 30.0
OTHERS_S = 3600.0
LATE_S = 10.0
"""How much later than it said an emulation may end."""

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


@dataclass(frozen=True)
class Participant:
    """A process whose turn it is, or that waits for its turn; None: that cannot be known from here."""

    waits: bool
    user: str | None
    pid: int | None
    since: float | None
    """When it began to wait, or took its turn, in seconds of Unix time; as it says."""
    until: float | None
    """When its turn ends at the latest; as it says."""
    is_stopped: bool | None
    command: str | None

    def __str__(self) -> str:
        parts = [
            "an unknown user's" if self.user is None else f"{self.user}'s",
            "" if self.pid is None else f"PID {self.pid}",
            "" if self.since is None else time.strftime("since %H:%M:%S", time.localtime(self.since)),
            "stopped" if self.is_stopped else "",
            "" if self.command is None else f"`{self.command}`",
        ]
        return ", ".join(part for part in parts if part)


def participants() -> list[Participant]:
    """The processes whose turn it is, and then those that wait, the longest first."""
    found = []
    for name in (_turn(place) for place in range(PLACES)):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            if (holder := _connected(peer, name)) is not None:
                found.append(holder.participant())
    waiting = []
    for name in _names("waits/"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            if (other := _connected(peer, name)) is not None:
                since = (*_times(name, 1), None)[0]
                waiting.append(_participant(other.pid, other.uid, since, waits=True))
    return [*found, *sorted(waiting, key=lambda each: each.since or 0.0)]


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
            stack.enter_context(_announced(f"holds/{times}"))
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
            if self.turn is None and (taken := _listening(_turn(place))) is not None:
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
            self._stack.enter_context(_announced(f"waits/{time.time():.0f}"))
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
        holder = _connected(peer, _turn(place))
        if holder is None:
            peer.close()
            if self.turn is not None:  # nobody need have a name behind the own one
                return None
            holder = _Holder(None, None, None)
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
    pid: int | None
    uid: int | None
    times: tuple[float, ...] = ()
    """Since when, and until when it has its turn, as far as it said that."""
    looked: float | None = None
    stopped: float | None = None
    """When it was first seen stopped, of the monotonic clock."""

    def is_there(self) -> bool:
        """Whether it still has its turn: nothing is ever sent, so the connection says something only at its end."""
        try:
            return self.peer is not None and bool(self.peer.recv(1, socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def is_passed_over(self, waited_s: float) -> bool:
        """Whether somebody who has waited so long goes on."""
        now = time.monotonic()
        known = self.participant()
        self.stopped = (self.stopped or now) if known.is_stopped else None
        if self.stopped is not None and now - self.stopped > STOPPED_S:
            return True
        if known.until is not None and time.time() > known.until + LATE_S:
            return True
        return self.uid != os.geteuid() and waited_s > OTHERS_S

    def participant(self) -> Participant:
        """What is known of it now."""
        now = time.monotonic()
        if not self.times and self.pid is not None and (self.looked is None or now - self.looked > _LOOK_S):
            self.looked, self.times = now, _said_by(self.pid, self.uid)
        since, until = (*self.times, None, None)[:2]
        return _participant(self.pid, self.uid, since, until)

    def close(self) -> None:
        """Ask no more."""
        if self.peer is not None:
            self.peer.close()


# --- sockets ---


def _turn(place: int) -> str:
    return f"{FAMILY}turn" + (f"/{place}" if place else "")


def _listening(name: str) -> socket.socket | None:
    """A socket of that name, which tells everybody whose it is; None if another has the name."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(name)
        made.listen(4096)
    except OSError:
        made.close()
        return None
    return made


@contextmanager
def _announced(what: str) -> Iterator[None]:
    """Have a socket whose name says something of this process."""
    made = _listening(f"{FAMILY}{what}/{uuid.uuid4().hex[:8]}")
    try:
        yield
    finally:
        if made is not None:
            made.close()


def _connected(peer: socket.socket, name: str) -> _Holder | None:
    """The one that listens at a name; None if nobody does, or it cannot be asked."""
    peer.setblocking(False)
    try:
        peer.connect(name)
        pid, uid, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    except OSError:
        return None
    return _Holder(peer, pid or None, uid)


def _names(kind: str) -> list[str]:
    """The names of sockets that say something of their processes."""
    marked = "@" + FAMILY[1:] + kind
    try:
        lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    named = {line.partition(" " + marked)[2] for line in lines if " " + marked in line}
    return [f"{FAMILY}{kind}{each}" for each in sorted(named)]


def _times(name: str, count: int) -> tuple[float, ...]:
    """The times in a name; none if it is another's, who need not write what we would."""
    parts = name.removeprefix(FAMILY).split("/")[1:-1]
    whole = [float(part) for part in parts if part.isascii() and part.isdigit() and len(part) <= 11]
    return tuple(whole) if 0 < len(whole) == len(parts) <= count else ()


def _said_by(pid: int, uid: int | None) -> tuple[float, ...]:
    """Since when, and until when, a process has its turn, as it says; the kernel tells whose saying it is."""
    for name in _names("holds/"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            other = _connected(peer, name)
            if other is not None and (other.pid, other.uid) == (pid, uid):
                return _times(name, 2)
    return ()


# --- processes ---


def _participant(
    pid: int | None, uid: int | None, since: float | None, until: float | None = None, *, waits: bool = False
) -> Participant:
    state, parent = _state(pid)
    command = _command(pid)
    if command is not None and "parshall.campaign.pool" in command:  # a sweep's: whoever started it has a better name
        command = _command(parent) or command
    return Participant(waits, _user(uid), pid, since, until, None if state is None else state in "Tt", command)


def _state(pid: int | None) -> tuple[str | None, int | None]:
    """The state of a process (proc(5)) and its parent."""
    if pid is None:
        return None, None
    try:
        state, parent, *_ = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (OSError, ValueError):
        return None, None
    return state, int(parent)


def _command(pid: int | None) -> str | None:
    """The beginning of a process's command line; None: it is not shown."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return None
    return cut(shlex.join(words)) or None


def _user(uid: int | None) -> str | None:
    if uid is None:
        return None
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
