"""Running a scenario: repetitions on all cores, each in a thread that holds no GIL.

A repetition's random streams follow from the scenario's seed and its number, so results do not depend on how many
run at a time.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parshall.foundations.errors import ControlError, InputError, ParshallError
from parshall.foundations.files import Scratch
from parshall.instruments.prediction.predict import flatten, predict
from parshall.instruments.simulation import memory, single
from parshall.instruments.simulation.result import Run
from parshall.instruments.simulation.summary import of_this_code, summarise
from parshall.results.records import about, storage
from parshall.scenario import Scenario
from parshall.scenario.controls import declare
from parshall.scenario.foreign.process import close_idle
from parshall.scenario.schema import reading, writing

POLL_S = 0.1


@dataclass(frozen=True)
class Progress:
    """The progress of a run."""

    simulated_s: float
    """In all repetitions."""
    total_s: float
    packets: int
    """That links have handled, in all repetitions."""
    elapsed_s: float
    repetitions_finished: int
    repetitions: int


def run(
    scenario: Scenario | str | Path | Mapping[str, Any],
    directory: str | Path | None = None,
    *,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
    controls: Mapping[str, Any] | Iterable[str] = (),
) -> Run:
    """Simulate a scenario, and predict it.

    Parameters
    ----------
    scenario
        A scenario, the path of one in TOML, the name of one that comes with Parshall, or its tables.
    directory
        Where results go: a new or empty directory. By default a temporary one, which `Run.save` copies; it is removed
        when the process ends, or when no `Run` of it is left and 20 later ones were made.
    workers
        Repetitions at a time; by default as many as there are cores. The results are the same.
    overwrite
        Whether to replace a run that is in `directory`. Nothing else is ever overwritten.
    progress
        Called a few times a second.
    controls
        Congestion controls of your own, as `parshall.scenario.controls.declare` takes them.

    Raises
    ------
    ScenarioError
        The scenario is refused.
    ControlError
        A control of your own failed.
    OutputExistsError
        Something is in `directory`.
    StorageError
        Results cannot be written.
    KeyboardInterrupt
        After an interruption; repetitions that were finished can be read with `Run.load`.
    """
    declare(controls)
    read = Scenario.of(scenario)
    simulator = Instrument(
        "simulate",
        read.resolved.json(),
        single.simulate,
        notes=[
            f"flows.{number}.kernel: only hosts of an emulation are told of it; a simulation has none"
            for number, group in enumerate(read.flows)
            if group.kernel is not None
        ],
    )
    return execute(read, directory, simulator, workers=workers, overwrite=overwrite, progress=progress)


@dataclass(frozen=True)
class Instrument:
    """An instrument that makes the records of a scenario's repetitions."""

    name: str
    """As in `Result.instruments`."""
    resolved: str
    """The scenario, resolved for it."""
    repetition: Callable[[str, int, Path, single.Monitor, str | None], dict[str, Any]]
    """Of a resolved scenario, a number, a directory for its tables, a monitor and the scenario's file: the totals."""
    most_at_a_time: int | None = None
    """None: as many repetitions as there are cores."""
    notes: Sequence[str] = ()
    """Notes on the run, beside the scenario's own warnings."""
    describe: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]] = lambda _: {}
    """Returns further metadata of the run, from the totals of its repetitions."""
    unpredictable: str | None = None
    """Reason why no model describes it."""


_RECENT: deque[Scratch] = deque(maxlen=20)
"""Temporary directories that outlive their runs: what a cell of a notebook made can be read by its path in the next."""


def execute(
    scenario: Scenario,
    directory: str | Path | None,
    instrument: Instrument,
    *,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run a scenario with an instrument; the other parameters and the errors are those of `run`."""
    if workers is not None and workers < 1:
        raise InputError(f"workers: found {workers}; accepted: 1 or more")
    scratch = Scratch("parshall-") if directory is None else None
    target = scratch.path if scratch is not None else Path(directory or "")
    execution = _Execution(scenario, instrument, target, progress)
    try:
        at_a_time = min(workers or about.cores(), scenario.repetitions, instrument.most_at_a_time or about.cores())
        execution.most_flows = memory.most_flows(instrument.resolved, at_a_time, scenario.source)
        storage.prepare(target, overwrite, instrument.name)
        made = storage.guarded(lambda: execution.run(at_a_time))
    except BaseException:
        if scratch is not None:
            scratch.remove()
        else:
            storage.discard_empty(target)
        raise
    finally:
        close_idle()  # what controls import may be changed before the next run
    if scratch is not None:
        _RECENT.append(scratch)
    return made


class _Execution:
    """One run while it is made."""

    def __init__(
        self,
        scenario: Scenario,
        instrument: Instrument,
        directory: Path,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.scenario = scenario
        self.document = scenario.complete_document()
        self.instrument = instrument
        self.directory = directory
        self.progress = progress
        self.monitors: list[single.Monitor] = []
        self.most_flows: int | None = None
        self.finished: list[int] = []
        self.failure: BaseException | None = None
        self.lock = threading.Lock()
        self.started = about.now()
        self.clock = time.monotonic()

    def run(self, workers: int) -> Run:
        try:
            self._simulate(workers)
        except (KeyboardInterrupt, ControlError):
            storage.discard_partial(self.directory)
            if self.finished:
                self._describe("interrupted")
            storage.discard_empty(self.directory)
            raise
        except BaseException:
            storage.discard_partial(self.directory)
            storage.discard_empty(self.directory)
            raise
        return self._describe("complete")

    def _simulate(self, workers: int) -> None:
        """Run all repetitions; the first error, or an interruption, stops the others, and no further one begins."""
        self.monitors = [single.Monitor(self.most_flows) for _ in range(self.scenario.repetitions)]
        with ThreadPoolExecutor(workers, thread_name_prefix="repetition") as pool:
            futures = {pool.submit(self._repetition, number) for number in range(len(self.monitors))}
            try:
                self._await(futures)
            except BaseException as error:
                self._stop(error)
                pool.shutdown(wait=True, cancel_futures=True)
                raise
            finally:
                self.finished.sort()
        if self.failure is not None:
            raise self.failure

    def _await(self, pending: set[Future[None]]) -> None:
        while pending:
            _, pending = wait(pending, timeout=POLL_S, return_when=FIRST_COMPLETED)
            if self.progress is not None:
                self.progress(self._progress())

    def _stop(self, error: BaseException) -> None:
        """Remember the first error, and stop all repetitions."""
        with self.lock:
            self.failure = self.failure or error
        for monitor in self.monitors:
            monitor.cancel()

    def _repetition(self, number: int) -> None:
        """Run one repetition, in a thread of the pool; its error, if it is the first, is the run's."""
        if self.failure is not None:
            return
        try:
            partial = storage.partial_directory(self.directory, number)
            monitor, source = self.monitors[number], self.scenario.source
            totals = self.instrument.repetition(self.instrument.resolved, number, partial, monitor, source)
            storage.publish(self.directory, number, json.dumps(totals))
        except BaseException as error:  # noqa: BLE001 - it is raised where the run was asked for
            self._stop(error)
        else:
            self.finished.append(number)

    def _describe(self, status: str) -> Run:
        """Write ``run.json``: from then on it is a run."""
        metadata: dict[str, Any] = {
            "format": storage.FORMAT,
            "instrument": self.instrument.name,
            "status": status,
            "name": self.scenario.name,
            "scenario": self.document,
            "scenario_file": self.scenario.source,
            "folder": str(self.scenario.folder),
            "warnings": [*self.scenario.warnings(), *self.instrument.notes],
            "seed": self.scenario.seed,
            "repetitions": self.scenario.repetitions,
            "repetitions_finished": self.finished,
            "controls": self.scenario.external_controls(),
            "started": self.started,
            "wall_s": round(time.monotonic() - self.clock, 3),
            "versions": about.versions(),
            "host": about.host(),
        }
        made = Run(self.directory, metadata)
        metadata.update(self.instrument.describe(made.totals))
        metadata["summary"] = summarise(made.tables, made.totals, about.peak_rss_bytes())
        metadata["quantities"] = of_this_code()
        metadata["predicted"], metadata["prediction_problem"] = self._predict(made)
        portable = reading.with_absolute_paths(self.document, self.scenario.folder)
        storage.write_scenario(self.directory, writing.toml(portable))
        storage.seal(self.directory, metadata)
        return made

    def _predict(self, made: Run) -> tuple[list[dict[str, Any]], str | None]:
        """The models' answers; or why there are none, which must not cost what was simulated."""
        if self.instrument.unpredictable is not None:
            return [], self.instrument.unpredictable
        try:
            rows = flatten(predict(self.scenario, made))
            json.dumps(rows, allow_nan=False)
        except (ParshallError, ValueError) as error:
            return [], str(error)
        except Exception as error:  # noqa: BLE001 - whatever fails in a model, the run is there
            return [], f"the models failed, which is a fault in Parshall: {type(error).__name__}: {error}"
        return rows, None

    def _progress(self) -> Progress:
        return Progress(
            simulated_s=sum(monitor.simulated_s for monitor in self.monitors),
            total_s=self.scenario.duration_s * len(self.monitors),
            packets=sum(monitor.packets for monitor in self.monitors),
            elapsed_s=time.monotonic() - self.clock,
            repetitions_finished=len(self.finished),
            repetitions=len(self.monitors),
        )
