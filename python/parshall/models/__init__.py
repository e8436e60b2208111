"""Analytic models of TCP and of queues: closed forms and small chains, no simulation.

`parshall.models.catalog` lists them; `parshall.models.throughput` is the face of the steady-state formulas,
`parshall.models.latency` predicts completion times and `parshall.models.queues` queues of Poisson traffic.
Nothing here imports the simulator or the scenario.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
