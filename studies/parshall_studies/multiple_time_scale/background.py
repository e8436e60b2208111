"""Sample-path normalisation (§4.3): the mean size with which a seed's clients bring the load that is wanted.

The mean of heavy-tailed sizes converges as m^(1/alpha - 1): runs of one distribution carry different loads. So each
seed has a mean size of its own, found on the clients alone, with which the bottleneck carries the target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from parshall_studies.multiple_time_scale.measure import Measured, measured
from parshall_studies.multiple_time_scale.network import Background, Network, scenario
from parshall_studies.tails import normalised

_TOLERANCE = 0.02
_START_PACKETS = 45.0
"""With idle times of 2 s about 5 Mbit/s."""


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


def matching(  # noqa: PLR0917 - as `grid.cases` lists them
    tail_index: float,
    target_mbps: float,
    seed: int,
    duration_s: float,
    network: Network,
    start: Normalised | None = None,
) -> Normalised:
    """The background of a seed that carries `target_mbps`; the search may begin with what another network took."""

    def alone(background: Background) -> Measured:
        return measured(scenario(background, None, duration_s))

    return normalised_by(alone, tail_index, target_mbps, seed, network, start)


def normalised_by(  # noqa: PLR0917 - as `found`
    alone: Callable[[Background], Measured],
    tail_index: float,
    target_mbps: float,
    seed: int,
    network: Network,
    start: Normalised | None = None,
) -> Normalised:
    """The same, where `alone` says what the clients of a background carry without anybody else."""
    runs: dict[float, tuple[Background, Measured]] = {}

    def load(mean_packets: float) -> float:
        background = Background(tail_index, mean_packets, seed, network)
        made = alone(background)
        runs[mean_packets] = background, made
        return made.background_mbps

    begin = _START_PACKETS * target_mbps / 5 if start is None else start.background.mean_packets
    answer = normalised(load, target_mbps, begin, tolerance=_TOLERANCE, steps=10)
    background, made = runs[answer.mean]
    return Normalised(background, made, target_mbps)
