"""The testbed of the source as scenarios: pairs of hosts at 1 Gbit/s around a bottleneck of 10 Gbit/s.

One kind of hosts stands in all figures. What the source leaves unsaid of it are fields of `Setting`, whose defaults are
the reconstruction; `joint` says why the values that are tried are as they are.

A *bed* is one scenario with several *places*, each a group of hosts at a bottleneck of its own: places share nothing.
In a network that is `slower`, rates, queues, windows and files are so many times smaller; RTTs and times are the
source's own. A pair of hosts (Table 6, Fig. 4) can be `stretched` instead: rates are divided and times multiplied, so
that windows stay.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.1, §5.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.scenario import Scenario
from parshall.studies.published import printed_in
from parshall_studies.scaling import scaled

PAPER = printed_in(__package__)
Values = NDArray[np.float64]

VARIANTS = ("reno", "bic", "cubic_2005", "highspeed", "htcp", "scalable")
"""Those of Figs 5 to 8; CUBIC is that of 2005, as in the kernel of the source."""
LOW_MS, HIGH_MS = 20.0, 100.0
"""Where the source's middle range of RTTs begins and ends."""
RTT_MS = 19.8
"""Of Figs 3 and 8 to 10."""
ACCESS_BPS, CAPACITY_BPS = 1e9, 10e9
PAYLOAD_SHARE = 1460 / 1500
PACKET_BITS = 12_000
NO_LIMIT = 1_000_000
"""Packets of a window that nothing reaches."""
SLOW = "-slow"
"""Ends the name of the group of a place's slower hosts."""

_IN_KERNEL: dict[str, dict[str, Any]] = {
    "bic": {"decrease": 0.8, "s_max": 16.0, "s_min": 0.2, "divisor": 4.0, "initial_growth": 0.05},
    "cubic_2005": {"initial_growth": 0.02},
}
"""BIC and CUBIC of Linux 2.6.16 (`crates/congestion/src/bic.rs`); both end slow start at 100 packets."""


@dataclass(frozen=True)
class Setting:
    """The open parameters of the source's testbed, and how much of it is run.

    Parameters
    ----------
    buffer_packets, interface_packets
        Queues of the bottleneck, and of a host's interface (txqueuelen), which lose what does not fit.
    spare_packets
        Window of a host beyond its path.
    kernel_controls, scaling_error, by_bytes
        Controls are those of Linux 2.6.16 (constants and slow start of its BIC and CUBIC, growth by ACKs of the others,
        or by what they acknowledge), not as published; CUBIC has the error that was corrected in October 2006.
    jitter_packets, loss, recovery
        A packet leaves up to so many packets' times late; the path loses it with this probability; how it is repaired.
    slowest, other_way
        Rate of every second host over 1 Gbit/s; that of the hosts which send the other way, in Table 6 and Fig. 9.
    default_bytes, pair_rtt_ms, pair_s
        Table 6: window with default buffers, RTT, ms, and length of a flow (300 s in the source), s.
    slower, stretched
        As the module says.
    fig3_gb, bulk_gb, levels, reversed_levels
        Files of Fig. 3, and of Figs 8 to 10 (30 GB in the source); congestion levels of Figs 8 and 9.
    flow_s, rtts_ms, counts
        Figs 5 and 6: length of a flow, s, RTTs, ms, and numbers of flows.
    step_s, short_step_s
        Time between two starts of Fig. 7 at 100 and at 11 ms (200 s in the source), s. At 11 ms a flow fills its line
        within a second or two, of which a longer step shows less.
    repetitions, at_once, drawn
        Independent runs; controls of a bed; whether goodputs and throughputs over time are kept for the page.
    """

    buffer_packets: int = 15_000
    interface_packets: int = 1000
    spare_packets: int = 100
    kernel_controls: bool = True
    scaling_error: bool = False
    by_bytes: bool = False
    jitter_packets: int = 1
    loss: float = 1e-6
    slowest: float = 1.0
    other_way: float = 0.7
    recovery: str = "sack"
    default_bytes: int = 111_700
    pair_rtt_ms: float = RTT_MS
    flow_s: float = 16.0
    slower: int = 1
    stretched: int = 1
    fig3_gb: float = 1.0
    bulk_gb: float = 0.5
    levels: tuple[float, ...] = (0.8, 1.2, 1.7, 2.1)
    reversed_levels: tuple[float, ...] = (0.8, 1.0, 1.2)
    rtts_ms: tuple[float, ...] = (20.0, 100.0, 200.0)
    counts: tuple[int, ...] = (5, 12)
    step_s: float = 5.0
    short_step_s: float = 2.0
    pair_s: float = 30.0
    repetitions: int = 3
    at_once: int = 2
    drawn: bool = True

    @property
    def batches(self) -> list[tuple[str, ...]]:
        """The variants, as many to a bed as `at_once` says."""
        return [VARIANTS[first : first + self.at_once] for first in range(0, len(VARIANTS), self.at_once)]

    def step(self, rtt_ms: float) -> float:
        """Time between two starts of Fig. 7, s."""
        return self.short_step_s if rtt_ms < LOW_MS else self.step_s

    def control(self, name: str) -> dict[str, Any]:
        """The control of a group, as keys of it."""
        constants = _IN_KERNEL.get(name, {}) if self.kernel_controls else {}
        scaled = {"scaling_error": True} if self.scaling_error and name == "cubic_2005" else {}
        keys: dict[str, Any] = {"congestion_control": {"name": name, **constants, **scaled}}
        if constants:
            keys["initial_ssthresh"] = "100 packets"
        elif self.kernel_controls:
            keys["byte_counting"] = self.by_bytes
        return keys

    def host(self, name: str, rtt_ms: float) -> dict[str, Any]:
        """Keys of a group of hosts; those of Linux 2.6.16 had three packets at first, delayed ACKs and SACK."""
        packets, spare = ACCESS_BPS * rtt_ms / 1000 / PACKET_BITS, self.spare_packets
        return {
            "tcp": "rfc",
            "delayed_ack": True,
            "initial_window": "3 packets",
            "recovery": self.recovery,
            "access_queue": f"{self.interface_packets} packets",
            "receive_window": "unlimited" if spare >= NO_LIMIT else f"{round(packets) + spare} packets",
            **self.control(name),
        }

    @property
    def processing_time(self) -> str:
        """As a scenario has it."""
        return f"{self.jitter_packets} packets" if self.jitter_packets else "0 s"


@dataclass(frozen=True)
class Place:
    """Hosts with one control at a bottleneck of their own.

    Parameters
    ----------
    file_gb
        File of each host in the source's network; None: hosts send until the run ends.
    start
        ``uniform`` or ``staggered``, and the time, s.
    reverse
        Hosts that send the other way for the whole time.
    """

    name: str
    control: str
    count: int
    file_gb: float | None = None
    start: tuple[str, float] = ("uniform", 1.0)
    reverse: int = 0

    @property
    def back(self) -> str:
        """The name of the other way's link, and of the hosts that send it."""
        return f"{self.name}-back"

    def links(self, setting: Setting) -> list[dict[str, Any]]:
        """Its bottleneck, and that of the other way if anybody sends there."""
        rest: dict[str, Any] = {
            "rate": f"{round(CAPACITY_BPS)} bit/s",
            "delay": "10 us",
            "queue": {"name": "drop_tail", "limit": f"{setting.buffer_packets} packets"},
        }
        if setting.loss:
            # A host loses as often in time as in the source's network, whose packets are `slower` times as many.
            rest["loss"] = {"name": "bernoulli", "probability": min(0.5, setting.loss * setting.slower)}
        return [{"name": name, **rest} for name in (self.name, *([self.back] if self.reverse else []))]

    def flows(self, setting: Setting, rtt_ms: float) -> list[dict[str, Any]]:
        """Its hosts; those that are slower are a group of their own."""
        common = {"rtt": f"{rtt_ms:g} ms", **setting.host(self.control, rtt_ms)}
        forth: dict[str, Any] = {"path": [self.name]}
        if self.file_gb is not None:
            forth["workload"] = {"name": "transfer", "sizes": f"{round(self.file_gb * 1e9)} B"}
        hosts = _by_speed(self.name, self.count, self.start, {**common, **forth}, setting)
        if not self.reverse:
            return hosts
        other = {
            "name": self.back,
            "count": self.reverse,
            "access_rate": f"{round(ACCESS_BPS * setting.other_way)} bit/s",
            "path": [self.back],
            "reverse_path": [self.name],
            "start": {"uniform": "200 ms"},
        }
        return [*({**group, "reverse_path": [self.back]} for group in hosts), {**common, **other}]


def speeds(count: int, setting: Setting) -> Values:
    """Rates of so many hosts over 1 Gbit/s, shape (count,)."""
    return np.where(np.arange(count) % 2 == 0, 1.0, setting.slowest)


def _by_speed(
    name: str, count: int, start: tuple[str, float], keys: Mapping[str, Any], setting: Setting
) -> list[dict[str, Any]]:
    """The groups of hosts of one rate; those that are staggered begin in turn."""
    groups = []
    rates = speeds(count, setting)
    for part, speed in {name: 1.0, name + SLOW: setting.slowest}.items() if setting.slowest < 1 else ((name, 1.0),):
        own = np.flatnonzero(rates == speed)
        if not own.size:
            continue
        kind, time_s = start
        starts = {kind: f"{time_s:g} s"} if kind == "uniform" else {"list": [f"{at * time_s:g} s" for at in own]}
        rate = f"{round(ACCESS_BPS * speed)} bit/s"
        groups.append({"name": part, "count": int(own.size), "access_rate": rate, "start": starts, **keys})
    return groups


def bed(
    places: Sequence[Place],
    setting: Setting,
    rtt_ms: float,
    duration_s: float,
    *,
    bins_s: float | None = None,
    samples_s: float | None = None,
) -> Scenario:
    """The scenario of some places; it ends with the last of their files, and after `duration_s` at the latest.

    Parameters
    ----------
    bins_s, samples_s
        Width of the bins in which links are recorded, and time between two samples of a flow, s; None: not recorded.
    """
    flows = [group for each in places for group in each.flows(setting, rtt_ms)]
    awaited = [group["name"] for group in flows if "workload" in group]
    fast = Scenario.from_document(
        {
            "duration": f"{duration_s:g} s",
            **({"ends_with": awaited} if awaited else {}),
            "repetitions": setting.repetitions,
            "processing_time": setting.processing_time,
            "links": [link for each in places for link in each.links(setting)],
            "flows": flows,
            "probes": {
                "flow_samples": f"{samples_s:g} s" if samples_s else False,
                "flows": max(each.count for each in places),
                "link_samples": f"{bins_s:g} s" if bins_s else False,
                "transfers": bool(awaited),
            },
        }
    )
    return scaled(fast, 1 / setting.slower)


@dataclass(frozen=True)
class Measured:
    """Values of a bed by place, each a list with an array a repetition; and curves of the first repetition by name.

    Parameters
    ----------
    values
        Completion times, s; goodputs of flows, bit/s of the source's network; or shares of use.
    curves
        Time, s, and a rate, bit/s of the source's network.
    """

    values: Mapping[str, list[Values]]
    curves: Mapping[str, tuple[Values, Values]] = field(default_factory=dict)


def place_of(group: pl.Series | pl.Expr) -> Any:
    """The place of groups, whichever hosts they are."""
    return group.cast(pl.String).str.strip_suffix(SLOW)


def by_place(rows: pl.DataFrame, column: str) -> dict[str, list[Values]]:
    """A column by place of the groups that send forth, an array a repetition in the order of the flows."""
    named = rows.with_columns(place=place_of(pl.col("group"))).filter(~pl.col("place").str.ends_with("-back"))
    found: dict[str, list[Values]] = {}
    for (name, _), part in named.sort("repetition", "flow").group_by(["place", "repetition"], maintain_order=True):
        found.setdefault(str(name), []).append(part[column].to_numpy().astype(np.float64))
    return found


def together(answers: Mapping[Any, Measured]) -> Measured:
    """All beds of an artefact as one."""
    values = {name: each for answer in answers.values() for name, each in answer.values.items()}
    return Measured(values, {name: each for answer in answers.values() for name, each in answer.curves.items()})
