"""Which property of the flow-size distribution moves each metric: Morris' elementary effects, through `SALib`.

Bounded Pareto sizes whose mean, tail index and largest value vary independently of each other, in the setting of
`beyond`. A factor's mu* is the mean of the metric's absolute change over steps of 2/3 of the factor's range, from
points all over the space of factors.

References: M. Morris, Factorial sampling plans for preliminary computational experiments, Technometrics 33(2), 1991; T.
Iwanaga, W. Usher, J. Herman, Toward SALib 2.0, Socio-Environmental Systems Modelling 4, 2022.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from parshall.foundations.extras import extra
from parshall.report.document import Section, Table
from parshall.studies.study import Case
from parshall_studies.tail_index.beyond import scenario
from parshall_studies.tail_index.distributions import bounded_pareto
from parshall_studies.tail_index.measure import METRICS, WORDS, Measured, measured
from parshall_studies.tail_index.running import case
from parshall_studies.tail_index.setting import Setting

with extra("studies", "tail_index"):
    from SALib.analyze import morris as morris_analysis
    from SALib.sample import morris as morris_sample

FACTORS = ("mean size", "tail index", "largest size")
_BOUNDS = ((500.0, 2000.0), (1.1, 3.0), (1.0, 3.0))
"""Packets; -; log10 of the largest value over the mean."""
_LEVELS = 4
_PROBLEM = {"num_vars": len(FACTORS), "names": list(FACTORS), "bounds": [list(each) for each in _BOUNDS]}


@dataclass(frozen=True)
class Influence:
    """Morris' mu* of each factor on a metric, in the metric's unit, and the half width of its 95 % interval."""

    metric: str
    strength: tuple[float, ...]
    half_width: tuple[float, ...]

    @property
    def strongest(self) -> str:
        """The factor that moves the metric most; two if the second's interval reaches the first's."""
        order = np.argsort(self.strength)[::-1]
        first, second = int(order[0]), int(order[1])
        near = self.strength[second] + self.half_width[second] > self.strength[first] - self.half_width[first]
        return f"{FACTORS[first]} (with the {FACTORS[second]} not told apart from it)" if near else FACTORS[first]


def points(setting: Setting) -> dict[int, Case]:
    """The points of Morris' analysis of the distribution's properties, each once."""
    fewer = replace(setting, repetitions=2)
    different = np.unique(_points(setting.trajectories), axis=0)
    return {
        number: case("sensitivity", scenario(fewer, size=bounded_pareto(mean, tail_index, mean * 10**ratio)), measured)
        for number, (mean, tail_index, ratio) in enumerate(different)
    }


def _points(trajectories: int) -> NDArray[np.float64]:
    return np.asarray(morris_sample.sample(_PROBLEM, trajectories, num_levels=_LEVELS, seed=1))


def influences(answers: Mapping[int, Measured], trajectories: int) -> list[Influence]:
    """The analysis, of the answers of `cases`."""
    points = _points(trajectories)
    at = np.unique(points, axis=0, return_inverse=True)[1]
    influences = []
    for metric in METRICS:
        values = np.array([row.values(metric).mean() for row in answers.values()])[at.ravel()]
        effects = morris_analysis.analyze(_PROBLEM, points, values, num_levels=_LEVELS, seed=1)
        strength = tuple(float(each) for each in effects["mu_star"])
        influences.append(Influence(metric, strength, tuple(float(each) for each in effects["mu_star_conf"])))
    return influences


def answer(influences: Sequence[Influence]) -> str:
    """Two sentences."""
    first = "; ".join(f"the {WORDS[each.metric]} is moved most by the {each.strongest}" for each in influences)
    parts = [[each.strength[factor] / max(each.strength) for each in influences] for factor in range(len(FACTORS))]
    ranges = [
        f"the {factor} does {min(part):.0%} to {max(part):.0%}"
        for factor, part in zip(FACTORS, parts, strict=True)
        if min(part) < 1
    ]
    second = f"Of what the strongest property does, {' and '.join(ranges)}."
    return f"{first[0].upper()}{first[1:]}. {second}"


def section(answers: Mapping[int, Measured], setting: Setting) -> Section:
    """The answer, and the table."""
    effects = influences(answers, setting.trajectories)
    strengths = [
        (
            WORDS[each.metric],
            *(f"{value:.3g} ± {half:.2g}" for value, half in zip(each.strength, each.half_width, strict=True)),
        )
        for each in effects
    ]
    return Section(
        "Which property of the distribution matters",
        (
            answer(effects),
            "Morris’ μ*: how far a metric moves on average when one property moves by two thirds of its range and the "
            "others stay, with 95 % intervals. Mean size 500 to 2000 packets, tail index 1.1 to 3, largest size 10 to "
            "1000 means.",
        ),
        [Table("", ("metric (its unit)", *FACTORS), strengths, numbers=(1, 2, 3))],
    )
