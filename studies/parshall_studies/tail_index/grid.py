"""Figs 1 and 2: every setting at every tail index, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parshall.scenario import Scenario
from parshall.studies.study import Case, Scale
from parshall_studies.tail_index.measure import Measured, joined, measured
from parshall_studies.tail_index.network import MEAN_PACKETS, butterfly, pareto
from parshall_studies.tail_index.running import case
from parshall_studies.tail_index.settings import FIG1, FIG2, PAPER, Setting

SETTINGS = (*FIG1, *FIG2)
WARM_UP = 1 / 6
"""Part of a run that is not measured, where nothing has to settle."""
SAMPLES = 24
"""How often in a run the sources' ssthresh is recorded where it is cached."""


@dataclass(frozen=True)
class Size:
    """How much is simulated at a scale.

    At ``paper`` scale the three runs of a point of Fig. 2 last an hour in sum, as the source's one simulation does, and
    those of Fig. 1 two, as its one experiment: an hour each would narrow the intervals of Fig. 2 by 1.7, if what they
    show were independent from hour to hour.

    Parameters
    ----------
    tail_indices
        The abscissae.
    fewer
        Those of the readings of Fig. 1 that no published curve needs whole, and of another stack's TCP: `lowest`, `ten`
        and `OTHER_STACK`. Their signs are of a line through 4 points instead of 8 from a tail index of 1.3 on, with
        intervals about 1.4 times as wide. None: all.
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
    fewer: tuple[float, ...] | None = None

    def at(self, setting: Setting) -> tuple[float, ...]:
        """The tail indices of a setting's curve."""
        needed = setting.own_stack and setting.ssthresh in {"linux", "unlimited"}
        return self.tail_indices if needed or self.fewer is None else self.fewer

    def times(self, setting: Setting) -> tuple[float, float]:
        """How long a run of a setting is, and its part that is not measured, in s."""
        lasts = self.duration_s if setting.figure == "fig1" else self.slower_s
        settling = self.settling_s if setting.cached else lasts * WARM_UP
        return lasts - lasts * WARM_UP + settling, settling


SIZES: dict[Scale, Size] = {
    "quick": Size((1.1, 1.3, 1.5, 2.0, 4.0), 24.0, 3, 40.0, 50.0, level=(1.1, 1.5, 4.0)),
    "paper": Size(PAPER["tail_indices"], 2400.0, 3, 600.0, 1200.0, fewer=(1.1, 1.3, 1.5, 2.0, 4.0)),
}
Key = tuple[Setting, float, int]
"""A run: setting, tail index, repetition."""
Row = Mapping[float, Measured]
"""What is measured in a setting, by tail index."""
Rows = Mapping[Setting, Row]


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
        for alpha in size.at(setting)
        for repetition in range(size.repetitions)
    }


def cases(size: Size) -> dict[Key, Case]:
    """Every run, and what is measured of it."""
    return {key: case("Figs 1 and 2", each, measured) for key, each in scenarios(size).items()}


def by_point(size: Size, measured: dict[Key, Measured]) -> Rows:
    """The runs of each point together."""
    return {
        setting: {
            alpha: joined([measured[setting, alpha, repetition] for repetition in range(size.repetitions)])
            for alpha in size.at(setting)
        }
        for setting in SETTINGS
    }


def off_load(rows: Rows) -> list[tuple[str, float, Measured]]:
    """Points whose sampled mean size is more than 5 % off the one asked for."""
    return [
        (setting.label(), alpha, point)
        for setting, row in rows.items()
        for alpha, point in row.items()
        if abs(point.mean_packets / 1000 - 1) > 0.05
    ]
