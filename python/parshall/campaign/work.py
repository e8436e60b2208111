"""Doing one call in this process, wherever that is: on this machine, or a worker of a cluster.

A run is written to ``partial/`` of the store and renamed when it is complete. A worker that does not see the store
writes to a directory of its own and sends the files.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from parshall.analysis.stats.estimates import Series
from parshall.campaign.call import Call, CallError, Failed, Outcome, Repetition, Returned, Written
from parshall.campaign.store import FORMAT, RUN_FILE, Store, name_of
from parshall.foundations.errors import ClusterError, EmulationError, ParshallError
from parshall.foundations.files import digest
from parshall.instruments.simulation.memory import most_flows
from parshall.instruments.simulation.single import Monitor, simulate
from parshall.results.records import about
from parshall.results.records.storage import storage_error
from parshall.scenario.controls import declare_sent


def execute(call: Call, watched: Callable[[Monitor], None] = lambda _: None) -> Outcome:
    """Do a call, and publish it if it is a run; what goes wrong is part of the outcome.

    Parameters
    ----------
    watched
        Given the monitor of a run.
    """
    try:
        if (code := call.does.code()) != call.code:
            text = f"a worker on {about.host_name()} runs Parshall {code}, this is {call.code}"
            raise ClusterError(f"{text}; install the same one there")
        declare_sent(call.controls)
        if isinstance(call.does, Repetition):
            return _run(call, call.does, watched)
        with _turns(call):
            return Returned(call.key, call.does.function(*call.does.arguments))
    except ParshallError as error:
        return Failed(call.key, error)
    except Exception as error:  # noqa: BLE001 - whatever a call does, others go on
        return Failed(call.key, CallError(f"{type(error).__name__}: {error}"))


def _turns(call: Call) -> AbstractContextManager[None]:
    if not call.at_once:
        return nullcontext()
    from parshall.instruments.emulation.turns import without_turns  # noqa: PLC0415 - most calls simulate

    return without_turns()


def _run(call: Call, run: Repetition, watched: Callable[[Monitor], None]) -> Written:
    """Do a run; it is in the store, if that is seen from here, or in the outcome.

    Raises
    ------
    StorageError
        It cannot be written.
    """
    try:
        monitor = Monitor(most_flows(run.scenario))
        watched(monitor)
        store = Store.at(*run.place)
        if store is None:
            with tempfile.TemporaryDirectory(prefix="parshall-") as folder:
                made = _made(call, run, Path(folder) / call.key, monitor)
                return replace(made, files={path.name: path.read_bytes() for path in Path(folder, call.key).iterdir()})
        with store.writing(call.key) as partial:
            made = _made(call, run, partial, monitor)
            store.publish(call.key, partial)
            return made
    except OSError as error:
        raise storage_error(error) from None


def _made(call: Call, run: Repetition, directory: Path, monitor: Monitor) -> Written:
    """Simulate or emulate, measure, and describe the run in its ``run.json``."""
    started, clock = about.now(), time.monotonic()
    totals = _totals(call, run, directory, monitor)
    metrics = measure(directory, run.metrics, run.scenario, totals["simulated_s"]) if run.metrics else {}
    wall_s = time.monotonic() - clock
    cpu_s = totals.pop("cpu_s")
    totals.pop("wall_s")
    described = {
        "format": FORMAT,
        "run": call.key,
        "code": call.code,
        "scenario": name_of(run.scenario),
        "seed": json.loads(run.scenario)["seed"],
        "repetition": run.repetition,
        "totals": totals,
        "made": {
            "host": about.host_name(),
            "started": started,
            "wall_s": round(wall_s, 6),
            "cpu_s": round(cpu_s, 6),
        },
        "files": {path.name: digest(path) for path in sorted(directory.iterdir())},
        "resolved": run.scenario,
    }
    text = json.dumps(described, ensure_ascii=False, allow_nan=False)
    (directory / RUN_FILE).write_text(text + "\n", encoding="utf-8")
    packets = sum(link["arrivals"] for link in totals["links"])
    return Written(call.key, metrics, wall_s, totals["simulated_s"], packets)


def _totals(call: Call, run: Repetition, directory: Path, monitor: Monitor) -> dict[str, Any]:
    """The records of the run, in `directory`, and its totals.

    Raises
    ------
    EmulationError
        It was emulated, and cannot be believed.
    """
    if run.instrument == "simulate":
        return simulate(run.scenario, run.repetition, directory, monitor)
    from parshall.instruments.emulation.process import repetition  # noqa: PLC0415 - most runs are simulated
    from parshall.results.records.validity import verdict_of  # noqa: PLC0415

    totals = repetition(run.scenario, run.repetition, directory, monitor, at_once=call.at_once)
    verdict = verdict_of([totals])
    if verdict.level == "invalid" and not run.accept_invalid:
        raise EmulationError(str(verdict))
    return totals


def measure(directory: Path, wanted: tuple[str, ...], scenario: str, end_s: float) -> dict[str, Series]:
    """Metrics of a run's tables, by the run's repetition; the run ended at `end_s`."""
    import polars as pl  # noqa: PLC0415 - workers that read no tables start fast

    from parshall.results.quantities.measuring import series_of  # noqa: PLC0415 - it takes a while to load
    from parshall.results.quantities.tables import Tables, backward, directed, ending  # noqa: PLC0415

    def read(name: str) -> pl.DataFrame | None:
        path = directory / f"{name}.parquet"
        return pl.read_parquet(path) if path.exists() else None

    tables = Tables(directed(read, backward(json.loads(scenario))))
    ends = dict.fromkeys(tables.repetitions or (), end_s)
    return series_of(Tables(ending(tables.get, lambda: ends)), wanted)
