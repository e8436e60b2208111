"""One repetition: the simulator's errors as those of Parshall."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from parshall import _core
from parshall._core import Interrupted, Monitor
from parshall.errors import ScenarioError, SimulationError

__all__ = ["Interrupted", "Monitor", "simulate"]


def simulate(
    resolved: str, repetition: int, directory: Path, monitor: Monitor, source: str | None = None
) -> dict[str, Any]:
    """Simulate one repetition of a resolved scenario, write its tables to `directory`, and return its totals.

    Raises
    ------
    ScenarioError
        The scenario is refused.
    SimulationError
        The simulation failed.
    Interrupted
        It was stopped by its monitor.
    OSError
        Its tables cannot be written.
    """
    try:
        totals: dict[str, Any] = json.loads(_core.simulate(resolved, repetition, directory, monitor))
    except ValueError as error:
        key, problem = error.args
        raise ScenarioError([f"{key}: {problem}" if key else problem], source) from None
    except RuntimeError as error:
        raise SimulationError(f"repetition {repetition}: {error}") from None
    return totals
