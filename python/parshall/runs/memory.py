"""Whether there is memory for a scenario's flows, before it is taken.

The simulator says what flows take at the beginning (`_core.check_scenario`); the system says what is available: memory
that is free or easily made free, within the limits of the control group (``memory.max``) and of the process
(``ulimit -v``). Flows that an open loop adds later are bounded by the same.
"""

from __future__ import annotations

import json
import resource
from contextlib import suppress
from pathlib import Path

from parshall import _core
from parshall.errors import ScenarioError

_CGROUP = Path("/sys/fs/cgroup")


def most_flows(resolved: str, at_a_time: int = 1, source: str | None = None) -> int | None:
    """How many flows a repetition of a resolved scenario may have, the memory that is available shared by `at_a_time`.

    None where the system does not say what is available.

    Raises
    ------
    ScenarioError
        Its first flows alone take more.
    """
    need = json.loads(_core.check_scenario(resolved))
    available = available_bytes()
    if available is None:
        return None
    if need["bytes"] * at_a_time > available:
        times, remedy = (
            (f" and {at_a_time} repetitions at a time", ", or fewer --workers") if at_a_time > 1 else ("", "")
        )
        takes = f"found {need['flows']} flows{times}, which take about {_amount(need['bytes'] * at_a_time)} of memory"
        raise ScenarioError(
            [f"flows: {takes}; {_amount(available)} are available; write a smaller count{remedy}"], source
        )
    return int(need["flows"]) + (available // at_a_time - int(need["bytes"])) // int(need["bytes_each"])


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


def _amount(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
