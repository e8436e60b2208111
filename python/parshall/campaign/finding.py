"""What a sweep shows, in a few sentences: how each metric moves with the parameters, if that is shown at all."""

from __future__ import annotations

from itertools import pairwise

from parshall.campaign.record import Parameter
from parshall.campaign.result import Sweep
from parshall.campaign.values import label, measured
from parshall.quantities.naming import named
from parshall.report.numbers import quantity
from parshall.stats.confidence import Interval

METRICS = 3
"""The most metrics that are spoken of: the first ones that the sweep asks for."""


def finding(sweep: Sweep) -> str:
    """A sentence for each of the first metrics; empty without two points that have a value."""
    said = (_sentence(sweep, metric) for metric in sweep.record.metrics)
    return " ".join([sentence for sentence in said if sentence][:METRICS])


def _sentence(sweep: Sweep, metric: str) -> str:
    intervals = [sweep.interval(metric, number) for number in range(len(sweep.record.points))]
    found = {number: each for number, each in enumerate(intervals) if each is not None}
    if len(found) < 2:
        return ""
    least = min(found, key=lambda number: found[number].mean)
    most = max(found, key=lambda number: found[number].mean)
    title = sweep.label(metric)
    title = title[:1].upper() + title[1:]
    if not _above(found[most], found[least]):
        return f"{title} is the same everywhere, as far as this sweep can show."
    course = _course(sweep, found)
    if course is not None:
        first, last = course
        way = "rises" if found[last].mean > found[first].mean else "falls"
        return (
            f"{title} {way} from {_value(found[first], metric)} at {_point(sweep, first)} to "
            f"{_value(found[last], metric)} at {_point(sweep, last)}."
        )
    return (
        f"{title} is highest, {_value(found[most], metric)}, at {_point(sweep, most)}, and lowest, "
        f"{_value(found[least], metric)}, at {_point(sweep, least)}."
    )


def _course(sweep: Sweep, found: dict[int, Interval]) -> tuple[int, int] | None:
    """The first and last point along a single measured parameter, if the metric goes one way between them.

    A step back that is not shown (its intervals overlap) does not count.
    """
    record = sweep.record
    if len(record.parameters) != 1 or record.parameters[0].kind is None:
        return None
    places = {number: measured(record.points[number].values[0]) for number in found}
    order = sorted(found, key=lambda number: 0.0 if (place := places[number]) is None else place.number)
    if None in places.values() or not _differ(found[order[0]], found[order[-1]]):
        return None
    rises = found[order[-1]].mean > found[order[0]].mean
    steps = [(before, after) if rises else (after, before) for before, after in pairwise(order)]
    if any(_above(found[lower], found[upper]) for lower, upper in steps):
        return None
    return order[0], order[-1]


def _differ(a: Interval, b: Interval) -> bool:
    return _above(a, b) or _above(b, a)


def _above(upper: Interval, lower: Interval) -> bool:
    """Whether one interval is above another; without intervals, whether the value is."""
    if upper.low is None or lower.high is None:
        return upper.mean > lower.mean
    return upper.low > lower.high


def _value(found: Interval, metric: str) -> str:
    return quantity(found.mean, named(metric).unit)


def _point(sweep: Sweep, number: int) -> str:
    """Where a point is: ``limit = 2 BDP, rtt = 40 ms``; with whole key paths where two would be called alike."""
    parameters = sweep.record.parameters
    short = [_short(parameter) for parameter in parameters]
    names = short if len(set(short)) == len(short) else [parameter.key for parameter in parameters]
    values = sweep.record.points[number].values
    return ", ".join(f"{name} = {label(value)}" for name, value in zip(names, values, strict=True))


def _short(parameter: Parameter) -> str:
    """The name that the sweep gives a parameter, or the end of its key path."""
    if parameter.name != parameter.key.replace(".", "_"):
        return parameter.name
    *before, end = parameter.key.split(".")
    return before[-1] if end == "name" and before else end
