"""Files that are there completely or not at all."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


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
