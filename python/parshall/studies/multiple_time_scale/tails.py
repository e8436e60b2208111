"""Fig. 10: the gain against the tail index of the background; and Fig. 1: how much one interval says of the next.

The source does not say the RTT of Fig. 10; here it is the largest, where the gain is. What is predicted is what the
link carries of the clients alone, in intervals of T_L.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from parshall.report.document import Drawn, Section
from parshall.report.plot import Axis, Grid, Guide, Mark, Panel, Plot
from parshall.stats.confidence import mean_interval
from parshall.studies.check import Check
from parshall.studies.multiple_time_scale.claims import CONTROLS, NAMES, STEERED, claim, curve, signed
from parshall.studies.multiple_time_scale.grid import Point, Results, Size
from parshall.studies.multiple_time_scale.network import ALONE_BIN_S, INTERVAL_S
from parshall.studies.multiple_time_scale.published import TAIL_RATIO

LEVELS = 8


def steered(control: str, tail_index: float, size: Size) -> Point:
    """A steered connection at the largest RTT."""
    return Point(tail_index, 5.0, size.rtts_ms[-1], control, STEERED)


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for alpha in size.tail_indices:
        for control in CONTROLS:
            point = steered(control, alpha, size)
            yield from (point, point.plain)


def checks(found: Results, size: Size) -> Iterator[Check]:
    """Fig. 10, and the order of Fig. 1's correlations."""
    heavy, light = size.tail_indices[0], size.tail_indices[-1]
    for control in CONTROLS:
        gains = [found.gain(steered(control, alpha, size)) for alpha in (heavy, light)]
        name = NAMES[control]
        yield claim("fig10", f"gain of {name} at α = {heavy:g} less that at {light:g}", 1, gains[0] - gains[1], "%")
        twice = gains[0] - TAIL_RATIO * gains[1]
        yield claim("fig10", f"gain of {name} at α = {heavy:g} less twice that at {light:g}", 1, twice, "%")
        ours = mean_interval(gains[1])
        yield Check(
            "§1.2 (d)",
            f"gain of {name} at α = {light:g}: short-range dependent, so that steering should do nothing",
            0.0,
            ours.mean,
            ours.low,
            ours.high,
            0.0,
            f"{signed(ours, '%')}; with nothing to predict, the slope is that of the mean level, (A + a)/2, not a",
        )
    plain = [found.goodput(steered("reno", alpha, size).plain) for alpha in (light, heavy)]
    yield claim(
        "§5.4", f"plain Reno's throughput at α = {light:g} less that at {heavy:g}", 1, plain[0] - plain[1], " Mbit/s"
    )
    successive = [_successive(found, alpha) for alpha in (heavy, light)]
    yield claim(
        "fig1",
        f"correlation of successive intervals at α = {heavy:g} less that at {light:g}",
        1,
        successive[0] - successive[1],
    )


def _alone(found: Results, alpha: float) -> list[NDArray[np.float64]]:
    """The clients' traffic in intervals of T_L, by seed."""
    bins = round(INTERVAL_S / ALONE_BIN_S)
    rows = (np.array(each.alone.levels) for each in found.backgrounds[alpha, 5.0, 10.0, False])
    return [row[: row.size // bins * bins].reshape(-1, bins).sum(axis=1) for row in rows]


def _successive(found: Results, alpha: float) -> NDArray[np.float64]:
    series = _alone(found, alpha)
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


def section(found: Results, size: Size) -> Section:
    """Both figures."""
    alphas = list(size.tail_indices)
    gains: list[Mark] = [Guide(0.0, "no gain")]
    for number, control in enumerate(CONTROLS):
        row = [found.gain(steered(control, alpha, size)) for alpha in alphas]
        gains += curve(alphas, row, NAMES[control], number, 100.0)
    plot = Plot(
        [Panel(gains, Axis("tail index α"), Axis("gain", "%"))],
        f"Gain at an RTT of {size.rtts_ms[-1]} ms against the tail index of the clients' files.",
    )
    drawn = [Drawn("fig10", "Gain against the tail index (Fig. 10)", plot)]
    edges = np.arange(LEVELS + 1) + 0.5
    for alpha in (alphas[0], alphas[-1]):
        shades = Grid(edges, edges, density(_alone(found, alpha)), "P(L₂ given L₁)")
        panel = Panel([shades], Axis("next level L₂"), Axis("level L₁"))
        caption = "Level of the clients' traffic in an interval of 2 s, given that of the one before."
        drawn.append(
            Drawn(
                f"fig1-{alpha:g}".replace(".", "-"),
                f"Conditional densities, α = {alpha:g} (Fig. 1)",
                Plot([panel], caption),
            )
        )
    return Section(
        "Long-range dependence",
        (
            "The same load with lighter and heavier tails. The source's claim is that what can be predicted at large "
            "time scales is what pays.",
        ),
        figures=drawn,
    )
