"""A call: what is to be done, by which code, and for which store; and what came of it.

A call is a repetition of a scenario, whose answer is tables, or a function of a module, whose answer is a document.
Its key names the answer (`parshall.campaign.keys`).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from parshall.analysis.stats.estimates import Series
from parshall.foundations.errors import ParshallError, SimulationError
from parshall.results.records import about
from parshall.scenario.schema import external


@dataclass(frozen=True)
class Repetition:
    """A repetition of a scenario.

    Parameters
    ----------
    scenario
        The resolved scenario, as canonical JSON.
    repetition
        Its number.
    place
        Directory and identity of the store that it is for.
    metrics
        Metrics whose values are wanted at once, because they decide how it goes on.
    instrument, accept_invalid
        Whether it is simulated or emulated, and whether an emulation that cannot be believed is kept.
    """

    scenario: str
    repetition: int
    place: tuple[str, str]
    metrics: tuple[str, ...] = ()
    instrument: str = "simulate"
    accept_invalid: bool = False

    @staticmethod
    def code() -> str:
        """The version of the code that does it."""
        return about.code_version()


@dataclass(frozen=True)
class Function:
    """A function of a module, which another process can import.

    Parameters
    ----------
    function, arguments
        What is called; it returns what can be sent between processes.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    @staticmethod
    def code() -> str:
        """The version of the code that does it."""
        return f"{about.code_version()}+{about.python_digest()}"

    def __getstate__(self) -> dict[str, Any]:
        """As it is sent: function and arguments packed, to be read when the controls are declared that these name."""
        return {"function": _unpacked, "arguments": (pickle.dumps((self.function, self.arguments)),)}


def _unpacked(content: bytes) -> Any:
    function, arguments = pickle.loads(content)  # noqa: S301 - of whoever had the call done
    return function(*arguments)


@dataclass(frozen=True)
class Call:
    """Something to be done.

    Parameters
    ----------
    key
        The name of its answer, one a call.
    does
        A run or a function.
    label
        What people are told that it is.
    controls
        Congestion controls from outside that it may name.
    at_once
        Whether what it emulates does not wait for other emulations.
    code
        The version of the code that its key speaks of.
    """

    key: str
    does: Repetition | Function
    label: str = ""
    controls: tuple[external.Code, ...] = field(default_factory=external.codes)
    at_once: bool = False
    code: str = ""

    def __post_init__(self) -> None:
        if not self.code:
            object.__setattr__(self, "code", self.does.code())


# --- what came of it ---


@dataclass(frozen=True)
class Written:
    """A run was written.

    Parameters
    ----------
    key
        The call's.
    metrics
        Those that were wanted; without what the run does not have.
    wall_s, simulated_s, packets
        What it took.
    files
        The run's files, of a worker that does not see the store; None: they are in the store.
    """

    key: str
    metrics: Mapping[str, Series] = field(default_factory=dict)
    wall_s: float = 0.0
    simulated_s: float = 0.0
    packets: int = 0
    files: Mapping[str, bytes] | None = None


@dataclass(frozen=True)
class Returned:
    """A function was called, and returned a value."""

    key: str
    value: Any


@dataclass(frozen=True)
class Failed:
    """A call failed.

    After `StorageError` and `ClusterError` nothing more can be done; after any other error other calls can.
    """

    key: str
    error: ParshallError


@dataclass(frozen=True)
class Lost:
    """The process that did a call ended, and how; another one may do it."""

    key: str
    how: str


Outcome = Written | Returned | Failed | Lost


class CallError(SimulationError):
    """A call raised something that is no error of Parshall, or ended its process; the message does not say which."""
