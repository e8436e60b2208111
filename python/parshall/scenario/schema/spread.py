"""A value for each flow of a group: the same for all, a progression, a list, or drawn.

| in a scenario | flow i gets |
| --- | --- |
| ``"100 ms"`` | 100 ms |
| ``{first = "100 ms", step = "2 ms"}`` | 100 ms + i * 2 ms |
| ``{list = ["10 ms", "50 ms"]}`` | the i-th |
| ``{uniform = ["10 ms", "100 ms"]}`` | an independent draw, uniform over the interval |
| ``{distribution = {name = "lognormal", mean = "80 ms", sigma = 0.5}}`` | an independent draw |

Starts have their own progression, ``{staggered = "10 ms"}``, and ``{uniform = "5 s"}`` begins at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PlainValidator, Tag, WithJsonSchema

from parshall.scenario.schema.families import TIME, choice
from parshall.scenario.schema.model import FormOf, Part
from parshall.scenario.schema.problems import shown
from parshall.scenario.schema.quantities import Duration, PositiveDuration

if TYPE_CHECKING:
    TimeDistribution = Any
else:
    TimeDistribution = choice("distributions", "a distribution", TIME)


class Linear(Part):
    """A progression over the flows of a group."""

    first: Duration = Field(description="Value of the first flow")
    step: Duration = Field(description="Difference between neighbours")


class Listed(Part):
    """One value for each flow of a group."""

    values: Annotated[list[Duration], Field(alias="list", min_length=1, description="One value a flow")]


class UniformBetween(Part):
    """Independent draws, uniform over an interval."""

    uniform: tuple[Duration, Duration] = Field(description="Both ends of the interval")


class Distributed(Part):
    """Independent draws from a distribution."""

    distribution: TimeDistribution = Field(description="What to draw from")


class Staggered(Part):
    """One start after the other."""

    staggered: PositiveDuration = Field(description="Time between neighbours' starts")


def _end_or_both(value: object) -> object:
    if not isinstance(value, list | tuple):
        return PositiveDuration.read(value)
    if len(value) != 2:
        raise ValueError(
            f'found {shown(value)}; write both ends of the interval, e.g. ["1 s", "2 s"], or its end, "2 s"'
        )
    return [Duration.read(end) for end in value]


class UniformWithin(Part):
    """Independent starts, uniform over an interval, from 0 on if only its end is given."""

    uniform: Annotated[
        Duration | list[Duration],
        PlainValidator(_end_or_both),
        WithJsonSchema({"anyOf": [Duration.schema, {"type": "array", "items": Duration.schema}]}),
    ] = Field(description="Both ends of the interval, or its end alone")


@dataclass(frozen=True)
class _Forms:
    """Tells the forms of a spread apart by their keys."""

    keys: dict[str, str]

    def tag(self, value: object) -> str | None:
        if not isinstance(value, dict | Part):
            return "<constant>"
        given = value if isinstance(value, dict) else value.model_dump(by_alias=True)
        return next((tag for key, tag in self.keys.items() if key in given), None)


def _discriminator(forms: _Forms, accepted: str) -> FormOf:
    return FormOf(
        forms.tag,
        custom_error_type="unknown_form",
        custom_error_message="none of the accepted forms",
        custom_error_context={"accepted": accepted},
    )


_RTT = _Forms(
    {
        "list": "<list>",
        "uniform": "<uniform>",
        "distribution": "<distribution>",
        "first": "<linear>",
        "step": "<linear>",
    }
)
_START = _Forms({"list": "<list>", "uniform": "<uniform>", "staggered": "<staggered>"})

Rtt = Annotated[
    Annotated[PositiveDuration, Tag("<constant>")]
    | Annotated[Linear, Tag("<linear>")]
    | Annotated[Listed, Tag("<list>")]
    | Annotated[UniformBetween, Tag("<uniform>")]
    | Annotated[Distributed, Tag("<distribution>")],
    _discriminator(
        _RTT,
        '"100 ms", {first = "100 ms", step = "2 ms"}, {list = ["10 ms", ...]}, '
        '{uniform = ["10 ms", "100 ms"]} or {distribution = {name = "lognormal", mean = "80 ms", sigma = 0.5}}',
    ),
]
"""Round-trip times of a group."""

Start = Annotated[
    Annotated[Duration, Tag("<constant>")]
    | Annotated[Staggered, Tag("<staggered>")]
    | Annotated[UniformWithin, Tag("<uniform>")]
    | Annotated[Listed, Tag("<list>")],
    _discriminator(
        _START, '"0 s", {staggered = "10 ms"}, {uniform = "5 s"}, {uniform = ["1 s", "5 s"]} or {list = ["0 s", ...]}'
    ),
]
"""Start times of a group."""
