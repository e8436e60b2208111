"""The runs of Figs 1 and 2, of the mean size that was asked for, or adjusted to equal loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from parshall.scenario import Scenario
from parshall.studies.study import Case
from parshall_studies.tail_index.measure import Measured, joined, measured
from parshall_studies.tail_index.network import MEAN_PACKETS, pareto
from parshall_studies.tail_index.running import Tables, case, tables
from parshall_studies.tail_index.setting import Curve, Setting
from parshall_studies.tails import Normalised, normalised


@dataclass(frozen=True)
class Drawn:
    """A run, and the adjustment of its load, if there was one."""

    point: Measured
    load: Normalised | None = None


Key = tuple[Curve, float, int]
"""A run: curve, tail index, seed."""


def points(curves: Sequence[Curve], setting: Setting) -> dict[Key, Case]:
    """The runs of curves, whose loads are adjusted in a setting of equal loads."""
    return {
        (curve, alpha, seed): _run(f"{curve.name}, tail index {alpha:g}", setting, curve, alpha, seed)
        for curve in curves
        for alpha in setting.at(curve)
        for seed in range(1, setting.repetitions + 1)
    }


def _run(label: str, setting: Setting, curve: Curve, alpha: float, seed: int) -> Case:
    scenario = setting.scenario(curve, alpha, seed)
    if setting.equal_loads:
        return Case(label, adjusted, (scenario, alpha))
    return case(label, scenario, drawn)


def drawn(of: Tables) -> Drawn:
    """A run of the mean that was asked for."""
    return Drawn(measured(of))


TOLERANCE, _STEPS = 0.03, 6


def adjusted(scenario: Scenario, alpha: float) -> Drawn:
    """The run whose sampled mean is as wanted."""
    return at_equal_load(lambda mean: scenario.with_values({"flows.0.workload.size": pareto(alpha, mean)}))


def at_equal_load(of_mean: Callable[[float], Scenario]) -> Drawn:
    """The run among scenarios by their mean size, in packets, whose sampled mean is as wanted."""
    runs: dict[float, Measured] = {}

    def sampled(mean: float) -> float:
        if mean not in runs:
            runs[mean] = measured(tables(of_mean(mean)))
        return runs[mean].mean_packets

    load = normalised(sampled, MEAN_PACKETS, MEAN_PACKETS, tolerance=TOLERANCE, steps=_STEPS)
    return Drawn(runs[load.mean], load)


Rows = Mapping[Curve, Mapping[float, Measured]]
"""By curve and tail index, the runs of a point together."""


def rows(answers: Mapping[Key, Drawn]) -> Rows:
    """The answers of `points` by curve and tail index."""
    grouped: dict[Curve, dict[float, list[Measured]]] = {}
    for (curve, alpha, _), each in answers.items():
        grouped.setdefault(curve, {}).setdefault(alpha, []).append(each.point)
    return {curve: {alpha: joined(runs) for alpha, runs in row.items()} for curve, row in grouped.items()}
