"""Runs scenarios for the cross-checks, and holds the stored values of other simulators."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import parshall as ps
from parshall.instruments.simulation import single

HERE = Path(__file__).parent
SCENARIOS = HERE.parents[1] / "scenarios" / "crosscheck"


@dataclass(frozen=True)
class Tables:
    """The records of one repetition."""

    summary: dict[str, Any]
    directory: Path

    def table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.directory / f"{name}.parquet")

    @property
    def links(self) -> pl.DataFrame:
        return self.table("links")

    @property
    def link(self) -> dict[str, Any]:
        """The row of the only link."""
        return self.links.row(0, named=True)

    @property
    def flows(self) -> pl.DataFrame:
        return self.table("flows")

    @property
    def transfers(self) -> pl.DataFrame:
        return self.table("transfers")


Simulate = Callable[..., Tables]

QUIET = {"flow_samples": False, "link_samples": False, "transfers": False}
"""Probes that record nothing but totals."""

PERIODIC = {"processing_time": "0 s"}
"""Closed forms, corner cases and stored runs of ns-2 (without ``overhead_``) are those of hosts that take no time. What
the default adds is in test_phases.py."""

LINUX_PORT = {
    "recovery": "sack",
    "prr": False,
    "timestamps": True,
    "delayed_ack": False,
    "initial_window": "2 packets",
    "handshake": True,
    "byte_counting": False,
    "rto_granularity": "10 ms",
}
"""TCP as ns-2's port of the Linux controls has it."""


@pytest.fixture
def simulate(tmp_path: Path) -> Simulate:
    """Simulates a scenario, given as tables or as a file's name in scenarios/crosscheck, once."""
    count = 0

    def run(scenario: dict[str, Any] | str, **values: Any) -> Tables:
        nonlocal count
        count += 1
        directory = tmp_path / f"{count:04}"
        if isinstance(scenario, str):
            made = ps.Scenario.load(SCENARIOS / f"{scenario}.toml")
        else:
            made = ps.Scenario.from_document({"probes": QUIET, **PERIODIC, **scenario})
        if values:
            made = made.with_values({key.replace("__", "."): value for key, value in values.items()})
        totals = single.simulate(json.dumps(made.resolve()), 0, directory, single.Monitor())
        return Tables(totals, directory)

    return run


@pytest.fixture
def linux_port(simulate: Simulate) -> Simulate:
    """Simulates one flow as ns-2's port of the Linux controls has it, through the network of a stored run of it."""

    def run(stored: dict[str, Any], control: str | dict[str, Any], rtt_ms: float, buffer: int, seed: int) -> Tables:
        loss = {"name": "bernoulli", "probability": stored["p"]} if stored["p"] else "none"
        flow = {"rtt": f"{rtt_ms} ms", "congestion_control": control, **LINUX_PORT}
        bottleneck = {
            "rate": f"{stored['rate']:.0f} bit/s",
            "queue": {"name": "drop_tail", "limit": f"{buffer} packets"},
            "loss": loss,
        }
        times = {"duration": f"{stored['dur']} s", "warm_up": f"{stored['warm']} s"}
        return simulate({**times, "bottleneck": bottleneck, "flows": [flow]}, seed=seed)

    return run


@pytest.fixture(scope="session")
def ns2_values() -> dict[str, Any]:
    """Stored values of ns-2 (and ns-3); see `provenance` in the file."""
    values: dict[str, Any] = json.loads((HERE / "ns2_values.json").read_text())
    return values
