"""A server of the explorer for tests: the command itself, in a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

START_S = 120
"""For a machine that does other things."""


@contextlib.contextmanager
def serving(*arguments: str | Path, scratch: Path | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address and the process of a server, until the end of the block."""
    command = [sys.executable, "-m", "parshall", "explore", "--no-browser", "-q", *map(str, arguments)]
    environment = {**os.environ, **({} if scratch is None else {"TMPDIR": str(scratch)})}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.communicate(timeout=START_S)
        yield address, process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(START_S)
        process.kill()
        process.communicate()
