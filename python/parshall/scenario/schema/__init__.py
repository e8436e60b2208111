"""What scenarios are made of, one file each; `parshall.scenario` puts them together.

| module | what |
| --- | --- |
| `quantities` | text with a unit: ``"10 ms"`` |
| `catalog` | the families that the Rust crates list: congestion controls, queues, ... |
| `families` | a pydantic model for every entry of a family |
| `spread` | a value for each flow of a group |
| `links`, `flows`, `probes` | the parts of a scenario |
| `reading` | TOML and ``--set`` |
| `problems` | what is wrong, as a person wants to read it |
| `resolve` | a scenario in the units that the simulator takes |
"""
