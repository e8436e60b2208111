"""Runs: a scenario is simulated, and what it gave can be read again.

| module | what |
| --- | --- |
| `execute` | `run`: all repetitions, on all cores |
| `single` | one repetition |
| `result` | `Run`: a `parshall.results.records.Result` with its scenario, summary and page |
| `summary` | what a run is summarised by, with confidence intervals over repetitions |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
