"""Files that others made, read within limits; files of ours, complete or not there; directories for a while."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from parshall import _core


@dataclass(frozen=True)
class Reader:
    """A reader of files that others made (``crates/reading``), and its limits."""

    name: str
    what: str
    document: int | None
    """Bytes of a file that is read as a whole, after decompression; None: it is read bit by bit."""
    line: int | None
    """Bytes of a line; None: no limit but that of the document."""
    compressed: bool
    """True if a file may be compressed, with gzip or zstd."""
    memory: int
    """Bytes of memory that reading takes at most."""


READERS = {each["name"]: Reader(**each) for each in json.loads(_core.readers())}
"""All of them, by name."""


def read_file(path: Path, reader: str) -> bytes:
    """The content of a regular file that others made, decompressed if that reader takes compressed files.

    Parameters
    ----------
    path
        The file.
    reader
        Whose limits hold, one of `READERS`.

    Raises
    ------
    ValueError
        It is a device, a pipe or the like, which may have no end or wait for ever; it is larger than the reader's
        documents may be; or what is compressed in it is damaged.
    OSError
        It is missing or not readable.
    """
    return _core.read_file(path, reader)


def write_atomically(path: Path, content: str | bytes, aside: Path | None = None) -> Path:
    """Write a file so that it has its old content or the new one, whatever happens.

    Parameters
    ----------
    path
        The file.
    content
        Bytes, or text that is written as UTF-8.
    aside
        Where it is written before it is renamed, on the same file system; beside the file unless given. Of several
        writers of one file each needs a name of its own.

    Raises
    ------
    OSError
        It cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial") if aside is None else aside
    try:
        with partial.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    sync(path.parent)
    return path


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Make sure that a file's content, or a directory's entries, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- directories for a while ---


class Scratch:
    """A directory for results that nobody asked to keep.

    Whoever is killed leaves theirs; the next who makes one removes it. A file beside the directory is locked as long as
    its process lives, which also processes in other containers see.

    Parameters
    ----------
    prefix
        How its name begins.
    """

    def __init__(self, prefix: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        _remove_abandoned(self.path.parent, prefix)
        self._lock = self.path.with_name(f"{self.path.name}{_LOCK}").open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._finalizer = weakref.finalize(self, _remove, self.path, self._lock)
        _HELD[self.path] = self

    @staticmethod
    def holding(directory: Path) -> Scratch | None:
        """Return the temporary directory of this process at a path, to keep it while it is read; None: it is none."""
        return _HELD.get(directory)

    def remove(self) -> None:
        """Remove the directory; it is removed at the latest when nothing refers to this object any more."""
        self._finalizer()

    @staticmethod
    def remove_of(path: Path) -> None:
        """Remove a directory whose process may be no more, and its lock."""
        shutil.rmtree(path, ignore_errors=True)
        path.with_name(f"{path.name}{_LOCK}").unlink(missing_ok=True)


def _remove(path: Path, lock: IO[bytes]) -> None:
    Scratch.remove_of(path)
    lock.close()


_HELD: weakref.WeakValueDictionary[Path, Scratch] = weakref.WeakValueDictionary()
"""The temporary directories of this process, by their paths."""

_LOCK = ".lock"

_YOUNG_S = 60.0
"""A lock of this age may be one that is about to be taken."""


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove the directories of processes that are no more; whatever cannot be looked at stays."""
    for lock in folder.glob(f"{glob.escape(prefix)}*{_LOCK}"):
        with contextlib.suppress(OSError):
            found = lock.lstat()
            if (
                not stat.S_ISREG(found.st_mode)
                or found.st_uid != os.getuid()
                or time.time() - found.st_mtime < _YOUNG_S
            ):
                continue
            with lock.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.with_name(lock.name.removesuffix(_LOCK)), ignore_errors=True)
                lock.unlink()
