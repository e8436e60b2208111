"""Tables 1 to 3 with the TCP of Linux at the edge: which of the formulas hold for it.

The network is the source's, at its own rates: 48 Mbit/s are little for an emulation, so nothing is scaled. The RIO
queue, the token buckets and the access links are the simulator's, the hundred senders and receivers are Linux's own.
These have no window limit of 20 packets, as ns-2's had, but SACK, delayed ACKs and an initial window of ten packets.

The source's formulas were made for ns-2's Reno. They are held against Linux with the difference that they had there as
the tolerance: a formula *holds* where it is as near to Linux as it was to the source's own simulation. A run of Linux
is one run: its interval is as wide as that in which one more run of the simulator falls. None of this says anything
about what the source published, so these are checks against our computation of its formulas.

References: Malouch & Liu, INRIA RR-4469, 2002, Tables 1 to 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim, Tolerance
from parshall.analysis.stats.confidence import Interval, prediction_interval
from parshall.instruments.simulation import Run
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated
from parshall.studies.study import simulated as case_of
from parshall_studies import stacks
from parshall_studies.diffserv import REFINED, TABLES, FixedPoint, Formulas, fixed_point
from parshall_studies.rio import network, simulated
from parshall_studies.rio.analytic import TABLE_ACCESS_DELAY_S, quantities, router, sessions
from parshall_studies.rio.network import PAPER, Parameters
from parshall_studies.rio.simulated import NAMES, RESERVED_PER_S, ROUTERS, SIZES, Measured, session_rates

CONTROLS = ("reno", "cubic")
WARM_UP_S = 15.0
DURATION_S = {"quick": 50.0, "paper": 600.0}
"""Time measured, of Linux and of each simulated run beside it."""
RUNS = 8
"""Runs of the simulator that say in which interval one more of them falls."""
FORMULAS: Mapping[str, Formulas] = {"the source's formulas": TABLES, "random losses and SACK": REFINED}
NEGLIGIBLE = {"T": 0.01, "T_in": 0.01, "p_in": 0.1, "p_out": 0.1, "q": 0.05}
"""Differences between Linux and the simulator that do not matter, over the simulator's value."""
RARE = 3.0
"""So many losses in a run are as good as none: of a mean of 0 to 1 losses, 95 % of runs have no more."""
REACHED = f"sessions that get {RESERVED_PER_S:g} packets/s"
_OF_A_HOST = {"name", "count", "rtt", "access_rate", "marker", "start", "packet_size"}
"""Keys of the source's sessions that say nothing of ns-2's TCP."""


@dataclass(frozen=True)
class Summary:
    """Runs of one router: each quantity of `NAMES`, a value a run, and packets/s delivered to each session on average.

    Parameters
    ----------
    reached
        In each run, how many sessions got their reservation.
    """

    values: Mapping[str, FloatArray]
    session_per_s: FloatArray
    reached: FloatArray


def scenario(table: str, control: str, scale: Scale, runs: int, rules: Mapping[str, Any]) -> Scenario:
    """A router of the source with other TCPs: of Linux, or as `rules` say."""
    whole = network.scenario(
        Parameters(ROUTERS[table]), duration_s=DURATION_S[scale], warm_up_s=WARM_UP_S, repetitions=runs
    ).document()
    (group,) = whole["flows"]
    host = {key: value for key, value in group.items() if key in _OF_A_HOST}
    return Scenario.from_document({**whole, "flows": [{**host, "congestion_control": control, **rules}]})


def summary(run: Run, span_s: float) -> Summary:
    """What is compared of runs."""
    rates = run.flows["throughput_bps"].to_numpy().reshape(len(run.repetitions), -1) / (8 * network.PACKET_BYTES)
    return Summary(
        simulated.quantities(run, span_s),
        np.array([each.mean for each in session_rates(run)]),
        (rates >= RESERVED_PER_S).sum(axis=1).astype(np.float64),
    )


def cases(scale: Scale) -> dict[Any, Case]:
    """Of each router: ns-2's TCP, and of each control the simulator's TCP of Linux, and Linux."""
    declared: dict[Any, Case] = {}
    span_s = DURATION_S[scale]
    for table, curves in ROUTERS.items():
        declared[table, "ns-2"] = simulated.router(Parameters(curves), SIZES[scale], label=f"{table}'s router")
        for control in CONTROLS:
            label = f"{table}'s router, {control}"
            beside = scenario(table, control, scale, RUNS, stacks.PROFILE)
            declared[table, control, "simulated"] = case_of(f"{label} as in Linux", beside, summary, span_s)
            linux = scenario(table, control, scale, 1, {})
            declared[table, control, "linux"] = emulated(f"{label}, Linux", linux, summary, span_s)
    return declared


def findings(answers: Mapping[Any, Any], scale: Scale) -> Findings:
    """Published, by formulas, simulated and on Linux."""
    checks: list[Claim] = []
    tables, remarks = [], []
    holding: dict[tuple[str, str], list[str]] = {}
    for table in ROUTERS:
        formulas = {name: _solved(table, each) for name, each in FORMULAS.items()}
        columns = _published_columns(table, answers[table, "ns-2"], formulas)
        for control in CONTROLS:
            beside: Summary = answers[table, control, "simulated"]
            linux: Emulated = answers[table, control, "linux"]
            columns[f"{control}, simulated as in Linux"] = _column(beside)
            columns[f"{control}, {stacks.column(linux)}"] = _column(linux.answer)
            remarks += stacks.remarks([(f"{_title(table)}, {control}", linux)])
            if not stacks.usable(linux):
                continue
            checks += _between(table, control, beside, linux, DURATION_S[scale])
            for name, solved in formulas.items():
                made = _by_formula(table, control, quantities(solved), beside, linux, reading=name)
                checks += made
                kept = [each for each in made if each.outcome == "holds"]
                holding.setdefault((control, name), []).append(f"{len(kept)} of {len(made)}")
        rows = [(name, *(column[name] for column in columns.values())) for name in (*NAMES, REACHED)]
        tables.append(Table(_title(table), ("", *columns), rows, numbers=range(1, len(columns) + 1)))
    tables.append(_sessions(answers))
    held = "; ".join(
        f"{control}, {name}: {', '.join(counts)} values of Tables 1 to 3" for (control, name), counts in holding.items()
    )
    text = (
        "The source's routers, access links and token buckets with the TCP of Linux at both ends of the hundred "
        "sessions, at the source's own rates. The first two columns are printed; beside them are both kinds of "
        "formulas, our simulation with ns-2's TCP, and of each control the simulator's TCP of Linux and Linux.",
        "A formula holds where it is as near to Linux as the source's formulas were to the source's simulation. "
        f"These hold: {held}.",
        *remarks,
    )
    return Findings(checks, [Section("On real stacks", text, tables)])


def _solved(table: str, formulas: Formulas) -> FixedPoint:
    return fixed_point(sessions(access_delay_s=TABLE_ACCESS_DELAY_S), router(ROUTERS[table]), formulas=formulas)


def _title(table: str) -> str:
    return table.replace("table", "Table ")


def _published_columns(table: str, ours: Measured, formulas: Mapping[str, FixedPoint]) -> dict[str, dict[str, str]]:
    """What is printed, what formulas say, and ns-2's TCP simulated."""
    columns = {f"printed, {kind}": _shown(PAPER[f"{kind}.{table}"]) for kind in ("analytic", "simulated")}
    for name, solved in formulas.items():
        reached = np.sum(solved.session_delivered_per_s >= RESERVED_PER_S)
        columns[name] = _shown(quantities(solved)) | {REACHED: f"{reached}"}
    return columns | {"simulated, ns-2's TCP": _shown({name: each.mean for name, each in ours.intervals.items()})}


def _shown(values: Mapping[str, float]) -> dict[str, str]:
    return {REACHED: ""} | {name: f"{value:.4g}" for name, value in values.items()}


def _column(of: Summary) -> dict[str, str]:
    return {name: stacks.cell(values, 4, 2) for name, values in {**of.values, REACHED: of.reached}.items()}


def _between(table: str, control: str, beside: Summary, linux: Emulated, span_s: float) -> list[Claim]:
    """Linux beside the simulator's TCP of Linux."""
    rare = RARE / (float(linux.answer.values["T_in"][0]) * span_s)
    return [
        stacks.beside_simulated(
            f"{table}-linux",
            f"{control} on Linux: {name}",
            linux,
            float(linux.answer.values[name][0]),
            beside.values[name].tolist(),
            least=rare if name == "p_in" else 0.0,
            share=NEGLIGIBLE[name],
        )
        for name in NAMES
    ]


def _by_formula(
    table: str, control: str, computed: Mapping[str, float], beside: Summary, linux: Emulated, *, reading: str
) -> list[Claim]:
    """Linux beside formulas, as near as the source's formulas were to its simulation."""
    checks = []
    for name in NAMES:
        apart = abs(PAPER[f"analytic.{table}"][name] - PAPER[f"simulated.{table}"][name])
        half = prediction_interval(beside.values[name]).half_width or 0.0
        ours = float(linux.answer.values[name][0])
        checks.append(
            equal(
                f"{table}-formulas",
                f"{control} on Linux: {name}",
                computed[name],
                Interval(ours, ours - half, ours + half, 1),
                within=Tolerance(apart, "as near as the source's formulas are to its own simulation"),
                basis="theory",
                note=f"{computed[name] / ours - 1:+.0%}; {linux.validity.level}" if ours > 0 else linux.validity.level,
                reading=reading,
            )
        )
    return checks


def _sessions(answers: Mapping[Any, Any]) -> Table:
    """How far formulas are from what each session gets of Linux."""
    rows = []
    for table in ROUTERS:
        for control in CONTROLS:
            linux: Summary = answers[table, control, "linux"].answer
            beside: Summary = answers[table, control, "simulated"]
            errors = [
                _solved(table, each).session_delivered_per_s / linux.session_per_s - 1 for each in FORMULAS.values()
            ]
            errors.append(beside.session_per_s / linux.session_per_s - 1)
            rows.append((f"{_title(table)}, {control}", *(f"{np.mean(np.abs(each)):.1%}" for each in errors)))
    header = ("sessions on Linux", *FORMULAS, "simulated as in Linux")
    return Table("Mean error of a session's rate", header, rows, numbers=(1, 2, 3))


PART = Part("on real stacks", cases, findings, emulates=True)
