"""Verbs that the studies add to the command line.

| module | what |
| --- | --- |
| `benchmark` | ``parshall itb`` |
| `design` | ``parshall design rio`` and ``parshall design time-scale`` |
| `throughput` | ``parshall predict throughput`` |
"""
