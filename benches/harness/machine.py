"""Where and with what the numbers were measured."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

from parshall._core import PROFILE_GUIDED


def machine() -> dict[str, object]:
    """The processor, its number of logical cores, memory, kernel, and how busy it is."""
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return {
        "processor": model[1] if model else platform.processor(),
        "cores": os.cpu_count(),
        "memory_bytes": int(memory[1]) * 1024 if memory else None,
        "kernel": platform.release(),
        "load_before": os.getloadavg()[0],
    }


def versions(repository: Path) -> dict[str, str | None]:
    """Of Parshall, its commit, and the tools it was built with."""
    return {
        "parshall": version("parshall"),
        "commit": _first_line(["git", "-C", str(repository), "describe", "--always", "--dirty"]),
        "rustc": _first_line(["rustc", "--version"]),
        "build": "profile-guided" if PROFILE_GUIDED else "plain",
        "python": platform.python_version(),
    }


def debian_version(package: str) -> str | None:
    """Of an installed Debian package; None elsewhere."""
    return _first_line(["dpkg-query", "--showformat=${Version}", "--show", package])


def _first_line(command: list[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    lines = done.stdout.splitlines()
    return lines[0].strip() if lines else None
