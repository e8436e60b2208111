"""Runs: a scenario is simulated, and what it gave can be read again.

| module | what |
| --- | --- |
| `execute` | `run`: all repetitions, on all cores |
| `single` | one repetition |
| `result` | `Run`: its tables, summary and page |
| `storage` | the run directory; nothing in it pretends to be complete |
| `summary` | what a run is summarised by, with confidence intervals over repetitions |
| `about` | versions and host |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parshall.lazily import named

if TYPE_CHECKING:
    from parshall.runs.execute import Progress, run
    from parshall.runs.result import Run

__all__ = ["Progress", "Run", "run"]

__getattr__ = named(__name__, {"Progress": "execute", "Run": "result", "run": "execute"})
