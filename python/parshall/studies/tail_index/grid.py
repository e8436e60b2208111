"""Figs 1 and 2: every setting at every tail index, and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parshall.scenario import Scenario
from parshall.studies.study import Scale
from parshall.studies.tail_index.measure import Measured, measured
from parshall.studies.tail_index.network import butterfly, pareto
from parshall.studies.tail_index.published import TAIL_INDICES, TRENDS
from parshall.studies.tail_index.running import Runner

Setting = tuple[int, int, bool]
"""Number of sources, buffer in packets, whether ssthresh is cached."""


@dataclass(frozen=True)
class Size:
    """How much is simulated at a scale."""

    tail_indices: tuple[float, ...]
    duration_s: float
    repetitions: int


SIZES: dict[Scale, Size] = {
    "quick": Size((1.1, 1.3, 1.5, 2.0, 4.0), 24.0, 3),
    "paper": Size(TAIL_INDICES, 3600.0, 3),
}


def name(setting: Setting) -> str:
    """A setting in words."""
    sources, buffer, cached = setting
    return f"N = {sources}, B = {buffer}, {'without' if cached else 'with'} slow start"


def scenarios(size: Size) -> dict[tuple[Setting, float], Scenario]:
    """All points of Figs 1 and 2, and the two settings that the source does not show."""
    return {
        (setting, alpha): butterfly(
            setting[0],
            setting[1],
            pareto(alpha),
            cached=setting[2],
            duration_s=size.duration_s,
            repetitions=size.repetitions,
        )
        for setting in TRENDS
        for alpha in size.tail_indices
    }


def simulated(size: Size, runner: Runner) -> dict[Setting, tuple[Measured, ...]]:
    """What is measured at all points."""
    points = scenarios(size)
    found = runner.measured("Figs 1 and 2", list(points.values()), measured)
    at = dict(zip(points, found, strict=True))
    return {setting: tuple(at[setting, alpha] for alpha in size.tail_indices) for setting in TRENDS}


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
