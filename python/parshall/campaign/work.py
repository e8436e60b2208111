"""One run of a sweep, wherever it is done: in a process of this machine, or by a worker of a cluster.

The run is written to ``partial/`` of the store and renamed when it is complete. A worker that does not see the store
writes to a directory of its own and sends the files.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parshall.campaign.store import FORMAT, RUN_FILE, Store
from parshall.controls import declare_sent
from parshall.errors import ClusterError, EmulationError, ParshallError
from parshall.files import digest
from parshall.records import about
from parshall.records.storage import storage_error
from parshall.runs.memory import most_flows
from parshall.runs.single import Monitor, simulate
from parshall.schema import external
from parshall.stats.estimates import Series


@dataclass(frozen=True)
class Task:
    """What is to be done.

    Parameters
    ----------
    run
        The run's key.
    scenario
        The resolved scenario, as canonical JSON.
    repetition
        Its number.
    metrics
        Metrics whose values are wanted at once, because they decide how it goes on.
    store, identity
        Where the result goes.
    code
        The code version that the key speaks of.
    controls
        Congestion controls from outside that it may name.
    instrument, accept_invalid
        Whether it is simulated or emulated, and whether an emulation that cannot be believed counts.
    at_once
        Whether it does not wait for other emulations.
    """

    run: str
    scenario: str
    repetition: int
    metrics: tuple[str, ...]
    store: str
    identity: str
    code: str
    controls: tuple[external.Code, ...] = ()
    instrument: str = "simulate"
    accept_invalid: bool = False
    at_once: bool = False


def _code_of_calls() -> str:
    return f"{about.code_version()}+{about.python_digest()}"


@dataclass(frozen=True)
class Call:
    """Something else than a run: a function of a module, which another process can import.

    Parameters
    ----------
    run
        A name, one a call.
    function, arguments
        What is called; it returns what can be sent between processes.
    label
        What people are told that it is; the name without them.
    controls
        As of a `Task`.
    code
        Whose function it is: that of Parshall here.
    at_once
        Whether what it emulates does not wait for other emulations.
    """

    run: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    label: str = ""
    controls: tuple[external.Code, ...] = field(default_factory=external.codes)
    code: str = field(default_factory=_code_of_calls)
    at_once: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """As it is sent: function and arguments packed, to be read when the controls are declared that these name."""
        return {**self.__dict__, "function": _unpacked, "arguments": (pickle.dumps((self.function, self.arguments)),)}


def _unpacked(content: bytes) -> Any:
    function, arguments = pickle.loads(content)  # noqa: S301 - of whoever had the call done
    return function(*arguments)


@dataclass(frozen=True)
class Outcome:
    """What came of it.

    Parameters
    ----------
    run
        The run's key.
    metrics
        Those that were wanted; without what the run does not have.
    wall_s, simulated_s, packets
        What it took.
    error
        Why it failed; the rest of the sweep goes on.
    fatal
        Why nothing more can be done: no space, other code.
    files
        The run's files, of a worker that does not see the store.
    value
        What a `Call` returned.
    """

    run: str
    metrics: Mapping[str, Series] = field(default_factory=dict)
    wall_s: float = 0.0
    simulated_s: float = 0.0
    packets: int = 0
    error: str | None = None
    fatal: ParshallError | None = None
    files: Mapping[str, bytes] | None = None
    value: Any = None


def key_of(scenario: str, repetition: int, code: str) -> str:
    """The key of a run: 128 bits of SHA-256 over all that decides its records."""
    content = f"parshall run {FORMAT}\n{code}\n{repetition}\n{scenario}"
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def scenario_digest(scenario: str) -> str:
    """The name of a resolved scenario in the tables of a store."""
    return hashlib.sha256(scenario.encode()).hexdigest()[:32]


def call(task: Call) -> Outcome:
    """Do a call; what goes wrong is part of the outcome."""
    if _code_of_calls() != task.code:
        return Outcome(task.run, fatal=_other_code(_code_of_calls(), task.code))
    try:
        declare_sent(task.controls)
        with _turns(task):
            return Outcome(task.run, value=task.function(*task.arguments))
    except ParshallError as error:
        return Outcome(task.run, fatal=error)
    except Exception as error:  # noqa: BLE001 - the owner says it
        return Outcome(task.run, error=f"{type(error).__name__}: {error}")


def _turns(task: Call) -> AbstractContextManager[None]:
    if not task.at_once:
        return nullcontext()
    from parshall.emulation.process import without_turns  # noqa: PLC0415 - most calls simulate

    return without_turns()


def execute(task: Task, watched: Callable[[Monitor], None] | None = None) -> Outcome:
    """Do a run, and publish it; what goes wrong is part of the outcome. `watched` is given its monitor."""
    if about.code_version() != task.code:
        return Outcome(task.run, fatal=_other_code(about.code_version(), task.code))
    try:
        declare_sent(task.controls)
        monitor = Monitor(most_flows(task.scenario))
        if watched is not None:
            watched(monitor)
        store = Store.at(task.store, task.identity)
        if store is None:
            with tempfile.TemporaryDirectory(prefix="parshall-") as folder:
                outcome = _made(task, Path(folder) / task.run, monitor)
                files = {path.name: path.read_bytes() for path in (Path(folder) / task.run).iterdir()}
                return Outcome(**{**outcome.__dict__, "files": files})
        partial = store.partial(task.run)
        try:
            outcome = _made(task, partial, monitor)
            store.publish(task.run, partial)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    except ParshallError as error:
        return Outcome(task.run, error=str(error))
    except OSError as error:
        return Outcome(task.run, fatal=storage_error(error))
    except Exception as error:  # noqa: BLE001 - whatever a run does, the rest of the sweep goes on
        return Outcome(task.run, error=f"{type(error).__name__}: {error}")
    return outcome


def _other_code(theirs: str, wanted: str) -> ClusterError:
    text = f"a worker on {about.host_name()} runs Parshall {theirs}, this is {wanted}"
    return ClusterError(f"{text}; install the same one there")


def _made(task: Task, directory: Path, monitor: Monitor) -> Outcome:
    """Simulate or emulate, measure, and describe the run in its ``run.json``."""
    started, clock = about.now(), time.monotonic()
    totals = _totals(task, directory, monitor)
    metrics = measure(directory, task.metrics, task.scenario, totals["simulated_s"]) if task.metrics else {}
    wall_s = time.monotonic() - clock
    cpu_s = totals.pop("cpu_s")
    totals.pop("wall_s")
    resolved = json.loads(task.scenario)
    described = {
        "format": FORMAT,
        "run": task.run,
        "code": task.code,
        "scenario": scenario_digest(task.scenario),
        "seed": resolved["seed"],
        "repetition": task.repetition,
        "totals": totals,
        "made": {
            "host": about.host_name(),
            "started": started,
            "wall_s": round(wall_s, 6),
            "cpu_s": round(cpu_s, 6),
        },
        "files": {path.name: digest(path) for path in sorted(directory.iterdir())},
        "resolved": task.scenario,
    }
    text = json.dumps(described, ensure_ascii=False, allow_nan=False)
    (directory / RUN_FILE).write_text(text + "\n", encoding="utf-8")
    packets = sum(link["arrivals"] for link in totals["links"])
    return Outcome(task.run, metrics, wall_s, totals["simulated_s"], packets)


def _totals(task: Task, directory: Path, monitor: Monitor) -> dict[str, Any]:
    """The records of the run, in `directory`, and its totals.

    Raises
    ------
    EmulationError
        It was emulated, and cannot be believed.
    """
    if task.instrument == "simulate":
        return simulate(task.scenario, task.repetition, directory, monitor)
    from parshall.emulation.process import repetition  # noqa: PLC0415 - most runs are simulated
    from parshall.records.validity import verdict_of  # noqa: PLC0415

    totals = repetition(task.scenario, task.repetition, directory, monitor, at_once=task.at_once)
    verdict = verdict_of([totals])
    if verdict.level == "invalid" and not task.accept_invalid:
        raise EmulationError(str(verdict))
    return totals


def measure(directory: Path, wanted: tuple[str, ...], scenario: str, end_s: float) -> dict[str, Series]:
    """Metrics of a run's tables, by the run's repetition; the run ended at `end_s`."""
    import polars as pl  # noqa: PLC0415 - workers that read no tables start fast

    from parshall.quantities.measuring import series_of  # noqa: PLC0415 - it takes a while to load
    from parshall.quantities.tables import Tables, backward, directed, ending  # noqa: PLC0415

    def read(name: str) -> pl.DataFrame | None:
        path = directory / f"{name}.parquet"
        return pl.read_parquet(path) if path.exists() else None

    tables = Tables(directed(read, backward(json.loads(scenario))))
    ends = dict.fromkeys(tables.repetitions or (), end_s)
    return series_of(Tables(ending(tables.get, lambda: ends)), wanted)
