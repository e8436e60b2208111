"""Five published studies regenerated, and the transport benchmark of 2007: a distribution of its own.

`catalog` lists the studies; each is a package with its parts as ``PARTS``. What they do is declared with
`parshall.studies`, which has their shape. They are known to ``parshall study`` by entry points (``pyproject.toml``).

| module | what |
| --- | --- |
| `itb`, `large_deviations`, `multiple_time_scale`, `rio`, `tail_index` | the studies |
| `benchmark`, `transport` | ITB, the transport benchmark, and its measures |
| `verbs` | ``parshall itb``, ``design rio``, ``design time-scale``, ``predict throughput`` |
| `entries` | rows of the catalog of models |
| `stacks`, `on_linux`, `scaling`, `ns2` | comparisons with real stacks, scaled networks for them, and ns-2 |
| `observed` | sections of an observation's page |
| `routers`, `diffserv` | RIO routers predicted and designed, and their fixed point |
| `chains`, `finite_scale` | chains of a window, and the variability of its throughput |
| `spectrum`, `joint_spectrum` | spectra of a series, and of two |
| `hurst`, `long_memory`, `synthesis`, `closed_loop` | the Hurst parameter, and series that have one |
| `tails`, `time_scale` | heavy tails; the time scale at which traffic is worth predicting |
"""
