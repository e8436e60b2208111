"""Figs 1 and 2: every setting at every tail index, and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parshall.scenario import Scenario
from parshall.studies.study import Case, Scale
from parshall.studies.tail_index.measure import Measured, joined, measured
from parshall.studies.tail_index.network import MEAN_PACKETS, butterfly, pareto
from parshall.studies.tail_index.running import case
from parshall.studies.tail_index.settings import FIG1, FIG2, PAPER, Setting

SETTINGS = (*FIG1, *FIG2)
WARM_UP = 1 / 6
"""Part of a run that is not measured, where nothing has to settle."""
SAMPLES = 24
"""How often in a run the sources' ssthresh is recorded where it is cached."""


@dataclass(frozen=True)
class Size:
    """How much is simulated at a scale.

    Parameters
    ----------
    tail_indices
        The abscissae.
    duration_s
        Of a run of Fig. 1.
    repetitions
        Runs of a point.
    settling_s
        By how much runs with a cached ssthresh are longer, to begin with: as long as it may settle.
    slower_s
        Of a run of Fig. 2, whose sources share the link among so many that a transfer takes ten times as long.
    level
        The tail indices at which Fig. 1's network has equal loads (`matched`); None: all.
    """

    tail_indices: tuple[float, ...]
    duration_s: float
    repetitions: int
    settling_s: float
    slower_s: float
    level: tuple[float, ...] | None = None

    def times(self, setting: Setting) -> tuple[float, float]:
        """How long a run of a setting is, and its part that is not measured, in s."""
        lasts = self.duration_s if setting.figure == "fig1" else self.slower_s
        settling = self.settling_s if setting.cached else lasts * WARM_UP
        return lasts - lasts * WARM_UP + settling, settling


SIZES: dict[Scale, Size] = {
    "quick": Size((1.1, 1.3, 1.5, 2.0, 4.0), 24.0, 3, 40.0, 50.0, level=(1.1, 1.5, 4.0)),
    "paper": Size(PAPER["tail_indices"], 3600.0, 3, 600.0, 3600.0),
}
Key = tuple[Setting, float, int]
"""A run: setting, tail index, repetition."""
Rows = dict[Setting, tuple[Measured, ...]]
"""What is measured in each setting, in the order of tail indices."""


def scenario(setting: Setting, tail_index: float, size: Size, *, mean: float = MEAN_PACKETS, seed: int = 1) -> Scenario:
    """A run of a point of a setting's curve; `mean` in packets."""
    duration_s, warm_up_s = size.times(setting)
    return butterfly(
        setting.sources,
        setting.buffer,
        pareto(tail_index, mean),
        flow=setting.flow,
        duration_s=duration_s,
        warm_up_s=warm_up_s,
        repetitions=1,
        seed=seed,
        samples=SAMPLES if setting.cached else 0,
    )


def scenarios(size: Size) -> dict[Key, Scenario]:
    """All runs of Figs 1 and 2, Fig. 1's without slow start in every reading."""
    return {
        (setting, alpha, repetition): scenario(setting, alpha, size, seed=1 + repetition)
        for setting in SETTINGS
        for alpha in size.tail_indices
        for repetition in range(size.repetitions)
    }


def cases(size: Size) -> dict[Key, Case]:
    """Every run, and what is measured of it."""
    return {key: case("Figs 1 and 2", each, measured) for key, each in scenarios(size).items()}


def by_point(size: Size, found: dict[Key, Measured]) -> Rows:
    """The runs of each point together."""
    return {
        setting: tuple(
            joined([found[setting, alpha, repetition] for repetition in range(size.repetitions)])
            for alpha in size.tail_indices
        )
        for setting in SETTINGS
    }


def off_load(tail_indices: Sequence[float], rows: Rows) -> list[tuple[str, float, Measured]]:
    """Points whose sampled mean size is more than 5 % off the one asked for."""
    return [
        (setting.words(), alpha, point)
        for setting, row in rows.items()
        for alpha, point in zip(tail_indices, row, strict=True)
        if abs(point.mean_packets / 1000 - 1) > 0.05
    ]
