"""Traces that somebody else took: `observe` reads them into the records.

| module | what |
| --- | --- |
| `result` | files in, tables out |
| `loss_events` | when losses count: once an event |
| `flow` | one flow's windows: loss function p(w), increase and decrease |
| `spectra` | how its throughput varies, against the chain fitted on its p(w) |
| `arrivals` | what arrived when, and whether it is long-range dependent |
"""

from parshall.instruments.observation.arrivals import Arrivals
from parshall.instruments.observation.flow import Decrease, LossBin, TracedFlow
from parshall.instruments.observation.result import Observation, observe

__all__ = ["Arrivals", "Decrease", "LossBin", "Observation", "TracedFlow", "observe"]
