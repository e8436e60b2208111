"""Repetitions over all cores: how much faster, and whether the records are the same bytes."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import parshall as ps
from harness.record import Bar, Record

EFFICIENCY_BAR = 0.7
"""Of the cores' worth of speed-up, at least."""


def measure(record: Record, scenario: Path, quick: bool) -> None:
    """The same repetitions with one worker and with one a core."""
    cores = len(os.sched_getaffinity(0))
    repetitions = 4 * cores
    duration = "300 s" if quick else "3000 s"
    made = ps.Scenario.load(scenario, [f"repetitions={repetitions}", f"duration={duration}"])
    ps.run(made.with_values({"duration": "1 s"}))  # imports everything
    seconds: dict[int, float] = {}
    digests = set()
    for workers in sorted({1, cores}):
        with TemporaryDirectory(prefix="parshall-bench-") as directory:
            began = time.perf_counter()
            ps.run(made, Path(directory) / "run", workers=workers)
            seconds[workers] = time.perf_counter() - began
            digests.add(_digest(Path(directory)))
    record.judge(Bar(f"different records with 1 and {cores} workers", len(digests) - 1, 0, at_least=False))
    if cores > 1:
        speedup = seconds[1] / seconds[cores]
        what = f"{repetitions} repetitions with {cores} workers: times as fast as with 1"
        record.judge(Bar(what, speedup, EFFICIENCY_BAR * cores))


def _digest(directory: Path) -> str:
    """Of all tables, names included."""
    total = hashlib.sha256()
    for file in sorted(directory.rglob("*.parquet")):
        total.update(str(file.relative_to(directory)).encode())
        total.update(file.read_bytes())
    return total.hexdigest()
