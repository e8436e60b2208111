"""A scenario as a form that a page fills in without Python: how each resolved value follows from the fields.

A page without a server has the simulator, which takes a resolved scenario, and none of the code that resolves one. So
what a field does is learnt here: the scenario is resolved with several values of its fields (`knobs`), and each number
that changes with them is written as a product of powers of the fields' numbers (`products`), as a buffer of so many
bandwidth-delay products is the rate times the round-trip time. A choice (a control, a queue) replaces a part of the
tables. The form is then held against the scenario itself at random settings, all fields at once: what the form does not
give is refused, never approximated.

| place in the form | meaning |
| --- | --- |
| ``fields`` | key, and the number, unit or choice that the scenario has |
| ``tables`` | the scenario's ``document`` and what is ``resolved`` of it |
| ``choices`` | by field and choice, the parts of the tables that it replaces |
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from parshall.explore import knobs
from parshall.explore.products import Trial, UnlikeError, evaluated, is_rule, learnt
from parshall.explore.subject import named_tables
from parshall.foundations.errors import InputError, ScenarioError
from parshall.scenario import Scenario

PROBES = 8
"""Random settings of all numbers from which products are learnt."""
CHECKS = 40
"""Random settings of all fields against which a form is held."""

_EDGE = 4.0
"""Numbers are tried up to a quarter of the way, by factors, to both ends of their sliders."""


def form(scenario: Scenario, only: Mapping[str, Sequence[str]] | None = None) -> dict[str, Any]:
    """The form of a scenario, as JSON takes it.

    Parameters
    ----------
    only
        The choices that are offered, by the last part of a field's key (``"congestion_control"``, ``"name"``); others
        have all that are accepted.

    Raises
    ------
    ScenarioError
        The scenario is refused.
    InputError
        A value follows from the fields in a way that the form cannot give.
    """
    scenario = explicit(scenario)
    listed = [knob for each in knobs.fields(scenario) for knob in each.knobs]
    amounts = [knob for knob in listed if knob.low is not None]
    trials = list(_trials(scenario, amounts, {}))
    tables = _learnt(scenario, trials)
    choices = {
        knob.key: dict(_choices(scenario, amounts, knob, tables, (only or {}).get(knob.key.split(".")[-1])))
        for knob in listed
        if knob.choices
    }
    made: dict[str, Any] = {
        "name": scenario.name,
        "description": scenario.description,
        "fields": [
            {
                "title": each.title,
                "knobs": [asdict(knob) | {"choices": list(choices.get(knob.key, ()))} for knob in each.knobs],
            }
            for each in knobs.fields(scenario)
        ],
        "amounts": [knob.key for knob in amounts],
        "tables": tables,
        "choices": choices,
    }
    _check(scenario, made)
    return made


def filled(form: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The tables for values of fields, as the page makes them.

    Examples
    --------
    >>> made = {"amounts": ["a"], "choices": {}, "tables": {"x": {"$product": [3, 2, {"0": 1}, "down", 1]}}}
    >>> filled(made, {"a": "5 ms"}), filled(made, {"a": "0.1 ms"})
    ({'x': 7}, {'x': 1})
    """
    tables = json.loads(json.dumps(form["tables"]))
    for key, of_choice in form["choices"].items():
        for path, part in of_choice[values[key]]:
            _put(tables, path, part)
    texts = [values[key] for key in form["amounts"]]
    numbers = [float(text.split()[0]) for text in texts]
    made: dict[str, Any] = evaluated(tables, texts, numbers)
    return made


def explicit(scenario: Scenario) -> Scenario:
    """The same scenario, with all fields in its tables, and buffers in packets where it has bandwidth-delay products.

    Of flows with unlike round-trip times, the product is that of a mean, which no field has.
    """
    listed = [knob for each in knobs.fields(scenario) for knob in each.knobs if not knob.choices]
    values = {knob.key: knobs.typed(knob.key, knob.value) for knob in listed}
    links = scenario.resolved.links
    names = [link.name for link in links]
    for knob in listed:
        if knob.unit == "BDP":
            where = knob.key.split(".")
            place = int(where[1]) if where[0] == "links" else names.index(where[-3])
            values[knob.key] = f"{links[place].queue['limit']['packets']} packets"
    return scenario.with_values(values)


# --- learning ---


def _trials(scenario: Scenario, amounts: Sequence[knobs.Knob], choice: Mapping[str, str]) -> Iterator[Trial]:
    """The scenario's own numbers, each of them doubled, and random settings; those that are refused are left out."""
    own = [float(knob.value.split()[0]) for knob in amounts]
    settings = [own]
    settings += [[2 * number if at == place else number for at, number in enumerate(own)] for place in range(len(own))]
    draw = random.Random(scenario.name)
    settings += [[_drawn(draw, knob) for knob in amounts] for _ in range(PROBES)]
    for place, numbers in enumerate(settings):
        values = {knob.key: _text(knob, number) for knob, number in zip(amounts, numbers, strict=True)}
        exact = [float(values[knob.key].split()[0]) for knob in amounts]
        try:
            yield Trial(list(values.values()), exact, _tables(scenario, {**values, **choice}))
        except ScenarioError:
            if place == 0:
                raise


def _drawn(draw: random.Random, knob: knobs.Knob) -> float:
    """A number that the field's slider can have."""
    low, high = knob.low or 1.0, knob.high or 1.0
    if not knob.is_whole:
        middle = math.sqrt(low * high)
        low, high = middle * (low / middle) ** (1 / _EDGE), middle * (high / middle) ** (1 / _EDGE)
    return float(low * (high / low) ** draw.random())


def _text(knob: knobs.Knob, number: float) -> str:
    """The number as a slider writes it."""
    if knob.is_whole:
        return str(max(1, round(number)))
    return f"{float(f'{number:.2g}'):g} {knob.unit}".strip() if number != float(knob.value.split()[0]) else knob.value


def _tables(scenario: Scenario, values: Mapping[str, str]) -> Any:
    """The document of the changed scenario, and what is resolved of it, as JSON has them."""
    changed = knobs.changed(scenario, values).scenario
    return json.loads(json.dumps({"document": named_tables(changed), "resolved": changed.resolve()}))


def _learnt(scenario: Scenario, trials: Sequence[Trial]) -> Any:
    try:
        return learnt(trials)
    except UnlikeError as error:
        raise InputError(
            f"{scenario.name}: {error} follows from its fields in no way that a page without a server knows"
        ) from None


def _choices(
    scenario: Scenario,
    amounts: Sequence[knobs.Knob],
    knob: knobs.Knob,
    tables: Any,
    only: Sequence[str] | None,
) -> Iterator[tuple[str, list[Any]]]:
    """The choices of a field that the scenario accepts, with the parts of the tables that each replaces."""
    for name in knob.choices:
        if name == knob.value:
            yield name, []
        elif only is None or name in only:
            try:
                trials = list(_trials(scenario, amounts, {knob.key: name}))
            except ScenarioError:  # another field would have to change with it
                continue
            yield name, list(_differences(tables, _learnt(scenario, trials), []))


def _differences(before: Any, after: Any, path: list[str | int]) -> Iterator[list[Any]]:
    """The smallest parts that differ: where, and what takes their place."""
    if before == after:
        return
    if (
        isinstance(before, dict)
        and isinstance(after, dict)
        and before.keys() == after.keys()
        and not (is_rule(before) or is_rule(after))
    ):
        for key in before:
            yield from _differences(before[key], after[key], [*path, key])
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(one, other, [*path, at])
    else:
        yield [path, after]


# --- filling in ---


def _put(tables: Any, path: Sequence[str | int], part: Any) -> None:
    for step in path[:-1]:
        tables = tables[step]
    tables[path[-1]] = part


# --- checking ---


def _check(scenario: Scenario, made: Mapping[str, Any]) -> None:
    """Hold the form against the scenario itself at random settings of all fields."""
    draw = random.Random(f"{scenario.name}, checked")
    listed = [knob for each in knobs.fields(scenario) for knob in each.knobs]
    for _ in range(CHECKS):
        values = dict(drawn(made, listed, draw))
        try:
            right = _tables(scenario, values)
        except ScenarioError:
            continue
        if filled(made, values) != right:
            where = next(iter(_differences(right, filled(made, values), [])))[0]
            settings = ", ".join(f"{key} = {value}" for key, value in values.items())
            raise InputError(
                f"{scenario.name}: a page without a server does not know {'.'.join(map(str, where))} at {settings}"
            )


def drawn(made: Mapping[str, Any], listed: Sequence[knobs.Knob], draw: random.Random) -> Iterator[tuple[str, str]]:
    """A random value of each field of a form, as its page could have it."""
    for knob in listed:
        if knob.low is not None:
            yield knob.key, _text(knob, _drawn(draw, knob))
        elif knob.choices:
            yield knob.key, draw.choice(list(made["choices"][knob.key]))
