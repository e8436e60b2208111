"""What the benchmark runs: each case as a sweep in a store, and what came of it.

A case (an application in a class) is one sweep. Its points: every control alone; every control beside each rival
(Reno, CUBIC); and what the rivals have among themselves, the reference for harm. All points share their random
numbers, repetition by repetition, so differences are paired. What the store has is not done again; an interrupted
benchmark goes on.

The instrument is the simulator, or an emulation with the TCP of Linux in real time (docs/emulation.md). There runs take
turns, and one that cannot be believed is done once more; what stays invalid fails, and is tried again by the same
command.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl

from parshall.analysis.stats.verdict import AT_LEAST
from parshall.campaign import Execution, Plan, Store, sweep
from parshall.campaign.result import Sweep
from parshall.foundations import notebook
from parshall.foundations.errors import InputError, SimulationError
from parshall.foundations.has_figures import HasFigures
from parshall.results.quantities import harm as fairness
from parshall.scenario.controls import declare
from parshall_studies.benchmark.building import Case
from parshall_studies.benchmark.measures import Tables, completion_times, goodput_shares, measured

Instrument = Literal["simulate", "emulate"]
RIVALS = ("reno", "cubic")
"""Whose completion time beside a control is measured: the usual TCPs (RFC 9743)."""


@dataclass(frozen=True)
class Entry:
    """A point of a case: a control alone, or beside a rival."""

    control: str
    beside: str | None = None


@dataclass(frozen=True)
class CaseResult:
    """What a case gave.

    Parameters
    ----------
    alone
        One row a control and repetition: `control`, `repetition`, the metrics.
    harm
        One row a control, rival and repetition: `parshall.results.quantities.harm`.
    files
        One row a timed file of controls alone.
    shares
        By control: how often the goodput is k % of C_a; empty where sources idle.
    """

    case: Case
    alone: pl.DataFrame
    harm: pl.DataFrame
    files: pl.DataFrame
    shares: dict[str, list[float]]


@dataclass(frozen=True)
class Result(HasFigures, page="parshall_studies.benchmark.page:page"):
    """What the benchmark gave: every case, for these controls."""

    controls: tuple[str, ...]
    cases: tuple[CaseResult, ...]
    scale: str
    repetitions: int
    wall_s: float = 0.0
    at_least: float = AT_LEAST
    """Share of a value below which a difference does not matter."""
    instrument: Instrument = "simulate"

    def _repr_html_(self) -> str:
        """What a notebook shows: the mean completion time of each control in each case."""
        rows = []
        for each in self.cases:
            means = dict(each.alone.group_by("control").agg(pl.col("completion_s").mean()).iter_rows())
            rows.append([each.case.name, *(means.get(control) for control in self.controls)])
        remark = f"{self.instrument}, {self.scale}, {self.repetitions} repetitions"
        shown = notebook.table(("case", *self.controls), rows, "Mean completion time of a file, s")
        return notebook.fragment("Transport benchmark", remark, shown)


def entries(case: Case, controls: Sequence[str], rivals: Sequence[str] = RIVALS) -> list[Entry]:
    """The points of a case."""
    made = [Entry(control) for control in controls]
    for rival in rivals:
        made.append(reference(case, rival))
        made += [Entry(control, rival) for control in controls if control != rival]
    return list(dict.fromkeys(made))


def reference(case: Case, rival: str) -> Entry:
    """Where half ``b`` is the rival among its own kind."""
    return Entry(rival, rival) if case.application.pair else Entry(rival)


def plan(case: Case, points: Sequence[Entry], instrument: Instrument = "simulate") -> Plan:
    """The sweep of a case."""
    base = case.document(points[0].control, points[0].beside)
    base["name"] = f"itb-{case.name}"
    content = repr((case.scale, case.factors))
    kind = ("-linux" if case.linux else "") + ("-emulated" if instrument == "emulate" else "")
    digest = f"-{hashlib.sha256(content.encode()).hexdigest()[:8]}" if case.changes else ""
    return Plan(
        name=f"itb-{case.name}-{case.scale.name}{kind}{digest}",
        description=base["description"],
        scenario=base,
        parameters={"flows": {"values": [case.flows(each.control, each.beside) for each in points], "name": "groups"}},
        repetitions=case.scale.repetitions,
        instrument=instrument,
    )


def _swept(planned: Plan, by: Execution) -> Sweep:
    """A sweep with all that was missing, of a shard its part; what cannot be believed of an emulation is done again."""
    if by.store is None:
        raise InputError("store: found none; the benchmark keeps its runs in one")
    who = partial(sweep, workers=by.workers, scheduler=by.scheduler, shard=by.shard, at_once=by.at_once)
    do = partial(who, planned, by.store)
    made = do()
    return do() if planned.instrument == "emulate" and made.record.failed else made


def run_case(
    case: Case,
    controls: Sequence[str],
    execution: Execution,
    *,
    rivals: Sequence[str] = RIVALS,
    instrument: Instrument = "simulate",
) -> CaseResult:
    """Do what is missing of a case, and measure it.

    Raises
    ------
    SimulationError
        A run failed.
    ParshallError
        As `parshall.campaign.sweep`.
    """
    points = entries(case, controls, rivals)
    made = _swept(plan(case, points, instrument), execution).without_failures(case.name)
    tables = _tables(made)
    number = {entry: index for index, entry in enumerate(points)}
    names = pl.DataFrame(
        {"point": [number[Entry(each)] for each in controls], "control": list(controls)},
        schema={"point": pl.UInt32, "control": pl.String},
    )
    alone = names.join(measured(case, tables, "all"), on="point", how="inner", maintain_order="left").drop("point")
    second = measured(case, tables, "b").with_columns(rival_bps="file_goodput_bps")
    harm = fairness.harm(
        second,
        {
            (control, rival): (number[Entry(control, rival)], number[reference(case, rival)])
            for rival in rivals
            for control in controls
            if control != rival
        },
    )
    files = names.join(completion_times(case, tables, "all"), on="point", how="inner", maintain_order="left")
    shares = {}
    if not case.application.idles:
        goodputs = goodput_shares(case, tables, "all")
        shares = {
            control: goodputs[number[Entry(control)]].tolist()
            for control in controls
            if number[Entry(control)] in goodputs
        }
    return CaseResult(case, alone, harm, files.drop("point"), shares)


def run(
    cases: Sequence[Case],
    controls: Sequence[str],
    execution: Execution | str | Path | Store,
    *,
    rivals: Sequence[str] = RIVALS,
    progress: Callable[[str], None] = lambda _: None,
    instrument: Instrument = "simulate",
    own: Mapping[str, Any] | Iterable[str] = (),
) -> Result:
    """Do what is missing of all cases, and measure them.

    Parameters
    ----------
    execution
        Who does the runs, and where they are kept; a store alone: as many processes as there are cores.
    own
        What makes those of `controls` that are your own, as `controls` of `parshall.sweep`.

    Raises
    ------
    InputError
        It is a shard, of which nothing can be said alone (`run_shard`).
    SimulationError
        A run failed.
    ParshallError
        As `parshall.campaign.sweep`.
    """
    import time  # noqa: PLC0415 - only the wall time

    by = execution if isinstance(execution, Execution) else Execution(execution)
    if by.shard is not None:
        raise InputError(f"shard {by.shard}: found beside a result; all shards together have one")
    declare(own)
    began = time.monotonic()
    results = []
    for index, case in enumerate(cases, 1):
        progress(f"{case.name} ({index}/{len(cases)})")
        results.append(run_case(case, controls, by, rivals=rivals, instrument=instrument))
    scale = cases[0].scale
    wall_s = time.monotonic() - began
    return Result(tuple(controls), tuple(results), scale.name, scale.repetitions, wall_s, instrument=instrument)


def run_shard(
    cases: Sequence[Case],
    controls: Sequence[str],
    execution: Execution,
    *,
    progress: Callable[[str], None] = lambda _: None,
    instrument: Instrument = "simulate",
    own: Mapping[str, Any] | Iterable[str] = (),
) -> None:
    """Do the part of all cases that is the shard's; when all are done, `run` with the same store collects them.

    Parameters
    ----------
    own
        As of `run`.

    Raises
    ------
    SimulationError
        A run failed.
    ParshallError
        As `parshall.campaign.sweep`.
    """
    declare(own)
    for index, case in enumerate(cases, 1):
        progress(f"{case.name} ({index}/{len(cases)})")
        _swept(plan(case, entries(case, controls), instrument), execution).without_failures(case.name)


def _tables(made: Sweep) -> Tables:
    tables = {name: made.table(name) for name in ("flows", "links", "transfers", "flow_samples")}
    missing = [name for name, table in tables.items() if table is None]
    if missing:
        raise SimulationError(f"{made.name}: the runs have no table {missing[0]}")
    return Tables(**tables)  # type: ignore[arg-type]
