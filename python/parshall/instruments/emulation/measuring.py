"""Measuring what this machine can emulate: a fast flow, many flows, and hosts that have almost nothing to do.

Each is an emulation of less than two seconds, and what it is believed of is what every emulation's verdict says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parshall.instruments.emulation.capacity import Capacity, Trial, this_machine
from parshall.instruments.emulation.emulating import emulate
from parshall.instruments.simulation import Run
from parshall.results.records.about import cores, now
from parshall.results.records.validity import Validity, validity
from parshall.scenario.schema.kernel import AMPLE_BUFFERS

RATES_BPS = (4e9, 1e9)
"""Links that one flow is to fill; the first that it does is what this machine can."""

FLOWS = (100, 1000)
"""So many are to fill a link of `MANY_BPS` together; the last that do are what this machine can."""

MANY_BPS = 1e9
SECONDS = 1.6
WARM_UP_S = 0.8


def measure() -> Capacity:
    """Measure what this machine can emulate, which takes about ten seconds, and keep it for `Capacity.kept`.

    Raises
    ------
    NoEmulationError
        This machine permits none.
    EmulationError
        One failed.
    """
    Capacity.forget()  # else what is tried would be beyond it
    load = os.getloadavg()[0]
    fast, many = list(_fast()), list(_many())
    idle = _judged(emulate(_scenario(10e6, "10 ms", {"workload": {"name": "cbr", "rate": "1 Mbit/s"}})))
    measured = idle.measured or {}
    made = Capacity(
        machine=this_machine(),
        measured=now(),
        rate_bps=max((each.rate_bps for each in fast if each.is_carried), default=None),
        flows=max((each.flows for each in many if each.is_carried), default=0),
        flows_rate_bps=MANY_BPS,
        lateness_p50_s=measured.get("lateness_p50_s"),
        lateness_p99_s=measured.get("lateness_p99_s"),
        answer_p99_s=measured.get("answer_p99_s"),
        steal=measured.get("steal"),
        real_time=bool(measured.get("real_time")),
        load=load,
        trials=[*fast, *many],
    )
    made.keep()
    return made


def _fast() -> Iterator[Trial]:
    for rate_bps in RATES_BPS:
        trial = _trial(rate_bps, 1, "5 ms")
        yield trial
        if trial.is_carried:
            return


def _many() -> Iterator[Trial]:
    for flows in FLOWS:
        trial = _trial(MANY_BPS, flows, "40 ms")
        yield trial
        if not trial.is_carried:
            return


def _trial(rate_bps: float, flows: int, rtt: str) -> Trial:
    group = {"count": flows, "congestion_control": "cubic", "kernel": {"sysctls": AMPLE_BUFFERS}}
    made = emulate(_scenario(rate_bps, rtt, group))
    verdict = _judged(made)
    measured = verdict.measured or {}
    return Trial(
        rate_bps=rate_bps,
        flows=flows,
        throughput_bps=float(made.flows["throughput_bps"].sum()),
        level=verdict.level,
        reason=verdict.reasons[0] if verdict.reasons else None,
        emulator_share=measured["emulator_cpu_s"] / measured["wall_s"],
        lateness_p99_s=measured["lateness_p99_s"],
    )


def _scenario(rate_bps: float, rtt: str, group: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "doctor",
        "duration": f"{SECONDS} s",
        "warm_up": f"{WARM_UP_S} s",
        "bottleneck": {"rate": f"{rate_bps:.0f} bit/s", "queue": {"name": "drop_tail", "limit": "2 BDP"}},
        "flows": [{"rtt": rtt, **group}],
    }


def _judged(made: Run) -> Validity:
    verdict = validity(made)
    assert verdict is not None  # noqa: S101 - it was emulated
    return verdict


STEERING = Path("/proc/sys/net/core/rps_default_mask")
"""What has other processors receive for many flows (docs/emulation.md); Linux 6.3 is the first."""

BUSY = 0.5
"""Processes that want a processor, of the processors, above which a machine is busy."""


def advice(able: Capacity) -> list[str]:
    """What to change so that this machine emulates more, the most likely first; nothing where nothing is amiss."""
    sentences = []
    if not able.real_time:
        sentences.append(
            "the emulator has no real-time priority: run as root, or allow it (in /etc/security/limits.conf "
            "the line: * - rtprio 50)"
        )
    if able.load > BUSY * cores():
        sentences.append(
            f"the machine is busy ({able.load:.1f} processes wanted its {cores()} processors): "
            "let nothing else run, and measure again"
        )
    if able.steal is not None and able.steal > STOLEN:
        sentences.append(
            f"a hypervisor took {100 * able.steal:.1f} % of its time: take a machine whose processors are its own"
        )
    if all(each.is_carried for each in able.trials):
        return sentences
    if cores() < ENOUGH_CORES:
        what = "one processor" if cores() == 1 else f"{cores()} processors"
        sentences.append(f"it has {what}, on which emulator and hosts meet: take {ENOUGH_CORES} or more")
    if not STEERING.exists():
        sentences.append("its kernel cannot have other processors receive for many flows: take Linux 6.3 or newer")
    return sentences


STOLEN = 0.01
"""What a verdict accepts of time that a hypervisor takes."""

ENOUGH_CORES = 4
