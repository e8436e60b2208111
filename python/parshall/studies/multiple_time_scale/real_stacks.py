"""What the TCP of Linux gets of the source's background: the plain connection that gains are measured against.

Gains of TCP-MT are over the plain control in the same place (Figs 8, 9). Here is their denominator, with Linux's Reno
and CUBIC; `steered_stacks` has the gains. The network is the source's, at its own rates. The 32 clients are simulated,
with the TCP of ns-2, in one queue with the real connection: the background is that of the other parts, normalised seed
by seed. The real connection keeps the source's window limit.

A run of Linux is one run, on the background of the first seed. With a tail index of 1.05 a minute of one seed has few
losses and that of another many, at the same mean load. So Linux is held against simulations on the same background that
begin at other times within a second; the other seeds show how much backgrounds differ.

References: Park & Tuan 2000, §5.1, §5.3, Figs 8, 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parshall.report.document import Drawn, Section, Table
from parshall.runs import Run
from parshall.runs.single import Recorded
from parshall.scenario import Scenario
from parshall.studies import stacks
from parshall.studies.check import Check
from parshall.studies.multiple_time_scale import background
from parshall.studies.multiple_time_scale.background import Normalised
from parshall.studies.multiple_time_scale.measure import Measured, measured, measured_of
from parshall.studies.multiple_time_scale.network import FIRST_SEED, MEASURED, SOURCE, Connections
from parshall.studies.multiple_time_scale.network import scenario as in_network
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated

CONTROLS = ("reno", "cubic")
RTTS_MS = (30, 200)
TAIL_INDEX, LOAD_MBPS = 1.05, 5.0
"""The source's usual background."""
DURATION_S = {"quick": 66.0, "paper": 660.0}
"""A tenth is warm-up."""
SEEDS = 12
STARTS = tuple(f"{100 * tenth} ms" for tenth in range(10))
"""Of the simulated connections beside that of Linux, on its background."""
WITHIN = 0.05
"""Differences that do not matter, over the simulator's value."""
NS2 = "ns-2's TCP, simulated"
_OF_A_HOST = {"name", "rtt", "congestion_control", "start", "packet_size", "receive_window", "access_rate"}
"""Keys of the measured connection that say nothing of ns-2's TCP but its window limit."""


def scenario(
    normalised: Normalised, control: str, rtt_ms: int, duration_s: float, rules: Mapping[str, Any]
) -> Scenario:
    """A connection on a background; `rules` are its keys: whose TCP it has."""
    document = in_network(normalised.background, Connections(control, rtt_ms), duration_s).document()
    for number, group in enumerate(document["flows"]):
        if group["name"] == MEASURED:
            host = {key: value for key, value in group.items() if key in _OF_A_HOST}
            document["flows"][number] = {**host, **rules}
        else:
            document["flows"][number] = {**group, "endpoint": "simulated"}
    return Scenario.from_document(document)


def simulated(
    normalised: Normalised, control: str, rtt_ms: int, duration_s: float, rules: Mapping[str, Any] | None
) -> Measured:
    """What the simulator says; without rules the connection has the TCP of ns-2, as in the other parts."""
    if rules is None:
        return measured(in_network(normalised.background, Connections(control, rtt_ms), duration_s))
    return measured(scenario(normalised, control, rtt_ms, duration_s, rules))


def of_run(run: Run) -> Measured:
    """What an emulated run says."""
    tables = {
        "flows": run.flows,
        "links": run.links,
        "link_samples": run.link_samples,
        "flow_samples": run.flow_samples,
    }
    known = {name: table for name, table in tables.items() if table is not None}
    return measured_of(Recorded({}, known), run.scenario.resolve())


def cases(scale: Scale) -> dict[Any, Case]:
    """Of each control and RTT: seeds simulated with either TCP, and Linux on the first."""
    duration_s = DURATION_S[scale]
    found: dict[Any, Case] = {}
    loads = {
        seed: Case("its load", background.found, (TAIL_INDEX, LOAD_MBPS, seed, duration_s, SOURCE))
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS)
    }
    for control in CONTROLS:
        for rtt_ms in RTTS_MS:
            words = f"{control} at {rtt_ms} ms"
            for seed, load in loads.items():
                place = (load, control, rtt_ms, duration_s)
                found[control, rtt_ms, "linux simulated", seed] = Case(words, simulated, (*place, stacks.PROFILE))
                if control == "reno":
                    found[control, rtt_ms, NS2, seed] = Case(words, simulated, (*place, None))
            first = (loads[FIRST_SEED], control, rtt_ms, duration_s)
            for start in STARTS:
                rules = {**stacks.PROFILE, "start": start}
                found[control, rtt_ms, "same background", start] = Case(words, simulated, (*first, rules))
            real = Case(words, scenario, (*first, dict[str, Any]()))
            found[control, rtt_ms, "linux"] = emulated(f"{words}, Linux", real, of_run)
    return found


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """Each control and RTT: ns-2's TCP, the simulator's TCP of Linux, and Linux."""
    checks: list[Check] = []
    rows, remarks = [], []
    for control in CONTROLS:
        for rtt_ms in RTTS_MS:
            name = f"{control} at {rtt_ms} ms"
            beside = [answers[control, rtt_ms, "same background", start] for start in STARTS]
            linux: Emulated = answers[control, rtt_ms, "linux"]
            if control == "reno":
                rows.append(_row(name, NS2, _seeds(answers, control, rtt_ms, NS2)))
            seeds = _seeds(answers, control, rtt_ms, "linux simulated")
            rows.append(_row(name, "simulated as in Linux, all seeds", seeds))
            rows.append(_row(name, "simulated as in Linux, its background", beside))
            rows.append(_row(name, stacks.column(linux), [linux.answer]))
            remarks += stacks.remarks([(name, linux)])
            if stacks.believed(linux):
                quantity = f"{name} on Linux: goodput, Mbit/s"
                checks.append(
                    stacks.attribute_beside_simulated(
                        "fig9-linux", quantity, linux, "goodput_mbps", beside, share=WITHIN
                    )
                )
    text = (
        "One endless connection of Linux beside the 32 simulated clients of the source (tail index 1.05, normalised to "
        "5 Mbit/s), at the source's own rates, with its buffer of 16 packets and its window limit of 32. This is "
        "the plain connection, over which gains are taken.",
        *remarks,
    )
    header = (
        "connection",
        "where",
        "goodput, Mbit/s",
        "clients, Mbit/s",
        "loss rate",
        "queueing delay, ms",
        "tracking",
    )
    table = Table("Plain connections", header, rows, numbers=range(2, 7))
    return Findings(checks, [Section("Plain connections on real stacks", text, [table], list[Drawn]())])


def _seeds(answers: Mapping[Any, Any], control: str, rtt_ms: int, where: str) -> list[Measured]:
    return [answers[control, rtt_ms, where, seed] for seed in range(FIRST_SEED, FIRST_SEED + SEEDS)]


def _row(name: str, where: str, runs: list[Measured]) -> tuple[str, ...]:
    keys = ("goodput_mbps", "background_mbps", "loss_rate", "queueing_delay_ms", "tracking")
    known = ([value for each in runs if (value := getattr(each, key)) is not None] for key in keys)
    return (name, where, *(stacks.cell(each, 3, 2) for each in known))


PART = Part("plain connections on real stacks", cases, findings, emulates=True)
