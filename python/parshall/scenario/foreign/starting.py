"""Processes with an interpreter of their own: how they begin, and words for how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path


def start(module: str, arguments: Iterable[str], files: Sequence[int]) -> subprocess.Popen[bytes]:
    """Start an interpreter that calls ``serve`` of a module, and return its process.

    Parameters
    ----------
    module
        Its full name.
    arguments
        What it finds in ``sys.argv``.
    files
        Numbers of open files that it inherits.
    """
    # Each process does one run at a time; threads of its libraries would take the cores from the others.
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": _path()}
    command = [sys.executable, "-c", f"from {module} import serve; serve()", *arguments]
    # Ctrl-C is the owner's to answer, also while the process is still importing: it inherits that it is blocked.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(command, pass_fds=files, env=environment, stdin=subprocess.DEVNULL)  # noqa: S603
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _path() -> str:
    """Return the import path of the process: this very package first, then the path of this process."""
    package = str(Path(__file__).parents[3])
    return os.pathsep.join([package, *_others(sys.path, package)])


def _others(paths: Iterable[str], package: str) -> Sequence[str]:
    return [path for path in dict.fromkeys(paths) if path and path != package and not path.endswith(".zip")]


def ended(status: int) -> str:
    """Return words for the end of a process that has this ``returncode``.

    >>> ended(0), ended(-11)
    ('exit 0', 'signal 11')
    """
    return f"exit {status}" if status >= 0 else f"signal {-status}"
