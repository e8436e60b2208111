"""Fig. 2's five hundred sources, of which as many as in Fig. 1 are real hosts of Linux among simulated ones.

No machine of ours carries five hundred hosts of Linux at the source's rate; but a simulated source and a real one meet
in the same queue, so that a few real ones find the load of five hundred. The network is that of `real_stacks`, five
times slower. All sources have the same sizes to draw from and the same TCP, Linux's own or the simulator's; so the real
ones should get the share of the link that as many simulated ones get, and the link should lose and delay as in the
simulator alone.

Unlike in the source, round trips differ: by a tenth around the source's. With equal ones the pattern of arrivals at the
full queue comes back each round trip, and what a source gets depends on the tenths of a millisecond that its host takes
for a packet: 45 simulated sources that take none got 1.7 times what those got that take up to 0.1 ms, and hosts of
Linux 1.6 times (phase effects, Floyd & Jacobson 1992).

Differences that do not matter are those of `real_stacks`. Of the share of the hosts too: with 45 of 500 sources, whose
sizes are heavy-tailed, it varies from run to run, and the interval of one more simulated run says by how much.

References: Goga, Loiseau & Gonçalves 2011, §3, Fig. 2; Floyd & Jacobson 1992, §3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from parshall.analysis.stats.claims import Claim
from parshall.instruments.emulation import kernel_name
from parshall.instruments.simulation import Run
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.scenario.schema.kernel import AMPLE_BUFFERS, ssthresh_kept
from parshall.scenario.schema.profiles import told_by
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated
from parshall_studies import stacks
from parshall_studies.tail_index.measure import METRICS, WORDS, Measured, measured
from parshall_studies.tail_index.network import HOSTS, butterfly, pareto
from parshall_studies.tail_index.real_stacks import NEGLIGIBLE, SLOWER, STARTING_S, scaled
from parshall_studies.tail_index.running import Tables, tables
from parshall_studies.tail_index.setting import FIG1

SOURCES, HOSTS_COUNT = 500, FIG1[0].sources
BUFFERS = (100, 1000)
TAIL_INDICES: Mapping[Scale, tuple[float, ...]] = {"quick": (1.5,), "paper": (1.3, 1.5, 4.0)}
RUNS = 8
"""Runs of the simulator of each point."""
MEASURED_S = {"quick": 6.0, "paper": 360.0}
"""In the source's network."""
SYSCTLS = {**ssthresh_kept(kept=False), **AMPLE_BUFFERS}
"""Fig. 2 is with slow start."""
RTTS_MS = (9, 11)
"""Round trips are drawn between these in the source's network, which has 10 ms."""


@dataclass(frozen=True)
class Point:
    """A buffer, packets, and a tail index."""

    buffer: int
    tail_index: float
    scale: Scale

    @property
    def label(self) -> str:
        """For people."""
        return f"N = {SOURCES}, B = {self.buffer}, tail index {self.tail_index:g}"

    @property
    def warm_up_s(self) -> float:
        """The part of a run that is not measured."""
        return STARTING_S * SLOWER

    def scenario(self, seed: int) -> Scenario:
        """A run of it, of the same random numbers whether the hosts are simulated or real."""
        # What hosts are told holds for simulated sources too, which have no `kernel`.
        buffers = told_by(SYSCTLS)
        rtts = {"uniform": [f"{rtt_ms * SLOWER:g} ms" for rtt_ms in RTTS_MS]}
        return butterfly(
            SOURCES,
            self.buffer,
            pareto(self.tail_index),
            flow={**stacks.PROFILE, **buffers, "rtt": rtts, "kernel": {"sysctls": SYSCTLS}},
            duration_s=(STARTING_S + MEASURED_S[self.scale]) * SLOWER,
            warm_up_s=self.warm_up_s,
            repetitions=1,
            seed=seed,
            slower=SLOWER,
            hosts=HOSTS_COUNT,
        )


@dataclass(frozen=True)
class Mixed:
    """What a run comes to, and the hosts' part of what all sources send, over their part of the sources."""

    point: Measured
    share: float


def simulated(point: Point, seed: int) -> Mixed:
    """A run of the simulator alone."""
    return _mixed(tables(point.scenario(seed)))


def of_run(run: Run, warm_up_s: float) -> Mixed:
    """What a run with real hosts comes to."""
    transfers = pl.DataFrame() if run.transfers is None else run.transfers
    return _mixed(Tables(warm_up_s, run.links, run.flows, transfers, pl.DataFrame(), pl.DataFrame()))


def _mixed(of: Tables) -> Mixed:
    sent = dict(of.flows.group_by("group").agg(pl.col("throughput_bps").sum()).iter_rows())
    share = sent[HOSTS] / (sent[HOSTS] + sent["sources"])
    return Mixed(measured(of), share * SOURCES / HOSTS_COUNT)


def points(scale: Scale) -> list[Point]:
    """All of them."""
    return [Point(buffer, alpha, scale) for buffer in BUFFERS for alpha in TAIL_INDICES[scale]]


def cases(scale: Scale) -> dict[Any, Case]:
    """Each point simulated some times, and once with real hosts."""
    declared: dict[Any, Case] = {}
    for point in points(scale):
        for seed in range(1, RUNS + 1):
            declared[point, seed] = Case(f"{point.label}, simulated", simulated, (point, seed))
        label = f"{point.label}, {HOSTS_COUNT} of them Linux"
        declared[point, "linux"] = emulated(label, point.scenario(1), of_run, point.warm_up_s)
    return declared


def findings(answers: Mapping[Any, Any], scale: Scale) -> Findings:
    """The link and the hosts' share, beside the simulator's."""
    checks: list[Claim] = []
    rows, remarks = [], []
    for point in points(scale):
        linux: Emulated = answers[point, "linux"]
        runs: list[Mixed] = [answers[point, seed] for seed in range(1, RUNS + 1)]
        remarks += stacks.remarks([(point.label, linux)])
        for where, of in (("simulated", runs), (stacks.column(linux), [linux.answer])):
            rows.append((point.label, where, *(stacks.cell(each, 3, 1) for each in _values(of).values())))
        if stacks.usable(linux):
            checks += _checks(point, linux, runs)
    text = (
        f"The network of Fig. 2, {SLOWER} times slower, with {HOSTS_COUNT} hosts of {kernel_name()} among "
        f"{SOURCES - HOSTS_COUNT} simulated sources in the same queue; beside them {RUNS} runs in which all are "
        "simulated. Values as in the source's network. The share is what a host gets over what a source gets. RTTs are "
        f"drawn from {RTTS_MS[0]} to {RTTS_MS[1]} ms, where the source has 10 ms for all: with equal ones, tenths of a "
        "millisecond that a host takes for a packet would decide what it gets.",
        *remarks,
    )
    header = ("point", "45 of the sources", *(WORDS[metric] for metric in METRICS), "a host's share")
    return Findings(checks, [Section(HEADING, text, [Table("Hosts among sources", header, rows)])])


HEADING = "Real hosts among simulated sources"


def _values(of: Sequence[Mixed]) -> dict[str, list[float]]:
    """By metric, a value a run, as in the source's network."""
    by_metric = {metric: [float(scaled(each.point, metric, SLOWER)[0]) for each in of] for metric in METRICS}
    return {**by_metric, "share": [each.share for each in of]}


def _checks(point: Point, linux: Emulated, runs: Sequence[Mixed]) -> Iterator[Claim]:
    ours, expected = _values([linux.answer]), _values(runs)
    labels = {**WORDS, "share": "a host's share"}
    for name, (value,) in ours.items():
        yield stacks.beside_simulated(
            "fig2-linux",
            f"{labels[name]} with {HOSTS_COUNT} hosts of Linux, {point.label}",
            linux,
            value,
            expected[name],
            share=NEGLIGIBLE.get(name, 0.05),
        )


PART = Part("real hosts among simulated sources", cases, findings, emulates=True)
