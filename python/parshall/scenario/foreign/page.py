"""The page of memory that the process of foreign code shares with its parent: the parent's side.

``crates/foreign/src/page.rs`` says what its words are.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
from contextlib import suppress
from typing import NamedTuple

_WORDS = struct.Struct("@8Q")
_NO_GROUP = 2**64 - 1


class Reading(NamedTuple):
    """The words of the page at a moment."""

    calls: int
    """Calls of foreign code begun and ended; odd: one is under way."""
    at_s: float
    """Simulated time of the last call."""
    group: int | None
    """Number of the last call's group of flows; None: nothing was called, or it is no simulation."""
    simulated_s: float
    """Simulated time that the simulation has come to."""
    packets: int
    """Packets that its links have handled."""
    memory_bytes: int
    """Memory of the process at its last look."""
    too_much_memory: bool
    """True: the process ended itself, as it took more memory than it may."""

    @property
    def calling(self) -> bool:
        """Return whether a call of foreign code is under way."""
        return self.calls % 2 == 1


class Page:
    """A new page, and the file that has it."""

    def __init__(self) -> None:
        self.file = _new_file()
        os.ftruncate(self.file, _WORDS.size)
        self._memory = mmap.mmap(self.file, _WORDS.size, prot=mmap.PROT_READ)

    def read(self) -> Reading:
        """Return its words as they are now."""
        calls, at_ps, group, simulated_ps, packets, memory_bytes, too_much, _ = _WORDS.unpack_from(self._memory)
        return Reading(
            calls=calls,
            at_s=at_ps / 1e12,
            group=None if group == _NO_GROUP else group,
            simulated_s=simulated_ps / 1e12,
            packets=packets,
            memory_bytes=memory_bytes,
            too_much_memory=too_much == 1,
        )

    def close(self) -> None:
        """Unmap the page and close its file."""
        self._memory.close()
        os.close(self.file)


def _new_file() -> int:
    """The number of a file in memory: a page in a file of a full disk ends whoever touches it (SIGBUS)."""
    with suppress(AttributeError, OSError):  # another system than Linux, or a container that does not permit it
        return os.memfd_create("parshall")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
