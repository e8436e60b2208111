"""What a sweep shows, in a few sentences: how each metric moves with the parameters, if that is shown at all.

`parshall.stats.families` decides what is shown between two points, of all metrics that are spoken of together. A metric
rises or falls where its ends are shown to differ by as much as matters and no step is shown to go back; it has a
highest and a lowest point where these are shown to differ so, as a pair that was chosen among all pairs. What one
repetition has, or what is the same in all of them, is told as what was found and not as more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb

from parshall.campaign.record import Parameter
from parshall.campaign.result import Difference, Sweep
from parshall.campaign.values import label, measured
from parshall.quantities.naming import named
from parshall.report.numbers import quantity
from parshall.stats.confidence import Interval
from parshall.stats.verdict import Judgement, Verdict

Judgements = Mapping[Difference, Judgement]

METRICS = 3
"""The most metrics that are spoken of: the first ones that the sweep asks for."""


def finding(sweep: Sweep) -> str:
    """A sentence for each of the first metrics; empty without two points that have a value."""
    spoken = {metric: known for metric in sweep.record.metrics if len(known := _known(sweep, metric)) > 1}
    metrics = [_Metric(sweep, metric, spoken[metric]) for metric in list(spoken)[:METRICS]]
    pairs = sum(comb(len(each.by_point), 2) for each in metrics)
    extremes = sweep.judged((each.extremes for each in metrics), of=pairs)
    ends = sweep.judged(each.ends for each in metrics if each.order)
    steps = sweep.judged(step for each in metrics for step in each.steps)
    return " ".join(_sentence(each, extremes[each.extremes], _course(each, ends, steps)) for each in metrics)


def _known(sweep: Sweep, metric: str) -> dict[int, Interval]:
    """A metric's intervals by point, of the points that have one."""
    intervals = ((number, sweep.interval(metric, number)) for number in range(len(sweep.record.points)))
    return {number: each for number, each in intervals if each is not None}


@dataclass(frozen=True)
class _Metric:
    """A metric that is spoken of, and its intervals by point."""

    sweep: Sweep
    name: str
    by_point: Mapping[int, Interval]

    @cached_property
    def extremes(self) -> Difference:
        """The highest point, held against the lowest."""
        least, *_, most = sorted(self.by_point, key=lambda number: self.by_point[number].mean)
        return self.name, most, least

    @cached_property
    def order(self) -> list[int]:
        """The points along a single measured parameter; empty where there is none."""
        record = self.sweep.record
        if len(record.parameters) != 1 or record.parameters[0].kind is None:
            return []
        places = {number: measured(record.points[number].values[0]) for number in self.by_point}
        if None in places.values():
            return []
        return sorted(self.by_point, key=lambda number: 0.0 if (place := places[number]) is None else place.number)

    @property
    def ends(self) -> Difference:
        """The last point along the parameter, held against the first."""
        return self.name, self.order[-1], self.order[0]

    @property
    def steps(self) -> list[Difference]:
        """Each point along the parameter, held against the one before."""
        return [(self.name, after, before) for before, after in pairwise(self.order)]


def _sentence(of: _Metric, extremes: Judgement, course: tuple[int, int] | None) -> str:
    sweep, metric, by_point = of.sweep, of.name, of.by_point
    _, most, least = of.extremes
    title = sweep.label(metric)
    title = title[:1].upper() + title[1:]
    if extremes.verdict in _UNKNOWN and by_point[most].mean != by_point[least].mean:
        return (
            f"{title} is from {_value(by_point[least], metric)} at {_point(sweep, least)} to "
            f"{_value(by_point[most], metric)} at {_point(sweep, most)}, {_UNKNOWN[extremes.verdict]}: whether that is "
            "more than chance is not known."
        )
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
    judged = sweep.judged((metric, each, least) for each in points if each != least)
    verdicts = {each.verdict for each in judged.values()}
    if verdicts == {Verdict.EQUAL}:
        return f"{title} is equal everywhere."
    if verdicts <= {Verdict.EQUAL, Verdict.SAME}:
        return f"{title} is {Verdict.SAME.text(sweep.at_least)} everywhere."
    return f"{title} is not shown to differ anywhere by as much as matters."


def _course(of: _Metric, ends: Judgements, steps: Judgements) -> tuple[int, int] | None:
    """The first and last point along a single measured parameter, if the metric goes one way between them.

    A step back that is not shown, or does not matter, does not count.
    """
    if not of.order or not (end := ends[of.ends]).matters:
        return None
    if any(steps[each].matters and steps[each].verdict is not end.verdict for each in of.steps):
        return None
    return of.order[0], of.order[-1]


def _value(interval: Interval, metric: str) -> str:
    return quantity(interval.mean, named(metric).unit)


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
