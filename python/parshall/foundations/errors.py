"""What can go wrong, as one tree.

| error | means | exit code of the command line |
| --- | --- | --- |
| `ParshallError` | anything below | |
| `InputError` | what was given cannot be used; nothing was run | 2 |
| `ScenarioError` | a scenario is refused | 2 |
| `OutputExistsError` | results would overwrite something | 2 |
| `QuantityError` | a quantity from outside failed | 2 |
| `MissingExtraError` | a package of an extra is not installed | 2 |
| `RunNotFoundError` | a directory holds no readable result | 2 |
| `NoEmulationError` | this machine does not permit what an emulation needs | 2 |
| `ControlError` | a congestion control from outside failed | 1 |
| `SimulationError` | a simulation failed | 1 |
| `EmulationError` | an emulation failed | 1 |
| `InvalidEmulationError` | an emulation cannot be believed, and nobody accepted that | 3 |
| `StorageError` | results cannot be written | 1 |
| `StoreError` | a store of runs is damaged, or of another version | 1 |
| `ClusterError` | a cluster cannot be reached, or runs other code | 1 |

Messages say where (file, key path), what was found, and what is accepted.
"""

from __future__ import annotations


class ParshallError(Exception):
    """Anything that Parshall refuses or cannot do."""


class InputError(ParshallError, ValueError):
    """What was given cannot be used."""


class ScenarioError(InputError):
    """A scenario is refused.

    Parameters
    ----------
    problems
        One message for each problem, each starting with a key path if it has one.
    source
        The file, or another name for where the scenario comes from.
    """

    def __init__(self, problems: list[str], source: str | None = None) -> None:
        self.problems = problems
        self.source = source
        where = "" if source is None else f"{source}: "
        super().__init__("\n".join(where + problem for problem in problems))

    def __reduce__(self) -> tuple[object, ...]:
        """As it is sent between processes: what it was made of."""
        return type(self), (self.problems, self.source)


class OutputExistsError(InputError):
    """Results would overwrite something."""


class QuantityError(InputError):
    """A quantity from outside failed: it raised an error, or its value was no number."""


class MissingExtraError(InputError):
    """A package is needed that is not installed: an extra of Parshall."""


class RunNotFoundError(InputError):
    """A directory holds no readable result."""


class ControlError(ParshallError):
    """A congestion control from outside failed: it raised an error, said no window, or ended its process."""


class SimulationError(ParshallError):
    """A simulation failed."""


class EmulationError(ParshallError):
    """An emulation failed."""


class NoEmulationError(EmulationError, InputError):
    """What an emulation needs is not permitted on this machine; nothing was run."""


class InvalidEmulationError(ParshallError):
    """An emulation cannot be believed, and nobody accepted that."""


class StorageError(ParshallError):
    """Results cannot be written: the disk is full, a permission is missing."""


class StoreError(ParshallError):
    """A store of runs cannot be used: it is damaged, or of another version."""


class ClusterError(ParshallError):
    """A cluster cannot be reached, or its workers run other code."""
