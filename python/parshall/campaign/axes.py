"""One parameter of a sweep: a list, a range, or a distribution.

| in a sweep file | values |
| --- | --- |
| ``["10 ms", "50 ms"]`` | these |
| ``{values = ["cubic", "reno"], name = "control"}`` | these, under another name |
| ``{from = 1, to = 9, step = 2}`` | 1, 3, 5, 7, 9 |
| ``{from = "1 Mbit/s", to = "1 Gbit/s", points = 4, scale = "log"}`` | 1, 10, 100, 1000 Mbit/s |
| ``{uniform = ["10 ms", "100 ms"], samples = 5}`` | 5 draws; in a Latin hypercube, `samples` is that of all |
| ``{log_uniform = [..., ...]}``, ``{normal = [mean, sd]}``, ``{lognormal = [median, sigma]}`` | other distributions |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.campaign.values import common_kind, measured, written
from parshall.scenario.schema.model import Problem
from parshall.scenario.schema.problems import did_you_mean, quoted, shown

_DISTRIBUTIONS = ("uniform", "log_uniform", "normal", "lognormal")
_KEYS = {
    "values": ("values", "name"),
    "from": ("from", "to", "step", "points", "scale", "name"),
    **{name: (name, "samples", "name") for name in _DISTRIBUTIONS},
}
_FORMS = '["10 ms", "50 ms"], {from = "10 ms", to = "50 ms", points = 5} or {uniform = ["10 ms", "50 ms"], samples = 5}'

_MOST = 1_000_000
"""Values of one parameter; more are a slip of the pen."""


@dataclass(frozen=True)
class Axis:
    """A parameter and where its values come from.

    Parameters
    ----------
    key
        The key path in the scenario.
    name
        The column of tables.
    values
        What it takes; ``None`` for a distribution.
    at
        For a distribution: the value at a probability.
    samples
        How many draws a distribution is asked for where it stands alone.
    """

    key: str
    name: str
    values: tuple[Any, ...] | None
    at: Callable[[float], Any] | None = None
    samples: int | None = None

    def drawn(self, probabilities: NDArray[np.float64]) -> tuple[Any, ...]:
        """The values of a distribution at these probabilities."""
        if self.at is None:
            raise ValueError(f"{self.key} is no distribution")
        return tuple(self.at(float(probability)) for probability in probabilities)


def axes(table: Mapping[str, Any], before: tuple[str, ...] = ()) -> list[Axis]:
    """The parameters in a table of a sweep file; nested tables are key paths.

    Raises
    ------
    Problem
        A value is none of the accepted forms.
    """
    parsed: list[Axis] = []
    for key, given in table.items():
        path = (*before, *key.split("."))
        if isinstance(given, Mapping) and not _is_form(given):
            if not given:
                raise Problem(path, f"found {shown(given)}; accepted: {_FORMS}")
            parsed += axes(given, path)
        else:
            parsed.append(_axis(path, given))
    return parsed


def column(key: str) -> str:
    """The name of the column of a key path.

    >>> column("flows.0.count")
    'flows_0_count'
    """
    return key.replace(".", "_").replace("-", "_").lower()


def _is_form(table: Mapping[str, Any]) -> bool:
    return any(key in table for key in _KEYS)


def _axis(path: tuple[str, ...], given: Any) -> Axis:
    key = ".".join(path)
    if isinstance(given, Sequence) and not isinstance(given, str):
        return Axis(key, column(key), _listed(path, given))
    if not isinstance(given, Mapping):
        raise Problem(path, f"found {shown(given)}; accepted: {_FORMS}")
    form = next(name for name in _KEYS if name in given)
    unknown = [name for name in given if name not in _KEYS[form]]
    if unknown:
        known = _KEYS[form]
        hint = did_you_mean(unknown[0], known)
        raise Problem((*path, unknown[0]), f"unknown key beside {form}; accepted: {quoted(known)}{hint}")
    name = _name(path, given.get("name", column(key)))
    if form == "values":
        return Axis(key, name, _listed((*path, "values"), given["values"]))
    if form == "from":
        return Axis(key, name, _range(path, given))
    return _distribution(path, key, name, form, given)


def _name(path: tuple[str, ...], name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise Problem(
            (*path, "name"), f"found {shown(name)}; accepted: letters, digits and _, not starting with a digit"
        )
    return name


def _listed(path: tuple[str, ...], given: Any) -> tuple[Any, ...]:
    if not isinstance(given, list | tuple) or not given:
        raise Problem(
            path, f"found {shown(given)}; accepted: one or more values, e.g. {_FORMS.split(']', maxsplit=1)[0]}]"
        )
    return tuple(given)


def _range(path: tuple[str, ...], given: Mapping[str, Any]) -> tuple[Any, ...]:
    kind, low, high = _ends(path, [given.get("from"), given.get("to")], "{from = 1, to = 9, step = 2}")
    if ("step" in given) == ("points" in given):
        raise Problem(path, f"found {'both' if 'step' in given else 'neither'} of step and points; write one of them")
    scale = given.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise Problem((*path, "scale"), f'found {shown(scale)}; accepted: "linear", "log"')
    if "step" in given:
        if scale == "log":
            raise Problem((*path, "scale"), 'found "log" beside step; write points instead of step')
        numbers = _stepped(path, given["step"], kind, low, high)
    else:
        points = _count((*path, "points"), given["points"], least=2)
        if scale == "log" and low <= 0:
            raise Problem((*path, "from"), f"found {shown(given['from'])}; a logarithmic range starts above zero")
        space = np.geomspace if scale == "log" else np.linspace
        numbers = [float(number) for number in space(low, high, points)]
    return tuple(dict.fromkeys(written(kind, number) for number in numbers))


def _stepped(path: tuple[str, ...], step: Any, kind: str, low: float, high: float) -> list[float]:
    size = measured(step)
    fits = size is not None and (size.kind == kind or {size.kind, kind} <= {"integer", "number"})
    if size is None or not fits or size.number <= 0 or (kind == "integer" and size.kind == "number"):
        raise Problem(
            (*path, "step"),
            f"found {shown(step)}; accepted: a step above zero, such as {shown(written(kind, high - low))}",
        )
    steps = math.floor((high - low) / size.number * (1 + 1e-12))
    if steps >= _MOST:
        raise Problem(
            (*path, "step"), f"found {shown(step)}, which makes {steps + 1} values; accepted: {_MOST} or fewer"
        )
    return [low + index * size.number for index in range(steps + 1)]


def _distribution(path: tuple[str, ...], key: str, name: str, form: str, given: Mapping[str, Any]) -> Axis:
    where, example = (
        (*path, form),
        f"{form} = {'[1.0, 0.2]' if 'normal' in form and form != 'log_uniform' else '[1, 10]'}",
    )
    pair = given[form]
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise Problem(where, f"found {shown(pair)}; accepted: two values, e.g. {example}")
    samples = _count((*path, "samples"), given["samples"], least=1) if "samples" in given else None
    if form in ("uniform", "log_uniform"):
        kind, low, high = _ends(where, list(pair), example)
        if form == "log_uniform" and low <= 0:
            raise Problem(where, f"found {shown(pair)}; both ends are above zero")
        at = _interpolated(kind, low, high, logarithmic=form == "log_uniform")
    else:
        kind, at = _bell(where, form, pair, example)
    return Axis(key, name, None, at, samples)


def _interpolated(kind: str, low: float, high: float, *, logarithmic: bool) -> Callable[[float], Any]:
    """The value at a probability; every integer of an interval of integers is equally likely."""

    def at(probability: float) -> Any:
        if logarithmic:
            return written(kind, math.exp(math.log(low) + probability * (math.log(high) - math.log(low))))
        if kind == "integer":
            return min(int(high), math.floor(low + probability * (high - low + 1)))
        return written(kind, low + probability * (high - low))

    return at


def _bell(where: tuple[str, ...], form: str, pair: Sequence[Any], example: str) -> tuple[str, Callable[[float], Any]]:
    from scipy.special import ndtri  # noqa: PLC0415 - few sweeps need it

    centre, spread = measured(pair[0]), measured(pair[1])
    if centre is None or spread is None or spread.number <= 0:
        raise Problem(where, f"found {shown(list(pair))}; accepted: two numbers or quantities, e.g. {example}")
    kind = centre.kind
    if form == "lognormal":
        if spread.kind not in ("number", "integer") or centre.number <= 0:
            raise Problem(where, f'found {shown(list(pair))}; accepted: the median and sigma, e.g. ["50 ms", 0.5]')
        return kind, lambda p: written(kind, centre.number * math.exp(spread.number * float(ndtri(p))))
    if common_kind(list(pair)) is None:
        raise Problem(
            where, f'found {shown(list(pair))}; accepted: mean and standard deviation, e.g. ["50 ms", "5 ms"]'
        )
    if kind == "integer" and spread.kind == "number":
        kind = "number"
    return kind, lambda p: written(kind, centre.number + spread.number * float(ndtri(p)))


def _ends(path: tuple[str, ...], ends: list[Any], example: str) -> tuple[str, float, float]:
    kind = common_kind(ends)
    if kind is None:
        ends_given = " and ".join("nothing" if end is None else shown(end) for end in ends)
        raise Problem(path, f"found {ends_given}; accepted: two numbers, or two quantities of one kind, e.g. {example}")
    low, high = (each.number for end in ends if (each := measured(end)) is not None)
    if not low < high:
        raise Problem(path, f"found {shown(ends[0])} to {shown(ends[1])}; the first end is below the second")
    return kind, low, high


def _count(path: tuple[str, ...], given: Any, least: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= _MOST:
        raise Problem(path, f"found {shown(given)}; accepted: a number from {least} to {_MOST}")
    return given
