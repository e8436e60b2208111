"""ITB, the transport benchmark of Guillier, Hablot & Vicat-Blanc Primet 2007: what a transport gives its users.

| module | what | source |
| --- | --- | --- |
| `factors` | infrastructure, workload, adverse workload: the parameters and their standard values | Table 5 |
| `classes` | the problem sizes A to L | Table 3 |
| `applications` | TU, WM, PP, BU, PA: mixes of files, packets, RTTs and directions | §4.5 |
| `ping_pong` | what PA does | §4.5.4 |
| `over_mpi` | the same over Open MPI, between real hosts | §4.5.4 |
| `hosts` | what limits a flow within its host, and what real hosts are told | §5.2 |
| `adverse` | reverse traffic, background traffic | §4.4 |
| `scale` | quick and paper: how large it all is | |
| `building` | an application in a class as a scenario | §4.3, §4.4 |
| `estimate` | memory and time, before anything starts | |
| `benchmark` | what is run, as sweeps in a store | |
| `measures` | the metrics of a run | §4.2 |
| `fairness` | harm to competing Reno and CUBIC | RFC 9743 |
| `score` | rankings, and paired comparisons | |
| `discrimination` | which classes tell controls apart | §5.2 |
| `page`, `pictures` | the page | |

References: R. Guillier, L. Hablot, P. Vicat-Blanc Primet, Towards a User-Oriented Benchmark for Transport Protocols
Comparison in very High Speed Networks, INRIA RR-6244, 2007.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
