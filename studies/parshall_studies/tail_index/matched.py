"""Figs 1 and 2 at equal sampled loads: what of the trends is the tail's, and what the sampled load's.

The mean of heavy-tailed sizes cannot be imposed on a run of any feasible length: at a tail index of 1.1 the sampled
mean is mostly some 600 packets instead of 1000. A run then carries less, and its loss, delay and throughput say so.
Here the mean of the distribution is adjusted, for each run alone, until the *sampled* mean is 1000 packets (sample-path
normalisation, Park & Tuan 2000, §4.3).

With N = 500 the source calls the metrics insensitive from a tail index of 1.3 on, and so loads are equal from there on.
Fig. 1's network is also run with ns-2's TCP, which is not the source's: that shows how much the stack decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from parshall.report.document import Chart, Section, Table
from parshall.scenario import Scenario
from parshall.studies.study import Case
from parshall_studies.tail_index.grid import Key, Rows, Size, scenario
from parshall_studies.tail_index.measure import METRICS, Measured, joined, measured
from parshall_studies.tail_index.network import MEAN_PACKETS
from parshall_studies.tail_index.running import tables
from parshall_studies.tail_index.settings import FIG1, FIG2, OTHER_STACK, Setting, published_sign
from parshall_studies.tail_index.trends import HEAVIEST, Trends, change
from parshall_studies.tails import Normalised, normalised

SETTINGS: tuple[Setting, ...] = (
    *FIG1,
    *(each for each in FIG2 if published_sign(each, METRICS[0]) is not None),
    *OTHER_STACK,
)
_TOLERANCE = 0.03
_STEPS = 6
_LONGEST_S = 300.0
_SETTLING_S = 150.0
"""As long as a cached ssthresh has to settle: what it is after 600 s differs by nothing that shows (the guide)."""


@dataclass(frozen=True)
class Equal:
    """A run at the load wanted, and the adjustment that made it so."""

    load: Normalised
    point: Measured


def shorter(size: Size) -> Size:
    """The same with runs of at most 5 minutes and 3 repetitions, of which a cached ssthresh has 150 s to settle."""
    return replace(
        size,
        settling_s=min(_SETTLING_S, size.settling_s),
        duration_s=min(_LONGEST_S, size.duration_s),
        slower_s=min(_LONGEST_S, size.slower_s),
        repetitions=min(3, size.repetitions),
    )


def cases(size: Size, asked: Mapping[Key, Case]) -> dict[Key, Case]:
    """Every run, its load adjusted.

    Parameters
    ----------
    asked
        Runs of the mean that is wanted, of this size.
    """
    keys = [
        (setting, alpha, repetition)
        for setting in SETTINGS
        for alpha in at(setting, size)
        for repetition in range(size.repetitions)
    ]
    return {key: Case("equal loads", adjusted, (*key, size, asked.get(key))) for key in keys}


def adjusted(setting: Setting, tail_index: float, repetition: int, size: Size, asked: Measured | None) -> Equal:
    """A run whose mean is adjusted; `asked` is the run of the mean that is wanted, if it was done."""
    return at_equal_load(lambda mean: scenario(setting, tail_index, size, mean=mean, seed=1 + repetition), asked)


def at_equal_load(of_mean: Callable[[float], Scenario], asked: Measured | None = None) -> Equal:
    """The run among scenarios by their mean size, in packets, whose sampled mean is as wanted."""
    points = {} if asked is None else {MEAN_PACKETS: asked}

    def sampled(mean: float) -> float:
        if mean not in points:
            points[mean] = measured(tables(of_mean(mean)))
        return points[mean].mean_packets

    load = normalised(sampled, MEAN_PACKETS, MEAN_PACKETS, tolerance=_TOLERANCE, steps=_STEPS)
    return Equal(load, points[load.mean])


def at(setting: Setting, size: Size) -> tuple[float, ...]:
    """The tail indices of a setting: with N = 500 those of which the source speaks."""
    if setting.figure == "fig1":
        return size.level or size.at(setting)
    return tuple(alpha for alpha in size.tail_indices if alpha >= HEAVIEST)


def trends(size: Size, equal: dict[Key, Equal]) -> Trends:
    """The change of every metric, from the lightest tail to the heaviest at which loads are equal."""
    repetitions = _repetitions(equal)
    answers = {}
    for setting in SETTINGS:
        alphas = at(setting, size)
        for metric in METRICS:
            values = [
                [float(equal[setting, alpha, rep].point.values(metric)[0]) for rep in range(repetitions)]
                for alpha in alphas
            ]
            answers[setting, metric] = change(alphas, values, heaviest=min(alphas))
    return answers


def _repetitions(equal: dict[Key, Equal]) -> int:
    return 1 + max(repetition for _, _, repetition in equal)


def by_point(size: Size, equal: dict[Key, Equal]) -> Rows:
    """The runs of each point of Fig. 1 together."""
    return {
        setting: {
            alpha: joined([equal[setting, alpha, repetition].point for repetition in range(_repetitions(equal))])
            for alpha in at(setting, size)
        }
        for setting in FIG1
    }


def section(size: Size, equal: dict[Key, Equal], figures: Sequence[Chart]) -> Section:
    """What was adjusted, and what came of it."""
    repetitions = _repetitions(equal)
    rows = []
    for setting in SETTINGS:
        for alpha in at(setting, size):
            runs = [equal[setting, alpha, repetition] for repetition in range(repetitions)]
            rows.append(
                (
                    setting.label(),
                    f"{alpha:g}",
                    " ".join(f"{each.load.mean:.0f}" for each in runs),
                    " ".join(f"{each.load.measured:.0f}" for each in runs),
                    *(f"{np.mean([each.point.values(metric)[0] for each in runs]):.3g}" for metric in METRICS),
                )
            )
    off = [key for key, each in equal.items() if abs(each.load.error) > _TOLERANCE]
    return Section(
        "Equal loads",
        (
            "Each run's distribution is given the mean at which the mean of the sizes that it draws is 1000 packets "
            f"within {_TOLERANCE:.0%}"
            + (f"; {len(off)} of {len(equal)} runs did not come so near." if off else "; all runs came so near.")
            + " What changes with the tail index here is due to the tail, not to the load that was drawn.",
        ),
        [
            Table(
                "Means asked for and sampled, a value a run",
                (
                    "setting",
                    "tail index",
                    "asked (packets)",
                    "sampled (packets)",
                    "loss",
                    "delay (ms)",
                    "throughput (Mbit/s)",
                ),
                rows,
                numbers=range(1, 7),
            ),
        ],
        figures,
    )
