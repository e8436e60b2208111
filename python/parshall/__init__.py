"""Predict, simulate, emulate and observe how transport protocols share a bottleneck.

>>> import parshall as ps
>>> scenario = ps.Scenario(
...     duration="2 s",
...     bottleneck={"rate": "5 Mbit/s"},
...     flows=[{"rtt": "50 ms"}],
... )
>>> run = ps.run(scenario)
>>> run.flows["goodput_bps"].len()
1
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parshall.campaign import Plan, Store, Sweep, sweep
    from parshall.errors import InputError, ParshallError, ScenarioError
    from parshall.quantities import quantity
    from parshall.runs import Run, run
    from parshall.scenario import FlowGroup, Scenario
    from parshall.traces import Observation, observe

__all__ = [
    "FlowGroup",
    "InputError",
    "Observation",
    "ParshallError",
    "Plan",
    "Run",
    "Scenario",
    "ScenarioError",
    "Store",
    "Sweep",
    "observe",
    "quantity",
    "run",
    "sweep",
]

_HOMES = {
    "FlowGroup": "scenario",
    "InputError": "errors",
    "Observation": "traces",
    "ParshallError": "errors",
    "Plan": "campaign",
    "Run": "runs",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "Store": "campaign",
    "Sweep": "campaign",
    "observe": "traces",
    "quantity": "quantities",
    "run": "runs",
    "sweep": "campaign",
}

_PACKAGES = {"control_check", "controls", "design", "models", "stats"}
"""Modules that are reached as attributes: `ps.stats.hurst`."""


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: the command line starts fast."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version(__name__)
    if name in _PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """What there is to use, for those who look and for interactive completion."""
    return sorted([*__all__, *_PACKAGES, "__doc__", "__version__"])
