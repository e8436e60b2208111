"""Fig. 10: the gain against the tail index of the background; and Fig. 1: how much one interval says of the next.

The source does not say the RTT of Fig. 10; here it is that of its Fig. 5, 30 ms. What Fig. 1 shows is what the link
carries of the clients alone, in intervals of 1 s and 5 s; levels are ranks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import mean_interval
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Grid, Guide, Mark, Panel, Plot
from parshall_studies.multiple_time_scale.claims import CONTROLS, NAMES, STEERED, claim, curve, signed
from parshall_studies.multiple_time_scale.contrasts import contrasts
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.network import ALONE_BIN_S, BASE_RTT_MS, PAPER, SOURCE
from parshall_studies.multiple_time_scale.readings import BASE, LEVELS

INTERVALS_S = (1, 5)
"""Time scales of Fig. 1."""


def steered(control: str, tail_index: float) -> Point:
    """A steered connection."""
    return BASE.point(control, STEERED, tail_index=tail_index)


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for alpha in size.tail_indices:
        for control in CONTROLS:
            point = steered(control, alpha)
            yield from (point, point.plain)
    for each in contrasts("fig10", "§5.4"):
        yield from each.points(BASE, size)


def checks(results: Results, size: Size) -> Iterator[Claim]:
    """Fig. 10, §5.4, and what Fig. 1 says."""
    heavy, light = size.tail_indices[0], size.tail_indices[-1]
    yield from (each.check(results, size) for each in contrasts("fig10", "§5.4"))
    for control in CONTROLS:
        gains = [results.gain(steered(control, alpha)) for alpha in (heavy, light)]
        name = NAMES[control]
        yield claim("fig10", f"gain of {name} at α = {heavy:g} less that at {light:g}", 1, gains[0] - gains[1], "%")
        ours = mean_interval(gains[1])
        yield equal(
            "§1.2 (d)",
            f"gain of {name} at α = {light:g}: short-range dependent, so that steering should do nothing",
            0.0,
            ours,
            within=PAPER.within("nothing"),
            note=f"{signed(ours, '%')}; with nothing to predict, the slope is that of the mean level, (A + a)/2, not a",
            nulls=[Null("the gain with the heavy tail", mean_interval(gains[0]))],
        )
    for interval_s in INTERVALS_S:
        apart = successive(results, heavy, interval_s) - successive(results, light, interval_s)
        name = f"correlation of successive intervals of {interval_s} s at α = {heavy:g} less that at {light:g}"
        yield claim("fig1", name, 1, apart)
        flat = mean_interval(successive(results, light, interval_s))
        yield sign(
            "fig1",
            f"correlation of successive intervals of {interval_s} s at α = {light:g}",
            0,
            flat,
            f"published: insensitive to conditioning; {signed(flat)}",
            negligible=PAPER.within("uncorrelated"),
        )


def alone(results: Results, alpha: float, interval_s: float) -> list[NDArray[np.float64]]:
    """The clients' traffic in intervals, bytes, by seed."""
    bins = round(interval_s / ALONE_BIN_S)
    rows = (np.array(each.alone.levels) for each in results.backgrounds[alpha, 5.0, SOURCE, None])
    return [row[: row.size // bins * bins].reshape(-1, bins).sum(axis=1) for row in rows]


def successive(results: Results, alpha: float, interval_s: float) -> NDArray[np.float64]:
    """Correlation of successive intervals of the clients' traffic, by seed."""
    series = alone(results, alpha, interval_s)
    return np.array([np.corrcoef(each[:-1], each[1:])[0, 1] for each in series])


def density(series: list[NDArray[np.float64]], levels: int = LEVELS) -> NDArray[np.float64]:
    """P(L_2 = column given L_1 = row), levels being ranks among the series' values.

    Examples
    --------
    >>> density([np.array([1.0, 2.0, 1.0, 2.0, 1.0])], 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    counts = np.zeros((levels, levels))
    for values in series:
        edges = np.quantile(values, np.arange(1, levels) / levels)
        at = np.searchsorted(edges, values)
        np.add.at(counts, (at[:-1], at[1:]), 1)
    totals = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, totals, out=np.full_like(counts, np.nan), where=totals > 0))


def section(results: Results, size: Size) -> Section:
    """Both figures."""
    alphas = list(size.tail_indices)
    gains: list[Mark] = [Guide(0.0, "no gain")]
    for number, control in enumerate(CONTROLS):
        row = [results.gain(steered(control, alpha)) for alpha in alphas]
        gains += curve(alphas, row, NAMES[control], number, 100.0)
    plot = Plot(
        [Panel(gains, Axis("tail index α"), Axis("gain", "%"))],
        f"Gain at an RTT of {BASE_RTT_MS} ms against the tail index of the clients' files.",
    )
    drawn = [Chart("fig10", "Gain against the tail index (Fig. 10)", plot)]
    edges = np.arange(LEVELS + 1) + 0.5
    for alpha in (alphas[0], alphas[-1]):
        for interval_s in INTERVALS_S:
            shades = Grid(edges, edges, density(alone(results, alpha, interval_s)), "P(L₂ given L₁)")
            panel = Panel([shades], Axis("next level L₂"), Axis("level L₁"))
            caption = f"Level of the clients' traffic in an interval of {interval_s} s, given that of the one before."
            name = f"fig1-{alpha:g}-{interval_s}s".replace(".", "-")
            title = f"Conditional densities, α = {alpha:g}, {interval_s} s (Fig. 1)"
            drawn.append(Chart(name, title, Plot([panel], caption)))
    return Section(
        "Long-range dependence",
        (
            "The same load with lighter and heavier tails. The source's claim is that what can be predicted at large "
            "time scales is what pays.",
        ),
        figures=drawn,
    )
