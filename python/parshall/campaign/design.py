"""The points of a sweep: which values belong together, and the scenario that they make.

Parameters of ``[parameters]`` are combined, every value with every other; those of one ``[[zip]]`` take their values
together; those of ``[latin_hypercube]`` are drawn so that each of n equally likely slices of every parameter is met
once (McKay, Beckman & Conover 1979). The three kinds are combined with each other.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from parshall.campaign.axes import Axis, axes
from parshall.campaign.plan import Plan
from parshall.campaign.values import label
from parshall.foundations.errors import InputError, ScenarioError
from parshall.scenario import Scenario
from parshall.scenario.schema import reading
from parshall.scenario.schema.model import Problem
from parshall.scenario.schema.problems import shown

MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class Point:
    """A combination of values.

    Parameters
    ----------
    number
        Its place in the sweep, from 0.
    values
        Value by key path.
    """

    number: int
    values: Mapping[str, Any]

    def __str__(self) -> str:
        return ", ".join(f"{key} = {label(value)}" for key, value in self.values.items()) or "the scenario itself"


def parameters(plan: Plan) -> list[Axis]:
    """What varies, in the order of the file.

    Raises
    ------
    ScenarioError
        A parameter is given twice, or its values are not accepted.
    """
    return [axis for group, _ in _groups(plan) for axis in group]


def points(plan: Plan) -> list[Point]:
    """Every point, the last parameter varying fastest.

    Raises
    ------
    ScenarioError
        As `parameters`, or there are too many.
    """
    groups = _groups(plan)
    size = 1
    for _, rows in groups:
        size *= len(rows)
    if size > MOST_POINTS:
        raise ScenarioError([f"parameters: found {size} combinations; accepted: {MOST_POINTS} or fewer"], plan.source)
    keys = [axis.key for group, _ in groups for axis in group]
    combined = itertools.product(*(rows for _, rows in groups))
    return [
        Point(number, dict(zip(keys, itertools.chain.from_iterable(rows), strict=True)))
        for number, rows in enumerate(combined)
    ]


def resolved(plan: Plan, all_points: Sequence[Point]) -> Iterator[tuple[Point, Scenario, str]]:
    """Each point with its scenario, and that as the text the simulator takes.

    Raises
    ------
    ScenarioError
        A point's scenario is refused; the message names the point.
    EmulationError
        It is to be emulated, which this machine cannot do.
    """
    from parshall.instruments.emulation.kernel import emulated  # noqa: PLC0415 - most sweeps are simulated

    document, folder, source = plan.base()
    for key, value in _flat(plan.changes):
        _set(document, key, value, plan, f"set.{key}")
    for point in all_points:
        own = deepcopy(document)
        for key, value in point.values.items():
            _set(own, key, deepcopy(value), plan, f"parameters.{key}")
        try:
            scenario = Scenario(**own).placed(folder, source)
            content = emulated(scenario) if plan.instrument == "emulate" else scenario.resolve()
            _refuse_files(scenario)
        except ScenarioError as error:
            where = f"point {point.number} ({point}): "
            raise ScenarioError([where + problem for problem in error.problems], plan.source or source) from None
        if plan.random_numbers == "independent":
            content["seed"] = _own_seed(content["seed"], point)
        yield point, scenario, canonical(content)


def _refuse_files(scenario: Scenario) -> None:
    """A store keeps tables: what else a run would write has no place there."""
    for key in ("pcap", "qlog"):
        if getattr(scenario.probes, key):
            problem = "a sweep keeps tables only; leave it out here, and make the run that matters with parshall run"
            raise ScenarioError([f"probes.{key}: {problem}"])


def canonical(value: Any) -> str:
    """JSON with one way of writing it: sorted keys, no blanks."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


_Row = tuple[Any, ...]
_Group = tuple[list[Axis], list[_Row]]
"""Parameters that belong together, and the rows of values that they take."""


def _groups(plan: Plan) -> list[_Group]:
    try:
        groups = [
            *_product(plan),
            *(_zipped(index, table) for index, table in enumerate(plan.together)),
            *([] if plan.latin_hypercube is None else [_latin(plan.latin_hypercube, plan.seed)]),
        ]
        _check_names([axis for group, _ in groups for axis in group])
    except Problem as problem:
        raise ScenarioError([str(problem)], plan.source) from None
    return groups


def _product(plan: Plan) -> list[_Group]:
    groups: list[_Group] = []
    for axis in _axes("parameters", plan.parameters):
        values = axis.values
        if values is None:
            if axis.samples is None:
                raise Problem(("parameters", axis.key, "samples"), "missing; write how many draws are taken")
            stream = np.random.default_rng([plan.seed, *axis.key.encode()])
            values = _drawn("parameters", axis, stream.random(axis.samples))
        elif (again := _repeated(values)) is not None:
            raise Problem(("parameters", axis.key), f"found {shown(again)} twice; values differ")
        groups.append(([axis], [(value,) for value in values]))
    return groups


def _zipped(index: int, table: Mapping[str, Any]) -> _Group:
    where = f"zip.{index}"
    group = _axes(where, table)
    for axis in group:
        if axis.values is None:
            raise Problem((where, axis.key), "found a distribution; accepted in [[zip]]: lists and ranges")
    columns = [axis.values or () for axis in group]
    lengths = {axis.key: len(values) for axis, values in zip(group, columns, strict=True)}
    if len(set(lengths.values())) != 1:
        counts = ", ".join(f"{length} of {key}" for key, length in lengths.items()) or "no parameter"
        raise Problem((where,), f"found {counts}; accepted: as many values of each")
    rows = list(zip(*columns, strict=True))
    if (again := _repeated(rows)) is not None:
        raise Problem((where,), f"found {', '.join(map(shown, again))} twice; rows of values differ")
    return group, rows


def _repeated(values: Sequence[Any]) -> Any:
    """The first value that was there before; None if all differ."""
    return next((value for index, value in enumerate(values) if value in values[:index]), None)


def _latin(table: Mapping[str, Any], seed: int) -> _Group:
    from scipy.stats import qmc  # noqa: PLC0415 - few sweeps need it

    samples = table.get("samples")
    if isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= MOST_POINTS:
        samples_given = "nothing" if samples is None else shown(samples)
        raise Problem(
            ("latin_hypercube", "samples"), f"found {samples_given}; accepted: a number from 1 to {MOST_POINTS}"
        )
    group = _axes("latin_hypercube", {key: given for key, given in table.items() if key != "samples"})
    if not group:
        raise Problem(("latin_hypercube",), 'found no parameter; write e.g. "bottleneck.rate" = {uniform = [..., ...]}')
    for axis in group:
        if axis.values is not None:
            raise Problem(("latin_hypercube", axis.key), "found a list or range; accepted: a distribution")
    hypercube = qmc.LatinHypercube(d=len(group), rng=np.random.default_rng(seed)).random(samples)
    columns = [_drawn("latin_hypercube", axis, hypercube[:, index]) for index, axis in enumerate(group)]
    return group, list(zip(*columns, strict=True))


def _axes(where: str, table: Mapping[str, Any]) -> list[Axis]:
    try:
        return axes(table)
    except Problem as problem:
        raise problem.within(where) from None


def _drawn(where: str, axis: Axis, probabilities: Any) -> tuple[Any, ...]:
    try:
        return axis.drawn(probabilities)
    except ValueError as error:
        raise Problem((where, axis.key), f"a draw is not accepted: {error}") from None


def _check_names(parsed: Sequence[Axis]) -> None:
    for what in ("key", "name"):
        names = [getattr(axis, what) for axis in parsed]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise Problem((parsed[index].key,), f"found the {what} {name} twice; {what}s of parameters differ")


def _flat(table: Mapping[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Key paths and values of ``[set]``; a table with a name is a value (``{name = "red"}``)."""
    for key, value in table.items():
        path = (*before, key)
        if isinstance(value, Mapping) and value and "name" not in value:
            yield from _flat(value, path)
        else:
            yield ".".join(path), value


def _set(document: dict[str, Any], key: str, value: Any, plan: Plan, where: str) -> None:
    try:
        reading.set_value(document, key.split("."), value)
    except InputError as error:
        raise ScenarioError([f"{where}: {str(error).removeprefix('--set: ')}"], plan.source) from None


def _own_seed(seed: int, point: Point) -> int:
    """A seed that follows from the scenario's and the point's values."""
    digest = hashlib.sha256(canonical([seed, point.values]).encode()).digest()
    return int.from_bytes(digest[:8])
