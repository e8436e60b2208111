"""The memory for a scenario's flows, checked before it is taken.

The simulator says what flows take at the beginning (`_core.check_scenario`); the system says what is available
(`parshall.foundations.machine`). Flows that an open loop adds later are bounded by the same.
"""

from __future__ import annotations

import json

from parshall import _core
from parshall.foundations.errors import ScenarioError
from parshall.foundations.machine import available_bytes


def most_flows(resolved: str, at_a_time: int = 1, source: str | None = None) -> int | None:
    """Return the most flows that a repetition may have if `at_a_time` repetitions share the available memory.

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
            (f" and {at_a_time} repetitions at a time", ", or a smaller workers=N") if at_a_time > 1 else ("", "")
        )
        takes = f"found {need['flows']} flows{times}, which take about {_amount(need['bytes'] * at_a_time)} of memory"
        raise ScenarioError(
            [f"flows: {takes}; {_amount(available)} are available; write a smaller count{remedy}"], source
        )
    return int(need["flows"]) + (available // at_a_time - int(need["bytes"])) // int(need["bytes_each"])


def _amount(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
