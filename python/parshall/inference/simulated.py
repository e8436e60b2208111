"""A scenario simulated, captured behind its bottleneck, and read as captures are."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from parshall.inference.facts import Direction, directions
from parshall.instruments.observation import observe
from parshall.instruments.simulation import run
from parshall.scenario.scenario import Scenario

LINK = "bottleneck"
RECEIVERS = "198.18."
"""First part of the addresses of simulated receivers: packets to them go forward."""


def simulated(tables: dict[str, Any], repetitions: int) -> list[list[Direction]]:
    """Return the forward flows of each repetition, as the reader sees them behind the bottleneck.

    Parameters
    ----------
    tables
        The scenario's; their probes are replaced.
    """
    probes = {"pcap": [LINK], "flow_samples": False, "link_samples": False}
    scenario = Scenario.from_document(tables | {"repetitions": repetitions, "probes": probes})
    with TemporaryDirectory() as folder:
        captures = run(scenario, Path(folder) / "run").captures(LINK)
        return [_forward(directions(observe(each))) for each in captures]


def _forward(flows: list[Direction]) -> list[Direction]:
    return [each for each in flows if each.destination.startswith(RECEIVERS)] or flows
