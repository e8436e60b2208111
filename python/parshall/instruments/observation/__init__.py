"""Traces that somebody else took: `observe` reads them into the records.

| module | what |
| --- | --- |
| `result` | files in, tables out |
| `limits` | what limits each flow, typed: for pages, and for what fits a scenario to a capture |
| `loss_events` | when losses count: once an event |
| `flow` | one flow's windows: loss function p(w), increase and decrease |
"""

from parshall.instruments.observation.flow import Decrease, LossBin, TracedFlow
from parshall.instruments.observation.limits import FlowLimits
from parshall.instruments.observation.result import Observation, observe

__all__ = ["Decrease", "FlowLimits", "LossBin", "Observation", "TracedFlow", "observe"]
