"""The source's network with the TCP of Linux: plain connections, and the gain of the kernel's own TCP-MT over Reno.

Gains of TCP-MT are over the plain control in the same place (Figs 8, 9). `PLAIN` has this denominator, of Linux's Reno
and CUBIC in three networks of the source, which says neither its window limit nor its buffer. `BATCHES` have what the
source's authors announce as their next work: TCP-MT in the kernel, here a BPF program for the time of a run
(``bpf/multiple_time_scale.bpf.c``). Its gain over the kernel's Reno is measured by RTT, by load and by tail index, each
on networks with clients of their own random numbers, once with plain connections, once with steered ones, so that gains
are paired by network. The same networks are simulated with the TCP of ns-2 and with that of Linux.

A run of Linux is one run, on one background. With a tail index of 1.05 a minute of one has few losses and that of
another many, at the same mean load. So a plain connection is held against simulations on its own background that begin
at other times within a second.

An emulation has twelve networks. With 72 of them, whose packets were received on another CPU, calls of the program
were left out (docs/emulation.md), and windows of millions of packets took the memory that all connections share.

References: Park & Tuan 2000, §5.1, §5.3, §5.4, §6, Figs 8 to 10.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.report.document import Section, Table
from parshall.studies.artefact import named
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated
from parshall_studies import stacks
from parshall_studies.multiple_time_scale import side_by_side
from parshall_studies.multiple_time_scale.claims import claim, percent, signed
from parshall_studies.multiple_time_scale.grid import SOURCE, FloatArray, over_mean
from parshall_studies.multiple_time_scale.network import PAPER, steered
from parshall_studies.multiple_time_scale.setting import FIRST_GUESS
from parshall_studies.multiple_time_scale.side_by_side import Control, Place

PROGRAM, HEADING = "multiple_time_scale", "Connections of Linux"
NS2, AS_LINUX, LINUX = "ns-2's TCP, simulated", "as in Linux, simulated", "Linux"
DURATION_S = {"quick": 66.0, "paper": 1200.0}
"""A tenth is warm-up."""
WITHIN = 0.05
"""Differences of throughput that do not matter, over the simulator's value."""
STARTS = [f"{each / 10:g} s" for each in range(1, 11)]
"""Of plain connections on the background of Linux's."""
NETWORKS = {
    "the reconstruction": SOURCE,
    "the first reading": FIRST_GUESS.network,
    "no window limit": replace(SOURCE, window=None),
}
"""Readings of what the source leaves unsaid of its network."""
PLAIN = {
    each: Place(number, each[1], each[2], network=NETWORKS[each[0]])
    for number, each in enumerate(product(NETWORKS, ("reno", "cubic"), (30, 200)), 1)
}


@dataclass(frozen=True)
class Setting:
    """The network of a gain."""

    rtt_ms: int
    load_mbps: float
    tail_index: float
    published: str
    """The source's words on the gain there."""

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.rtt_ms} ms, {self.load_mbps:g} Mbit/s, α = {self.tail_index:g}"


_GROWS = "positive, and larger the longer the RTT (Fig. 9)"
SHORT, MIDDLE, LONG = (Setting(rtt_ms, 5.0, 1.05, _GROWS) for rtt_ms in (30, 200, 450))
LIGHT = Setting(30, 5.0, 1.95, "half of that at α = 1.05, or less (Fig. 10)")
SETTINGS = (SHORT, MIDDLE, LONG, Setting(30, 2.5, 1.05, ""), Setting(30, 7.5, 1.05, ""), LIGHT)
TOGETHER, BATCHES = 2, 2
"""Networks of each setting in one emulation, and emulations."""
HOW: Mapping[str, Control] = {"plain": "reno", "steered": steered("reno")}


def batch(number: int) -> list[Place]:
    """The networks of an emulation, by setting: their numbers name their random numbers."""
    return [
        Place(TOGETHER * (BATCHES * at + number) + each + 101, "reno", one.rtt_ms, one.load_mbps, one.tail_index)
        for at, one in enumerate(SETTINGS)
        for each in range(TOGETHER)
    ]


def _loads(places: Sequence[Place], duration_s: float) -> list[Case]:
    return [Case("its load", side_by_side.loaded, (place, duration_s)) for place in places]


def plain_cases(scale: Scale) -> dict[Any, Case]:
    """All plain connections at once, simulated from several starts on, and of Linux."""
    duration_s = DURATION_S[scale]
    loads, controls = _loads(list(PLAIN.values()), duration_s), [each.control for each in PLAIN.values()]
    real = Case("plain", side_by_side.scenario, (loads, controls, duration_s, {side_by_side.HOST: True}))
    return {
        NS2: Case(f"plain, {NS2}", side_by_side.simulated, (loads, ["reno"] * len(loads), duration_s, None)),
        **{
            start: Case(
                "plain", side_by_side.simulated, (loads, controls, duration_s, {**stacks.PROFILE, "start": start})
            )
            for start in STARTS
        },
        LINUX: emulated("plain connections of Linux", real, side_by_side.of_run),
    }


def plain_findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """Each plain connection of Linux beside the simulator's on its background."""
    linux: Emulated = answers[LINUX]
    checks: list[Claim] = []
    rows = []
    for number, (reading, control, rtt_ms) in enumerate(PLAIN):
        ours = linux.answer[number]
        beside = [answers[start][number] for start in STARTS]
        ns2 = [[answers[NS2][number]]] if control == "reno" else []
        for where, runs in zip((AS_LINUX, stacks.column(linux), NS2), (beside, [ours], *ns2), strict=False):
            keys = ("goodput_mbps", "background_mbps", "loss_rate", "queueing_delay_ms")
            cells = (stacks.cell([getattr(each, key) for each in runs], 3, 2) for key in keys)
            rows.append((reading, f"{control} at {rtt_ms} ms", where, *cells))
        if stacks.usable(linux):
            quantity = f"{control} at {rtt_ms} ms on Linux, {reading}: goodput, Mbit/s"
            one = Emulated(ours, linux.validity)
            made = stacks.attribute_beside_simulated("fig9-linux", quantity, one, "goodput_mbps", beside, share=WITHIN)
            checks.append(made)
    text = (
        "One endless connection of Linux beside the 32 simulated clients of the source (tail index 1.05, normalised to "
        f"5 Mbit/s), at the source's own rates; ± is the 95 % interval of the mean of {len(STARTS)} starts on its "
        f"background. A socket with a receive buffer of {side_by_side.RECEIVE_BUFFER} has the window limit of 32 "
        "packets.",
        *stacks.remarks([("plain connections", linux)]),
    )
    header = ("reading", "connection", "where", "goodput, Mbit/s", "clients, Mbit/s", "loss rate", "queueing delay, ms")
    return Findings(checks, [Section(f"Plain {HEADING.lower()}", text, [Table("", header, rows, numbers=range(3, 7))])])


def steered_cases(scale: Scale) -> dict[Any, Case]:
    """Each batch, plain and steered: simulated with either TCP, and emulated; nothing, where the program is missing."""
    if stacks.missing(PROGRAM):
        return {}
    duration_s = DURATION_S[scale]
    made: dict[Any, Case] = {}
    for number in range(BATCHES):
        loads = _loads(batch(number), duration_s)
        for how, control in HOW.items():
            controls = [control] * len(loads)
            for where, rules in ((NS2, None), (AS_LINUX, stacks.PROFILE)):
                arguments = (loads, controls, duration_s, rules)
                made[how, where, number] = Case(f"{how}, {where}", side_by_side.simulated, arguments)
            real = Case(how, side_by_side.scenario, (loads, controls, duration_s, {side_by_side.HOST: True}))
            made[how, LINUX, number] = emulated(f"{how} on Linux", real, side_by_side.of_run)
    return made


def steered_findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """The source's claims on Linux, and Linux beside the simulator."""
    heading = f"Steered {HEADING.lower()}"
    if absent := stacks.missing(PROGRAM):
        return Findings([], [Section(heading, (f"Left out, since {absent}.",))])
    real = {f"{how}, emulation {each + 1}": answers[how, LINUX, each] for how in HOW for each in range(BATCHES)}
    gained = {(where, one): _gains(answers, where, one) for where in (NS2, AS_LINUX, LINUX) for one in SETTINGS}
    checks = list(_steered_claims(gained)) if all(map(stacks.usable, real.values())) else []
    rows = [
        (
            one.label,
            one.published,
            *(percent(gained[where, one]) for where in (NS2, AS_LINUX, LINUX)),
            "{:.3g} ({:.3g})".format(*(_throughputs(answers, "plain", each, one).mean() for each in (LINUX, AS_LINUX))),
        )
        for one in SETTINGS
    ]
    text = (
        "Gain of Reno with TCP-MT over Reno, with 95 % intervals over "
        f"{TOGETHER * BATCHES} networks of the source, each with 32 simulated clients and random numbers of its own. "
        f"{TOGETHER * len(SETTINGS)} of them stand side by side in an emulation, in which the connections that are "
        "measured are the kernel's, plain in one run and steered by a BPF program in another.",
        *stacks.remarks(real.items()),
    )
    header = (
        "RTT, load, tail index",
        "published",
        NS2,
        AS_LINUX,
        stacks.column(*real.values()),
        "plain on Linux (simulated), Mbit/s",
    )
    return Findings(checks, [Section(heading, text, [Table("Gains", header, rows, numbers=range(2, 6))])])


def _throughputs(answers: Mapping[Any, Any], how: str, where: str, one: Setting) -> FloatArray:
    """Mbit/s of a setting's connections, by network."""
    first = TOGETHER * SETTINGS.index(one)
    runs = [answers[how, where, number] for number in range(BATCHES)]
    rows = [each.answer if isinstance(each, Emulated) else each for each in runs]
    return np.array([run.goodput_mbps for row in rows for run in row[first : first + TOGETHER]])


def _gains(answers: Mapping[Any, Any], where: str, one: Setting) -> FloatArray:
    """By network, over the mean of the plain connections: what one gets in a run of its own may be next to nothing."""
    return over_mean(*(_throughputs(answers, how, where, one) for how in ("steered", "plain")))


def _steered_claims(gained: Mapping[tuple[str, Setting], FloatArray]) -> Iterator[Claim]:
    linux, simulated = ({one: gained[where, one] for one in SETTINGS} for where in (LINUX, AS_LINUX))
    yield from named(stacks.by_one_instrument(_published(linux), _published(simulated)), LINUX)
    for one in SETTINGS:
        apart = mean_interval(linux[one] - simulated[one])
        expected = float(simulated[one].mean())
        low, high = (None if end is None else expected + end for end in (apart.low, apart.high))
        yield equal(
            "fig10-linux" if one is LIGHT else "fig9-linux",
            f"gain of Reno on Linux, {one.label}",
            expected,
            Interval(expected + apart.mean, low, high, 1),
            within=PAPER.within("stacks"),
            basis="theory",
            note=f"less the simulator's, network by network: {signed(apart, '%')}",
        )


def _published(gains: Mapping[Setting, FloatArray]) -> list[Claim]:
    """The source's claims, of gains by network."""
    mean = np.mean([gains[one] for one in (SHORT, MIDDLE, LONG)], axis=0)
    heavier = gains[SHORT] - PAPER["tail_ratio"] * gains[LIGHT]
    name = f"gain of Reno at {LONG.rtt_ms} ms less that at {SHORT.rtt_ms} ms"
    by_tail = f"gain of Reno at α = {SHORT.tail_index:g} less twice that at {LIGHT.tail_index:g}"
    return [
        claim("fig9", "gain of Reno, mean over RTTs", 1, mean, "%"),
        claim("fig9", name, 1, gains[LONG] - gains[SHORT], "%"),
        claim("fig10", by_tail, 1, heavier, "%"),
    ]


PARTS = (
    Part("plain connections on real stacks", plain_cases, plain_findings, emulates=True),
    Part("steered connections on real stacks", steered_cases, steered_findings, emulates=True),
)
