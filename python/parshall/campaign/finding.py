"""What a sweep shows, in a few sentences: how each metric moves with the parameters, if that is shown at all.

`parshall.stats.verdict` decides what is shown between two points. A metric rises or falls where its ends are shown to
differ by as much as matters and no step is shown to go back; it has a highest and a lowest point where these are shown
to differ so, as a pair that was chosen among all pairs. What one repetition has, or what is the same in all of them, is
told as what was found and not as more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import comb
from typing import Any

from parshall.campaign.record import Parameter
from parshall.campaign.result import Sweep
from parshall.campaign.values import label, measured
from parshall.quantities.naming import named
from parshall.report.numbers import quantity, significant
from parshall.stats.confidence import Interval
from parshall.stats.verdict import Verdict

WRITTEN_DIGITS = 4
"""A value of a parameter with more significant digits was not written by somebody."""

METRICS = 3
"""The most metrics that are spoken of: the first ones that the sweep asks for."""


def finding(sweep: Sweep) -> str:
    """A sentence for each of the first metrics; empty without two points that have a value."""
    sentences = (_sentence(sweep, metric) for metric in sweep.record.metrics)
    return " ".join([sentence for sentence in sentences if sentence][:METRICS])


def _sentence(sweep: Sweep, metric: str) -> str:
    intervals = [sweep.interval(metric, number) for number in range(len(sweep.record.points))]
    by_point = {number: each for number, each in enumerate(intervals) if each is not None}
    if len(by_point) < 2:
        return ""
    least = min(by_point, key=lambda number: by_point[number].mean)
    most = max(by_point, key=lambda number: by_point[number].mean)
    title = sweep.label(metric)
    title = title[:1].upper() + title[1:]
    extremes = sweep.judged(metric, most, least, among=comb(len(by_point), 2))
    if extremes is None:
        return ""
    if extremes.verdict in _UNKNOWN and by_point[most].mean != by_point[least].mean:
        return (
            f"{title} is from {_value(by_point[least], metric)} at {_point(sweep, least)} to "
            f"{_value(by_point[most], metric)} at {_point(sweep, most)}, {_UNKNOWN[extremes.verdict]}: whether that is "
            "more than chance is not known."
        )
    course = _course(sweep, metric, by_point)
    if course is not None:
        first, last = course
        way = "rises" if by_point[last].mean > by_point[first].mean else "falls"
        return (
            f"{title} {way} from {_value(by_point[first], metric)} at {_point(sweep, first)} to "
            f"{_value(by_point[last], metric)} at {_point(sweep, last)}."
        )
    if not extremes.matters:
        return _alike(sweep, metric, title, least, list(by_point))
    return (
        f"{title} is highest, {_value(by_point[most], metric)}, at {_point(sweep, most)}, and lowest, "
        f"{_value(by_point[least], metric)}, at {_point(sweep, least)}."
    )


_UNKNOWN = {
    Verdict.UNKNOWN: "of one repetition each",
    Verdict.NO_SPREAD: "the same in every repetition",
}
"""What shows nothing, and how the values are told then."""


def _alike(sweep: Sweep, metric: str, title: str, least: int, points: Sequence[int]) -> str:
    """Where no difference is shown that matters: whether the points are shown to be the same."""
    verdicts = {
        judgement.verdict for each in points if each != least and (judgement := sweep.judged(metric, each, least))
    }
    if verdicts == {Verdict.EQUAL}:
        return f"{title} is equal everywhere."
    if verdicts <= {Verdict.EQUAL, Verdict.SAME}:
        return f"{title} is {Verdict.SAME.text(sweep.at_least)} everywhere."
    return f"{title} is not shown to differ anywhere by as much as matters."


def _course(sweep: Sweep, metric: str, by_point: Mapping[int, Interval]) -> tuple[int, int] | None:
    """The first and last point along a single measured parameter, if the metric goes one way between them.

    A step back that is not shown, or does not matter, does not count.
    """
    record = sweep.record
    if len(record.parameters) != 1 or record.parameters[0].kind is None:
        return None
    places = {number: measured(record.points[number].values[0]) for number in by_point}
    if None in places.values():
        return None
    order = sorted(by_point, key=lambda number: 0.0 if (place := places[number]) is None else place.number)
    ends = sweep.judged(metric, order[-1], order[0])
    if ends is None or not ends.matters:
        return None
    steps = [sweep.judged(metric, after, before) for before, after in pairwise(order)]
    if any(each is not None and each.matters and each.verdict is not ends.verdict for each in steps):
        return None
    return order[0], order[-1]


def _value(interval: Interval, metric: str) -> str:
    return quantity(interval.mean, named(metric).unit)


def _point(sweep: Sweep, number: int) -> str:
    """Where a point is: ``limit = 2 BDP, rtt = 40 ms``; with whole key paths where two would be called alike."""
    parameters = sweep.record.parameters
    short = [_short(parameter) for parameter in parameters]
    names = short if len(set(short)) == len(short) else [parameter.key for parameter in parameters]
    columns = zip(*(point.values for point in sweep.record.points), strict=True)
    values = [_shown(value, column) for value, column in zip(sweep.record.points[number].values, columns, strict=True)]
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))


def _shown(value: Any, column: Sequence[Any]) -> str:
    """A value of a parameter: one with many digits, which was spaced or drawn, with two, where these tell it apart."""
    rounded = _rounded(value)
    others = {label(each) for each in column if _rounded(each) == rounded}
    return rounded if others == {label(value)} else label(value)


def _rounded(value: Any) -> str:
    """Two significant digits, where there are more than `WRITTEN_DIGITS`."""
    number, _, unit = label(value).partition(" ")
    digits = number.replace(".", "").strip("-0")
    if not digits.isdigit() or len(digits) <= WRITTEN_DIGITS:
        return label(value)
    return f"{significant(float(number), 2)} {unit}".strip()


def _short(parameter: Parameter) -> str:
    """The name that the sweep gives a parameter, or the end of its key path."""
    if parameter.name != parameter.key.replace(".", "_"):
        return parameter.name
    *before, end = parameter.key.split(".")
    return before[-1] if end == "name" and before else end
