"""The figures of a sweep's page: a metric against a parameter, a panel for each value of the others; maps of two.

The abscissa is the measured parameter with most values; series are the next parameter's values; panels stand for
combinations of the rest. A metric of several groups is one figure, in which the groups are the series. Where hardly a
value occurs twice (a Latin hypercube), there is a scatter of points for each parameter instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parshall.campaign.record import SweepParameter
from parshall.campaign.result import Sweep
from parshall.campaign.values import label, measured
from parshall.foundations.numbers import Scale, counted, scale_for, significant
from parshall.report.document import Chart
from parshall.report.palette import SERIES
from parshall.report.plot import Axis, Grid, Guide, Line, Mark, Panel, Plot, Points, Style, cell_edges
from parshall.results.quantities.naming import named

_PANELS = 6
"""Most panels of a figure: more cannot be read side by side."""

_MAPS = 4
_MOST_NUMBERS = 10
"""A map of more cells in a row or column has no numbers in them."""

_MOST_DOTS = 30
"""Runs of a point that are shown one by one."""

_LOGARITHMIC = 30.0
"""Values that span so much are drawn on a logarithmic axis."""

_ROUNDED = 0.1
"""Steps that differ by so much of their mean are equal but for rounding."""

_LAID_OUT = 12
"""A value of a parameter that occurs at one point in so many is not one of a grid but of a scatter."""


@dataclass(frozen=True)
class _Abscissa:
    """A parameter as an axis: its values' places, and the axis."""

    index: int
    places: dict[str, float]
    axis: Axis
    legend: str
    """Names of the places of an axis without numbers."""


@dataclass(frozen=True)
class Family:
    """The metrics of one figure: one, or the same one of several groups, by their names."""

    name: str
    title: str
    label: str
    members: Mapping[str, str]
    """Metrics by the names of the groups; of a single one the name is empty."""

    @property
    def unit(self) -> str:
        """Of the values."""
        return named(next(iter(self.members.values()))).unit

    @property
    def is_share(self) -> bool:
        """True if the values are shares of the total of all groups."""
        return named(next(iter(self.members.values()))).quantity.key == "share"


def families(sweep: Sweep, metrics: Sequence[str] | None = None) -> list[Family]:
    """Return the figures of some metrics, or of those that the sweep asks for; without those that no run has."""
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for metric in sweep.record.metrics if metrics is None else metrics:
        if any(sweep.interval(metric, number) for number in range(len(sweep.record.points))):
            known = named(metric)
            of_group = known.quantity.per == "group"
            which = ("group", known.quantity.key) if of_group else ("", metric)
            groups.setdefault(which, {})[known.place if of_group else ""] = metric
    made = []
    for (kind, key), members in groups.items():
        metric = next(iter(members.values()))
        alone = len(members) == 1
        name = metric.replace("/", "-") if alone else f"{kind}-{key}"
        label = sweep.label(metric) if alone else named(metric).quantity.label
        made.append(Family(name, label[:1].upper() + label[1:], label, {"": metric} if alone else members))
    return made


def figures(sweep: Sweep) -> list[Chart]:
    """Every figure of a sweep's page."""
    return [drawn for family in families(sweep) for drawn in of_family(sweep, family)]


def of_metric(sweep: Sweep, metric: str, across: str | None = None) -> Iterator[Chart]:
    """The figures of a metric, against the parameter of that key, or the one that suits best."""
    for family in families(sweep, [metric]):
        yield from of_family(sweep, family, across)


def of_family(sweep: Sweep, family: Family, across: str | None = None) -> Iterator[Chart]:
    """The figures of a metric, or of one of several groups, as `of_metric`."""
    record = sweep.record
    if not record.parameters or len(record.points) < 2:
        return
    if _scattered(sweep):
        for index, parameter in enumerate(record.parameters):
            if across in (None, parameter.key):
                title = f"{family.title} against {parameter.key}"
                yield Chart(f"{family.name}-{parameter.name}", title, _scatter(sweep, family, index))
        return
    order = _by_importance(sweep, across)
    title = f"{family.title} against {record.parameters[order[0]].key}"
    yield Chart(family.name, title, _curves(sweep, family, order))
    measurable = [index for index in order if record.parameters[index].kind is not None]
    if len(measurable) >= 2 and all(len(_values(sweep, index)) >= 3 for index in measurable[:2]):
        for group, metric in family.members.items():
            yield from _maps(sweep, metric, f"{family.title}{', ' if group else ''}{group}", *measurable[:2])


def _scattered(sweep: Sweep) -> bool:
    points = len(sweep.record.points)
    most = max(len(_values(sweep, index)) for index in range(len(sweep.record.parameters)))
    return len(sweep.record.parameters) > 1 and most * _LAID_OUT > points * (_LAID_OUT - 1) and points > SERIES


def _by_importance(sweep: Sweep, first: str | None) -> list[int]:
    """Parameters: that of the key or the measured one with most values first, then others by their values' number."""
    parameters = sweep.record.parameters
    counts = [len(_values(sweep, index)) for index in range(len(parameters))]
    order = sorted(
        range(len(parameters)),
        key=lambda index: (parameters[index].key != first, parameters[index].kind is None, -counts[index], index),
    )
    rest = order[1:]
    # Series have a colour each: the parameter with most values that have one.
    fitting = sorted(rest, key=lambda index: (counts[index] > SERIES, -counts[index], index))
    return [order[0], *fitting]


def _values(sweep: Sweep, index: int) -> list[Any]:
    """The different values of a parameter, in the order of the sweep."""
    by_label: dict[str, Any] = {}
    for point in sweep.record.points:
        by_label.setdefault(label(point.values[index]), point.values[index])
    return list(by_label.values())


def _abscissa(sweep: Sweep, index: int) -> _Abscissa:
    parameter, values = sweep.record.parameters[index], _values(sweep, index)
    if parameter.kind is None:
        places = {label(value): float(number) for number, value in enumerate(values, 1)}
        legend = "; ".join(f"{number}: {label(value)}" for number, value in enumerate(values, 1))
        axis = Axis(parameter.key, minimum=0.5, maximum=len(values) + 0.5)
        return _Abscissa(index, places, axis, f" Places on the abscissa are {legend}.")
    numbers = [_number(value) for value in values]
    scale = _scale(parameter, max(abs(number) for number in numbers))
    places = {label(value): number * scale.factor for value, number in zip(values, numbers, strict=True)}
    logarithmic = min(numbers) > 0 and (max(numbers) / min(numbers) >= _LOGARITHMIC or _geometric(numbers))
    return _Abscissa(index, places, Axis(parameter.key, scale.unit, log=logarithmic), "")


def _geometric(numbers: Sequence[float]) -> bool:
    """True if values lie at equal ratios, as with ``scale = "log"``, and not just as well at equal steps."""
    ascending = np.sort(np.asarray(numbers, dtype=float))
    if len(ascending) < 3:
        return False
    ratios, steps = np.diff(np.log(ascending)), np.diff(ascending)
    return bool(np.ptp(ratios) <= _ROUNDED * ratios.mean() and np.ptp(steps) > _ROUNDED * steps.mean())


def _curves(sweep: Sweep, family: Family, order: Sequence[int]) -> Plot:
    record, across = sweep.record, _abscissa(sweep, order[0])
    series = order[1] if len(order) > 1 and len(family.members) == 1 else None
    rest = list(order[1:] if series is None else order[2:])
    if series is not None and len(_values(sweep, series)) > SERIES:
        series, rest = None, list(order[1:])
    combinations = list(itertools.product(*(_values(sweep, index) for index in rest)))
    scale = _scale_of(sweep, family)
    panels = []
    for combination in combinations[:_PANELS]:
        wanted = {index: label(value) for index, value in zip(rest, combination, strict=True)}
        marks: list[Mark] = []
        place = 0
        for value in _values(sweep, series) if series is not None else [None]:
            chosen = dict(wanted) if series is None else {**wanted, series: label(value)}
            numbers = [
                number
                for number, point in enumerate(record.points)
                if all(label(point.values[index]) == text for index, text in chosen.items())
            ]
            text = "" if series is None else f"{record.parameters[series].name} = {label(value)}"
            for group, metric in family.members.items():
                marks += _series(sweep, metric, numbers, across, scale, name=group or text, place=place)
                place += 1
        note = ", ".join(f"{record.parameters[index].key} = {text}" for index, text in wanted.items())
        panels.append(Panel([*marks, *_fair(sweep, family, scale)], across.axis, _ordinate(family, scale), note))
    more = len(combinations) - _PANELS
    left_out = f" {more} more combinations of values are in the table only." if more > 0 else ""
    caption = (
        "Means over repetitions (percentiles: of all their values), with 95 % confidence intervals; pale points are "
        "single runs." + across.legend + left_out + _without_value(sweep, family)
    )
    return Plot(panels, caption)


def _without_value(sweep: Sweep, family: Family) -> str:
    """The sentence about points that are not drawn because too few transfers ended there."""
    lacking = [
        sweep.lacking(metric, number)
        for metric in family.members.values()
        for number in range(len(sweep.record.points))
    ]
    reasons = [each.reason for each in lacking if each is not None]
    return (
        f" {counted(len(reasons), 'value')} cannot be drawn ({'; '.join(dict.fromkeys(reasons))})." if reasons else ""
    )


def _series(
    sweep: Sweep,
    metric: str,
    numbers: Sequence[int],
    across: _Abscissa,
    scale: Scale,
    *,
    name: str,
    place: int,
) -> list[Mark]:
    """Return marks for the values of single runs, a curve through the points' means, and the means with intervals."""
    rows, alone = [], []
    for number in numbers:
        interval = sweep.interval(metric, number)
        if interval is not None:
            x = across.places[label(sweep.record.points[number].values[across.index])]
            own = sweep.own(metric, number)
            alone += [(x, value * scale.factor) for value in own if 1 < len(own) <= _MOST_DOTS]
            ends = (
                interval.mean if interval.low is None else interval.low,
                interval.mean if interval.high is None else interval.high,
            )
            rows.append((x, interval.mean * scale.factor, ends[0] * scale.factor, ends[1] * scale.factor))
    if not rows:
        return []
    x, y, low, high = np.array(sorted(rows)).T
    points = Points(x, y, name, Style(series=place), low, high)
    own_x, own_y = [at for at, _ in alone], [value for _, value in alone]
    dots = [Points(own_x, own_y, "", Style(series=place, faint=True))] if alone else []
    if sweep.record.parameters[across.index].kind is None:
        return [*dots, points]  # names have no between
    return [*dots, Line(x, y, "", Style(series=place, thin=True)), points]


def _scale_of(sweep: Sweep, family: Family) -> Scale:
    points = range(len(sweep.record.points))
    intervals = (sweep.interval(metric, number) for metric in family.members.values() for number in points)
    return scale_for(max(abs(each.mean) for each in intervals if each is not None), family.unit)


def _ordinate(family: Family, scale: Scale) -> Axis:
    low, high = (0.0, scale.factor) if family.is_share else (None, None)
    return Axis(family.label, scale.unit, minimum=low, maximum=high)


def _fair(sweep: Sweep, family: Family, scale: Scale) -> list[Guide]:
    """Return lines at the shares that flows would have if all had the same, if they are the same at all points."""
    if not family.is_share:
        return []
    fair = {group: sweep.fair_share(named(metric).place) for group, metric in family.members.items()}
    texts: dict[float, list[str]] = {}
    for group, share in fair.items():
        if share is not None:
            texts.setdefault(share, []).append(group)
    alone = len(texts) == 1
    return [
        Guide(share * scale.factor, "fair share" if alone else f"fair share of {', '.join(groups)}")
        for share, groups in texts.items()
    ]


def _scatter(sweep: Sweep, family: Family, index: int) -> Plot:
    across, scale = _abscissa(sweep, index), _scale_of(sweep, family)
    marks: list[Mark] = []
    for place, (group, metric) in enumerate(family.members.items()):
        marks += _series(sweep, metric, range(len(sweep.record.points)), across, scale, name=group, place=place)[-1:]
    panel = Panel([*marks, *_fair(sweep, family, scale)], across.axis, _ordinate(family, scale))
    what = "One point a combination; the other parameters vary from point to point."
    return Plot([panel], f"{what}{across.legend}{_without_value(sweep, family)}")


def _maps(sweep: Sweep, metric: str, title: str, first: int, second: int) -> Iterator[Chart]:
    """Maps over two parameters, one for each combination of the others."""
    record, name = sweep.record, metric.replace("/", "-")
    x, y = _abscissa(sweep, first), _abscissa(sweep, second)
    others = [index for index in range(len(record.parameters)) if index not in (first, second)]
    for number, combination in enumerate(
        itertools.islice(itertools.product(*(_values(sweep, i) for i in others)), _MAPS)
    ):
        wanted = {index: label(value) for index, value in zip(others, combination, strict=True)}
        drawn = _map(sweep, metric, x, y, wanted)
        if drawn is not None:
            where = ", ".join(f"{record.parameters[index].key} = {text}" for index, text in wanted.items())
            yield Chart(f"{name}-map-{number}", f"{title}{': ' if where else ''}{where}, as a map", drawn)


def _map(sweep: Sweep, metric: str, x: _Abscissa, y: _Abscissa, wanted: dict[int, str]) -> Plot | None:
    columns, rows = sorted(x.places.values()), sorted(y.places.values())
    z = np.full((len(rows), len(columns)), np.nan)
    for number, point in enumerate(sweep.record.points):
        interval = sweep.interval(metric, number)
        if interval is not None and all(label(point.values[index]) == text for index, text in wanted.items()):
            column = columns.index(x.places[label(point.values[x.index])])
            z[rows.index(y.places[label(point.values[y.index])]), column] = interval.mean
    if np.isnan(z).all():
        return None
    scale = scale_for(float(np.nanmax(np.abs(z))), named(metric).unit)
    unit = f" ({scale.unit})" if scale.unit else ""
    fits = len(columns) <= _MOST_NUMBERS and len(rows) <= _MOST_NUMBERS
    texts = [["" if np.isnan(each) else significant(each * scale.factor) for each in row] for row in z] if fits else ()
    edges = cell_edges(columns, log=x.axis.log), cell_edges(rows, log=y.axis.log)
    grid = Grid(*edges, z * scale.factor, sweep.label(metric) + unit, texts=texts)
    empty = " Empty cells have no value." if np.isnan(z).any() else ""
    caption = f"Means over repetitions; each cell is a point of the sweep.{empty}"
    return Plot([Panel([grid], x.axis, y.axis)], caption)


def _number(value: Any) -> float:
    quantity = measured(value)
    return 0.0 if quantity is None else quantity.number


def _scale(parameter: SweepParameter, magnitude: float) -> Scale:
    return scale_for(magnitude, parameter.unit)
