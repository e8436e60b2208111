"""Parshall's own measurements, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.others import Measurement

CHILD = Path(__file__).with_name("child.py")


@dataclass(frozen=True)
class OwnMeasurement(Measurement):
    """A run of Parshall."""

    wall_s: float
    high_water_bytes: int


def run(scenario: Path, *assignments: str, controls: Sequence[str] = ()) -> OwnMeasurement:
    """Simulate a scenario once; `assignments` and `controls` as for `--set` and `--control` of `parshall run`."""
    command = [sys.executable, str(CHILD), str(scenario), *assignments]
    command += [f"--control={each}" for each in controls]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    summary = json.loads(done.stdout)
    return OwnMeasurement(
        packets=summary["packets_forwarded"],
        drops=summary["packets_dropped"],
        cpu_s=summary["cpu_s"],
        wall_s=summary["wall_s"],
        high_water_bytes=summary["high_water_bytes"],
    )


def baseline_bytes(scenario: Path) -> int:
    """Resident memory of the same program with a single flow, for a moment."""
    return run(scenario, "flows.0.count=1", "duration=1 ms").high_water_bytes
