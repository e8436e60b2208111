"""Runs: a scenario is simulated, and what it gave can be read again.

| module | what |
| --- | --- |
| `execute` | `run`: all repetitions, on all cores |
| `result` | `Run`: its tables, summary and page |
| `storage` | the run directory; nothing in it pretends to be complete |
| `summary` | the figures of merit, with confidence intervals over repetitions |
| `about` | versions and host |
"""

from parshall.runs.execute import Progress, run
from parshall.runs.result import Run

__all__ = ["Progress", "Run", "run"]
