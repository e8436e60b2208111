"""What is timed, and how fast it must be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SCENARIOS = Path(__file__).parents[1] / "scenarios"


@dataclass(frozen=True)
class Case:
    """A scenario, where else it is run, and the bars; durations are simulated seconds."""

    name: str
    repeats: int = 5
    quick_s: float | None = None
    """Duration under ``--quick``; None: left out."""
    ns2_s: float | None = None
    """Duration in ns-2; None: not run there."""
    ns2_repeats: int = 5
    ns2_bar: float | None = None
    """At least so many times ns-2's packets per CPU-second."""
    ns3_s: float | None = None
    ns3_bar: float | None = None
    long: bool = False
    """Only under ``--long``."""

    @property
    def scenario(self) -> Path:
        """Its file."""
        return SCENARIOS / f"{self.name}.toml"


# ns-2 and ns-3 get shorter durations where the scenario's own would take them hours; packets per CPU-second are
# compared, and these hardly depend on it.
CASES = (
    Case("flows-100-newreno", quick_s=60, ns2_s=300, ns2_bar=10),
    Case("flows-100-sack", quick_s=60, ns2_s=300, ns2_bar=10, ns3_s=15, ns3_bar=100),
    Case("flows-500", quick_s=10, ns2_s=20, ns2_bar=20),
    Case("flows-10000", repeats=3, quick_s=4, ns2_s=10, ns2_repeats=1, ns2_bar=15),
    Case("flows-100000", repeats=2),
    Case("flows-1000000", repeats=3),
)
HOUR = Case("hour", repeats=1, long=True)

PAIRED = "flows-500"
"""Whose runs are paired with others that differ in one thing."""
FEWEST, MOST = "flows-100-newreno", "flows-1000000"
COST_GROWTH_BAR = 6.0
"""A packet at a million flows costs less than so many packets at a hundred."""
BYTES_PER_FLOW_BAR = 2000.0
"""At a million flows, probes off."""
HOUR_BAR_S = 120.0
"""CPU seconds for one hour of 500 flows at 1 Gbit/s."""
