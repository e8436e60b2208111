"""One repetition: the simulator's errors as those of Parshall."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parshall import _core
from parshall._core import Interrupted, Monitor
from parshall.foundations.errors import ControlError, InputError, ScenarioError, SimulationError
from parshall.instruments.simulation.memory import most_flows
from parshall.scenario.foreign.process import ProcessGroup, call
from parshall.scenario.schema import external

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Interrupted", "Monitor", "Recorded", "recorded", "simulate"]


def simulate(
    resolved: str,
    repetition: int,
    directory: Path,
    monitor: Monitor,
    source: str | None = None,
    *,
    durable: bool = True,
) -> dict[str, Any]:
    """Simulate one repetition of a resolved scenario, write its tables to `directory`, and return its totals.

    Unless `durable`, it does not wait until they are on the disk.

    Raises
    ------
    ScenarioError
        The scenario is refused.
    ControlError
        A congestion control from outside failed.
    SimulationError
        The simulation failed.
    Interrupted
        It was stopped by its monitor.
    OSError
        Its tables cannot be written.
    """
    try:
        totals: dict[str, Any] = json.loads(_simulated(resolved, repetition, directory, monitor, durable=durable))
    except InputError:
        raise
    except ValueError as error:
        key, problem = error.args
        raise ScenarioError([f"{key}: {problem}" if key else problem], source) from None
    except _core.ControlFailed as error:
        raise ControlError(f"repetition {repetition}, {error}") from None
    except ControlError as error:
        raise ControlError(f"repetition {repetition}: {error}") from None
    except RuntimeError as error:
        raise SimulationError(f"repetition {repetition}: {error}") from None
    return totals


def _simulated(resolved: str, repetition: int, directory: Path, monitor: Monitor, *, durable: bool) -> str:
    """Return the totals as JSON; a scenario with controls from outside is simulated in a process of its own."""
    controls = external.runnable(resolved)
    if not controls:
        return _core.simulate(resolved, repetition, directory, monitor, durable)
    if monitor.cancelled:
        raise Interrupted("interrupted before it began")
    given = (resolved, repetition, str(directory.absolute()), durable)
    return call("simulate", controls, *given, monitor=monitor, groups=lambda: _groups(resolved))


def _groups(resolved: str) -> list[ProcessGroup]:
    return [ProcessGroup(each["name"], _control(each["congestion_control"])) for each in json.loads(resolved)["flows"]]


def _control(resolved: Mapping[str, Any] | None) -> str | None:
    """Return the name of the control from outside, also if another one steers it."""
    while isinstance(resolved, Mapping):
        if resolved["name"] == "external":
            return str(resolved["control"])
        resolved = resolved.get("control")
    return None


@dataclass(frozen=True)
class Recorded:
    """The tables that `recorded` returns."""

    totals: dict[str, Any]
    """Events, CPU time, packets of each link."""
    tables: Mapping[str, pl.DataFrame]
    """By name."""


def is_sampled(resolved: Mapping[str, Any], probe: str) -> bool:
    """True if a resolved scenario asks for a table that is optional."""
    return resolved["probes"][probe] not in (None, False)


def recorded(
    resolved: Mapping[str, Any],
    *names: str,
    repetition: int = 0,
    source: str | None = None,
    monitor: Monitor | None = None,
) -> Recorded:
    """Simulate one repetition and read the tables that are named; without names, all that it has.

    For studies that measure thousands of short runs: there is no run directory, summary or prediction, which take
    longer than to simulate a few hundred thousand packets.

    Raises
    ------
    ScenarioError
        The scenario is refused.
    SimulationError
        The simulation failed.
    Interrupted
        It was stopped by `monitor`.
    OSError
        Its tables cannot be written, or one that is named is not among them.
    """
    import polars as pl  # noqa: PLC0415 - a campaign's workers read no tables, and start fast

    with tempfile.TemporaryDirectory(prefix="parshall-") as folder:
        path, text = Path(folder), json.dumps(resolved)
        monitor = monitor or Monitor(most_flows(text, 1, source))
        totals = simulate(text, repetition, path, monitor, source, durable=False)
        wanted = names or sorted(table.stem for table in path.glob("*.parquet"))
        return Recorded(totals, {name: pl.read_parquet(path / f"{name}.parquet") for name in wanted})
