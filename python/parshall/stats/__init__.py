"""Estimators and generators on plain numbers; whichever instrument measured.

Confidence intervals, fairness, quantiles of histograms; the Hurst parameter (`hurst`), series that have one
(`synthesis`) and heavy tails (`tails`); the time scale at which traffic is worth predicting (`time_scale`).
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "closed_loop",
    "confidence",
    "fairness",
    "histogram",
    "hurst",
    "long_memory",
    "quantiles",
    "spectrum",
    "synthesis",
    "tails",
    "time_scale",
}


def __getattr__(name: str) -> Any:
    """Import a module when it is asked for: `ps.stats.hurst`."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
