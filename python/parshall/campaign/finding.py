"""The findings of a sweep in a few sentences: how each metric moves with the parameters, if that is shown at all.

`parshall.analysis.stats.families` decides what is shown between two points, of all metrics that are spoken of together.
A metric rises or falls where its ends are shown to differ by as much as matters and no step is shown to go back; it has
a highest and a lowest point where these are shown to differ so, as a pair that was chosen among all pairs. What one
repetition has, or what is the same in all of them, is told as what was found and not as more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import Any

from parshall.analysis.stats.confidence import ONE_VALUE, Interval
from parshall.analysis.stats.verdict import Judgement, Verdict, why_none
from parshall.campaign import sharing
from parshall.campaign.record import SweepParameter
from parshall.campaign.result import Difference, Sweep
from parshall.campaign.values import label, measured
from parshall.foundations.numbers import count, counted, quantity, significant
from parshall.report.sentences import Sentence, say
from parshall.report.uncertainty import some_of
from parshall.results.quantities.catalog import OURS
from parshall.results.quantities.naming import named

Judgements = Mapping[Difference, Judgement]

WRITTEN_DIGITS = 4
"""A value of a parameter with more significant digits was not written by somebody."""

METRICS = 3
"""The most metrics that are spoken of: the first ones that the sweep asks for."""

MOST_POINTS = 4
"""The most points without a value that are named."""


def finding(sweep: Sweep) -> str:
    """A sentence on how far the sweep came, and one for each of the first metrics: `sentences` as text."""
    return " ".join(each.text for each in sentences(sweep))


def sentences(sweep: Sweep) -> list[Sentence]:
    """Return the progress of an unfinished sweep, and sentences on the first metrics that differ or lack a value."""
    known = {metric: _known(sweep, metric) for metric in sweep.record.metrics}
    spoken = [name for name, by_point in known.items() if len(by_point) > 1 or _lacking(sweep, name)][:METRICS]
    metrics = {name: _Metric(sweep, name, known[name]) for name in spoken if len(known[name]) > 1}
    pairs = sum(comb(len(each.by_point), 2) for each in metrics.values())
    extremes = sweep.judged((each.extremes for each in metrics.values()), of=pairs)
    ends = sweep.judged(each.ends for each in metrics.values() if each.order)
    steps = sweep.judged(step for each in metrics.values() for step in each.steps)
    said = _unfinished(sweep)
    if (who := _sharing(sweep)) is not None:
        said.append(who)
    for name in spoken:
        each = metrics.get(name)
        said.append(
            _of_few(sweep, name, known[name])
            if each is None
            else _sentence(each, extremes[each.extremes], _course(each, ends, steps))
        )
        said += _lacking(sweep, name)
    return said


def _sharing(sweep: Sweep) -> Sentence | None:
    """Return who of two groups has more along a single measured parameter; None where there is nothing to tell."""
    asked = next((metric for metric in sweep.record.metrics if named(metric).quantity is OURS["group", "share"]), None)
    if asked is None:
        return None
    along = _Metric(sweep, asked, _known(sweep, asked))
    column = [point.values[0] for point in sweep.record.points]
    return sharing.sentence(sweep, along.order, lambda number: _shown(column[number], column))


def _unfinished(sweep: Sweep) -> list[Sentence]:
    """Return the number of points with runs where runs are missing, and the number of failed runs."""
    record = sweep.record
    having = {
        number for number, point in enumerate(record.points) if any(run not in record.failed for run in point.runs)
    }
    points, missing = counted(len(record.points), "point"), len(record.points) - len(having)
    said = []
    if not record.finished:
        have = "has" if len(having) == 1 else "have"
        said.append(say("sweep.unfinished", having=count(len(having)), points=points, have=have))
    if record.failed:
        runs, wholly = counted(len(record.failed), "run"), record.finished and missing
        whole = {"missing": count(missing), "points": points} if wholly else {}
        said.append(say("sweep.missing" if wholly else "sweep.failures", runs=runs, **whole))
    return said


def _lacking(sweep: Sweep, metric: str) -> list[Sentence]:
    """At which points there are too few values, or too few ended: what is said of the others does not hold of these."""
    reasons = [(number, sweep.lacking(metric, number)) for number in range(len(sweep.record.points))]
    without = [f"{_point(sweep, number)} ({reason.reason})" for number, reason in reasons if reason is not None]
    if not without:
        return []
    shown, more = "; ".join(without[:MOST_POINTS]), len(without) - MOST_POINTS
    return [say("sweep.no_values", points=shown, more=count(more)) if more > 0 else say("sweep.no_value", points=shown)]


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


def _sentence(of: _Metric, extremes: Judgement, course: tuple[int, int] | None) -> Sentence:
    sweep, metric, by_point = of.sweep, of.name, of.by_point
    _, most, least = of.extremes
    title = _title(sweep, metric)

    def at(number: int, value: str, place: str) -> dict[str, str]:
        return {value: _value(by_point[number], metric), place: _point(sweep, number)}

    ends = at(least, "low", "lowest") | at(most, "high", "highest")
    unknown = _unknown(extremes)
    if unknown and by_point[most].mean != by_point[least].mean:
        return say("sweep.chance", title=title, how=unknown, **ends)
    if course is not None:
        first, last = course
        moves = "rises" if by_point[last].mean > by_point[first].mean else "falls"
        return say("sweep.course", title=title, moves=moves, **at(first, "first", "start"), **at(last, "last", "end"))
    if not extremes.matters:
        return _alike(sweep, metric, title, least, list(by_point))
    return say("sweep.extremes", title=title, **ends)


def _of_few(sweep: Sweep, metric: str, by_point: Mapping[int, Interval]) -> Sentence:
    """The sentence before the points without a value, where one point has one at most."""
    title = _title(sweep, metric)
    if not by_point:
        return say("sweep.none", title=title)
    ((number, interval),) = by_point.items()
    return say("sweep.one_point", title=title, value=_value(interval, metric), point=_point(sweep, number))


def _unknown(judgement: Judgement) -> str:
    """Return a clause on values without a known spread; empty where the spread is known."""
    if judgement.verdict is Verdict.NO_SPREAD:
        return "the same in every repetition"
    if judgement.verdict is not Verdict.UNKNOWN:
        return ""
    how = why_none(judgement.difference)
    return "of one repetition each" if how == ONE_VALUE else f"without an interval ({how})"


def _title(sweep: Sweep, metric: str) -> str:
    label = sweep.label(metric)
    return label[:1].upper() + label[1:]


def _alike(sweep: Sweep, metric: str, title: str, least: int, points: Sequence[int]) -> Sentence:
    """Return the sentence for points without a difference that matters: shown to be the same, or not."""
    judged = sweep.judged((metric, each, least) for each in points if each != least)
    verdicts = {each.verdict for each in judged.values()}
    if verdicts == {Verdict.EQUAL}:
        return say("sweep.equal", title=title)
    if verdicts <= {Verdict.EQUAL, Verdict.SAME}:
        return say("sweep.same", title=title, same=Verdict.SAME.text(sweep.at_least))
    return say("sweep.not_shown", title=title)


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
    having = some_of(interval)
    return quantity(interval.mean, named(metric).unit) + (f" ({having})" if having else "")


def _point(sweep: Sweep, number: int) -> str:
    """Return a point in words: ``limit = 2 BDP, rtt = 40 ms``; with whole key paths if short names are ambiguous."""
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


def _short(parameter: SweepParameter) -> str:
    """The name that the sweep gives a parameter, or the end of its key path."""
    if parameter.name != parameter.key.replace(".", "_"):
        return parameter.name
    *before, end = parameter.key.split(".")
    return before[-1] if end == "name" and before else end
