"""The shape of a study: what is done, what is measured of it, and what is said of that.

A study is a list of parts. Each declares **cases** and makes **findings** of their answers:

| | what | where it is done |
| --- | --- | --- |
| case | a function with its arguments; of a scenario, what is measured of its run | by a worker, once |
| findings | checks against what was published, and sections of the page | here, each time |

Nothing is done when cases are declared, and what comes of a case depends on its arguments alone. So the framework owns
the rest: workers and clusters, the store in which answers are kept, going on after an interruption, shards, progress,
the page, JSON. Cases of one function and equal arguments are done once, whichever parts declare them. An argument that
is itself a case stands for its answer.

>>> from parshall.analysis.stats.claim_rules import equal
>>> from parshall.analysis.stats.claims import Tolerance
>>> from parshall.analysis.stats.region import exactly
>>> digits = Tolerance(0.05, "half of the last digit")
>>> def made(kilometres: float) -> float:
...     return kilometres / 1.609344
>>> length = Part(
...     "length",
...     lambda scale: {"road": Case("the road", made, (42.195,))},
...     lambda answers, _: Findings([equal("road", "miles", 26.2, exactly(answers["road"]), within=digits)], []),
... )

A study is listed in `catalog.STUDIES`; one of another package is an entry point of the group ``parshall.studies``,
which names a `Study`.
"""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from parshall.foundations import notebook
from parshall.foundations.errors import InputError
from parshall.foundations.has_figures import HasFigures

if TYPE_CHECKING:
    from parshall.analysis.stats.claims import Claim
    from parshall.instruments.emulation import Validity
    from parshall.report.document import Section
    from parshall.scenario import Scenario
    from parshall.studies.joint import Joint
    from parshall.studies.register import Register

Scale = Literal["quick", "paper"]
Instruments = Literal["simulate", "emulate", "both"]
Progress = Callable[[str], None]
"""Told in a few words what is being done now."""


@dataclass(frozen=True)
class Findings(HasFigures, page="parshall.studies.page:shown"):
    """Findings of a study, or of a part of it: each published value beside ours, and sections of its page.

    Parameters
    ----------
    checks
        Claims: of a study, beside what was published; of a suite, criteria.
    register
        Every claim of the source, checked or not; None: the study has no register.
    """

    checks: Sequence[Claim]
    sections: Sequence[Section]
    register: Register | None = None

    def _repr_html_(self) -> str:
        """Return the claims for a notebook, in HTML."""
        from parshall.report.claims import COLUMNS, cells  # noqa: PLC0415 - the list of studies is read without it

        return notebook.fragment("Findings", "", notebook.table(COLUMNS, map(cells, self.checks)))


@dataclass(frozen=True)
class Case:
    """A function and its arguments, for a worker.

    Parameters
    ----------
    label
        What people are told that it is.
    function
        Of a module, so that another process can import it; what it returns is sent back.
    arguments
        Numbers, text, scenarios, arrays, dataclasses and tables of these, functions of modules; or other cases, which
        are done before it and whose answers it is given.
    emulates
        Whether it runs in real time, so that it is done alone, after those that do not.
    """

    label: str = field(compare=False)
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    emulates: bool = field(default=False, compare=False)

    def answer(self) -> Any:
        """Call the function in this process and return its result."""
        return self.function(*replaced(self.arguments, Case.answer))


def replaced(value: Any, answer: Callable[[Case], Any]) -> Any:
    """Arguments with answers in place of cases."""
    if isinstance(value, Case):
        return answer(value)
    if type(value) is tuple:
        return tuple(replaced(each, answer) for each in value)
    if isinstance(value, list):
        return [replaced(each, answer) for each in value]
    if isinstance(value, dict):
        return {key: replaced(each, answer) for key, each in value.items()}
    return value


def simulated(label: str, scenario: Scenario, measure: Callable[..., Any], *more: Any) -> Case:
    """A case that runs a scenario, and answers ``measure(run, *more)``."""
    return Case(label, _measured, (scenario, measure, *more))


def _measured(scenario: Scenario, measure: Callable[..., Any], *more: Any) -> Any:
    from parshall.instruments.simulation import run  # noqa: PLC0415 - the list of studies is read without it

    return measure(run(scenario, workers=1), *more)


@dataclass(frozen=True)
class Emulated:
    """Measurements of an emulated run, and its validity."""

    answer: Any
    validity: Validity


def emulated(label: str, scenario: Scenario | Case, measure: Callable[..., Any], *more: Any) -> Case:
    """A case that emulates a scenario, or the one that a case answers; `Emulated`, with ``measure(run, *more)``.

    Its answer is kept by kernel; an invalid emulation is done once more (`once_more_if_invalid`).
    """
    return Case(label, _emulated, (scenario, platform.release(), measure, *more), emulates=True)


def _emulated(scenario: Scenario, _kernel: str, measure: Callable[..., Any], *more: Any) -> Emulated:
    from parshall.instruments.emulation import emulate, validity  # noqa: PLC0415 - most cases are simulated

    def done() -> Emulated:
        run = emulate(scenario)
        verdict = validity(run)
        assert verdict is not None  # noqa: S101 - it was emulated
        return Emulated(measure(run, *more), verdict)

    return once_more_if_invalid(done)


def once_more_if_invalid(done: Callable[[], Emulated]) -> Emulated:
    """Return an emulation, done once more if it is invalid: a machine may be busy for a moment."""
    first = done()
    return done() if first.validity.level == "invalid" else first


@dataclass(frozen=True)
class Part:
    """A part of a study.

    Parameters
    ----------
    name
        What it is.
    cases
        Its cases at a scale, each under a key of the part's own.
    findings
        What is made of their answers, which are under the same keys. By default the part has one case, and its answer
        is the findings.
    priority
        Cases of a higher one are begun first: at the end nobody waits for a long one.
    emulates
        Whether cases of it emulate. Such a part is done where emulation was asked for.
    """

    name: str
    cases: Callable[[Scale], Mapping[Any, Case]]
    findings: Callable[[Mapping[Any, Any], Scale], Findings] = lambda answers, _: next(iter(answers.values()))
    priority: int = 0
    emulates: bool = False

    @classmethod
    def of(cls, name: str, function: Callable[[], Findings]) -> Part:
        """A part whose findings a worker makes."""
        return cls(name, lambda _: {name: Case(name, function)})


@dataclass(frozen=True)
class Study:
    """A study.

    Parameters
    ----------
    name, title, summary, reference
        What it is called, and what it regenerates.
    parts
        Its parts in the order of the page; or the module that has them as ``PARTS``, which is then imported when they
        are needed.
    cost
        At each scale, what all of it takes; said before it begins. Where it was not measured, nothing.
    kind
        A ``suite`` (`parshall.studies.suite`) has criteria that are met or not, and nothing that was published.
    """

    name: str
    title: str
    summary: str
    reference: str
    parts: Sequence[Part] | str
    cost: Mapping[Scale, str] = field(default_factory=dict)
    kind: Literal["study", "suite"] = "study"

    def loaded(self) -> Sequence[Part]:
        """Its parts."""
        if isinstance(self.parts, str):
            parts: Sequence[Part] = importlib.import_module(self.parts).PARTS
            return parts
        return self.parts

    def joint(self) -> Joint[Any]:
        """Its joint design, which its module has as ``JOINT``.

        Raises
        ------
        InputError
            It has none.
        """
        module = importlib.import_module(self.parts) if isinstance(self.parts, str) else None
        found: Joint[Any] | None = getattr(module, "JOINT", None)
        if found is None:
            raise InputError(f"--joint: {self.name} leaves nothing open that a joint design could try")
        return found

    def register(self) -> Register | None:
        """Every claim of its source; None: it has no such file.

        Raises
        ------
        InputError
            The file is refused.
        """
        from parshall.studies.register import register_of  # noqa: PLC0415 - the list of studies is read without it

        return register_of(self.parts) if isinstance(self.parts, str) else None
