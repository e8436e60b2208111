"""Which points are simulated, on which backgrounds, and doing it.

All points of a background (tail index, load, seed) share its random numbers and its normalised sizes, so that a steered
connection and the one it wraps are compared seed by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.records import about
from parshall.studies import keeping
from parshall.studies.multiple_time_scale import background
from parshall.studies.multiple_time_scale.background import NAME, Normalised
from parshall.studies.multiple_time_scale.measure import Measured, measured, with_series
from parshall.studies.multiple_time_scale.network import FIRST_SEED, SOURCE, Connections, Network, scenario, steered
from parshall.studies.study import Progress, Scale

FloatArray = NDArray[np.float64]


Key = tuple[float, float, Network]
"""Tail index, load and network."""


@dataclass(frozen=True)
class Size:
    """How much is simulated at a scale."""

    duration_s: float
    seeds: int
    rtts_ms: tuple[int, ...]
    tail_indices: tuple[float, ...]
    thresholds: tuple[int, ...]
    aggressiveness: tuple[int, ...]
    counts: tuple[int, ...]
    keep: bool
    fast_duration_s: float
    """Of runs at 1 Gbit/s."""
    fast_seeds: int
    short_s: tuple[int, ...] = (100, 500, 1000, 2000)
    """Durations of Table II."""
    aside_s: float | None = None
    """Of runs on what the source does not have; None: as long as the others."""
    course_s: float = 2000.0
    """Of runs in which A is followed (Fig. 11)."""
    oracle_s: float = 300.0
    oracle_seeds: int = 6
    reading_s: float = 600.0
    """Of runs of the reconstruction."""
    reading_seeds: int = 12
    readings: tuple[str, ...] | None = None
    """Names of those that are tried; None: all."""
    claimed: tuple[str, ...] | None = None
    """Artefacts whose claims are tried in them; None: all."""
    crossed: tuple[tuple[int | None, ...], tuple[int, ...]] = ((), ())
    """Window limits and buffers that are crossed."""

    def duration(self, key: Key) -> float:
        """Of runs on a background."""
        return self.fast_duration_s if key[2].stack == "today" else self.duration_s

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
        keep=False,
        fast_duration_s=24.0,
        fast_seeds=4,
        reading_seeds=8,
        readings=("window limit: 20 packets", "window limit: none", "buffer: 64 packets"),
        claimed=("fig6",),
    ),
    "paper": Size(
        10_000.0,
        20,
        (30, 90, 200, 450),
        (1.05, 1.35, 1.65, 1.95),
        tuple(range(1, 9)),
        tuple(range(2, 11)),
        tuple(range(2, 19, 2)),
        keep=True,
        fast_duration_s=200.0,
        fast_seeds=20,
        course_s=10_000.0,
        aside_s=2500.0,
        oracle_s=1000.0,
        oracle_seeds=20,
        reading_s=2500.0,
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
    """None: that of the scale."""
    series: bool = False
    """Whether the course of the connection is kept."""

    @property
    def key(self) -> Key:
        """Its background."""
        return self.tail_index, self.load_mbps, self.network

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
        self, found: dict[Point, tuple[Measured, ...]], backgrounds: dict[Key, tuple[Normalised, ...]]
    ) -> None:
        self.found = found
        self.backgrounds = backgrounds

    def goodput(self, point: Point) -> FloatArray:
        """Reliable throughput of all measured connections, Mbit/s, shape (seeds,)."""
        return np.array([each.goodput_mbps for each in self.found[point]])

    def gain(self, point: Point) -> FloatArray:
        """(steered - plain) / plain, seed by seed (§5.3)."""
        plain = self.goodput(point.plain)
        return np.asarray((self.goodput(point) - plain) / plain, dtype=np.float64)

    def over(self, point: Point, other: Point) -> FloatArray:
        """Difference to another point, as `over_mean`."""
        return over_mean(self.goodput(point), self.goodput(other))

    def change(self, point: Point, of: Callable[[Measured], float]) -> FloatArray:
        """What steering changes for others: relative difference of a quantity to the run with the plain control."""
        after, before = (np.array([of(each) for each in self.found[which]]) for which in (point, point.plain))
        return np.asarray(after / before - 1, dtype=np.float64)

    def late_slopes(self, point: Point) -> list[FloatArray]:
        """A in the second half of each seed's run; of a point with a series."""
        rows = (np.array(each.slopes) for each in self.found[point])
        return [row[row.size // 2 :] for row in rows]

    def tracking(self, point: Point) -> FloatArray:
        """Correlation with the background, shape (seeds,)."""
        return np.array([each.tracking for each in self.found[point] if each.tracking is not None])


def simulated(
    points: Iterable[Point],
    size: Size,
    progress: Progress,
    known: dict[Key, tuple[Normalised, ...]] | None = None,
    first_seed: int = FIRST_SEED,
) -> Results:
    """Every point on every seed of its background, which may be `known`; finished ones are kept at ``paper`` scale."""
    wanted = list(dict.fromkeys(points))
    keys = list(dict.fromkeys(each.key for each in wanted if each.key not in (known or {})))
    with ThreadPoolExecutor(about.cores()) as pool:
        backgrounds = {**(known or {}), **_backgrounds(pool, keys, size, progress, first_seed)}

        def one(point: Point, normalised: Normalised) -> Measured:
            duration_s = point.duration_s or size.duration(point.key)
            made = scenario(normalised.background, point.connections, duration_s)
            measure, name = (with_series, f"{NAME}-series") if point.series else (measured, NAME)
            return keeping.kept(name, made, measure) if size.keep else measure(made)

        futures = {point: [pool.submit(one, point, each) for each in backgrounds[point.key]] for point in wanted}
        found: dict[Point, tuple[Measured, ...]] = {}
        for number, (point, row) in enumerate(futures.items()):
            progress(f"point {number + 1} of {len(wanted)}")
            found[point] = tuple(each.result() for each in row)
    return Results(found, backgrounds)


def _backgrounds(
    pool: ThreadPoolExecutor, keys: Sequence[Key], size: Size, progress: Progress, first_seed: int
) -> dict[Key, tuple[Normalised, ...]]:
    """Normalised anew for each network; where the load was in another one is where the search begins."""
    made: dict[Key, tuple[Normalised, ...]] = {}
    first = {key[:2]: key for key in reversed(keys)}
    for wave in (list(first.values()), [key for key in keys if first[key[:2]] != key]):
        futures = {
            key: [
                pool.submit(
                    background.found,
                    *key[:2],
                    seed,
                    size.duration(key),
                    key[2],
                    keep=size.keep,
                    start_packets=made[first[key[:2]]][number].background.mean_packets
                    if first[key[:2]] in made
                    else None,
                )
                for number, seed in enumerate(range(first_seed, first_seed + size.number(key)))
            ]
            for key in wave
        }
        for key, row in futures.items():
            progress(f"background of {key[1]:g} Mbit/s, tail index {key[0]:g}")
            made[key] = tuple(each.result() for each in row)
    return made
