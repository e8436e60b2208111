"""What a host's interface does to one flow: the readings of Figs 5 to 7, one at a time.

The source leaves open how long the queue of a host's interface is (txqueuelen), whether a window grows by ACKs or by
what they acknowledge, and whether its CUBIC has the scaling error of Linux before 2.6.19 (footnote 8 names 2.6.16,
§5.1 a "Cubic patch"). One flow of 1 Gbit/s alone shows each: nothing else can lose a packet, so its use of the line
is what the control makes of its own host.

| symbol | meaning |
| --- | --- |
| use | throughput over 1 Gbit/s |

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.1, §5.2, §5.5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.region import exactly
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.studies.study import Findings
from parshall_studies.itb.network import (
    ACCESS_BPS,
    HIGH_MS,
    INTERFACE,
    SCALING_ERROR,
    VARIANTS,
    Recorded,
    Size,
    kernel_hosts,
    window,
)

READINGS: dict[str, dict[str, Any]] = {
    f"{INTERFACE} packets": {},
    f"{INTERFACE} packets, all grow by packets acknowledged": {"byte_counting": True},
    "100 packets": {"access_queue": "100 packets"},
    "no limit, window of path and 1000 packets": {
        "access_queue": None,
        "receive_window": f"{window(HIGH_MS)} packets",
    },
}
"""What a host queues, and how windows grow: changes of the group of `kernel_hosts`."""

SCALED = "cubic_2005, scaling error"


def scenarios(size: Size) -> dict[tuple[str, str], Scenario]:
    """One flow of each control in each reading, at 100 ms."""
    keys = [(reading, name) for reading in READINGS for name in (*VARIANTS, SCALED)]
    return {key: scenario(size, *key) for key in keys}


def findings(runs: Mapping[tuple[str, str], Recorded], size: Size) -> Findings:
    """What each uses of its line."""
    use = {key: float(run.flows["throughput_bps"][0]) / ACCESS_BPS for key, run in runs.items()}
    quantity = f"use of its line by one flow at {HIGH_MS:g} ms"
    checks = [
        reported("fig7", f"{quantity}, {name}", exactly(value), reading=f"interface queue: {reading}")
        for (reading, name), value in use.items()
    ]
    text = (
        f"One flow of {size.alone_s:g} s at {HIGH_MS:g} ms, alone on its line of 1 Gbit/s. Where hosts lose nothing, "
        "controls differ by how long they take to fill the path; where they lose, by what they make of the loss.",
    )
    return Findings(checks, [Section("The hosts of Figs 5 to 7: one flow alone", text, [_table(use)])])


def scenario(size: Size, reading: str, name: str) -> Scenario:
    """One flow in a reading of the hosts."""
    control, more = ("cubic_2005", SCALING_ERROR) if name == SCALED else (name, {})
    return kernel_hosts(control, 1, HIGH_MS, duration_s=size.alone_s, more={**more, **READINGS[reading]})


def _table(use: Mapping[tuple[str, str], float]) -> Table:
    names = (*VARIANTS, SCALED)
    rows = [(reading, *(f"{use[reading, name]:.3f}" for name in names)) for reading in READINGS]
    caption = "Use of the line, by the queue of the host's interface"
    return Table(
        caption, ("queue", *(f"`{name}`" for name in VARIANTS), SCALED), rows, numbers=range(1, len(names) + 1)
    )
