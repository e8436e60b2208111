"""The processes that have a turn or wait for one, as the kernel tells and as they say themselves.

Each has an abstract socket (unix(7)), which is no file that anybody could leave, or break, and which is gone with its
process, however that ends. Whoever connects to one is told by the kernel which process listens there (SO_PEERCRED).
The kernel's list of sockets has the names of all; in those that say something of their process are times.
"""

from __future__ import annotations

import pwd
import shlex
import socket
import struct
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from parshall.scenario.schema.printing import cut

FAMILY = "\0parshall/emulation/"
"""All names begin so."""

PLACES = 8
"""Of turns, all but the first of which are taken where others were passed over."""


class Credentials(NamedTuple):
    """Process and user of a peer; None: unknown from here."""

    pid: int | None
    uid: int | None


UNKNOWN = Credentials(None, None)


@dataclass(frozen=True)
class Participant:
    """A process whose turn it is, or that waits for its turn; None: that cannot be known from here."""

    waits: bool
    user: str | None
    pid: int | None
    since: float | None
    """Time at which it began to wait or took its turn, in seconds of Unix time, by its own account."""
    until: float | None
    """Latest end of its turn, in seconds of Unix time, by its own account."""
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
    for name in (turn_name(place) for place in range(PLACES)):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            if (holder := connected(peer, name)) is not None:
                found.append(participant(holder, said_by(holder)))
    waiting = []
    for name in _names("waits/"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            if (other := connected(peer, name)) is not None:
                waiting.append(participant(other, _times(name, 1), waits=True))
    return [*found, *sorted(waiting, key=lambda each: each.since or 0.0)]


# --- sockets ---


def turn_name(place: int) -> str:
    """The name of the first turn, or of one beside those that were passed over."""
    return f"{FAMILY}turn" + (f"/{place}" if place else "")


def listening(name: str) -> socket.socket | None:
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
def announced(what: str) -> Iterator[None]:
    """Have a socket whose name says something of this process."""
    made = listening(f"{FAMILY}{what}/{uuid.uuid4().hex[:8]}")
    try:
        yield
    finally:
        if made is not None:
            made.close()


def connected(peer: socket.socket, name: str) -> Credentials | None:
    """Return the process that listens at a name; None if none does, or it cannot be asked."""
    peer.setblocking(False)
    try:
        peer.connect(name)
        pid, uid, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    except OSError:
        return None
    return Credentials(pid or None, uid)


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


def said_by(process: Credentials) -> tuple[float, ...]:
    """Since when, and until when, a process has its turn, as it says; the kernel tells whose saying it is."""
    for name in _names("holds/"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            if connected(peer, name) == process:
                return _times(name, 2)
    return ()


# --- processes ---


def participant(process: Credentials, times: tuple[float, ...], *, waits: bool = False) -> Participant:
    """A process that says these times of itself."""
    since, until = (*times, None, None)[:2]
    pid, uid = process
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
