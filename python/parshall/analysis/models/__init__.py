"""Analytic models of TCP and of queues: closed forms and small chains, no simulation.

`parshall.analysis.models.catalog` lists them; `parshall.analysis.models.throughput` is the face of the steady-state
formulas, `parshall.analysis.models.latency` predicts completion times and `parshall.analysis.models.queues` queues of
Poisson traffic. Nothing here imports the simulator or the scenario.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
