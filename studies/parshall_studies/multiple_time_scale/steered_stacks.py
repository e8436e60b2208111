"""What TCP-MT gains in the kernel of Linux: what the source's authors announce as their next work.

The kernel has TCP-MT over Reno for the time of a run (``bpf/multiple_time_scale.bpf.c``). Its gain over the kernel's
own Reno (§5.3) is measured by RTT, by load and by tail index, each on networks of the source with clients of their own
random numbers (`side_by_side`): once with plain connections, once with steered ones, so that gains are paired by
network. The same networks are simulated with the TCP of ns-2 and with that of Linux.

An emulation has twelve networks. With 72 of them, whose packets were received on another CPU, calls of the program
were left out (docs/emulation.md), and windows of millions of packets took the memory that all connections share.

References: Park & Tuan 2000, §5.3, §5.4, §6, Figs 9, 10.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.report.document import Section, Table
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated
from parshall_studies import stacks
from parshall_studies.multiple_time_scale import side_by_side
from parshall_studies.multiple_time_scale.claims import claim, signed
from parshall_studies.multiple_time_scale.network import PAPER, steered
from parshall_studies.multiple_time_scale.side_by_side import Place

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """Where a gain is measured."""

    rtt_ms: int
    load_mbps: float
    tail_index: float
    published: str
    """What the source says of the gain there."""

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.rtt_ms} ms, {self.load_mbps:g} Mbit/s, α = {self.tail_index:g}"


_GROWS = "positive, and larger the longer the RTT (Fig. 9)"
SHORT, MIDDLE, LONG = (Setting(rtt_ms, 5.0, 1.05, _GROWS) for rtt_ms in (30, 200, 450))
LIGHT = Setting(30, 5.0, 1.95, "half of that at α = 1.05, or less (Fig. 10)")
SETTINGS = (SHORT, MIDDLE, LONG, Setting(30, 2.5, 1.05, ""), Setting(30, 7.5, 1.05, ""), LIGHT)
TOGETHER = 2
"""Networks of each setting in one emulation."""
BATCHES = 2
"""Emulations."""
NETWORKS = TOGETHER * BATCHES
"""Of each setting."""
DURATION_S = {"quick": 66.0, "paper": 1200.0}
"""A tenth is warm-up."""
PROGRAM, HEADING = "multiple_time_scale", "Steered connections on real stacks"
CONTROLS: Mapping[str, str | dict[str, Any]] = {"plain": "reno", "steered": steered("reno")}
NS2, AS_LINUX, LINUX = "ns-2's TCP, simulated", "as in Linux, simulated", "Linux"


def places(setting: Setting) -> list[Place]:
    """The networks of a setting: their numbers name their random numbers."""
    first = NETWORKS * SETTINGS.index(setting) + 1
    return [
        Place(number, setting.rtt_ms, setting.load_mbps, setting.tail_index)
        for number in range(first, first + NETWORKS)
    ]


def cases(scale: Scale) -> dict[Any, Case]:
    """Each setting simulated with either TCP, plain and steered; some networks of all settings in each emulation.

    Nothing, where the kernel cannot have the program.
    """
    if stacks.missing(PROGRAM):
        return {}
    duration_s = DURATION_S[scale]
    loads = {
        setting: [Case("its load", side_by_side.loaded, (place, duration_s)) for place in places(setting)]
        for setting in SETTINGS
    }
    declared: dict[Any, Case] = {}
    for name, control in CONTROLS.items():
        for setting, of_setting in loads.items():
            for where, rules in ((NS2, None), (AS_LINUX, stacks.PROFILE)):
                arguments = (of_setting, control, duration_s, rules)
                declared[name, where, setting] = Case(
                    f"{name}, {setting.label}", side_by_side.simulated_with, arguments
                )
        for batch in range(BATCHES):
            some = [load for of_setting in loads.values() for load in of_setting[TOGETHER * batch :][:TOGETHER]]
            real = Case(name, side_by_side.with_controls, (some, control, duration_s, side_by_side.real()))
            declared[name, LINUX, batch] = emulated(f"{name} on Linux", real, side_by_side.of_run)
    return declared


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """The source's claims on Linux, and Linux beside the simulator."""
    if absent := stacks.missing(PROGRAM):
        return Findings([], [Section(HEADING, (f"Left out, since {absent}.",))])
    linux: Real = {(name, batch): answers[name, LINUX, batch] for name in CONTROLS for batch in range(BATCHES)}
    throughputs = {setting: _throughputs(answers, linux, setting) for setting in SETTINGS}
    checks = list(_checks(throughputs)) if all(stacks.usable(each) for each in linux.values()) else []
    return Findings(checks, [_section(throughputs, linux)])


Real = Mapping[tuple[str, int], Emulated]
"""By control and batch."""
Throughputs = Mapping[str, Mapping[str, FloatArray]]
"""Mbit/s by network, by where and by control."""


def _throughputs(answers: Mapping[Any, Any], linux: Real, setting: Setting) -> Throughputs:
    first = TOGETHER * SETTINGS.index(setting)

    def of(runs: list[Any]) -> FloatArray:
        return np.array([each.goodput_mbps for each in runs])

    return {
        NS2: {name: of(answers[name, NS2, setting]) for name in CONTROLS},
        AS_LINUX: {name: of(answers[name, AS_LINUX, setting]) for name in CONTROLS},
        LINUX: {
            name: of([run for batch in range(BATCHES) for run in linux[name, batch].answer[first:][:TOGETHER]])
            for name in CONTROLS
        },
    }


def gains(throughputs: Mapping[str, FloatArray]) -> FloatArray:
    """By network, over the mean of the plain connections: what one gets in a run of its own may be next to nothing."""
    return np.asarray((throughputs["steered"] - throughputs["plain"]) / throughputs["plain"].mean(), dtype=np.float64)


def _checks(throughputs: Mapping[Setting, Throughputs]) -> Iterator[Claim]:
    on_linux, as_linux = (
        {setting: gains(of[where]) for setting, of in throughputs.items()} for where in (LINUX, AS_LINUX)
    )
    yield from stacks.by_one_instrument(_claims(on_linux), _claims(as_linux))
    for setting, simulated in as_linux.items():
        apart = mean_interval(on_linux[setting] - simulated)
        expected = float(simulated.mean())
        low, high = (None if end is None else expected + end for end in (apart.low, apart.high))
        yield equal(
            "fig10-linux" if setting is LIGHT else "fig9-linux",
            f"gain of Reno on Linux, {setting.label}",
            expected,
            Interval(expected + apart.mean, low, high, 1),
            within=PAPER.within("stacks"),
            basis="theory",
            note=f"less the simulator's, network by network: {signed(apart, '%')}",
        )


def _claims(by_setting: Mapping[Setting, FloatArray]) -> list[Claim]:
    """What the source says, of gains by network."""
    mean = np.mean([by_setting[setting] for setting in (SHORT, MIDDLE, LONG)], axis=0)
    longer = by_setting[LONG] - by_setting[SHORT]
    heavier = by_setting[SHORT] - PAPER["tail_ratio"] * by_setting[LIGHT]
    name = f"gain of Reno at {LONG.rtt_ms} ms less that at {SHORT.rtt_ms} ms"
    by_tail = f"gain of Reno at α = {SHORT.tail_index:g} less twice that at {LIGHT.tail_index:g}"
    return [
        claim("fig9", "gain of Reno, mean over RTTs", 1, mean, "%", reading=LINUX),
        claim("fig9", name, 1, longer, "%", reading=LINUX),
        claim("fig10", by_tail, 1, heavier, "%", reading=LINUX),
    ]


def _section(throughputs: Mapping[Setting, Throughputs], linux: Real) -> Section:
    rows = []
    for setting, of in throughputs.items():
        cells = [signed(mean_interval(gains(of[where])), "%") for where in (NS2, AS_LINUX, LINUX)]
        plain = f"{of[LINUX]['plain'].mean():.3g} ({of[AS_LINUX]['plain'].mean():.3g})"
        rows.append((setting.label, setting.published, *cells, plain))
    header = (
        "RTT, load, tail index",
        "published",
        NS2,
        AS_LINUX,
        stacks.column(*linux.values()),
        "plain on Linux (simulated), Mbit/s",
    )
    text = (
        f"Gain of Reno with TCP-MT over Reno, (steered - plain) / plain, with 95 % intervals over {NETWORKS} networks "
        "of the source, each with 32 simulated clients and random numbers of its own. "
        f"{TOGETHER * len(SETTINGS)} of them stand side by side in an emulation, in which the connections that are "
        "measured are the kernel's, plain in one run and steered by a BPF program in another.",
        *stacks.remarks((f"{name}, emulation {batch + 1}", each) for (name, batch), each in linux.items()),
    )
    table = Table("Gains", header, rows, numbers=range(2, 6))
    return Section(HEADING, text, [table])


PART = Part("steered connections on real stacks", cases, findings, emulates=True)
