"""Points that are simulated, the backgrounds that they are on, and their answers.

All points of a background (tail index, load, seed) share its random numbers and its normalised sizes, so that a steered
connection and the one it wraps are compared seed by seed.

Sample-path normalisation (§4.3): the mean of heavy-tailed sizes converges as m^(1/alpha - 1), so that runs of one
distribution carry different loads. So each seed has a mean size of its own, with which the bottleneck carries the load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.studies.study import Case
from parshall_studies.multiple_time_scale.measure import Measured, measured
from parshall_studies.multiple_time_scale.network import (
    BASE_RTT_MS,
    Background,
    Connections,
    Network,
    scenario,
    steered,
)
from parshall_studies.multiple_time_scale.setting import RECONSTRUCTION, Parameters, Setting
from parshall_studies.tails import normalised

FloatArray = NDArray[np.float64]
Key = tuple[float, float, Network, float | None]
"""Tail index, load, network, and the time in s over which the load is brought; None: the duration of the setting."""
Cases = dict[tuple[Any, Any], Case]
"""By point or background, and the number of the seed."""
_TOLERANCE = 0.02
SOURCE = RECONSTRUCTION.network


@dataclass(frozen=True)
class Normalised:
    """A background, and what it carries alone."""

    background: Background
    alone: Measured
    target_mbps: float

    @property
    def error(self) -> float:
        """Relative error of the load."""
        return self.alone.background_mbps / self.target_mbps - 1


def matching(key: Key, seed: int, duration_s: float) -> Normalised:
    """The background of a seed that carries its load alone."""

    def alone(background: Background) -> Measured:
        return measured(scenario(background, None, duration_s))

    return normalised_by(alone, key, seed)


def normalised_by(of: Callable[[Background], Measured], key: Key, seed: int, larger: float = 1.0) -> Normalised:
    """The background of a seed with which the clients carry their load, where `of` says what they carry.

    Parameters
    ----------
    larger
        How much larger files than of clients alone the search begins with.
    """
    tail_index, target_mbps, network, _ = key
    runs: dict[float, tuple[Background, Measured]] = {}

    def load(mean_packets: float) -> float:
        background = Background(tail_index, mean_packets, seed, network)
        runs[mean_packets] = background, of(background)
        return max(runs[mean_packets][1].background_mbps, 1e-3 * target_mbps)

    # 32 clients bring 5 Mbit/s with some 45 packets on average after pauses of 2 s, and with 4 after 0.1 s.
    begin = larger * 45.0 * target_mbps / 5 * ((network.idle_s + 0.08) / 2.08)
    answer = normalised(load, target_mbps, begin, tolerance=_TOLERANCE, steps=10)
    return Normalised(*runs[answer.mean], target_mbps)


@dataclass(frozen=True)
class Point:
    """Connections that are measured, and their network."""

    tail_index: float
    load_mbps: float
    rtt_ms: int
    control: str
    parameters: Parameters | None = None
    """Of the large time scale; None: the control by itself."""
    count: int = 1
    network: Network = SOURCE
    wrapped: Parameters = ()
    """Parameters of the control itself."""
    tcp: Parameters = ()
    datagrams: bool = False
    transfers: tuple[float, float] | None = None
    competing: tuple[str, ...] = ()
    """Controls of endless connections beside it, one each."""
    duration_s: float | None = None
    """None: that of its background."""
    normalised_s: float | None = None
    """Over which its clients bring the load; None: the duration of the setting."""
    held: bool = False
    """The clients bring the load beside the measured connections."""
    series: bool = False
    """The course of the connection is in the answer."""

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


def point(
    setting: Setting,
    control: str,
    parameters: Parameters | None = None,
    *,
    load_mbps: float = 5.0,
    rtt_ms: int = BASE_RTT_MS,
    tail_index: float = 1.05,
    rate_mbps: float = 10.0,
    **other: Any,
) -> Point:
    """A measured connection in a setting; `other` are more fields of `Point`."""
    network = replace(setting.network, rate_mbps=rate_mbps)
    return Point(
        tail_index,
        load_mbps,
        rtt_ms,
        control,
        None if parameters is None else (*parameters, *setting.module),
        network=replace(network, clients_rtt_ms=rtt_ms) if setting.everybodys_rtt else network,
        wrapped=setting.tcp_rate if control == "tcp_rate" else (),
        **other,
    )


def over_mean(values: FloatArray, others: FloatArray) -> FloatArray:
    """Difference seed by seed, over the mean of the others.

    And not over each seed's own: one run in which a connection is locked out of a full queue would decide.
    """
    return np.asarray((values - others) / others.mean(), dtype=np.float64)


class Results:
    """Answers by point: one value a seed."""

    def __init__(
        self, by_point: dict[Point, tuple[Measured, ...]], backgrounds: dict[Key, tuple[Normalised, ...]]
    ) -> None:
        self.runs = by_point
        self.backgrounds = backgrounds

    def goodput(self, point: Point) -> FloatArray:
        """Reliable throughput of all measured connections, Mbit/s, shape (seeds,)."""
        return self.of(point, "goodput_mbps")

    def gain(self, point: Point) -> FloatArray:
        """(steered - plain) / plain (§5.3), by seed, as `over_mean`."""
        return self.over(point, point.plain)

    def over(self, point: Point, other: Point) -> FloatArray:
        """Difference to another point, as `over_mean`."""
        return over_mean(self.goodput(point), self.goodput(other))

    def of(self, point: Point, field: str) -> FloatArray:
        """A field of `Measured`, shape (seeds,)."""
        return np.array([getattr(each, field) for each in self.runs[point]])

    def change(self, point: Point, field: str) -> FloatArray:
        """The relative difference of a field to the run with the plain control, by seed."""
        after, before = (self.of(which, field) for which in (point, point.plain))
        return np.asarray(after / before - 1, dtype=np.float64)

    def late_slopes(self, point: Point) -> list[FloatArray]:
        """A in the second half of each seed's run; of a point with a series."""
        rows = (np.array(each.slopes) for each in self.runs[point])
        return [row[row.size // 2 :] for row in rows]

    def tracking(self, point: Point) -> FloatArray:
        """Correlation with the background, shape (seeds,); 0 where one of both is constant: nothing is followed."""
        return np.array([each.tracking or 0.0 for each in self.runs[point]])


def cases(points: Iterable[Point], setting: Setting) -> Cases:
    """Every point on every seed of its background, and the backgrounds."""
    wanted = list(dict.fromkeys(points))
    made: Cases = {}
    for key in dict.fromkeys(each.key for each in wanted if not each.held):
        label = f"background of {key[1]:g} Mbit/s, tail index {key[0]:g}"
        for number in range(_seeds(setting, key)):
            made[key, number] = Case(label, matching, (key, setting.first_seed + number, duration(setting, key)))
    for each in wanted:
        label = f"{each.control}, {each.load_mbps:g} Mbit/s, tail index {each.tail_index:g}, RTT {each.rtt_ms} ms"
        for number in range(_seeds(setting, each.key)):
            lasts_s = duration(setting, each.key)
            if each.held:
                made[each, number] = Case(label, held, (each, setting.first_seed + number, lasts_s))
            else:
                made[each, number] = Case(label, on_background, (each, made[each.key, number], lasts_s))
    return made


def duration(setting: Setting, key: Key) -> float:
    """Of runs on a background, s."""
    usual_s = setting.fast_duration_s if key[2].stack == "today" else setting.duration_s
    return usual_s if key[3] is None else key[3]


def _seeds(setting: Setting, key: Key) -> int:
    return setting.fast_seeds if key[2].stack == "today" else setting.seeds


def on_background(point: Point, normalised: Normalised, duration_s: float) -> Measured:
    """A point on a background, for its own duration or the one that is given."""
    made = scenario(normalised.background, point.connections, point.duration_s or duration_s)
    return measured(made, series=point.series)


def held(point: Point, seed: int, duration_s: float) -> Measured:
    """A point beside which the clients carry their load (§5.7)."""

    def beside(background: Background) -> Measured:
        return measured(scenario(background, point.connections, duration_s))

    return normalised_by(beside, point.key, seed, larger=3.0).alone


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
