"""What any predictor could gain: Reno with the threshold schedule of Fig. 6 (a), told the contention of the link.

| oracle | it tells the level of |
| --- | --- |
| `NEXT` | the background in the coming interval, as it will be if the slope of the interval before goes on |
| `LAST` | the background in the last interval, by the mean level that follows it |

With the second a connection sees the link and not only its own throughput, but must predict.

The background answers to the connection: beside it the clients' files end later, and after some minutes a run has
little in common with the same seed's run without the connection (correlations of intervals of 0.1 to 0.3). So the
oracle is asked again and again, in the run itself: a run tells the background up to the first interval in which the
schedule wants another slope than that run had; with this slope from there on the seed is run again. A run up to an
interval depends on slopes up to it only, so that every pass is exact one interval further, and the last one everywhere.
There are as many passes as changes of the slope, and each is `AHEAD` intervals
longer than what is exact: what comes later is not needed yet.

Levels are ranks among the background's intervals beside a plain connection, from 1 (little) to h.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.studies.study import Case
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.background import Normalised
from parshall_studies.multiple_time_scale.claims import beyond, signed
from parshall_studies.multiple_time_scale.grid import Size, over_mean
from parshall_studies.multiple_time_scale.measure import Measured, with_series
from parshall_studies.multiple_time_scale.network import INTERVAL_S, PAPER, SOURCE, Connections, scenario, steered
from parshall_studies.multiple_time_scale.prediction import MIDDLE_MBPS, SLOPES, best, constant
from parshall_studies.multiple_time_scale.readings import BASE, LEVELS

_THRESHOLD_PEAK = PAPER["threshold_peak"]

AHEAD = 10
NEXT, LAST = "the next interval's background", "the last interval's background"
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """What a background means: the upper edges of the levels but the last, and the mean level that follows each."""

    edges: FloatArray
    following: FloatArray

    def levels(self, background: FloatArray) -> NDArray[np.int64]:
        """From 1 to h.

        Examples
        --------
        >>> scale_of(np.arange(16.0)).levels(np.array([0.0, 7.0, 15.0])).tolist()
        [1, 4, 8]
        """
        return np.asarray(np.searchsorted(self.edges, background, side="right") + 1)


def scale_of(background: FloatArray) -> Scale:
    """By ranks among what the background brought by interval, and by what followed what.

    A level that nothing followed is taken to stay.
    """
    edges = np.quantile(background, np.arange(1, LEVELS) / LEVELS)
    levels = Scale(edges, np.zeros(LEVELS)).levels(background)
    following = np.array(
        [
            levels[1:][levels[:-1] == level].mean() if (levels[:-1] == level).any() else level
            for level in range(1, LEVELS + 1)
        ]
    )
    return Scale(edges, following)


def with_oracle(made: Scenario, scale: Scale, *, following: bool) -> Measured:
    """Run a scenario, whose measured connection has an oracle, until the oracle has told what happens.

    Parameters
    ----------
    made
        With an oracle's level for every interval of T_L, of whatever value.
    scale
        Levels.
    following
        Whether the coming interval is told, or what the last one predicts.
    """
    document = made.complete_document()
    steering = document["flows"][0]["congestion_control"]
    intervals = len(steering["oracle"])
    levels = np.full(intervals, float(LEVELS))
    exact = 0
    while True:
        end = max(exact, intervals // 10) + AHEAD  # beyond the warm-up, a tenth
        shorter = end < intervals - 1
        lasts = {"duration": f"{(end + 1) * INTERVAL_S:g} s"} if shorter else {}  # its last interval is not known
        steering["oracle"] = levels.tolist()
        run = with_series(Scenario.from_document({**document, **lasts}))
        seen = scale.levels(np.array(run.others))
        wanted = seen.astype(np.float64) if following else np.concatenate([[LEVELS], scale.following[seen[:-1] - 1]])
        aggressive = wanted <= steering["threshold"]
        wrong = np.flatnonzero(aggressive[exact:] != (levels[exact : seen.size] <= steering["threshold"]))
        if wrong.size == 0:
            if not shorter:
                return run
            exact = seen.size
            continue
        exact += int(wrong[0]) + 1
        levels[exact - 1 :] = 1.0 if aggressive[exact - 1] else LEVELS


def knowing_next(made: Scenario) -> Measured:
    """With the coming interval's level."""
    return with_oracle(made, _beside_plain(made), following=True)


def knowing_last(made: Scenario) -> Measured:
    """With what the last interval's level predicts."""
    return with_oracle(made, _beside_plain(made), following=False)


def _beside_plain(made: Scenario) -> Scale:
    """The scale of a scenario: its background beside the plain control, after the warm-up."""
    document = made.complete_document()
    flow = document["flows"][0]
    flow["congestion_control"] = flow["congestion_control"]["control"]
    others = np.array(with_series(Scenario.from_document(document)).others)
    return scale_of(others[others.size // 10 :])


ORACLES = {NEXT: knowing_next, LAST: knowing_last}
OWN = BASE.threshold(_THRESHOLD_PEAK)
_BACKGROUND = (1.05, MIDDLE_MBPS, SOURCE, None)


def cases(size: Size) -> grid.Cases:
    """Slopes without an oracle, and what each oracle tells."""
    shorter = replace(size, duration_s=size.oracle_s, seeds=size.oracle_seeds)
    points = [BASE.point("reno", OWN), *(constant(MIDDLE_MBPS, slope) for slope in SLOPES)]
    made = grid.cases(points, shorter)
    return made | {
        (name, number): Case(f"an oracle of {name}", _simulated, (name, made[_BACKGROUND, number], size.oracle_s))
        for name in ORACLES
        for number in range(size.oracle_seeds)
    }


class Oracles:
    """What was found."""

    def __init__(self, answers: Mapping[tuple[Any, Any], Any], size: Size) -> None:
        self._size = size
        self._results = grid.results(answers)
        seeds = range(size.oracle_seeds)
        self._told = {name: np.array([answers[name, number].goodput_mbps for number in seeds]) for name in ORACLES}

    def _throughput(self) -> dict[str, FloatArray]:
        """Mbit/s by seed, by who predicts."""
        return {**self._told, "its own throughput": self._results.goodput(BASE.point("reno", OWN))}

    def _constant(self, slope: float) -> FloatArray:
        return self._results.goodput(constant(MIDDLE_MBPS, slope))

    def _over(self, values: FloatArray, slope: float) -> FloatArray:
        return over_mean(values, self._constant(slope))

    @property
    def _best(self) -> float:
        return best(self._results, MIDDLE_MBPS)

    def checks(self) -> Iterator[Claim]:
        """What each knows, and gains."""
        for name, values in self._throughput().items():
            for label, slope in (("plain Reno", 1.0), ("the best constant slope", self._best)):
                yield beyond(
                    f"gain of Reno that knows {name} over {label}, {MIDDLE_MBPS:g} Mbit/s", self._over(values, slope)
                )

    def section(self) -> Section:
        """The table."""
        rows = [
            (
                name,
                f"{values.mean():.3f}",
                signed(mean_interval(self._over(values, 1.0)), "%"),
                signed(mean_interval(self._over(values, self._best)), "%"),
            )
            for name, values in self._throughput().items()
        ]
        rows += [
            (
                f"nothing: always {slope:g}",
                f"{self._constant(slope).mean():.3f}",
                signed(mean_interval(self._over(self._constant(slope), 1.0)), "%"),
                "",
            )
            for slope in SLOPES
        ]
        header = ("what the connection knows", "throughput (Mbit/s)", "over plain Reno", "over the best constant slope")
        size = self._size
        return Section(
            "What could a predictor gain?",
            (
                f"Reno with the threshold schedule, θ = {_THRESHOLD_PEAK}, beside clients of {MIDDLE_MBPS:g} Mbit/s at "
                f"30 ms ({size.oracle_seeds} seeds of {size.oracle_s:g} s). An oracle knows the contention of the link "
                "itself: what no predictor exceeds that uses this schedule. What it gains over a connection that "
                "predicts from its own throughput is what better predictions could add.",
            ),
            [Table("", header, rows, numbers=(1, 2, 3))],
        )


def _simulated(name: str, normalised: Normalised, duration_s: float) -> Measured:
    intervals = math.ceil(duration_s / INTERVAL_S)
    parameters = (*(OWN or ()), ("oracle", [float(LEVELS)] * intervals))
    connections = Connections(steered("reno", **dict(parameters)))
    return ORACLES[name](scenario(normalised.background, connections, duration_s))
