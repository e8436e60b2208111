"""The progress of a sweep, and its remaining time.

The estimate rests on the size of scenarios: the packets that their links could forward, and their flows. What a unit of
size costs is measured on the runs that are done; before the first there is no estimate. With sequential stopping it
speaks of the repetitions that were decided on, and is a lower bound.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from parshall.campaign.call import Written

_FLOW = 200.0
"""Packets whose handling costs what setting up and recording a flow does, about."""


@dataclass(frozen=True)
class SweepProgress:
    """The progress of a sweep."""

    done: int
    """Runs that are there, those found in the store included."""
    from_store: int
    """Of these, found in the store."""
    running: int
    failed: int
    planned: int
    """Runs that were decided on so far, those done included."""
    bounded: bool
    """True if all runs are decided on: repetitions have a fixed number."""
    packets: int
    """Handled in this call, in all runs."""
    elapsed_s: float
    remaining_s: float | None
    """None as long as there is nothing to estimate it from."""
    workers: int

    @property
    def packets_per_s(self) -> float:
        """Packets a second of this call."""
        return self.packets / self.elapsed_s if self.elapsed_s > 0 else 0.0


@dataclass
class CostEstimate:
    """Cost of a run, learnt while runs are done."""

    _sizes: dict[str, float] = field(default_factory=dict)
    _size_done: float = 0.0
    _wall_done: float = 0.0

    def size(self, scenario: str) -> float:
        """The size of a resolved scenario."""
        if scenario not in self._sizes:
            self._sizes[scenario] = size_of(scenario)
        return self._sizes[scenario]

    def learn(self, scenario: str, outcome: Written) -> None:
        """Take what a run cost."""
        self._size_done += self.size(scenario)
        self._wall_done += outcome.wall_s

    def remaining_s(self, size: float, workers: int) -> float | None:
        """Return the time that scenarios of that size take together, in seconds; None if no run has ended."""
        if self._size_done <= 0:
            return None
        return size * self._wall_done / self._size_done / max(1, workers)


def size_of(scenario: str) -> float:
    """Packets that the links of a resolved scenario could forward, and what its flows cost besides."""
    content = json.loads(scenario)
    seconds = content["duration_ps"] / 1e12
    packet_bits = 8.0 * max((group.get("packet_bytes", 1500) for group in content["flows"]), default=1500)
    rates = [link["rate"].get("constant") for link in content["links"]]
    known = [rate for rate in rates if rate is not None]
    usual = sum(known) / len(known) if known else 1e7  # a trace's rate is not worth computing here
    packets = sum(usual if rate is None else rate for rate in rates) * seconds / packet_bits
    return float(packets + _FLOW * sum(group["count"] for group in content["flows"]))
