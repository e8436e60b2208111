"""Congestion controls from outside: the names that scenarios may use, and what makes these controls.

A scenario file names such a control and its parameters; what makes it is said on the command line or in Python
(`parshall.scenario.controls`), so that a scenario file alone never runs code. A run that was recorded can be
read without it.

What is declared holds for the process, as imports do: workers of a sweep declare the same again (`codes`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from parshall.foundations.errors import InputError

if TYPE_CHECKING:
    from parshall.scenario.foreign.code import ForeignCode

NEEDS = (
    "rate_samples",
    "pacing",
    "recovery_window",
    "timestamps",
    "one_way_delay",
    "accurate_ecn",
    "growth_in_cwr",
    "l4s",
)
"""Services of the endpoint that a control may ask for: the keys of `External.needs`."""


STEERING = ("slope", "ssthresh")
"""Values that `multiple_time_scale` may set: the keys of `External.steering`."""


@dataclass(frozen=True)
class ExternalControl:
    """One control from outside."""

    name: str
    """Name in scenarios."""
    source: str
    """Origin of the control, for people: ``mine.py:Mine``."""
    code: str
    """A digest of its code: runs with other code are other runs."""
    place: str | None = None
    """Path for other processes: ``/home/me/mine.py:Mine``; None: there is none, as in a notebook."""
    needs: tuple[str, ...] = ()
    standard_slow_start: bool = False
    """True if its slow start is that of RFC 5681, which another can replace."""
    steering: tuple[str, ...] = ()
    """Values that `multiple_time_scale` may set."""
    maker: ForeignCode | None = field(default=None, compare=False, repr=False)
    """The code that makes it, in a process of its own; None: it is known by name only, and cannot be run."""
    content: bytes = field(default=b"", compare=False, repr=False)
    """Of the file that has it, if there is one."""

    def resolved(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """As Rust reads it."""
        return {
            "name": "external",
            "control": self.name,
            "parameters": json.dumps(parameters),
            "code": self.code,
            "needs": {need: need in self.needs for need in NEEDS},
            "standard_slow_start": self.standard_slow_start,
            "steering": {what: what in self.steering for what in STEERING},
        }

    def described(self) -> dict[str, Any]:
        """For ``run.json``."""
        return {
            "name": self.name,
            "source": self.source,
            "code": self.code,
            "needs": self.needs,
            "standard_slow_start": self.standard_slow_start,
            "steering": self.steering,
        }


class Code(NamedTuple):
    """A control that another process is to declare: the code of a digest, found in a place there or sent to it."""

    name: str
    place: str
    digest: str


_declared: dict[str, ExternalControl] = {}


def declare(controls: Iterable[ExternalControl]) -> None:
    """Accept these names in scenarios from now on; a name that was declared before means the new one."""
    _declared.update({control.name: control for control in controls})


def remember(described: Iterable[Mapping[str, Any]]) -> None:
    """Accept the names of a recorded run, unless they are declared."""
    for each in described:
        control = ExternalControl(**{**each, **{key: tuple(each.get(key, ())) for key in ("needs", "steering")}})
        _declared.setdefault(control.name, control)


def declared(name: object) -> ExternalControl | None:
    """The control of a name, if there is one."""
    return _declared.get(name) if isinstance(name, str) else None


def names() -> tuple[str, ...]:
    """Return the names of all controls that were declared."""
    return tuple(_declared)


BPF_SUFFIX = ".bpf.o"
"""Of an object that a kernel loads: a control for emulations."""


def bpf_objects() -> dict[str, str]:
    """The files of those declared controls that are for the kernel, by name."""
    given = {name: control.place for name, control in _declared.items()}
    return {name: place for name, place in given.items() if place is not None and place.endswith(BPF_SUFFIX)}


def places() -> tuple[str, ...]:
    """Return the controls that other processes are to declare, as assignments."""
    return tuple(f"{each.name}={each.place}" for each in codes())


def codes(text: str | None = None) -> tuple[Code, ...]:
    """Return the controls that other processes are to declare: all, or those that a text in JSON may name."""
    return tuple(
        Code(name, control.place, control.code)
        for name, control in _declared.items()
        if control.place is not None and (text is None or f'"{name}"' in text)
    )


def known_here_alone(scenario: str | None = None) -> list[ExternalControl]:
    """Controls of which other processes cannot be told, as a class of a notebook: all, or those that a scenario names.

    Parameters
    ----------
    scenario
        Resolved, as JSON.
    """
    return [
        control
        for name, control in _declared.items()
        if control.place is None and (scenario is None or _names(scenario, name))
    ]


def check_found(scenario: str) -> None:
    """Refuse a resolved scenario, as JSON, that names a control which other machines do not find.

    Raises
    ------
    InputError
        It names the control, and says what to do.
    """
    for control in known_here_alone(scenario):
        raise InputError(
            f'control "{control.name}": {control.source} is part of a notebook, of the script that is running or of a '
            "package, where the workers of a cluster do not find it; write it to a file of its own: FILE.py:CLASS"
        )


def runnable(scenario: str | None = None) -> dict[str, ForeignCode]:
    """Return the code of the controls that can be run, by name: all, or those that a resolved scenario names."""
    return {
        name: control.maker
        for name, control in _declared.items()
        if control.maker is not None and (scenario is None or _names(scenario, name))
    }


def _names(scenario: str, name: str) -> bool:
    """Return whether a resolved scenario, as JSON, names a control."""
    return re.search(rf'"control": ?"{name}"', scenario) is not None
