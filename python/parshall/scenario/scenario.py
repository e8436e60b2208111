"""A scenario: the network, the flows and what they do, and what is recorded.

The one place for defaults, units and validation. Written in TOML (`Scenario.load`) or made in Python:

>>> scenario = Scenario(
...     duration="10 s",
...     bottleneck={"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "1 BDP"}},
...     flows=[{"count": 2, "rtt": "60 ms", "congestion_control": "reno"}],
... )
>>> scenario.resolve()["links"][0]["queue"]
{'name': 'drop_tail', 'limit': {'packets': 50}}

`Scenario.resolve` gives what Rust takes: every value there, in integers of the smallest unit. ``parshall schema``
prints `Scenario.json_schema` for editors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, PrivateAttr, ValidationError, field_validator, model_validator

from parshall.foundations import notebook
from parshall.foundations.errors import ScenarioError
from parshall.scenario.schema import external, reading, writing
from parshall.scenario.schema.accepted import (
    Accepts,
    DurationField,
    PositiveDurationField,
    ProcessingTimeField,
    Table,
    initial,
)
from parshall.scenario.schema.external import ExternalControl
from parshall.scenario.schema.families import Configuration
from parshall.scenario.schema.flows import PROCESSING_TIME, TCP_KEYS, FlowGroup
from parshall.scenario.schema.links import Bottleneck, Link, NamedLink, ReverseLink
from parshall.scenario.schema.model import Part, Problem
from parshall.scenario.schema.probes import Probes
from parshall.scenario.schema.problems import messages, shown
from parshall.scenario.schema.quantities import Duration
from parshall.scenario.schema.resolve.flows import control_of
from parshall.scenario.schema.resolve.resolved import Resolved
from parshall.scenario.schema.resolve.scenario import resolve
from parshall.scenario.templates.shipped import located

__all__ = ["Bottleneck", "FlowGroup", "Link", "NamedLink", "Probes", "ReverseLink", "Scenario"]


class Scenario(Part):
    """A network, the flows that share it, what they do and what is recorded: the input of every instrument.

    Raises
    ------
    ScenarioError
        A value is not accepted; the message names the key path, what was found, and what is accepted.
    """

    name: str = Field(
        default="scenario", description="A short name, for directories and pages", min_length=1, max_length=100
    )
    description: str = Field(default="", description="What it shows")
    duration: PositiveDurationField = Field(description="Simulated time; with `ends_with`, at most")
    ends_with: list[str] | None = Field(
        default=None,
        description="Groups of flows: the run ends when all their transfers are done, and what was then under way has "
        "arrived",
        min_length=1,
    )
    warm_up: DurationField = Field(default=initial(Duration("0 s")), description="Time before measurements start")
    seed: int = Field(default=1, ge=0, le=2**64 - 1, strict=True, description="Root of every random stream")
    repetitions: int = Field(default=1, ge=1, le=10_000, strict=True, description="Independent runs")
    processing_time: ProcessingTimeField = Field(
        default=initial(PROCESSING_TIME),
        description="Each packet leaves its host a random time later, up to this: a duration, or so many packets' time "
        "on the slowest link of the path (then 10 ms at most; of hosts with a profile of `tcp` 0.15 ms instead)",
    )
    bottleneck: Accepts[Bottleneck | None, Bottleneck | Table | None] = Field(
        default=initial(None), description="The one contended link of a dumbbell"
    )
    links: Accepts[list[NamedLink] | None, Sequence[NamedLink | Table] | None] = Field(
        default=initial(None), description="Or several contended links", min_length=1
    )
    flows: Accepts[list[FlowGroup], Sequence[FlowGroup | Table]] = Field(description="Groups of flows", min_length=1)
    probes: Accepts[Probes, Probes | Table] = Field(
        default_factory=initial(Probes), description="What is recorded beyond the totals"
    )

    _folder: Path = PrivateAttr(default=Path())
    _source: str | None = PrivateAttr(default=None)
    _resolved: tuple[list[ExternalControl], Resolved] | None = PrivateAttr(default=None)
    """Resolved once, for the controls from outside that were declared then."""

    if not TYPE_CHECKING:  # type checkers make it of the fields

        def __init__(self, *given: Any, **data: Any) -> None:
            if given:
                raise ScenarioError(
                    [f"found {shown(given[0])}; Scenario.load reads a file, Scenario.from_document a table"]
                )
            try:
                super().__init__(**data)
            except ValidationError as error:
                raise ScenarioError(messages(error, type(self))) from None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the tables for another process, in which the catalog's types are made anew."""
        return _sent, (self.document(), self._folder, self._source)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in type(self).model_fields:
            hint = f'scenario.with_values({{"{name}": ...}}) gives another'
            raise ScenarioError([f"{name}: a scenario does not change after it was made; {hint}"])
        super().__setattr__(name, value)

    @field_validator("name")
    @classmethod
    def _printable(cls, name: str) -> str:
        if not name.isprintable() or name != name.strip():
            raise ValueError(f"found {name!r}; write printable characters, without blanks at the ends")
        return name

    @field_validator("flows", mode="before")
    @classmethod
    def _named(cls, flows: Any) -> Any:
        """Groups without a name get one: flows0, flows1, ..."""
        if not isinstance(flows, list | tuple):
            return flows
        return [_with_name(group, f"flows{index}") for index, group in enumerate(flows)]

    @model_validator(mode="after")
    def _one_network(self) -> Self:
        if (self.bottleneck is None) == (self.links is None):
            found = "neither [bottleneck] nor [[links]]" if self.links is None else "both [bottleneck] and [[links]]"
            raise ValueError(f"found {found}; write one of them")
        return self

    @classmethod
    def load(cls, path: str | Path, overrides: str | Mapping[str, Any] | Iterable[str] = ()) -> Self:
        """Read a scenario from a TOML file, and check that it can be run.

        Parameters
        ----------
        path
            The file; other files that it names are relative to its folder. Or the name of a scenario that comes with
            Parshall, if there is no such file.
        overrides
            Assignments such as ``flows.0.count=10`` or ``bottleneck.rate="10 Mbit/s"``, applied in order: one, or
            several; or values by key path, as `with_values` takes them.

        Raises
        ------
        ScenarioError
            It is refused; the message names the file and the key path.
        InputError
            An override is no assignment, or its path leads nowhere.
        """
        path = located(Path(path))
        document = reading.read_toml(path)
        if "flows" not in document and {"scenario", "parameters"} & set(document):
            raise ScenarioError([f"this is a sweep, not a scenario: parshall sweep {path}"], str(path))
        reading.apply(document, overrides)
        return cls.from_document({"name": path.stem, **document}, folder=path.parent, source=str(path))

    @classmethod
    def of(cls, given: Self | str | Path | Mapping[str, Any]) -> Self:
        """Return the scenario that is given: itself, the path of a file, the name of one that is shipped, or tables.

        Raises
        ------
        ScenarioError
            It is refused; the message names the file, if there is one, and the key path.
        """
        if isinstance(given, str | Path):
            return cls.load(given)
        return cls.from_document(given) if isinstance(given, Mapping) else given

    @classmethod
    def from_document(cls, document: Mapping[str, Any], folder: str | Path = ".", source: str | None = None) -> Self:
        """Make a scenario of plain tables, as TOML or JSON have them, and check that it can be run."""
        with reading.within_limits(source):
            try:
                scenario = cls(**document)
            except ScenarioError as error:
                raise ScenarioError(error.problems, source) from None
            scenario.placed(folder, source).resolved  # noqa: B018 - which refuses what cannot be run
        return scenario

    def placed(self, folder: str | Path, source: str | None) -> Self:
        """The same scenario, knowing where relative paths start and where it comes from."""
        self._folder = Path(folder).absolute()
        self._source = source
        self._resolved = None
        return self

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """The same scenario, but for some fields."""
        copied = super().model_copy(update=update, deep=deep)
        copied._resolved = None  # noqa: SLF001 - of the same class
        return copied

    def with_values(self, values: Mapping[str, Any]) -> Self:
        """The same scenario but for some values.

        Parameters
        ----------
        values
            Values by key path, e.g. ``{"flows.0.count": 10, "bottleneck.rate": "10 Mbit/s"}``.
        """
        return self.with_overrides(values)

    def with_overrides(self, overrides: str | Mapping[str, Any] | Iterable[str]) -> Self:
        """The same scenario but for what is assigned, as `load` takes it."""
        document = self.document()
        reading.apply(document, overrides)
        return type(self).from_document(document, self._folder, self._source)

    def document(self) -> dict[str, Any]:
        """The scenario as plain tables: what was given, with the names that were left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def toml(self) -> str:
        """The scenario as the text of a file."""
        return writing.toml(self.document())

    def complete_document(self) -> dict[str, Any]:
        """The scenario as plain tables, every default filled in that has a meaning there."""
        document = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        for given, written, resolved in zip(self.flows, document["flows"], self.resolved.flows, strict=True):
            if resolved.tcp is None:
                for key in TCP_KEYS:
                    if key != "congestion_control" or resolved.congestion_control is None:
                        written.pop(key, None)
            elif control_of(given) is not given.congestion_control:
                written["congestion_control"] = {"name": given.congestion_control.name}
        return document

    def external_controls(self) -> list[dict[str, Any]]:
        """The congestion controls from outside that it names: where each comes from, and what it needs."""
        return [control.described() for control in self._external()]

    def _external(self) -> list[ExternalControl]:
        """The declared controls that it names."""
        named = {control.name for group in self.flows for control in _with_steered(group.congestion_control)}
        return [control for name in sorted(named) if (control := external.declared(name))]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the scenario as a file."""
        groups = f"{len(self.flows)} group{'s' if len(self.flows) > 1 else ''} of flows, {self.duration}"
        return notebook.fragment(self.name, groups, notebook.text(self.toml()))

    @property
    def folder(self) -> Path:
        """The folder in which relative paths in the scenario start."""
        return self._folder

    @property
    def source(self) -> str | None:
        """The file it was read from."""
        return self._source

    @property
    def duration_s(self) -> float:
        """Simulated time of one repetition."""
        return self.duration.seconds

    def resolve(self) -> dict[str, Any]:
        """The scenario as the simulator takes it, as plain tables of your own; the errors are those of `resolved`."""
        tables: dict[str, Any] = json.loads(self.resolved.json())
        return tables

    @property
    def resolved(self) -> Resolved:
        """The scenario as the simulator takes it: no defaults, integers in the smallest unit.

        It is resolved once, and again only where a congestion control that it names was declared anew.

        Raises
        ------
        ScenarioError
            Parts do not fit together, or a file cannot be read.
        """
        declared = self._external()
        if self._resolved is None or self._resolved[0] != declared:
            try:
                with reading.within_limits(self._source):
                    self._resolved = declared, resolve(self, self._folder)
            except Problem as problem:
                raise ScenarioError([str(problem)], self._source) from None
        return self._resolved[1]

    def warnings(self) -> list[str]:
        """Reasons to doubt the numbers of this scenario, in words; none for most.

        Raises
        ------
        ScenarioError
            It cannot be run at all.
        """
        from parshall.scenario.caveats import caveats  # noqa: PLC0415 - what is asked of the catalog takes NumPy

        return caveats(self.resolved, self.repetitions)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of a scenario file, for editors."""
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **cls.model_json_schema()}


def _with_steered(control: Configuration) -> Iterator[Configuration]:
    """A congestion control, and those that it steers."""
    yield control
    steered = getattr(control, "control", None)  # of a control from outside, it may be any value
    if isinstance(steered, Configuration):
        yield from _with_steered(steered)


def _sent(document: dict[str, Any], folder: Path, source: str | None) -> Scenario:
    return Scenario(**document).placed(folder, source)


def _with_name(group: Any, name: str) -> Any:
    if isinstance(group, FlowGroup):
        return group if group.name is not None else group.model_copy(update={"name": name})
    if isinstance(group, Mapping) and group.get("name") is None:
        return {**group, "name": name}
    return group
