"""Sections that installed packages add to the page of an observation, and their values in ``parshall observe --json``.

An entry of the group ``parshall.sections`` names a `FlowSection` or a `TraceSection`. Those of the distribution
`parshall-studies` have keys of docs/json.md (`OF_STUDIES`); where it is not installed, a line in their place says what
to install.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from parshall.foundations import plugins
from parshall.foundations.errors import InputError
from parshall.foundations.extras import missing
from parshall.instruments.observation.flow import TracedFlow
from parshall.instruments.observation.result import Observation
from parshall.report.document import Chart, Section

CLOSELY = 3
"""Flows, and traces, that are shown closely."""

FEW_ROUNDS = 20
"""A flow of fewer round trips has nothing to show closely: only the largest, or chosen ones, are shown all the same."""

OF_STUDIES: Mapping[str, str] = {
    "variability": "How throughput varies, beside a chain of the control",
    "arrivals": "Arrivals: how they depend on each other over time",
}
"""Keys of the sections of parshall-studies, the first of flows, the second of traces: what each is about."""


@dataclass(frozen=True)
class FoundOfFlow:
    """The content of a section about one flow.

    Attributes
    ----------
    values
        JSON-able, for ``--json``.
    sentences, charts
        For the page. Names of charts are made unique by the number of the flow.
    warning
        A sentence for standard error, without its end; empty if there is none.
    """

    values: Any
    sentences: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    warning: str = ""


@dataclass(frozen=True)
class FlowSection:
    """A section about each flow that the page shows closely.

    Attributes
    ----------
    key
        Its key in the flows of ``--json``.
    doing
        A line for users while it is computed; ``{control}`` stands for the congestion control of ``--cc``.
    controls
        The congestion controls that it knows.
    look
        Returns its content, of a flow and a congestion control.
    """

    key: str
    doing: str
    controls: tuple[str, ...]
    look: Callable[[TracedFlow, str], FoundOfFlow]

    @property
    def name(self) -> str:
        """The key, by which additions are told apart."""
        return self.key


@dataclass(frozen=True)
class FoundOfTrace:
    """The content of a section about one trace: JSON-able `values`, and a `section` unless there is nothing to show."""

    values: Any
    section: Section | None = None


@dataclass(frozen=True)
class TraceSection:
    """A section about each trace.

    Attributes
    ----------
    key
        Its key in ``--json``.
    doing
        A line for users while it is computed.
    look
        Returns its content, of an observation and the number of a trace.
    """

    key: str
    doing: str
    look: Callable[[Observation, int], FoundOfTrace]

    @property
    def name(self) -> str:
        """The key, by which additions are told apart."""
        return self.key


@dataclass(frozen=True)
class Close:
    """A flow that is looked at closely, and the content of each section about it, by key."""

    flow: TracedFlow
    found: Mapping[str, FoundOfFlow] = field(default_factory=dict)

    @property
    def key(self) -> tuple[int, int]:
        """The numbers of its trace and its own."""
        return self.flow.row["repetition"], self.flow.row["flow"]


@dataclass(frozen=True)
class Looked:
    """Flows that were looked at closely, and of each section about traces its content, trace by trace."""

    close: Sequence[Close]
    traces: Mapping[str, Sequence[FoundOfTrace]] = field(default_factory=dict)


Kind = TypeVar("Kind", FlowSection, TraceSection)


def look(
    observation: Observation,
    chosen: Sequence[str] = (),
    control: str = "reno",
    *,
    without: Collection[str] = (),
    traces: int | None = CLOSELY,
    say: Callable[[str], None] = lambda _: None,
) -> Looked:
    """Return the content of all sections about the largest flows, or all `chosen`, and about the first traces.

    Parameters
    ----------
    control
        The congestion control whose chain is fitted.
    without
        Keys of sections that are left out.
    traces
        How many traces are looked at, the first ones; None: all, as ``--json`` shows them.
    say
        Told what is being done.

    Raises
    ------
    InputError
        One of `chosen` means no flow, or no section knows the control.
    MissingExtraError
        A control other than Reno is asked for, and no package that knows it is installed.
    """
    if control not in (known := controls(control)):
        raise InputError(f'control: found "{control}"; accepted: {", ".join(known)}')
    of_flows = [each for each in additions(FlowSection) if each.key not in without]
    for each in of_flows:
        say(each.doing.format(control=control))
    close: list[Close] = []
    for row in observation.selected(chosen, max(CLOSELY, len(chosen))).to_dicts():
        flow = observation.flow(row["flow"], row["repetition"])
        if chosen or not close or flow.windows.size >= FEW_ROUNDS:
            close.append(Close(flow, {each.key: each.look(flow, control) for each in of_flows}))
    number = len(observation.captures) if traces is None else min(traces, len(observation.captures))
    of_traces = {}
    for addition in additions(TraceSection) if number else ():
        if addition.key not in without:
            say(addition.doing)
            of_traces[addition.key] = [addition.look(observation, trace) for trace in range(number)]
    return Looked(close, of_traces)


def additions(kind: type[Kind]) -> tuple[Kind, ...]:
    """The sections of installed packages about flows, or about traces.

    Raises
    ------
    InputError
        A package cannot be loaded, or what it names is no section.
    """
    return tuple(each for each in _every() if isinstance(each, kind))


@cache
def _every() -> tuple[FlowSection | TraceSection, ...]:
    found: dict[str, FlowSection | TraceSection] = {}
    for where, _, content in plugins.loaded("sections", "section"):
        if not isinstance(content, FlowSection | TraceSection):
            accepted = f"a {__name__}.{FlowSection.__name__} or {TraceSection.__name__}"
            raise InputError(f"{where}: found {content!r}; accepted: {accepted}")
        if content.key in found:
            raise InputError(f'{where}: there is a section "{content.key}" already; choose another key')
        found[content.key] = content
    return tuple(found.values())


def controls(wanted: str = "reno") -> tuple[str, ...]:
    """The congestion controls whose chain some section fits; Reno alone where none does.

    Raises
    ------
    MissingExtraError
        Another than Reno is `wanted`, and parshall-studies, which knows others, is not installed.
    """
    if wanted.lower() != "reno" and absent("variability"):
        raise missing("studies", f"the chain of {wanted}", "parshall-studies")
    known = [name for each in additions(FlowSection) for name in each.controls]
    return tuple(dict.fromkeys(["reno", *known]))


def absent(key: str) -> str:
    """Return the line in the place of a section of parshall-studies; empty where a package brings it.

    Examples
    --------
    >>> absent("arrivals")
    ''
    """
    if any(each.key == key for each in _every()):
        return ""
    return f"{missing('studies', OF_STUDIES[key], 'parshall-studies')}."
