"""Campaigns: thousands of runs, resumable, on one machine or many.

| module | what |
| --- | --- |
| `plan` | a sweep as it is declared: the sweep file |
| `values`, `axes`, `design` | lists, ranges, distributions; how they are combined to points |
| `store` | runs, addressed by what makes them |
| `segments`, `snapshot` | many small runs in few files; what a store holds at one moment |
| `work` | one run, wherever it is done |
| `pool`, `cluster` | processes of this machine; workers of a Dask cluster |
| `calls`, `answers` | other functions done by workers; what they returned, kept |
| `encoding`, `damage` | answers as JSON; what of a store is not what was written |
| `shard`, `merging` | a part of a plan; what was done apart taken together |
| `stopping` | when a point has been repeated often enough |
| `runner` | `sweep`: doing what is missing |
| `execution` | who does runs, and where they are kept: for all that is more than one sweep |
| `contents`, `recorder`, `compacting` | for it: what the store has, the record that is saved, runs compacted |
| `progress` | how far it is, and how long it may take |
| `query` | SQL over a store |
| `maintenance` | verifying, cleaning, exporting |
| `record`, `result` | what a store knows of a sweep; `Sweep`, to work with |
| `page`, `figures`, `comparing` | the page of a sweep; two sweeps held against each other |
| `metrics` | metrics that a sweep may name |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
