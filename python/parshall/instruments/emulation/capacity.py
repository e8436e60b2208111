"""The measured capacity of a machine for emulation (`parshall.instruments.emulation.measuring`), and what is beyond it.

It is kept in the user's cache, by kernel and processors: another kernel, or fewer of them, is another machine.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from parshall.foundations.files import write_atomically
from parshall.foundations.numbers import quantity
from parshall.instruments.emulation.kernel import kernel_name
from parshall.results.records.about import cores, processor


@dataclass(frozen=True)
class CapacityTrial:
    """One emulation, and what became of it."""

    rate_bps: float
    """Of the link."""
    flows: int
    throughput_bps: float
    """Traffic that crossed it after the warm-up."""
    level: str
    """Of the verdict."""
    reason: str | None
    """The worst of the verdict's reasons."""
    emulator_share: float
    """Time of the emulator's thread, of a processor's."""
    lateness_p99_s: float | None

    @property
    def is_carried(self) -> bool:
        """True if the link was full and the emulation is valid."""
        return self.level != "invalid" and self.throughput_bps >= FULL * self.rate_bps


FULL = 0.9
"""A link that carries so much of its rate is full: one of a bulk flow is, after its slow start."""


@dataclass(frozen=True)
class Capacity:
    """The capacity of a machine for emulation."""

    machine: str
    measured: str
    """Time of the measurement, in ISO 8601."""
    rate_bps: float | None
    """The fastest link that one flow filled, of those that were tried; None: none could be believed."""
    flows: int
    """The most flows that filled a link of `flows_rate_bps` together; 0: none could be believed."""
    flows_rate_bps: float
    lateness_p50_s: float | None
    """Of an almost idle network."""
    lateness_p99_s: float | None
    answer_p99_s: float | None
    """Of its hosts, to an echo."""
    steal: float | None
    real_time: bool
    load: float
    """Processes that wanted a processor before it was measured (the load average of a minute)."""
    trials: Sequence[CapacityTrial]

    @classmethod
    def kept(cls) -> Self | None:
        """Return the capacity of this machine that was measured before; None: none was, or by another version."""
        try:
            stored = json.loads(_place().read_text(encoding="utf-8"))
            made = cls(**{**stored, "trials": [CapacityTrial(**each) for each in stored["trials"]]})
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return made if made.machine == this_machine() else None

    @staticmethod
    def forget() -> None:
        """Remove what was measured of this machine before."""
        _place().unlink(missing_ok=True)

    def keep(self) -> Path:
        """Write it to the user's cache.

        Raises
        ------
        OSError
            It cannot be written.
        """
        path = _place()
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_atomically(path, json.dumps(asdict(self), indent=1))

    def __str__(self) -> str:
        fast = "no fast flow" if self.rate_bps is None else f"one flow at {quantity(self.rate_bps, 'bit/s')}"
        many = f"{self.flows} flows at {quantity(self.flows_rate_bps, 'bit/s')}" if self.flows else "not many flows"
        late = "" if self.lateness_p99_s is None else f"; idle, 1 % later than {quantity(self.lateness_p99_s, 's')}"
        return f"{fast}, {many}{late}"


def this_machine() -> str:
    """Kernel and processors."""
    return f"{kernel_name()}, {cores()} x {processor()}"


def _place() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "parshall" / "emulation" / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', this_machine())}.json"


FEW_FLOWS = 16
"""So many are handled as one is (crates/emulation/src/cpus.rs)."""


def beyond(resolved: Mapping[str, Any], able: Capacity | None) -> list[str]:
    """Return the demands of a scenario beyond the measured capacity of this machine, in words.

    Parameters
    ----------
    resolved
        As `parshall.instruments.emulation.kernel.emulated` gives it.
    able
        What was measured; None: nothing, and nothing is said.
    """
    if able is None:
        return []
    sentences, flows, rate_bps = [], _real_flows(resolved), _fastest_bps(resolved)
    remedy = "the verdict will say whether it was too much"
    most_bps = able.rate_bps or 0.0
    if rate_bps > most_bps:
        carried = quantity(most_bps, "bit/s") if most_bps else "no fast link"
        excess = f"real hosts share a link of {quantity(rate_bps, 'bit/s')}"
        sentences.append(f"{excess}; `parshall doctor --measure` found that this machine carries {carried}; {remedy}")
    if flows > max(able.flows, FEW_FLOWS):
        carried = f"{able.flows} at {quantity(able.flows_rate_bps, 'bit/s')}" if able.flows else f"up to {FEW_FLOWS}"
        excess = f"{flows} flows have real hosts"
        sentences.append(f"{excess}; `parshall doctor --measure` found that this machine carries {carried}; {remedy}")
    return sentences


def _real_flows(resolved: Mapping[str, Any]) -> int:
    return sum(
        group["count"] * (group.get("kernel") or {}).get("streams", 1)
        for group in resolved["flows"]
        if group.get("external")
    )


def _fastest_bps(resolved: Mapping[str, Any]) -> float:
    """The fastest of the links that limit the groups of real hosts; of datagrams at most what they send."""
    fastest = 0.0
    for group in resolved["flows"]:
        if group.get("external"):
            rates = [resolved["links"][place]["rate"].get("constant") for place in group["path"]]
            offered = group["count"] * group["workload"]["rate"] if group["workload"]["name"] == "cbr" else None
            limits = [rate for rate in (*rates, group["access_bps"], offered) if rate is not None]
            fastest = max([fastest, *([min(limits)] if limits else [])])
    return fastest
