"""A sweep as it is declared: a scenario, what varies, and how often each point is repeated.

Written in TOML (`Plan.load`) or made in Python:

>>> plan = Plan(
...     name="buffers",
...     scenario={
...         "duration": "2 s",
...         "bottleneck": {"rate": "5 Mbit/s", "queue": "drop_tail"},
...         "flows": [{"rtt": "50 ms"}],
...     },
...     parameters={"bottleneck.queue.limit": ["0.5 BDP", "1 BDP"], "flows.0.count": [1, 2, 4]},
...     repetitions=3,
... )
>>> from parshall.campaign.design import points
>>> len(points(plan))
6
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, Tag, ValidationError, model_validator

from parshall.analysis.stats.verdict import AT_LEAST
from parshall.foundations import notebook
from parshall.foundations.errors import ScenarioError
from parshall.scenario import Scenario
from parshall.scenario.schema import reading
from parshall.scenario.schema.accepted import Accepts, Table, initial
from parshall.scenario.schema.model import FormOf, Part
from parshall.scenario.schema.problems import messages
from parshall.scenario.schema.quantities import PositiveDuration, fraction
from parshall.scenario.templates.shipped import located

NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"

MOST_REPETITIONS = 10_000


Share = Annotated[float, BeforeValidator(fraction)]
"""A share, as a number or a percentage."""


class Stopping(Part):
    """Repeat until a metric is known well enough."""

    metric: str = Field(description="Which metric; docs/campaigns.md lists them", min_length=1)
    relative_half_width: Accepts[Share | None, float | str | None] = Field(
        default=initial(None),
        gt=0,
        lt=1,
        allow_inf_nan=False,
        description="Half the 95 % interval's width over the mean, at most",
    )
    half_width: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Or half the interval's width itself, in the metric's unit, at most",
    )
    minimum: int = Field(
        default=10, ge=3, le=MOST_REPETITIONS, strict=True, description="Repetitions before the first look"
    )
    maximum: int = Field(
        default=200, ge=3, le=MOST_REPETITIONS, strict=True, description="Repetitions at which it ends"
    )
    paired: bool = Field(
        default=False, description="Whether the interval is that of the difference to the baseline of [compare]"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.half_width is None) == (self.relative_half_width is None):
            given = "neither" if self.half_width is None else "both"
            raise ValueError(f"found {given} of relative_half_width and half_width; write one of them")
        if self.minimum > self.maximum:
            raise ValueError(f"found minimum = {self.minimum}; accepted: the maximum, {self.maximum}, or less")
        return self


class Budget(Part):
    """The end of a sweep, however wide its intervals are."""

    runs: int | None = Field(default=None, ge=1, strict=True, description="Runs of all points together")
    time: Accepts[PositiveDuration | None, str | timedelta | None] = Field(
        default=initial(None), description="Time that one call of `parshall sweep` takes"
    )

    @property
    def time_s(self) -> float | None:
        """The time in seconds."""
        return None if self.time is None else self.time.seconds


class Compare(Part):
    """Differences to a baseline, repetition by repetition on common random numbers."""

    parameter: str = Field(description="The key path, or the name, of a parameter")
    baseline: Any = Field(description="The value that the others are compared with")
    at_least: Accepts[Share, float | str] = Field(
        default=initial(AT_LEAST),
        ge=0.0,
        allow_inf_nan=False,
        description="Share of the baseline's value below which no difference matters",
    )


def _form(given: object) -> str | None:
    if isinstance(given, Mapping | Stopping):
        return "<rule>"
    return "<number>" if isinstance(given, int) and not isinstance(given, bool) else None


Repetitions = Annotated[
    Annotated[int, Field(ge=1, le=MOST_REPETITIONS, strict=True), Tag("<number>")] | Annotated[Stopping, Tag("<rule>")],
    FormOf(
        _form,
        custom_error_type="unknown_form",
        custom_error_message="none of the accepted forms",
        custom_error_context={"accepted": '3, or {metric = "goodput_bps", relative_half_width = 0.02}'},
    ),
]
"""A number, or the rule that ends repetitions."""


class Plan(Part):
    """A scenario, the parameters that vary, and the number of repetitions of each point: the input of a sweep.

    Raises
    ------
    ScenarioError
        A value is not accepted; the message names the key path, what was found, and what is accepted.
    """

    name: str = Field(
        default="sweep", description="A short name: the sweep's in its store", pattern=NAME, max_length=100
    )
    description: str = Field(default="", description="What it is for")
    scenario: Accepts[str | dict[str, Any], Scenario | str | Table] = Field(
        description="What is varied: a file, relative to this one, or a table"
    )
    changes: Accepts[dict[str, Any], Table] = Field(
        default_factory=initial(dict), alias="set", description="Values for all points, by key path, as with --set"
    )
    parameters: Accepts[dict[str, Any], Table] = Field(
        default_factory=initial(dict), description="Key paths and their values; every combination is a point"
    )
    together: Accepts[list[dict[str, Any]], Sequence[Table]] = Field(
        default_factory=initial(list), alias="zip", description="Parameters that take their values together"
    )
    latin_hypercube: dict[str, Any] | None = Field(
        default=None, description="`samples`, `seed`, and distributions by key path, drawn as a Latin hypercube"
    )
    seed: int = Field(default=1, ge=0, le=2**64 - 1, strict=True, description="Root of the draws from distributions")
    repetitions: Accepts[Repetitions | None, int | Stopping | Table | None] = Field(
        default=initial(None), description="How many, or until when; by default as the scenario says"
    )
    instrument: Literal["simulate", "emulate"] = Field(
        default="simulate", description="Whether runs are simulated, or emulated with the kernel's own TCP in real time"
    )
    accept_invalid: bool = Field(default=False, description="Whether emulations that cannot be believed count")
    random_numbers: Literal["common", "independent"] = Field(
        default="common", description="Whether points share their random numbers (then differences are paired)"
    )
    budget: Accepts[Budget, Budget | Table] = Field(
        default_factory=initial(Budget), description="Where it ends in any case"
    )
    metrics: list[str] = Field(default_factory=list, description="What the page shows first")
    compare: Accepts[Compare | None, Compare | Table | None] = Field(
        default=initial(None), description="Differences to a baseline"
    )

    _folder: Path = PrivateAttr(default=Path())
    _source: str | None = PrivateAttr(default=None)
    _base: Scenario | None = PrivateAttr(default=None)

    if not TYPE_CHECKING:  # type checkers make it of the fields

        def __init__(self, **data: Any) -> None:
            if isinstance(data.get("scenario"), Scenario):
                base: Scenario = data["scenario"]
                data = {**data, "scenario": base.document()}
            else:
                base = None  # type: ignore[assignment]
            try:
                super().__init__(**data)
            except ValidationError as error:
                raise ScenarioError(messages(error, type(self))) from None
            self._base = base
            if base is not None:
                self._folder = base.folder

    @model_validator(mode="after")
    def _comparable(self) -> Self:
        if isinstance(self.repetitions, Stopping) and self.repetitions.paired and self.compare is None:
            raise ValueError("found repetitions.paired = true, but no baseline; write [compare]")
        if self.compare is not None and self.random_numbers == "independent":
            raise ValueError('found [compare] and random_numbers = "independent"; pairs need common random numbers')
        return self

    @classmethod
    def load(cls, path: str | Path, overrides: tuple[str, ...] = ()) -> Self:
        """Read a sweep file.

        Parameters
        ----------
        path
            The file; the scenario that it names is relative to its folder. Or the name of a sweep that comes with
            Parshall, if there is no such file.
        overrides
            Assignments to the sweep's own keys, such as ``repetitions=5``, applied in order.

        Raises
        ------
        ScenarioError
            It is refused; the message names the file and the key path.
        """
        path = located(Path(path))
        document = reading.read_toml(path)
        if "scenario" not in document and {"flows", "duration"} & set(document):
            raise ScenarioError([f"this is a scenario, not a sweep: parshall run {path}"], str(path))
        reading.apply(document, overrides)
        try:
            with reading.within_limits():
                plan = cls(**{"name": slug(path.stem), **document})
        except ScenarioError as error:
            raise ScenarioError(error.problems, str(path)) from None
        plan._folder, plan._source = path.parent, str(path)
        return plan

    @property
    def source(self) -> str | None:
        """The file it was read from."""
        return self._source

    def base(self) -> tuple[dict[str, Any], Path, str | None]:
        """The scenario that is varied: its tables, the folder of its files, and where it comes from."""
        if self._base is not None:
            return self._base.document(), self._base.folder, self._base.source
        if isinstance(self.scenario, str):
            path = located(Path(self.scenario).expanduser(), self._folder)
            return {"name": path.stem, **reading.read_toml(path)}, path.parent, str(path)
        return {"name": self.name, **self.scenario}, self._folder, self._source

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what is varied."""
        drawn = {key: value for key, value in (self.latin_hypercube or {}).items() if key not in ("samples", "seed")}
        rows = [pair for each in (self.parameters, *self.together, drawn) for pair in each.items()]
        how_often = (
            "repetitions as the scenario says" if self.repetitions is None else f"repetitions: {self.repetitions}"
        )
        return notebook.fragment(
            self.name, f"{self.instrument}, {how_often}", notebook.table(("varied", "values"), rows)
        )

    def document(self) -> dict[str, Any]:
        """The sweep as plain tables, as it was given."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of a sweep file, for editors."""
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **cls.model_json_schema()}


def slug(stem: str) -> str:
    """A name that a sweep may have, of any text.

    >>> slug("my office, at night")
    'my-office--at-night'
    """
    kept = "".join(character if character.isalnum() or character in "-_" else "-" for character in stem)
    return kept.strip("-_") or "sweep"
