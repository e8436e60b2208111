"""Campaigns: thousands of runs, resumable, on one machine or many.

| module | what |
| --- | --- |
| `plan` | a sweep as it is declared: the sweep file |
| `values`, `axes`, `design` | lists, ranges, distributions; how they are combined to points |
| `store` | runs, addressed by what makes them |
| `segments`, `snapshot` | many small runs in few files; what a store holds at one moment |
| `call`, `keys` | what is done, a run or a function, and what came of it; the key of its answer |
| `work` | one call done in this process |
| `pool`, `cluster` | who does calls: processes and threads of this machine; workers of a Dask cluster |
| `executor` | having calls done that a store lacks |
| `answers`, `contents` | what a store has: answers of functions; the runs of a sweep |
| `encoding`, `damage` | answers as JSON; what of a store is not what was written |
| `shard`, `merging` | a part of a plan; what was done apart taken together |
| `stopping` | when a point has been repeated often enough |
| `runner`, `calls` | `sweep`: doing what is missing; `run_calls`: functions done by workers |
| `execution` | who does runs, and where they are kept: for all that is more than one sweep |
| `recorder` | the record of a sweep that is saved |
| `progress` | how far it is, and how long it may take |
| `query` | SQL over a store |
| `maintenance` | verifying, cleaning, exporting |
| `record`, `result` | what a store knows of a sweep; `Sweep`, to work with |
| `page`, `figures`, `comparing` | the page of a sweep; two sweeps held against each other |
| `measured` | metrics of runs, from their tables |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
