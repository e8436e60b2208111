"""Runs: a scenario is simulated, and what it gave can be read again.

| module | what |
| --- | --- |
| `execute` | `run`: all repetitions, on all cores |
| `single` | one repetition |
| `result` | `Run`: its tables, summary and page |
| `storage` | the run directory; nothing in it pretends to be complete |
| `summary` | the figures of merit, with confidence intervals over repetitions |
| `merit` | the figures of merit of one repetition |
| `about` | versions and host |
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parshall.runs.execute import Progress, run
    from parshall.runs.result import Run

__all__ = ["Progress", "Run", "run"]

_HOMES = {"Progress": "execute", "Run": "result", "run": "execute"}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: a campaign's workers need one repetition only, and start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
