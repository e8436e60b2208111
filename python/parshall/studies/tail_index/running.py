"""How the study's scenarios are run: side by side in memory, or as sweeps of a campaign.

A sweep keeps every finished run in a store, so that a study that was interrupted or killed goes on where it was, and
does its runs on all cores or on a cluster (`parshall.campaign`). Runs are the same either way. At ``paper`` scale it
is always a sweep; without `Execution.store` its store is in the user's cache.

Scenarios that are asked for together are one sweep, in which whatever differs between them (the flows, the queue, the
seed) varies together; only another number of repetitions makes another sweep.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from parshall.campaign import Plan, Store, Sweep, sweep
from parshall.campaign.snapshot import Snapshot, reading
from parshall.records import about
from parshall.report.numbers import counted
from parshall.runs import run as simulate
from parshall.runs.single import is_sampled, recorded
from parshall.scenario import Scenario
from parshall.studies import keeping
from parshall.studies.running import Execution
from parshall.studies.study import Progress, Scale

T = TypeVar("T")
_CALIBRATION_S = 6.0
_TABLES = ("links", "flows", "transfers", "link_samples", "flow_samples")


@dataclass(frozen=True)
class Tables:
    """What a scenario's repetitions recorded; each table has the column ``repetition``."""

    warm_up_s: float
    links: pl.DataFrame
    flows: pl.DataFrame
    transfers: pl.DataFrame
    link_samples: pl.DataFrame
    flow_samples: pl.DataFrame


@dataclass(frozen=True)
class Runner:
    """Runs scenarios, and measures what they recorded.

    Parameters
    ----------
    execution
        In which store, and by whom; without a store in this process.
    progress
        Told what is being done.
    """

    execution: Execution
    progress: Progress

    @classmethod
    def for_scale(cls, scale: Scale, execution: Execution, progress: Progress) -> Runner:
        """At ``paper`` scale, or with more workers than one, there is a store."""
        store = execution.store
        if store is None and (scale == "paper" or execution.workers or execution.scheduler):
            store = keeping.folder("tail_index") / "store"
        return cls(Execution(store, execution.workers, execution.scheduler), progress)

    @property
    def workers(self) -> int:
        """Runs at a time; of a cluster it is not known."""
        return self.execution.workers or about.cores()

    def measured(self, what: str, scenarios: Sequence[Scenario], measure: Callable[[Tables], T]) -> list[T]:
        """What `measure` finds in each scenario's tables, in their order.

        Raises
        ------
        SimulationError
            A run failed.
        ParshallError
            As `parshall.campaign.sweep`.
        """
        if self.execution.store is None:
            return self._in_memory(what, scenarios, measure)
        store = Store(self.execution.store, create=True)
        groups: dict[int, dict[str, Scenario]] = {}
        for scenario in scenarios:
            groups.setdefault(scenario.repetitions, {})[_key(scenario)] = scenario
        answers: dict[str, T] = {}
        for number, members in enumerate(groups.values(), 1):
            self.progress(f"{what} ({number}/{len(groups)}): {counted(len(members), 'point')}")
            made = self._swept(what, store, list(members.values()))
            warm_ups = [_warm_up_s(scenario) for scenario in members.values()]
            answers |= dict(zip(members, _each(made, warm_ups, measure), strict=True))
        return [answers[_key(scenario)] for scenario in scenarios]

    def _in_memory(self, what: str, scenarios: Sequence[Scenario], measure: Callable[[Tables], T]) -> list[T]:
        """Scenarios side by side, each in a thread that holds no GIL while it is simulated."""
        found = []
        with ThreadPoolExecutor(self.workers, thread_name_prefix="scenario") as pool:
            for number, each in enumerate(pool.map(lambda scenario: measure(_simulated(scenario)), scenarios), 1):
                self.progress(f"{what} ({number}/{len(scenarios)})")
                found.append(each)
        return found

    def _swept(self, what: str, store: Store, scenarios: Sequence[Scenario]) -> Sweep:
        plan = plan_of(what, scenarios)
        made = sweep(plan, store, workers=self.execution.workers, scheduler=self.execution.scheduler)
        return made.without_failures(what)


def plan_of(what: str, scenarios: Sequence[Scenario]) -> Plan:
    """The sweep over scenarios: what differs between them varies together; its name says what they are."""
    documents = [scenario.document() for scenario in scenarios]
    digest = hashlib.sha256(json.dumps(documents, sort_keys=True).encode()).hexdigest()[:8]
    slug = "".join(letter if letter.isalnum() else "-" for letter in what).strip("-")
    varied = [key for key in documents[0] if any(each[key] != documents[0][key] for each in documents)] or ["flows"]
    return Plan(
        name=f"tail_index-{slug}-{digest}",
        scenario=documents[0],
        zip=[{key: {"values": [each[key] for each in documents], "name": f"varied_{key}"} for key in varied}],
        repetitions=scenarios[0].repetitions,
    )


def cost(scenarios: Sequence[Scenario], runner: Runner) -> str:
    """What scenarios will take, by a few seconds of the first and the last of them: one sentence.

    Packets are those that a full bottleneck forwards: an upper bound of what is sent.
    """
    rates = []
    for scenario in {_key(each): each for each in (scenarios[0], scenarios[-1])}.values():
        document = {**scenario.document(), "repetitions": 1, "duration": f"{_CALIBRATION_S} s", "warm_up": "0 s"}
        summary = simulate(Scenario.from_document(document), workers=1).metadata["summary"]
        rates.append((summary["packets_forwarded"] + summary["packets_dropped"]) / summary["cpu_s"])
    packets = sum(_packets(scenario) for scenario in scenarios)
    hours = packets / (sum(rates) / len(rates)) / 3600
    runs = sum(scenario.repetitions for scenario in scenarios)
    by = (
        "on the cluster"
        if runner.execution.scheduler
        else f"{hours / runner.workers:.2g} h on {counted(runner.workers, 'core')}"
    )
    return (
        f"{counted(len(scenarios), 'point')}, {counted(runs, 'run')}, up to {packets:.1e} packets: at the "
        f"{min(rates) / 1e6:.1f} to {max(rates) / 1e6:.1f} million packets a CPU-second just measured about "
        f"{hours:.2g} CPU-hours, {by}, less what {runner.execution.store} has already"
    )


def _packets(scenario: Scenario) -> float:
    resolved = scenario.resolve()
    bits = sum(link["rate"]["constant"] for link in resolved["links"][:1])
    return float(bits / 12_000 * resolved["duration_ps"] / 1e12 * scenario.repetitions)


def _simulated(scenario: Scenario) -> Tables:
    resolved = scenario.resolve()
    names = [name for name in _TABLES if name not in resolved["probes"] or is_sampled(resolved, name)]
    made = [
        recorded(resolved, *names, repetition=repetition, source=scenario.source).tables
        for repetition in range(scenario.repetitions)
    ]
    return Tables(
        _warm_up_s(scenario),
        *(pl.concat([each[name] for each in made]) if name in names else pl.DataFrame() for name in _TABLES),
    )


def _warm_up_s(scenario: Scenario) -> float:
    return float(scenario.resolve()["warm_up_ps"]) / 1e12


def _each(made: Sweep, warm_ups: Sequence[float], measure: Callable[[Tables], T]) -> list[T]:
    """What is found at each point of a sweep; one point's tables are in memory at a time."""

    def action(snapshot: Snapshot) -> list[T]:
        points = zip(made.record.points, warm_ups, strict=True)
        return [measure(Tables(warm_up_s, *_read(snapshot, point.runs))) for point, warm_up_s in points]

    return reading(made.store, action)


def _read(snapshot: Snapshot, runs: Sequence[str]) -> list[pl.DataFrame]:
    """The tables of a point's runs, which are its repetitions in order."""
    return [_table(snapshot, name, runs) for name in _TABLES]


def _table(snapshot: Snapshot, name: str, runs: Sequence[str]) -> pl.DataFrame:
    parts = []
    for repetition, run in enumerate(runs):
        directory = snapshot.directories.get(run)
        if directory is not None:
            path = directory / f"{name}.parquet"
            part = pl.read_parquet(path) if path.exists() else None
        else:
            files = snapshot.files(name)
            part = pl.scan_parquet(files).filter(pl.col("run") == run).drop("run").collect() if files else None
        if part is not None and not part.is_empty():
            parts.append(part.with_columns(repetition=pl.lit(repetition, dtype=pl.UInt32)))
    return pl.concat(parts, how="vertical") if parts else pl.DataFrame()


def _key(scenario: Scenario) -> str:
    return json.dumps(scenario.document(), sort_keys=True)
