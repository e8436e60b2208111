"""Choosing a network's parameters: from what is asked of it to what to set, confirmed by simulation.

| module | what |
| --- | --- |
| `rio` | thresholds of a RIO router for an agreement, what they cost, or what else would do |
| `agreement` | the constraints |
| `search` | the feasible region and the best point |
| `confirm`, `simulated` | the recommended point in the simulator |
| `page` | the answer as a page |
| `transfer` | how long a transfer takes |
"""
