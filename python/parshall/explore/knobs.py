"""The fields of a scenario that are changed by hand: rates, queues and buffers of links, groups of flows.

A field has the key path that it has in the scenario, so that what `validate` says of a value is said at its field. Of
a request only these are taken, as short texts: no value of a request is a table, a path or a name of a file.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_jsonable_python

from parshall.foundations.errors import InputError, ScenarioError
from parshall.scenario import Scenario
from parshall.scenario.schema import external, writing
from parshall.scenario.schema.catalog import family
from parshall.scenario.schema.flows import TCP_KEYS, FlowGroup

LONGEST = 100
"""Characters of a value: more is no quantity."""

_AMOUNT = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z/%]+)\s*")
_AROUND = 20.0
"""A slider goes from a twentieth of the value to twenty times as much."""
_MOST_FLOWS = 50.0
"""Of a group, at the end of its slider, unless it has more already."""
_MOST_LISTED = 8
"""Of a list of round-trip times: a longer one is edited in the file."""


@dataclass(frozen=True)
class Knob:
    """A field.

    Parameters
    ----------
    key
        Its key path in the scenario.
    label
        What it is called beside its group's name.
    value
        What the scenario has, as text.
    choices
        The accepted names, where it is one of them.
    unit, low, high
        Of its slider, which is logarithmic; None where it has none.
    is_whole
        Whether it is a whole number, without a unit.
    """

    key: str
    label: str
    value: str
    choices: tuple[str, ...] = ()
    unit: str = ""
    low: float | None = None
    high: float | None = None
    is_whole: bool = False


@dataclass(frozen=True)
class Knobs:
    """The fields of a link or a group of flows."""

    title: str
    knobs: tuple[Knob, ...]


def fields(scenario: Scenario) -> list[Knobs]:
    """The fields of a scenario, link by link and group by group."""
    document = scenario.complete_document()
    made = [Knobs(title, tuple(_of_link(key, link))) for key, title, link in _links(document)]
    groups = enumerate(document["flows"])
    return [*made, *(Knobs(f"Flows: {group['name']}", tuple(_of_group(f"flows.{at}", group))) for at, group in groups)]


@dataclass(frozen=True)
class Changed:
    """A scenario with the values of some fields.

    Parameters
    ----------
    scenario
        The scenario.
    assigned
        What was assigned, by key path.
    left_out
        What a new congestion control does not understand and lost, a sentence each.
    """

    scenario: Scenario
    assigned: dict[str, Any]
    left_out: list[str]


def changed(scenario: Scenario, values: Mapping[str, Any]) -> Changed:
    """The scenario with the values of some fields.

    A group that gets another congestion control loses what only the one before understood.

    Raises
    ------
    ScenarioError
        A value is refused.
    InputError
        A key is none of a field, or a value is no short text.
    """
    known = {knob.key: knob for each in fields(scenario) for knob in each.knobs}
    for key, value in values.items():
        if key not in known:
            raise InputError(f"{key[:LONGEST]}: no field of this scenario")
        if not isinstance(value, str) or len(value) > LONGEST:
            raise InputError(f"{key}: found something else than a text of at most {LONGEST} characters")
    assigned: dict[str, Any] = {}
    complete = scenario.complete_document()
    for key in (key for key in known if key in values and values[key].strip() != known[key].value):
        _assign(assigned, complete, scenario.document(), key, values[key].strip())
    return _with_values(scenario, assigned) if assigned else Changed(scenario, assigned, [])


def _with_values(scenario: Scenario, assigned: dict[str, Any]) -> Changed:
    left_out = _lost_parameters(scenario, assigned)
    for _ in TCP_KEYS:
        try:
            return Changed(scenario.with_values(assigned), assigned, left_out)
        except ScenarioError as error:
            refused = [each for each in map(_refused_key, error.problems) if _goes(each, scenario, assigned)]
            if not refused:
                raise
            for key, problem in refused:
                given = writing.value_text(_at(scenario.document(), key.split(".")))
                assigned[key] = _default(key.rpartition(".")[2])
                group = scenario.flows[int(key.split(".")[1])].name
                reason = problem.partition("but ")[2].partition(";")[0] or problem
                left_out.append(f"{group}: {key.rpartition('.')[2]} = {given} is left out, for {reason}.")
    return Changed(scenario.with_values(assigned), assigned, left_out)


def _refused_key(problem: str) -> tuple[str, str]:
    """The key path of what was refused, and why."""
    key, _, reason = problem.partition(": ")
    return key, reason


def _goes(refused: tuple[str, str], scenario: Scenario, assigned: Mapping[str, Any]) -> bool:
    """True if a refused value is one of TCP's, was given by the scenario, and its group has another control now."""
    parts = refused[0].split(".")
    if len(parts) != 3 or parts[0] != "flows" or refused[0] in assigned or parts[2] not in TCP_KEYS:
        return False
    return f"flows.{parts[1]}.congestion_control" in assigned and _at(scenario.document(), parts) is not None


def _default(key: str) -> Any:
    return to_jsonable_python(FlowGroup.model_fields[key].default)


def _lost_parameters(scenario: Scenario, assigned: Mapping[str, Any]) -> list[str]:
    """A sentence for each group whose congestion control had parameters."""
    sentences = []
    for number, group in enumerate(scenario.document()["flows"]):
        given = group.get("congestion_control")
        if f"flows.{number}.congestion_control" in assigned and isinstance(given, Mapping) and len(given) > 1:
            lost = ", ".join(key for key in given if key != "name")
            sentences.append(f"{group['name']}: the parameters of {given['name']} are left out ({lost}).")
    return sentences


def idle(scenario: Scenario, of: Scenario) -> list[str]:
    """The fields of `of` that another scenario has not: a queue may have no buffer of its own."""
    there = {knob.key for each in fields(scenario) for knob in each.knobs}
    return [knob.key for each in fields(of) for knob in each.knobs if knob.key not in there]


def _assign(assigned: dict[str, Any], complete: Any, given: Any, key: str, text: str) -> None:
    *where, last = key.split(".")
    if where[-1] == "queue":
        path = ".".join(where)
        table = assigned.get(path) or _table(_at(given, where) or "drop_tail")
        if last == "name":
            limit = _at(complete, where).get("limit")
            table = {"name": text} | ({"limit": limit} if limit and _takes_limit(text) else {})
        elif _takes_limit(table["name"]):
            table = {**table, "limit": text}
        assigned[path] = table
    else:
        assigned[key] = typed(key, text)


def typed(key: str, text: str) -> str | int | float:
    """The value of a field from its text: a number where the scenario has one; what is none is refused there."""
    name = key.rpartition(".")[2]
    if name == "count" and text.isdecimal():
        return int(text)
    if name == "probability":
        with contextlib.suppress(ValueError):
            return float(text)
    return text


def _at(document: Any, path: list[str]) -> Any:
    for part in path:
        document = document[int(part)] if isinstance(document, list) else (document or {}).get(part)
    return document


def _links(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Key path, title and tables of each link that has some of its own."""
    if bottleneck := document.get("bottleneck"):
        yield "bottleneck", "Bottleneck", bottleneck
        if reverse := bottleneck.get("reverse"):
            yield "bottleneck.reverse", "Way back", reverse
    for number, link in enumerate(document.get("links") or ()):
        yield f"links.{number}", f"Link {link['name']}", link


def _of_link(key: str, link: Mapping[str, Any]) -> Iterator[Knob]:
    if link.get("rate"):
        yield _amount(f"{key}.rate", "Rate", link["rate"])
    if link.get("queue"):
        queue = _table(link["queue"])
        yield Knob(f"{key}.queue.name", "Queue", queue["name"], tuple(each.name for each in family("queues")))
        if "limit" in queue:
            yield _amount(f"{key}.queue.limit", "Buffer", queue["limit"])
    if link.get("loss"):
        loss = _table(link["loss"])
        if loss["name"] == "bernoulli":
            yield _probability(f"{key}.loss.probability", "Random loss", loss["probability"])


def _of_group(key: str, group: Mapping[str, Any]) -> Iterator[Knob]:
    count = int(group["count"])
    yield Knob(f"{key}.count", "Flows", str(count), low=1.0, high=max(_MOST_FLOWS, 4.0 * count), is_whole=True)
    rtt = group["rtt"]
    if isinstance(rtt, str):
        yield _amount(f"{key}.rtt", "RTT", rtt)
    elif isinstance(rtt, Mapping) and "first" in rtt:
        yield _amount(f"{key}.rtt.first", "RTT of the first", rtt["first"])
        yield _amount(f"{key}.rtt.step", "RTT step", rtt["step"])
    elif isinstance(rtt, Mapping) and "uniform" in rtt:
        for at, (label, end) in enumerate(zip(("Least RTT", "Largest RTT"), rtt["uniform"], strict=True)):
            yield _amount(f"{key}.rtt.uniform.{at}", label, end)
    elif isinstance(rtt, Mapping) and len(rtt.get("list", ())) <= _MOST_LISTED:
        for at, value in enumerate(rtt.get("list", ())):
            yield _amount(f"{key}.rtt.list.{at}", f"RTT of flow {at + 1}", value)
    if group.get("congestion_control") is not None:
        control = _table(group["congestion_control"])["name"]
        known = [*(each.name for each in family("congestion_controls")), *external.runnable()]
        yield Knob(f"{key}.congestion_control", "Congestion control", control, tuple(dict.fromkeys([*known, control])))


def _amount(key: str, label: str, text: str) -> Knob:
    match = _AMOUNT.fullmatch(text)
    if match is None or float(match[1]) <= 0:
        return Knob(key, label, text)
    number = float(match[1])
    return Knob(key, label, text, unit=match[2], low=number / _AROUND, high=number * _AROUND)


def _probability(key: str, label: str, value: float) -> Knob:
    if value <= 0:
        return Knob(key, label, f"{value:g}")
    return Knob(key, label, f"{value:g}", low=value / _AROUND, high=min(1.0, value * _AROUND))


def _table(entry: Any) -> dict[str, Any]:
    return {"name": entry} if isinstance(entry, str) else dict(entry)


def _takes_limit(queue: str) -> bool:
    named = [each for each in family("queues") if each.name == queue]
    return any(parameter.name == "limit" for each in named for parameter in each.parameters)
