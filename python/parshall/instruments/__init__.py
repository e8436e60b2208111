"""The instruments: each takes a scenario or files and gives a `parshall.Result`.

| part | what |
| --- | --- |
| `prediction` | models applied to a scenario, alone or beside a run |
| `simulation` | runs: all repetitions of a scenario, packet by packet; their summary |
| `emulation` | the kernel's TCP and real programs, in real time |
| `observation` | captures and series that someone else took |
| `replaying` | a congestion control driven through what a kernel's was called with |
"""
