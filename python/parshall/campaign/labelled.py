"""A sweep as a labelled array: metrics over parameters and repetitions."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING

import numpy as np

from parshall.foundations.extras import extra
from parshall.results.quantities.naming import named

if TYPE_CHECKING:
    import xarray as xr

    from parshall.campaign.result import Sweep


def dataset(sweep: Sweep) -> xr.Dataset:
    """Return the dataset of a sweep, as `parshall.Sweep.to_xarray` describes it."""
    with extra("xarray", "to_xarray"):
        import xarray as xr  # noqa: PLC0415 - optional
    points = sweep.record.points
    repetitions = max((len(point.runs) for point in points), default=0)
    values = {metric: _values(sweep, metric, repetitions) for metric in sweep.metrics}
    axes = _axes(sweep)
    if axes is None:
        places: list[tuple[int, ...]] = [(number,) for number in range(len(points))]
        sizes: dict[str, int] = {"point": len(points)}
        coordinates = {name: ("point", _column(sweep, number)) for number, name in enumerate(_names(sweep))}
    else:
        places = [
            tuple(axis.index(value) for axis, value in zip(axes.values(), map(str, point.values), strict=True))
            for point in points
        ]
        sizes = {name: len(axis) for name, axis in axes.items()}
        coordinates = {
            name: (name, list(dict.fromkeys(_column(sweep, number)))) for number, name in enumerate(_names(sweep))
        }
    variables = {}
    for metric, of_points in values.items():
        array = np.full((*sizes.values(), repetitions), nan)
        for place, row in zip(places, of_points, strict=True):
            array[place] = row
        attributes = {"units": named(metric).unit, "long_name": sweep.label(metric)}
        variables[metric] = ((*sizes, "repetition"), array, attributes)
    return xr.Dataset(variables, {**coordinates, "repetition": range(repetitions)}, {"name": sweep.name})


def _names(sweep: Sweep) -> list[str]:
    return [parameter.name for parameter in sweep.record.parameters]


def _column(sweep: Sweep, parameter: int) -> list[object]:
    """Return the values of a parameter at all points: numbers and texts as they are, tables as text."""
    found = [point.values[parameter] for point in sweep.record.points]
    return [value if isinstance(value, int | float | str) else str(value) for value in found]


def _axes(sweep: Sweep) -> dict[str, list[str]] | None:
    """Return the values of each parameter in words, if every combination is a point exactly once; else None."""
    rows = [tuple(map(str, point.values)) for point in sweep.record.points]
    axes = {name: list(dict.fromkeys(row[number] for row in rows)) for number, name in enumerate(_names(sweep))}
    complete = bool(axes) and len(set(rows)) == len(rows) == prod(map(len, axes.values()))
    return axes if complete and "repetition" not in axes else None


def _values(sweep: Sweep, metric: str, repetitions: int) -> list[list[float]]:
    """Return a metric's value in each repetition of each point; NaN where there is none."""
    found = [sweep.values(metric, number) for number in range(len(sweep.record.points))]
    return [[each.get(repetition, nan) for repetition in range(repetitions)] for each in found]
