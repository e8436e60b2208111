"""Scenarios: what a user declares, read, checked and resolved.

| module | what |
| --- | --- |
| `scenario` | `Scenario`: defaults, units, validation |
| `schema` | its parts, one file each; `schema.resolve` makes the integers that Rust takes |
| `controls` | congestion controls of the user's own, declared to a scenario |
| `foreign` | the processes in which those run |
| `properties` | traits, defaults and moments of catalog entries |
| `caveats` | reasons to doubt the numbers of a scenario |
| `templates` | scenarios, sweeps and controls that ``parshall new`` writes |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
