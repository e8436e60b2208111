"""Which points are simulated, on which backgrounds, and doing it.

All points of a background (tail index, load, seed) share its random numbers and its normalised sizes, so that a steered
connection and the one it wraps are compared seed by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.studies.study import Case, Scale
from parshall_studies.multiple_time_scale import background
from parshall_studies.multiple_time_scale.background import Normalised
from parshall_studies.multiple_time_scale.measure import Measured, measured
from parshall_studies.multiple_time_scale.network import FIRST_SEED, SOURCE, Connections, Network, scenario, steered

FloatArray = NDArray[np.float64]


Key = tuple[float, float, Network, float | None]
"""Tail index, load, network, and the time in s over which the load is brought; None: the duration of the scale."""

Cases = dict[tuple[Any, Any], Case]
"""By point or background, and the number of the seed."""


@dataclass(frozen=True)
class Size:
    """How much is simulated at a scale.

    At ``paper`` scale those runs last 10,000 s, as the source's typical one (§5.1), that are held against one published
    run: the interval in which one run falls hangs on how long it is. They are TCP Rate at 450 ms in Fig. 9; Figs 11 and
    12, as A begins at 1 and takes 2000 s to 6 with the smallest ν; and Table III with 2, 6 and 18 connections (its
    other counts have 3000 s: intervals up to 1.8 times as wide). All else are means over 20 seeds, for which 2500 s do:
    intervals up to twice as wide. The reconstruction has 1000 s, with intervals up to 1.6 times as wide as with 2500 s,
    which Fig. 6 (a) keeps with the buffers around those for which it holds. The oracles, whose cost grows with the
    square of the time, have 600 s: 1.3 times as wide as with 1000 s. Half-widths go as the square root of the time: of
    Fig. 6 (a)'s rise 1.05 % with 1500 s and 0.8 % with 2500 s.
    """

    duration_s: float
    seeds: int
    rtts_ms: tuple[int, ...]
    tail_indices: tuple[float, ...]
    thresholds: tuple[int, ...]
    aggressiveness: tuple[int, ...]
    counts: tuple[int, ...]
    fast_duration_s: float
    """Of runs at 1 Gbit/s."""
    fast_seeds: int
    short_s: tuple[int, ...] = (100, 500, 1000, 2000)
    """Durations of Table II."""
    course_s: float = 2000.0
    """Of runs in which A is followed (Fig. 11)."""
    single_s: float | None = None
    """Of runs that are held against one published run, and for which their clients are normalised; None: as others."""
    several_s: float | None = None
    """The same of Table III's other counts."""
    oracle_s: float = 300.0
    oracle_seeds: int = 6
    reading_s: float = 600.0
    """Of runs of the reconstruction."""
    close_s: float | None = None
    """Of those that decide Fig. 6 (a) near where it holds; None: as others."""
    reading_seeds: int = 12
    readings: tuple[str, ...] | None = None
    """Names of those that are tried; None: all."""
    claimed: tuple[str, ...] | None = None
    """Artefacts whose claims are tried in them; None: all."""
    crossed: tuple[tuple[int | None, ...], tuple[int, ...]] = ((), ())
    """Window limits and buffers that are crossed."""

    def duration(self, key: Key) -> float:
        """Of runs on a background."""
        usual_s = self.fast_duration_s if key[2].stack == "today" else self.duration_s
        return usual_s if key[3] is None else key[3]

    def number(self, key: Key) -> int:
        """Of seeds on a background."""
        return self.fast_seeds if key[2].stack == "today" else self.seeds


SIZES: dict[Scale, Size] = {
    "quick": Size(
        600.0,
        12,
        (30, 450),
        (1.05, 1.95),
        (1, 4, 8),
        (2, 4, 6, 8, 10),
        (2, 6, 18),
        fast_duration_s=24.0,
        fast_seeds=4,
        reading_seeds=8,
        readings=("window limit: 20 packets", "window limit: none", "buffer: 64 packets"),
        claimed=("fig6",),
    ),
    "paper": Size(
        2500.0,
        20,
        (30, 90, 200, 450),
        (1.05, 1.35, 1.65, 1.95),
        tuple(range(1, 9)),
        tuple(range(2, 11)),
        tuple(range(2, 19, 2)),
        fast_duration_s=200.0,
        fast_seeds=20,
        course_s=10_000.0,
        single_s=10_000.0,
        several_s=3000.0,
        oracle_s=600.0,
        oracle_seeds=20,
        reading_s=1000.0,
        close_s=2500.0,
        reading_seeds=20,
        crossed=((20, 32, 48, None), (8, 16, 32, 64)),
    ),
}


@dataclass(frozen=True)
class Point:
    """What is measured, in which network."""

    tail_index: float
    load_mbps: float
    rtt_ms: int
    control: str
    parameters: tuple[tuple[str, Any], ...] | None = None
    """Of the large time scale; None: the control by itself."""
    count: int = 1
    network: Network = SOURCE
    wrapped: tuple[tuple[str, Any], ...] = ()
    """Parameters of the control itself."""
    tcp: tuple[tuple[str, Any], ...] = ()
    datagrams: bool = False
    transfers: tuple[float, float] | None = None
    competing: tuple[str, ...] = ()
    """Controls of endless connections beside it, one each."""
    duration_s: float | None = None
    """None: that of its background."""
    normalised_s: float | None = None
    """Over which its clients bring the load; None: the duration of the scale."""
    series: bool = False
    """Whether the course of the connection is kept."""

    @property
    def key(self) -> Key:
        """Its background."""
        return self.tail_index, self.load_mbps, self.network, self.normalised_s

    @property
    def plain(self) -> Point:
        """The same without the large time scale."""
        return replace(self, parameters=None)

    @property
    def connections(self) -> Connections:
        """The measured connections."""
        control: str | dict[str, Any] = {"name": self.control, **dict(self.wrapped)} if self.wrapped else self.control
        if self.parameters is not None:
            control = steered(control, **dict(self.parameters))
        return Connections(control, self.rtt_ms, self.count, self.tcp, self.datagrams, self.transfers, self.competing)


def over_mean(values: FloatArray, others: FloatArray) -> FloatArray:
    """Difference seed by seed, over the mean of the others.

    And not over each seed's own: one run in which a connection is locked out of a full queue would decide.
    """
    return np.asarray((values - others) / others.mean(), dtype=np.float64)


class Results:
    """What was measured, by point: one value a seed."""

    def __init__(
        self, by_point: dict[Point, tuple[Measured, ...]], backgrounds: dict[Key, tuple[Normalised, ...]]
    ) -> None:
        self.runs = by_point
        self.backgrounds = backgrounds

    def goodput(self, point: Point) -> FloatArray:
        """Reliable throughput of all measured connections, Mbit/s, shape (seeds,)."""
        return np.array([each.goodput_mbps for each in self.runs[point]])

    def gain(self, point: Point) -> FloatArray:
        """(steered - plain) / plain, seed by seed (§5.3)."""
        plain = self.goodput(point.plain)
        return np.asarray((self.goodput(point) - plain) / plain, dtype=np.float64)

    def over(self, point: Point, other: Point) -> FloatArray:
        """Difference to another point, as `over_mean`."""
        return over_mean(self.goodput(point), self.goodput(other))

    def change(self, point: Point, of: Callable[[Measured], float]) -> FloatArray:
        """What steering changes for others: relative difference of a quantity to the run with the plain control."""
        after, before = (np.array([of(each) for each in self.runs[which]]) for which in (point, point.plain))
        return np.asarray(after / before - 1, dtype=np.float64)

    def late_slopes(self, point: Point) -> list[FloatArray]:
        """A in the second half of each seed's run; of a point with a series."""
        rows = (np.array(each.slopes) for each in self.runs[point])
        return [row[row.size // 2 :] for row in rows]

    def tracking(self, point: Point) -> FloatArray:
        """Correlation with the background, shape (seeds,)."""
        return np.array([each.tracking for each in self.runs[point] if each.tracking is not None])


def cases(points: Iterable[Point], size: Size, first_seed: int = FIRST_SEED) -> Cases:
    """Every point on every seed of its background, and the backgrounds.

    Backgrounds are normalised anew for each network; where the load was in another one is where the search begins.
    """
    wanted = list(dict.fromkeys(points))
    keys = list(dict.fromkeys(each.key for each in wanted))
    first = {key[:2]: key for key in reversed(keys)}
    made: Cases = {}
    for key in (*first.values(), *(key for key in keys if first[key[:2]] != key)):
        alpha, load_mbps, network, _ = key
        label = f"background of {load_mbps:g} Mbit/s, tail index {alpha:g}"
        for number in range(size.number(key)):
            start = None if first[key[:2]] == key else made.get((first[key[:2]], number))
            sought = (alpha, load_mbps, first_seed + number, size.duration(key), network, start)
            made[key, number] = Case(label, background.matching, sought)
    for point in wanted:
        label = f"{point.control}, {point.load_mbps:g} Mbit/s, tail index {point.tail_index:g}, RTT {point.rtt_ms} ms"
        for number in range(size.number(point.key)):
            arguments = (point, made[point.key, number], size.duration(point.key))
            made[point, number] = Case(label, on_background, arguments)
    return made


def on_background(point: Point, normalised: Normalised, duration_s: float) -> Measured:
    """A point on a background, for its own duration or the one that is given."""
    made = scenario(normalised.background, point.connections, point.duration_s or duration_s)
    return measured(made, series=point.series)


def results(answers: Mapping[tuple[Any, Any], Any]) -> Results:
    """The answers of `cases`, and maybe others."""
    measured_by_point: dict[Point, tuple[Measured, ...]] = {}
    backgrounds: dict[Key, tuple[Normalised, ...]] = {}
    for (what, _), answer in answers.items():
        if isinstance(what, Point):
            measured_by_point[what] = (*measured_by_point.get(what, ()), answer)
        elif isinstance(answer, Normalised):
            backgrounds[what] = (*backgrounds.get(what, ()), answer)
    return Results(measured_by_point, backgrounds)
