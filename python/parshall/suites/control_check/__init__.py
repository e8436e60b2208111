"""The report card of a congestion control: what every control must keep, and what this one does to others.

| module | what |
| --- | --- |
| `checking` | `check`: the whole card |
| `conformance` | the conformance kit: random events and scripted courses, in Rust |
| `networks` | the networks that are simulated |
| `running` | all simulations, several at a time |
| `response` | response function: rate against loss probability |
| `alone` | one flow at a bottleneck: window over time, utilisation, queue, loss |
| `sharing` | flows of it among themselves: fairness, RTT fairness, convergence |
| `harming` | what it gets beside Reno and CUBIC, and takes from them |
| `card` | the result: rows, verdicts, JSON |
| `answer` | the first sentences: pass or fail, alone, beside Reno and CUBIC |
| `page` | the page with the figures |

>>> from parshall.suites.control_check import check
>>> check("reno", measured=False).passed
True
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
