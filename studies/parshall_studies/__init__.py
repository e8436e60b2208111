"""Five published studies regenerated, and the transport benchmark of 2007: a distribution of its own.

`catalog` lists the studies; each is a package with its parts as ``PARTS``. What they do is declared with
`parshall.studies`, which has their shape. They are known to ``parshall study`` by entry points (``pyproject.toml``).

| module | what |
| --- | --- |
| `itb`, `large_deviations`, `multiple_time_scale`, `rio`, `tail_index` | the studies |
| `benchmark`, `verb` | ITB, the transport benchmark, and ``parshall itb`` |
| `stacks`, `ns2` | comparisons with real stacks, and with ns-2 |
| `tails`, `joint_spectrum`, `finite_scale`, `closed_loop` | statistics and models that only studies use |
"""
