"""RIO routers: what the fixed point of `parshall_studies.diffserv` predicts of a scenario, and thresholds to set.

| module | what |
| --- | --- |
| `prediction` | throughput, losses by class and queues of a scenario with RIO queues |
| `rio` | thresholds for an agreement, what they cost, or what else would do |
| `agreement`, `search` | the constraints; the feasible region and the best point |
| `recommendation`, `confirm`, `simulated` | the recommended point in the simulator |
| `page` | the answer as a page |
"""
