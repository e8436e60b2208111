"""Traces that somebody else took: `observe` reads them into the records, and `write_page` shows them.

| module | what |
| --- | --- |
| `observation` | files in, tables out |
| `loss_events` | when losses count: once an event |
| `flow` | one flow's windows: loss function p(w), increase and decrease |
| `spectra` | how its throughput varies, against the chain fitted on its p(w) |
| `arrivals` | what arrived when, and whether it is long-range dependent |
| `page`, `figures`, `trust` | the page |
"""

from parshall.traces.arrivals import Arrivals
from parshall.traces.flow import Decrease, LossBin, TracedFlow
from parshall.traces.observation import Observation, observe
from parshall.traces.page import write_page

__all__ = ["Arrivals", "Decrease", "LossBin", "Observation", "TracedFlow", "observe", "write_page"]
