"""How much one machine emulates: the cases of docs/emulation.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import parshall as ps

from .emulated import Emulation

SCENARIOS = Path(__file__).parents[2] / "scenarios"

LATE_S = 200e-6
"""Lateness that 99 % of the packets must not exceed."""

SET_UP_S = 2.0
"""Set-up of any of these, at most."""


@dataclass(frozen=True)
class Case:
    """What is emulated, and what it is to reach."""

    scenario: ps.Scenario
    least_bps: float = 0.0
    """Goodput of all flows together."""


def _bulk(control: str, flows: int, rate: str, rtt: str, seconds: float) -> ps.Scenario:
    group: dict[str, Any] = {"count": flows, "rtt": rtt, "congestion_control": control, "start": {"uniform": "1 s"}}
    return ps.Scenario.from_document(
        {
            "name": "speed",
            "duration": f"{seconds:g} s",
            "warm_up": f"{seconds / 4:g} s",
            "bottleneck": {"rate": rate, "queue": {"name": "drop_tail", "limit": "1 BDP"}},
            "flows": [group],
        }
    )


def cases(seconds: float) -> dict[str, Case]:
    """All of them, by what a reader knows them by."""
    one, fast = _bulk("cubic", 1, "1 Gbit/s", "20 ms", seconds), _bulk("cubic", 1, "4 Gbit/s", "20 ms", seconds)
    return {
        "1 cubic flow, 1 Gbit/s": Case(one, 940e6),
        "1 cubic flow, 1 Gbit/s, captured": Case(one.with_values({"probes.pcap": True}), 940e6),
        "1 cubic flow, 4 Gbit/s": Case(fast, 3.5e9),
        "100 reno flows, 1 Gbit/s": Case(_bulk("reno", 100, "1 Gbit/s", "40 ms", seconds)),
        "100 cubic flows, 1 Gbit/s": Case(_bulk("cubic", 100, "1 Gbit/s", "40 ms", seconds)),
        "1,000 cubic flows, 1 Gbit/s": Case(_bulk("cubic", 1000, "1 Gbit/s", "40 ms", seconds)),
        "4 kernel and 500 simulated flows, 1 Gbit/s": Case(ps.Scenario.load(SCENARIOS / "hybrid.toml")),
    }


def recorded(seconds: float) -> ps.Scenario:
    """Whose calls are recorded."""
    return _bulk("cubic", 100, "1 Gbit/s", "20 ms", seconds)


def goodput_bps(emulation: Emulation) -> float:
    """Goodput of all flows together."""
    return float(emulation.run.flows["goodput_bps"].sum())


def passed(runs: Sequence[Emulation], case: Case) -> bool:
    """Whether more than half of the runs missed nothing: a single good one of many is luck."""
    return 2 * sum(not missed(run, case) for run in runs) > len(runs)


def missed(emulation: Emulation, case: Case) -> list[str]:
    """Which of the goals an emulation missed."""
    late_s = emulation.measured["lateness_p99_s"]
    return [
        *([] if emulation.level != "invalid" else ["valid"]),
        *([] if late_s <= LATE_S else ["lateness"]),
        *([] if goodput_bps(emulation) >= case.least_bps else ["goodput"]),
        *([] if emulation.set_up_s <= SET_UP_S else ["set-up"]),
    ]
