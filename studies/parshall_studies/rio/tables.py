"""Tables 1 to 3: the analytic columns by the model, the simulation columns simulated, and other formulas beside.

T and T_in are the loads offered to the router; q is the number in the system. A simulated value counts as the source's
where it is nearer to the source's simulation than the source's own model is, which is the null.

References: Malouch & Liu, INRIA RR-4469, 2002, §4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim, Null, Tolerance
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly
from parshall.instruments.simulation import Run
from parshall.report.document import Section, Table
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall_studies import stacks
from parshall_studies.diffserv import (
    PRINTED,
    REFINED,
    TABLES,
    FixedPoint,
    Formulas,
    Sessions,
    fixed_point,
    router_state,
)
from parshall_studies.on_linux import Compared
from parshall_studies.rio.setting import (
    BURST_PACKETS,
    PACKET_BYTES,
    PAPER,
    RESERVED_PER_S,
    ROUTERS,
    RTTS_S,
    Setting,
    router_of,
    scenario,
)

UNITS = {"T": ", packets/s", "T_in": ", packets/s", "p_in": "", "p_out": "", "q": ", packets"}
"""The rows of the tables, with their units."""
REACHED = f"sessions that get {RESERVED_PER_S:g} packets/s"
FORMULAS: Mapping[str, Formulas] = {"the source's formulas": TABLES, "random losses and SACK": REFINED}
ONE_DIGIT = ("table2", "p_in")
"""The value that is printed with one digit."""


@dataclass(frozen=True)
class Measured:
    """Runs of one router: each row of the tables, a value a run, and what each session got.

    Parameters
    ----------
    session_per_s
        Packets/s that reached each session's receiver, shape (runs, sessions).
    """

    values: Mapping[str, FloatArray]
    session_per_s: FloatArray

    def interval(self, name: str) -> Interval:
        """A row's mean with its 95 % interval."""
        return mean_interval(self.values[name])

    @property
    def reached(self) -> FloatArray:
        """In each run, how many sessions got their reservation."""
        return np.asarray(np.sum(self.session_per_s >= RESERVED_PER_S, axis=1), dtype=np.float64)


def measured(run: Run, span_s: float) -> Measured:
    """The values of runs, of the time measured."""
    links = run.links
    arrivals_in, arrivals_out = links["arrivals_in_packets"], links["arrivals_out_packets"]
    values = {
        "T": links["arrivals_packets"] / span_s,
        "T_in": arrivals_in / span_s,
        "p_in": links["dropped_in_packets"] / arrivals_in,
        "p_out": links["dropped_out_packets"] / arrivals_out,
        "q": links["mean_queue_packets"] + links["utilisation"],  # waiting, and in service
    }
    rates = run.flows.sort("repetition", "flow")["throughput_bps"].to_numpy() / (8 * PACKET_BYTES)
    return Measured({name: each.to_numpy() for name, each in values.items()}, rates.reshape(len(run.repetitions), -1))


def quantities(solution: FixedPoint) -> dict[str, float]:
    """The rows of the tables by the model."""
    loads = solution.load_per_s, solution.load_in_per_s
    fields = (*loads, solution.loss_in, solution.loss_out, solution.queue_packets)
    return {name: float(field[..., 0]) for name, field in zip(UNITS, fields, strict=True)}


def points(setting: Setting) -> dict[Any, Measurement]:
    """The routers of section 4, by table and control."""
    return {
        (table, control): Measurement(
            f"{title(table)}'s router, {control}",
            scenario(curves, setting, control=control),
            measured,
            (setting.duration_s,),
        )
        for table, curves in ROUTERS.items()
        for control in setting.controls
    }


def nothing(_: Setting) -> dict[Any, Measurement]:
    """The points of an artefact that needs no run, and is computed in a moment."""
    return {}


def title(table: str) -> str:
    """``Table 1`` for ``table1``."""
    return table.replace("table", "Table ")


# --- the analytic columns


def analytic_claims(_: Answers, setting: Setting) -> list[Claim]:
    """Each printed value beside the model's; and beside the router's equations at the loads that are printed."""
    return [claim for table in ROUTERS for claim in (*_of_model(table, setting), *_of_router(table))]


def _of_model(table: str, setting: Setting) -> Iterator[Claim]:
    printed = PAPER[f"analytic.{table}"]
    ours = quantities(setting.model.in_table(table, setting.access_delay_s))
    for name, value in printed.items():
        near = PAPER.within("model_load" if name == "T" else "model", value)
        within = near + PAPER.digits(f"analytic.{table}", name)
        note = f"{ours[name] / value - 1:+.2%}; with {1000 * setting.access_delay_s:g} ms of access delay"
        yield equal(table, f"{name} of the model", value, exactly(ours[name]), within=within, note=note)


def _of_router(table: str) -> Iterator[Claim]:
    """The equations of the router alone, to the last printed digit."""
    printed = PAPER[f"analytic.{table}"]
    state = router_state(router_of(ROUTERS[table]), printed["T_in"], printed["T"] - printed["T_in"])
    for name, value in (("p_in", state.loss_in), ("p_out", state.loss_out), ("q", state.queue_packets)):
        within = PAPER.digits(f"analytic.{table}", name)
        quantity = f"{name} of the router at the printed loads"
        yield equal(table, quantity, printed[name], exactly(float(value)), within=within)


# --- the simulation columns


def tolerance(table: str, quantity: str) -> Tolerance:
    """How near to the source's simulation a value has to be: nearer than to the source's model."""
    half = abs(PAPER[f"analytic.{table}"][quantity] - PAPER[f"simulated.{table}"][quantity]) / 2
    nearer = Tolerance(half, "half of what the source's model and simulation are apart: ours is nearer to the latter")
    return nearer + PAPER.digits(f"simulated.{table}", quantity)


def simulated_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """The printed simulation columns, and both kinds of formulas, beside what was measured of the source's control."""
    printed = [claim for table in ROUTERS for claim in _printed(table, answers[table, setting.controls[0]])]
    return printed + [
        claim for (table, control), each in answers.items() for claim in _formulas(table, control, each, setting)
    ]


def _printed(table: str, found: Measured) -> Iterator[Claim]:
    for name, published in PAPER[f"simulated.{table}"].items():
        ours = found.interval(name)
        note = f"{ours.mean / published - 1:+.1%} of the printed value"
        if (table, name) == ONE_DIGIT:
            note = f"printed to one digit; ours is {ours.mean:.1e}"
        null = Null("the source's own model", exactly(PAPER[f"analytic.{table}"][name]))
        quantity, within = f"{name} simulated{UNITS[name]}", tolerance(table, name)
        yield equal(table, quantity, published, ours, within=within, note=note, nulls=[null])


def _formulas(table: str, control: str, found: Measured, setting: Setting) -> Iterator[Claim]:
    """Formulas beside what was measured, as near as the source's formulas are to its own simulation: ours to ours."""
    for reading, formulas in FORMULAS.items():
        computed = quantities(solved(table, formulas, setting.access_delay_s))
        for name, value in computed.items():
            apart = abs(PAPER[f"analytic.{table}"][name] - PAPER[f"simulated.{table}"][name])
            within = Tolerance(apart, "as near as the source's formulas are to its own simulation")
            ours, quantity = found.interval(name), f"{control}: {name} of formulas"
            note = f"{value / ours.mean - 1:+.0%}" if ours.mean > 0 else ""
            yield equal(
                f"{table}-formulas", quantity, value, ours, within=within, basis="theory", note=note, reading=reading
            )


def solved(table: str, formulas: Formulas, access_delay_s: float) -> FixedPoint:
    """The steady state of a router of section 4 by any formulas."""
    given = Sessions(RTTS_S, RESERVED_PER_S, BURST_PACKETS, access_delay_s=access_delay_s)
    return fixed_point(given, router_of(ROUTERS[table]), formulas=formulas)


def simulated_section(answers: Answers, setting: Setting) -> Section:
    """The three tables: printed, by formulas, and measured."""
    tables, rows = [], []
    for table in ROUTERS:
        by_formulas = {name: solved(table, each, setting.access_delay_s) for name, each in FORMULAS.items()}
        by_formulas["formulas as printed"] = solved(table, PRINTED, setting.access_delay_s)
        columns = {f"printed, {kind}": _texts(PAPER[f"{kind}.{table}"]) for kind in ("analytic", "simulated")}
        for name, each in by_formulas.items():
            reached = f"{np.sum(each.session_delivered_per_s >= RESERVED_PER_S)}"
            columns[name] = _texts(quantities(each)) | {REACHED: reached}
        for control in setting.controls:
            found: Measured = answers[table, control]
            values = {**found.values, REACHED: found.reached}
            columns[f"measured, {control}"] = {name: stacks.cell(each, 5, 2) for name, each in values.items()}
            rates = found.session_per_s.mean(axis=0)
            apart = [np.mean(np.abs(each.session_delivered_per_s / rates - 1)) for each in by_formulas.values()]
            rows.append((f"{title(table)}, {control}", *(f"{each:.1%}" for each in apart)))
        names = (*UNITS, REACHED)
        cells = [(name, *(column[name] for column in columns.values())) for name in names]
        tables.append(Table(title(table), ("", *columns), cells, numbers=range(1, len(columns) + 1)))
    tables.append(Table("Mean error of a session's rate", ("", *by_formulas), rows, numbers=(1, 2, 3)))
    prose = (
        "The analytic columns come out when the transmission of a packet on both access links, 16 ms, is part of each "
        "round trip; without it T is 0.3 % and p_in 14 % too high. Two details of the printed formulas are not what "
        "was computed: the window after a timeout falls back to that of an ordinary period, which jumps; and packets "
        "sent during timeouts count in T_in. Without both, all values come within 0.2 % of the printed ones. The "
        "router is exact: at the printed loads its equations give every printed p_in, p_out and q to the last digit. "
        "What is left, up to 0.1 % of T_in where in-packets are lost, is the sessions'.",
    )
    return Section("Section 4: validation", prose, tables=tables)


def _texts(values: Mapping[str, float]) -> dict[str, str]:
    return {REACHED: ""} | {name: f"{value:.6g}" for name, value in values.items()}


def compared(_: Any) -> list[Compared]:
    """Values of a router that Linux and the simulator both have, and differences that nobody would act on."""
    shares = {"T": 0.01, "T_in": 0.01, "p_in": 0.1, "p_out": 0.1, "q": 0.05}
    return [
        Compared(f"{name}{UNITS[name]}", _mean(name), share=share, least=2e-5 if name == "p_in" else 0.0)
        for name, share in shares.items()
    ]


def _mean(name: str) -> Any:
    return lambda found: float(np.mean(found.values[name]))


ANALYTIC: Artefact[Setting] = Artefact("analytic", nothing, analytic_claims)
SIMULATED: Artefact[Setting] = Artefact("tables", points, simulated_claims, simulated_section)
