"""Statistics and analytic models, on plain numbers: nothing here knows a scenario's file, a record or the simulator.

| package | what |
| --- | --- |
| `stats` | intervals, censored times, families of differences, claims and their verdicts |
| `models` | closed forms, chains and fixed points, one file a family |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
