"""Fig. 10: the gain against the tail index of the background; and Fig. 1: how much one interval says of the next.

What Fig. 1 shows is what the link carries of the clients alone, in intervals of 1 s and 5 s; levels are ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Grid, Panel, Plot
from parshall.studies.artefact import Answers, Artefact
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.claims import CONTROLS, NAMES, claim, gain_curves, signed
from parshall_studies.multiple_time_scale.grid import Cases, FloatArray, Point, Results
from parshall_studies.multiple_time_scale.network import ALONE_BIN_S, PAPER
from parshall_studies.multiple_time_scale.setting import LEVELS, STEERED, Setting

INTERVALS_S = (1, 5)
"""Time scales of Fig. 1."""
_LONGEST_S = 10
"""The correlation is said to be the same from 1 s to it."""
_FEWEST_OF_A_LEVEL = 10


def steered(setting: Setting, control: str, tail_index: float) -> Point:
    """A steered connection."""
    return grid.point(setting, control, STEERED, tail_index=tail_index, rtt_ms=setting.tail_rtt_ms)


def _points(setting: Setting) -> Cases:
    """Each control, plain and steered, at each tail index."""
    made = [steered(setting, control, alpha) for alpha in setting.tail_indices for control in CONTROLS]
    return grid.cases([*made, *(each.plain for each in made)], setting)


def _fig10_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Fig. 10, §5.4 and §1.2 (d)."""
    found = grid.results(answers)
    heavy, light = setting.tail_indices[0], setting.tail_indices[-1]
    plain = found.over(steered(setting, "reno", light).plain, steered(setting, "reno", heavy).plain)
    name = f"throughput of plain Reno at α = {light:g} less that at {heavy:g}"
    return [
        claim("§5.4", name, 1, plain, "%"),
        *(each for control in CONTROLS for each in _of_control(found, setting, control)),
    ]


def _of_control(found: Results, setting: Setting, control: str) -> Iterator[Claim]:
    """Gains under heavy tails are gains, twice those under light ones, and fall from tail index to tail index."""
    heavy, light = setting.tail_indices[0], setting.tail_indices[-1]
    gains = {alpha: found.gain(steered(setting, control, alpha)) for alpha in setting.tail_indices}
    name, ratio = NAMES[control], PAPER["tail_ratio"]
    twice = gains[heavy] - ratio * gains[light]
    yield claim("fig10", f"gain of {name} at α = {heavy:g} less twice that at {light:g}", 1, twice, "%")
    yield claim("fig10", f"gain of {name} at α = {heavy:g} less that at {light:g}", 1, gains[heavy] - gains[light], "%")
    yield claim("fig10", f"gain of {name} at α = {heavy:g}", 1, gains[heavy], "%")
    if len(gains) > 2:
        for less, more in pairwise(setting.tail_indices):
            quantity = f"gain of {name} at α = {less:g} less that at the next, {more:g}"
            yield claim("fig10", quantity, 1, gains[less] - gains[more], "%")
    ours = mean_interval(gains[light])
    yield equal(
        "§1.2 (d)",
        f"gain of {name} at α = {light:g}: short-range dependent, so that steering should do nothing",
        0.0,
        ours,
        within=PAPER.within("nothing"),
        note=f"{signed(ours, '%')}; with nothing to predict, the slope is that of the mean level, (A + a)/2, not a",
        nulls=[Null("the gain with the heavy tail", mean_interval(gains[heavy]))],
    )


def _fig1_points(setting: Setting) -> Cases:
    """The clients alone at the ends of the tail indices."""
    keys = [steered(setting, "reno", alpha).key for alpha in (setting.tail_indices[0], setting.tail_indices[-1])]
    return {each: case for each, case in _points(setting).items() if each[0] in keys}


def _fig1_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Claims on the clients' traffic: Fig. 1, §2.2, §1.1, §1.2."""
    found = grid.results(answers)
    heavy, light = setting.tail_indices[0], setting.tail_indices[-1]
    return [
        *(each for interval_s in INTERVALS_S for each in _in_intervals(found, setting, interval_s)),
        *_invariant(found, setting),
        *_harm(found, setting),
        sign(
            "§1.2",
            f"bytes of the largest tenth of files at α = {heavy:g}, share less a half",
            1,
            exactly(_of_the_largest_tenth(heavy) - 0.5),
            f"{_of_the_largest_tenth(heavy):.0%}, by the law; {_of_the_largest_tenth(light):.0%} at {light:g}",
        ),
    ]


def _of_the_largest_tenth(alpha: float) -> float:
    """Of the bytes, by the Pareto law."""
    return float(0.1 ** (1 - 1 / alpha))


def _in_intervals(found: Results, setting: Setting, interval_s: int) -> Iterator[Claim]:
    """Fig. 1; nothing of levels in runs that are too short for it."""
    heavy, light = setting.tail_indices[0], setting.tail_indices[-1]
    name = f"correlation of successive intervals of {interval_s} s at α"
    of = {alpha: successive(found, setting, alpha, interval_s) for alpha in (heavy, light)}
    yield claim("fig1", f"{name} = {heavy:g} less that at {light:g}", 1, of[heavy] - of[light])
    flat = mean_interval(of[light])
    note = f"published: insensitive to conditioning; {signed(flat)}"
    yield sign("fig1", f"{name} = {light:g}", 0, flat, note, negligible=PAPER.within("uncorrelated"))
    yield claim("fig1", f"{name} = {heavy:g}", 1, of[heavy])
    series = alone(found, setting, heavy, interval_s)
    if min(each.size for each in series) >= _FEWEST_OF_A_LEVEL * LEVELS:
        quantity = f"mean level after level {LEVELS} less that after 1, {interval_s} s, α = {heavy:g}"
        yield claim("fig1", quantity, 1, [after_ends(each) for each in series])


def _invariant(found: Results, setting: Setting) -> Iterator[Claim]:
    """§2.2: the correlation stays the same from 1 to 10 s."""
    heavy = setting.tail_indices[0]
    if min(each.size for each in alone(found, setting, heavy, _LONGEST_S)) > LEVELS:
        ends = [successive(found, setting, heavy, each) for each in (_LONGEST_S, 1)]
        apart = mean_interval(ends[0] - ends[1])
        quantity = f"correlation of successive intervals of {_LONGEST_S} s less that of 1 s at α = {heavy:g}"
        yield sign("§2.2", quantity, 0, apart, signed(apart), negligible=PAPER.within("uncorrelated"))


def _harm(found: Results, setting: Setting) -> Iterator[Claim]:
    """§1.1: self-similar traffic loses more and waits longer."""
    heavy, light = setting.tail_indices[0], setting.tail_indices[-1]
    for name, field, unit in (
        ("loss rate", "loss_rate", ""),
        ("queueing delay", "queueing_delay_ms", " ms"),
    ):
        rows = {alpha: found.backgrounds[steered(setting, "reno", alpha).key] for alpha in (heavy, light)}
        first, second = (np.array([getattr(each.alone, field) for each in rows[alpha]]) for alpha in (heavy, light))
        yield claim(
            "§1.1", f"{name} of the clients alone at α = {heavy:g} less that at {light:g}", 1, first - second, unit
        )


def after_ends(series: FloatArray) -> float:
    """The mean level that follows the highest level, less the one that follows the lowest."""
    means = density([series]) @ np.arange(1, LEVELS + 1)
    return float(means[-1] - means[0])


def alone(found: Results, setting: Setting, alpha: float, interval_s: float) -> list[NDArray[np.float64]]:
    """The clients' traffic in intervals, bytes, by seed."""
    bins = round(interval_s / ALONE_BIN_S)
    rows = (np.array(each.alone.levels) for each in found.backgrounds[steered(setting, "reno", alpha).key])
    return [row[: row.size // bins * bins].reshape(-1, bins).sum(axis=1) for row in rows]


def successive(found: Results, setting: Setting, alpha: float, interval_s: float) -> NDArray[np.float64]:
    """Correlation of successive intervals of the clients' traffic, by seed."""
    series = alone(found, setting, alpha, interval_s)
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


def _fig10_section(answers: Answers, setting: Setting) -> Section:
    """Gains by the tail index."""
    found = grid.results(answers)
    alphas = list(setting.tail_indices)
    rows = {NAMES[each]: [found.gain(steered(setting, each, alpha)) for alpha in alphas] for each in CONTROLS}
    panel = Panel(gain_curves(alphas, rows), Axis("tail index α"), Axis("gain", "%"))
    caption = f"Gain at an RTT of {setting.tail_rtt_ms} ms against the tail index of the clients' files."
    text = (
        "The same load with lighter and heavier tails. The source's claim is that what can be predicted at large time "
        f"scales is what pays. Clients pause for {setting.idle_s:g} s on average."
    )
    chart = Chart("fig10", "Gain against the tail index (Fig. 10)", Plot([panel], caption))
    return Section("Gain and long-range dependence", (text,), figures=[chart])


def _fig1_section(answers: Answers, setting: Setting) -> Section:
    """The four maps of Fig. 1, and how well the loads were met."""
    found = grid.results(answers)
    edges = np.arange(LEVELS + 1) + 0.5
    drawn = []
    for alpha in (setting.tail_indices[0], setting.tail_indices[-1]):
        for interval_s in INTERVALS_S:
            shades = Grid(edges, edges, density(alone(found, setting, alpha, interval_s)), "P(L₂ given L₁)")
            panel = Panel([shades], Axis("next level L₂"), Axis("level L₁"))
            caption = f"Level of the clients' traffic in an interval of {interval_s} s, given that of the one before."
            name = f"fig1-{alpha:g}-{interval_s}s".replace(".", "-")
            title = f"Conditional densities, α = {alpha:g}, {interval_s} s (Fig. 1)"
            drawn.append(Chart(name, title, Plot([panel], caption)))
    worst = max((each.error for row in found.backgrounds.values() for each in row), key=abs)
    sizes = {
        alpha: [each.background.mean_packets for each in found.backgrounds[steered(setting, "reno", alpha).key]]
        for alpha in (setting.tail_indices[0], setting.tail_indices[-1])
    }
    words = "; ".join(f"{min(row):.1f} to {max(row):.1f} packets at α = {alpha:g}" for alpha, row in sizes.items())
    text = (
        "How much one interval says of the next, of the clients alone. Their mean sizes after sample-path "
        f"normalisation (§4.3), over the seeds: {words}; the load is missed by {worst:+.1%} at most."
    )
    return Section("Predictability of the clients' traffic", (text,), figures=drawn)


FIG1 = Artefact("fig1", _fig1_points, _fig1_claims, _fig1_section)
FIG10 = Artefact("fig10", _points, _fig10_claims, _fig10_section)
