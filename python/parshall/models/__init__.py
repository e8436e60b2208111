"""Analytic models of TCP and of queues: closed forms and small chains, no simulation.

`parshall.models.catalog` lists them; `parshall.models.throughput` is the face of the steady-state formulas,
`parshall.models.latency` predicts completion times and `parshall.models.queues` queues of Poisson traffic.
Nothing here imports the simulator or the scenario.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Import the module that is asked for."""
    if name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
