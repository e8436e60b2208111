"""Memory of this machine that is available.

Memory that is free or easily made free, within the limits of the control group (``memory.max``) and of the process
(``ulimit -v``).
"""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int | None:
    """Bytes that can be taken without swapping, or being killed for it; None if the system does not say."""
    limits = [_meminfo(), _group_limit(), _process_limit()]
    return min((limit for limit in limits if limit is not None), default=None)


def _meminfo() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _group_limit() -> int | None:
    with suppress(OSError, ValueError):
        limit = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            return max(0, int(limit) - int((_CGROUP / "memory.current").read_text(encoding="ascii")))
    return None


def _process_limit() -> int | None:
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return None
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return max(0, soft - pages * resource.getpagesize())
    return int(soft)
