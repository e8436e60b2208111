"""Locks of a store: which process does a run, and whether anybody is at work.

They are locks of the file system: each ends with the process that holds it, however that ends. On a file system without
locks, work may be done twice, with the same result.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from parshall.results.records.storage import storage_error

WORKING = "working"
"""The file whose lock every sweep shares while it goes on."""


class Lock:
    """A lock on a file, for as long as this process lives or until it is released."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path) -> Lock | None:
        """The lock, or None if somebody else has it."""
        descriptor = _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return None if descriptor is None else cls(path, descriptor)

    def release(self) -> None:
        """Let others have it."""
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


@contextlib.contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold a lock together with others; waits while somebody has it alone."""
    descriptor = _locked(path, fcntl.LOCK_SH)
    try:
        yield
    finally:
        _left(path, descriptor)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Hold a lock that nobody shares; gives whether it is held, and does not wait."""
    descriptor = _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield descriptor is not None
    finally:
        _left(path, descriptor)


def is_held_alone(path: Path) -> bool:
    """True if a process has an exclusive lock."""
    descriptor = _locked(path, fcntl.LOCK_SH | fcntl.LOCK_NB)
    _left(path, descriptor)
    return descriptor is None


def _locked(path: Path, how: int) -> int | None:
    """The descriptor of a file that is locked, or of one that cannot be; None if somebody else has it."""
    while True:
        descriptor = _opened(path)
        try:
            fcntl.flock(descriptor, how)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:  # a file system without locks
            return descriptor
        if _same_file(path, descriptor):
            return descriptor
        os.close(descriptor)  # its last holder removed it between our opening and locking


def _left(path: Path, descriptor: int | None) -> None:
    """Give a lock back; the last one removes the file."""
    if descriptor is None:
        return
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
    os.close(descriptor)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise storage_error(error) from None


def _same_file(path: Path, descriptor: int) -> bool:
    try:
        there, held = path.stat(), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)
