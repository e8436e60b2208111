"""What made a run: versions and host."""

from __future__ import annotations

import hashlib
import os
import platform
import resource
import sys
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from parshall import _core
from parshall.foundations.version import __version__

_LIBRARIES = ("numpy", "polars", "pydantic", "scipy")


def versions() -> dict[str, str]:
    """Versions of Parshall, Python, and the libraries that results pass through."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """Looked up once; libraries, which a run has loaded, say it faster than the files of their installation."""
    return {
        "parshall": __version__,
        "python": platform.python_version(),
        **{name: import_module(name).__version__ for name in _LIBRARIES},
    }


@cache
def code_version() -> str:
    """Parshall's version, and a digest of the compiled simulator: what equal inputs give equal results with."""
    content = Path(_core.__file__).read_bytes()
    return f"{__version__}+{hashlib.sha256(content).hexdigest()[:12]}"


@cache
def python_digest() -> str:
    """A digest of Parshall's Python and data files: what measures, predicts and estimates."""
    folder = Path(_core.__file__).parent
    content = hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.toml")]):
        content.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return content.hexdigest()[:24]


def host() -> dict[str, Any]:
    """The machine, as far as it says something about a result."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": processor(),
        "cores": cores(),
    }


@cache
def host_name() -> str:
    """The machine's name."""
    return platform.node()


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The processor's name, as far as the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123 - not a file of ours
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor()


def now() -> str:
    """The moment in ISO 8601, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def peak_rss_bytes() -> int:
    """The largest resident memory that this process has had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
