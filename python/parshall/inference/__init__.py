"""From a capture to the scenario that explains it, and from that to what would help.

| module | what it does |
| --- | --- |
| `facts` | gathers what a capture shows of its flows |
| `queueing` | how long they waited, and when they left the bottleneck |
| `dispersion` | the bottleneck's rate from the spacing of what leaves it |
| `losses` | which losses fell into a full queue |
| `path` | rate, buffer and losses of the bottleneck |
| `workloads` | groups of flows, and what their applications did |
| `writing` | the scenario as TOML, each key with its evidence |
| `response` | the congestion control and the queue that explain the flows, by simulating each |
| `simulated` | a scenario simulated, captured, and read as captures are |
| `checking` | whether the scenario explains the capture |
| `what_if` | what changes would bring, each by a simulation |
| `infer` | all of it |
| `page` | what was found, as a page |
"""

from parshall.inference.checking import Check as Check
from parshall.inference.infer import Inferred as Inferred
from parshall.inference.infer import infer as infer
from parshall.inference.what_if import RemedyEffect as RemedyEffect
