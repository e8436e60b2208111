"""Figs 1 and 2: every setting at every tail index, and what becomes of them: checks, figures, tables.

At ``paper`` scale a finished point is kept (`keeping`), so that an interrupted study goes on where it was.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from parshall.scenario import Scenario
from parshall.studies import keeping
from parshall.studies.study import Progress, Scale
from parshall.studies.tail_index.measure import Measured, measured
from parshall.studies.tail_index.network import butterfly, pareto
from parshall.studies.tail_index.published import TAIL_INDICES, TRENDS

Setting = tuple[int, int, bool]
"""Number of sources, buffer in packets, whether ssthresh is cached."""


@dataclass(frozen=True)
class Size:
    """How much is simulated at a scale."""

    tail_indices: tuple[float, ...]
    duration_s: float
    repetitions: int
    workers: int
    kept: bool


SIZES: dict[Scale, Size] = {
    "quick": Size((1.1, 1.3, 1.5, 2.0, 4.0), 24.0, 3, 1, kept=False),
    "paper": Size(TAIL_INDICES, 3600.0, 3, os.cpu_count() or 1, kept=True),
}


def name(setting: Setting) -> str:
    """A setting in words."""
    sources, buffer, cached = setting
    return f"N = {sources}, B = {buffer}, {'without' if cached else 'with'} slow start"


def simulated(size: Size, progress: Progress) -> dict[Setting, tuple[Measured, ...]]:
    """All points of Figs 1 and 2."""

    def point(setting: Setting, alpha: float) -> Measured:
        sources, buffer, cached = setting
        progress(f"{name(setting)}, tail index {alpha:g}")
        scenario = butterfly(
            sources,
            buffer,
            pareto(alpha),
            cached=cached,
            duration_s=size.duration_s,
            repetitions=size.repetitions,
        )
        return kept(scenario) if size.kept else measured(scenario)

    with ThreadPoolExecutor(size.workers) as pool:
        futures = {setting: [pool.submit(point, setting, alpha) for alpha in size.tail_indices] for setting in TRENDS}
        return {setting: tuple(each.result() for each in row) for setting, row in futures.items()}


def kept(scenario: Scenario) -> Measured:
    """What was measured of a scenario before, or now."""
    return keeping.kept("tail_index", scenario, measured)


def off_load(
    tail_indices: Sequence[float], rows: dict[Setting, tuple[Measured, ...]]
) -> list[tuple[str, float, Measured]]:
    """Points whose sampled mean size is more than 5 % off the one asked for."""
    return [
        (name(setting), alpha, point)
        for setting, row in rows.items()
        for alpha, point in zip(tail_indices, row, strict=True)
        if abs(point.mean_packets / 1000 - 1) > 0.05
    ]
