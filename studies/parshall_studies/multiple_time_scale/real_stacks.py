"""What the TCP of Linux gets of the source's background: the plain connection that gains are measured against.

Gains of TCP-MT are over the plain control in the same place (Figs 8, 9). Here is their denominator, with Linux's Reno
and CUBIC; `steered_stacks` has the gains. The network is the source's, at its own rates. The 32 clients are simulated,
with the TCP of ns-2, in one queue with the real connection, and normalised network by network (`side_by_side`).

The source says neither its window limit nor its buffer. So a connection stands in three networks of the reconstruction
(`NETWORKS`): the base reading, a smaller buffer, and no limit to any window. The connections of one reading are
emulated at once, each in a network of its own.

A run of Linux is one run, on one background. With a tail index of 1.05 a minute of one has few losses and that of
another many, at the same mean load. So Linux is held against simulations on its own background that begin at other
times within a second; the other backgrounds show how much they differ.

References: Park & Tuan 2000, §5.1, §5.3, Figs 8, 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from parshall.analysis.stats.claims import Claim
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated
from parshall_studies import stacks
from parshall_studies.multiple_time_scale import side_by_side
from parshall_studies.multiple_time_scale.measure import Measured
from parshall_studies.multiple_time_scale.network import SOURCE, Network
from parshall_studies.multiple_time_scale.side_by_side import Loaded, Place

NETWORKS: Mapping[str, Network] = {
    "32 packets, buffer 16": SOURCE,
    "32 packets, buffer 12": replace(SOURCE, buffer=12),
    "no window limit, buffer 16": replace(SOURCE, window=None),
}
"""Readings of what the source leaves open: window limit of all connections, buffer of the bottleneck in packets."""
TAIL_INDEX, LOAD_MBPS = 1.05, 5.0
"""The source's usual background."""
DURATION_S = {"quick": 66.0, "paper": 660.0}
"""A tenth is warm-up."""
BACKGROUNDS = 8
"""Of each connection; Linux has the first."""
STARTS = tuple(f"{100 * tenth} ms" for tenth in range(10))
"""Of the simulated connections beside that of Linux, on its background."""
WITHIN = 0.05
"""Differences that do not matter, over the simulator's value."""
NS2, AS_LINUX, BESIDE = "ns-2's TCP, simulated", "simulated as in Linux, all backgrounds", "the same, on its background"


@dataclass(frozen=True)
class Connection:
    """What is measured."""

    control: str
    rtt_ms: int

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.control} at {self.rtt_ms} ms"


CONNECTIONS = tuple(Connection(control, rtt_ms) for control in ("reno", "cubic") for rtt_ms in (30, 200))


def places(connection: Connection, network: Network) -> list[Place]:
    """Its networks: numbers name random numbers, which are the same in each reading."""
    first = CONNECTIONS.index(connection) + 1
    numbers = range(first, first + BACKGROUNDS * len(CONNECTIONS), len(CONNECTIONS))
    return [Place(number, connection.rtt_ms, LOAD_MBPS, TAIL_INDEX, network) for number in numbers]


def at_once(loads: Sequence[Loaded], duration_s: float, rules: Mapping[str, Any]) -> Scenario:
    """One network of each of the `CONNECTIONS`, in their order; `rules` are keys of these: whose TCP they have."""
    networks = [
        (load.place, load.normalised.background, each.control) for load, each in zip(loads, CONNECTIONS, strict=True)
    ]
    return side_by_side.scenario(networks, duration_s, rules)


def cases(scale: Scale) -> dict[Any, Case]:
    """Of each reading and connection: backgrounds simulated with either TCP, and Linux on the first ones, at once."""
    duration_s = DURATION_S[scale]
    declared: dict[Any, Case] = {}
    for reading, network in NETWORKS.items():
        firsts = []
        for each in CONNECTIONS:
            label = f"{each.label}, {reading}"
            loads = [Case("its load", side_by_side.loaded, (place, duration_s)) for place in places(each, network)]
            firsts.append(loads[0])

            def case(some: list[Case], rules: Any, label: str = label, control: str = each.control) -> Case:
                return Case(label, side_by_side.simulated_with, (some, control, duration_s, rules))

            declared[reading, each, AS_LINUX] = case(loads, stacks.PROFILE)
            if each.control == "reno":
                declared[reading, each, NS2] = case(loads, None)
            for start in STARTS:
                declared[reading, each, start] = case(loads[:1], {**stacks.PROFILE, "start": start})
        real = Case(reading, at_once, (firsts, duration_s, side_by_side.real(network)))
        declared[reading, "linux"] = emulated(f"{reading}, Linux", real, side_by_side.of_run)
    return declared


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """Each reading and connection: ns-2's TCP, the simulator's TCP of Linux, and Linux."""
    checks: list[Claim] = []
    rows, remarks = [], []
    for reading in NETWORKS:
        emulation: Emulated = answers[reading, "linux"]
        remarks += stacks.remarks([(reading, emulation)])
        for each, answer in zip(CONNECTIONS, emulation.answer, strict=True):
            linux = Emulated(answer, emulation.validity)
            beside = [answers[reading, each, start][0] for start in STARTS]
            if each.control == "reno":
                rows.append(_row(reading, each, NS2, answers[reading, each, NS2]))
            rows.append(_row(reading, each, AS_LINUX, answers[reading, each, AS_LINUX]))
            rows.append(_row(reading, each, BESIDE, beside))
            rows.append(_row(reading, each, stacks.column(linux), [answer]))
            if stacks.usable(linux):
                quantity = f"{each.label} on Linux, {reading}: goodput, Mbit/s"
                checks.append(
                    stacks.attribute_beside_simulated(
                        "fig9-linux", quantity, linux, "goodput_mbps", beside, share=WITHIN
                    )
                )
    text = (
        "One endless connection of Linux beside the 32 simulated clients of the source (tail index 1.05, normalised to "
        "5 Mbit/s), at the source's own rates. This is the plain connection, over which gains are taken. The source "
        "says neither its window limit nor its buffer: the first reading is that of the other parts.",
        f"A socket of Linux with a receive buffer of {side_by_side.RECEIVE_BUFFER} has the window limit of 32 packets. "
        f"± is the 95 % interval of the mean of {BACKGROUNDS} backgrounds, or of {len(STARTS)} starts on one.",
        *remarks,
    )
    header = ("reading", "connection", "where", "goodput, Mbit/s", "clients, Mbit/s", "loss rate", "queueing delay, ms")
    table = Table("Plain connections", header, rows, numbers=range(3, 7))
    return Findings(checks, [Section("Plain connections on real stacks", text, [table])])


def _row(reading: str, connection: Connection, where: str, runs: Sequence[Measured]) -> tuple[str, ...]:
    keys = ("goodput_mbps", "background_mbps", "loss_rate", "queueing_delay_ms")
    cells = (stacks.cell([getattr(each, key) for each in runs], 3, 2) for key in keys)
    return (reading, connection.label, where, *cells)


PART = Part("plain connections on real stacks", cases, findings, emulates=True)
