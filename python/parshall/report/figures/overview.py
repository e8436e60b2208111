"""The run at a glance: goodput of the groups, stacked below the capacity of the busiest link, and the delay there.

Goodput over time is counted: every byte that the flows of a group delivered is in `group_samples`. The kernel's TCP and
older records have no such count. There it comes from what sampled flows had delivered. Of a group with more flows than
are sampled, the sampled ones show the course, and the group's goodput the mean: flows of a group may be unequal.

A packet counts whole when its last bit leaves. What a bin has above the rate of the link was under way in the bin
before, and is drawn there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from parshall.foundations.numbers import Scale, counted, given, scale_for
from parshall.report.crossing import crossing
from parshall.report.figures.common import end_s, measured_from, repetitions, sentences, warm_up_s
from parshall.report.palette import SERIES
from parshall.report.plot import Axis, Band, Figure, Guide, Line, Mark, Missing, Panel, Plot, Style, Values
from parshall.results.quantities.measuring import busiest
from parshall.results.records import Result

BINS = 120
"""Points of a curve: each is a mean over so large a part of the run."""

_CONSTANT = 1.001
"""Rates within this factor of each other are those of a constant link."""


@dataclass(frozen=True)
class Binned:
    """Mean, smallest and largest recorded value a bin; where none was recorded, those of the bin before."""

    mean: Values
    low: Values
    high: Values


@dataclass(frozen=True)
class Course:
    """What a link carried over time, and how long packets waited there: means over repetitions, a value a bin.

    Parameters
    ----------
    link
        The link.
    edges
        Of the bins, s, shape (BINS + 1,).
    groups
        Goodput of the groups that send over it, bit/s.
    rate
        Of the link, bit/s; 0 where that was not recorded.
    delay
        Queueing delay, s; None where it was not recorded or no packet came.
    note
        What is to be said of the goodput.
    """

    link: str
    edges: Values
    groups: Mapping[str, Values]
    rate: Values
    delay: Binned | None
    note: str

    @property
    def middles(self) -> Values:
        """Of the bins, s."""
        return np.asarray((self.edges[1:] + self.edges[:-1]) / 2)

    @property
    def top_bps(self) -> float:
        """The most that is drawn: of all groups together, or the rate of the link."""
        return max(float(sum(self.groups.values(), np.zeros(BINS)).max()), float(self.rate.max()))


def course(run: Result, link: str | None = None) -> Course | Missing:
    """Goodput and delay over time at a link, by default the busiest, or why they are not known."""
    links, bins = run.tables.get("links"), run.tables.get("link_samples")
    if links is None or bins is None:
        return Missing("No series of the links was recorded; `[probes] link_samples` turns this on.")
    link = link or busiest(links)
    bins = bins.filter(pl.col("link") == link)
    if bins.is_empty():
        return Missing(f"No series of {link} was recorded.")
    last = float((bins["time_s"] + bins["bin_s"]).to_numpy().max())
    edges = np.linspace(0.0, max(end_s(run, last), last), BINS + 1)
    goodput = _goodput(run, link, edges, bins) or _carried(bins, edges)
    return Course(link, edges, goodput.groups, _rate(bins, edges), _delay(bins, edges), goodput.note)


def prepare(run: Result) -> Plot | Missing:
    """Two panels with one abscissa: goodput below capacity, and queueing delay."""
    shown = course(run)
    if isinstance(shown, Missing):
        return shown
    time = Axis("Time", "s", minimum=0.0, maximum=float(shown.edges[-1]))
    scale = scale_for(shown.top_bps, "bit/s")
    axis = Axis("Goodput", scale.unit, minimum=0.0, maximum=1.12 * shown.top_bps * scale.factor)
    panels = [Panel([*stacked(shown, scale, layers(shown.groups)), *measured_from(warm_up_s(run))], time, axis)]
    if shown.delay is not None:
        panels.append(_delay_panel(shown.delay, shown.middles, time))
    number = len(repetitions(run.tables["link_samples"]))
    many = f"Means over {number} repetitions." if number > 1 else ""
    band = "The band is from the least to the largest mean of a recorded bin in any repetition." if shown.delay else ""
    width = f"Each point is the mean of {given(float(shown.edges[1]), 's')}."
    what = (
        f"Goodput of the groups that send over {shown.link}, stacked below its rate, and how long packets waited there."
    )
    return Plot(panels, sentences(what, many, width, band, shown.note))


def stacked(shown: Course, scale: Scale, styles: Mapping[str, tuple[Values, Style]]) -> list[Mark]:
    """The areas of the groups from below, and the rate of the link."""
    marks: list[Mark] = []
    below = np.zeros(BINS)
    for name, (values, style) in styles.items():
        above = below + values * scale.factor
        marks.append(Band(shown.middles, below, above, name, style, filled=True))
        below = above
    return [*marks, *_capacity(shown.rate, shown.middles, scale.factor)]


@dataclass(frozen=True)
class _Goodput:
    """Of each group in bit/s, a value a bin; and what is to be said of it."""

    groups: Mapping[str, Values]
    note: str


def _goodput(run: Result, link: str, edges: Values, bins: pl.DataFrame) -> _Goodput | None:
    """Of the groups that cross a link, at most its rate; None if there are none, or they were not recorded."""
    counts, flows = run.tables.get("group_samples"), run.tables.get("flows")
    groups = crossing(run, link)
    if flows is None or not groups:
        return None
    numbers = repetitions(flows)
    within = _move_back
    if counts is not None:
        rates, note = _counted(counts, groups, numbers, edges), ""
    else:
        within = _scale_down
        sampled = _sampled(run, groups, numbers, edges)
        if sampled is None:
            return None
        rates, note = sampled
    together = np.stack(list(rates.values()))
    for index, number in enumerate(numbers):
        within(together[:, index], _rate(bins.filter(pl.col("repetition") == number), edges))
    return _Goodput(dict(zip(rates, together.mean(axis=1), strict=True)), note)


def _counted(counts: pl.DataFrame, groups: list[str], numbers: list[int], edges: Values) -> dict[str, Values]:
    """Goodput of each group, bit/s, shape (repetitions, BINS)."""
    rates = {group: np.zeros((len(numbers), BINS)) for group in groups}
    counts = counts.filter(pl.col("group").is_in(groups)).sort("time_s")
    for (repetition, group), series in counts.partition_by("repetition", "group", as_dict=True).items():
        ends = (series["time_s"] + series["bin_s"]).to_numpy()
        delivered = np.interp(edges, [0.0, *ends], [0, *series["delivered_bytes"].cum_sum()])
        rates[str(group)][numbers.index(int(repetition))] = _rates_bps(delivered, edges, float(ends[-1]))
    return rates


def _rates_bps(delivered_bytes: Values, edges: Values, end_s: float) -> Values:
    """Payload delivered in each bin over the time that the repetition took of it, bit/s."""
    seconds = np.diff(np.minimum(edges, end_s))
    return np.asarray(np.where(seconds > 0, np.diff(delivered_bytes) * 8.0, 0.0) / np.where(seconds > 0, seconds, 1.0))


def _move_back(rates_bps: Values, capacity_bps: Values) -> None:
    """Move what all groups have above a known capacity to the bin before, in place; shape (groups, BINS)."""
    for place in range(BINS - 1, 0, -1):
        total = float(rates_bps[:, place].sum())
        if total > capacity_bps[place] > 0:
            above = rates_bps[:, place] * (1.0 - capacity_bps[place] / total)
            rates_bps[:, place] -= above
            rates_bps[:, place - 1] += above


def _scale_down(rates_bps: Values, capacity_bps: Values) -> None:
    """Scale what all groups have above a known capacity down to it, in place; shape (groups, BINS)."""
    total = rates_bps.sum(axis=0)
    above = (total > capacity_bps) & (capacity_bps > 0)
    rates_bps[:, above] *= capacity_bps[above] / total[above]


def _sampled(run: Result, groups: list[str], numbers: list[int], edges: Values) -> tuple[dict[str, Values], str] | None:
    """The same as `_counted` of sampled flows, scaled to the goodput of all; and what is to be said of it."""
    samples, flows = run.tables.get("flow_samples"), run.tables.get("flows")
    if samples is None or flows is None or "delivered_bytes" not in samples.columns:
        return None
    samples = samples.drop_nulls("delivered_bytes").select("repetition", "flow", "time_s", "delivered_bytes")
    who = flows.filter(pl.col("group").is_in(groups)).select("repetition", "flow", "group")
    population = dict(who.group_by("group").len().iter_rows())
    who = who.join(samples.select("repetition", "flow").unique(), on=["repetition", "flow"], how="semi")
    sampled = dict(who.group_by("group").len().iter_rows())
    if not sampled:
        return None
    rates = {group: np.zeros((len(numbers), BINS)) for group in groups if group in sampled}
    owner = {(repetition, flow): group for repetition, flow, group in who.iter_rows()}
    ends = dict(samples.group_by("repetition").agg(pl.col("time_s").max()).iter_rows())
    for (repetition, flow), series in samples.sort("time_s").partition_by("repetition", "flow", as_dict=True).items():
        group = owner.get((repetition, flow))
        if group is not None:
            delivered = np.interp(edges, series["time_s"].to_numpy(), series["delivered_bytes"].to_numpy(), left=0.0)
            rates[group][numbers.index(int(repetition))] += _rates_bps(delivered, edges, ends[repetition])
    total = dict(flows.group_by("group").agg(pl.col("goodput_bps").sum() / len(numbers)).iter_rows())
    some = [group for group in rates if population[group] > sampled[group]]
    for group in some:
        after = rates[group].mean(axis=0)[edges[:-1] >= warm_up_s(run)]
        measured = float(after.mean()) if after.size else 0.0
        rates[group] *= total[group] / measured if measured > 0 else population[group] / sampled[group]
    note = "Of groups with more flows than were sampled, the course is that of the sampled ones, the mean that of all."
    return rates, note if some else ""


def _carried(bins: pl.DataFrame, edges: Values) -> _Goodput:
    """All that the link carried, where no goodput of flows was recorded, as on a link of ACKs."""
    bits = bins.with_columns(carried_bps=pl.col("forwarded_bytes") * 8.0 / pl.col("bin_s"))
    note = "No goodput of flows was recorded there: what is drawn is all that the link carried, headers included."
    rates = _binned(bits, "carried_bps", edges).mean[np.newaxis]
    _move_back(rates, _rate(bins, edges))
    return _Goodput({"carried": rates[0]}, note)


def layers(groups: Mapping[str, Values]) -> dict[str, tuple[Values, Style]]:
    """The areas from below: all groups, or those with most and the rest together."""
    if len(groups) <= SERIES:
        return {group: (values, Style(series=index)) for index, (group, values) in enumerate(groups.items())}
    ranked = sorted(groups, key=lambda group: -float(groups[group].mean()))
    rest = ranked[SERIES - 1 :]
    layers = {group: (groups[group], Style(series=index)) for index, group in enumerate(ranked[: SERIES - 1])}
    together = np.asarray(sum((groups[group] for group in rest), np.zeros(BINS)))
    return layers | {counted(len(rest), "other group"): (together, Style(muted=True))}


def _rate(bins: pl.DataFrame, edges: Values) -> Values:
    """The rate of the link in each bin, over all repetitions; 0 where that was not recorded."""
    if "rate_bps" not in bins.columns:
        return np.zeros(BINS)
    return _binned(bins, "rate_bps", edges).mean


def _capacity(rate: Values, middles: Values, factor: float) -> list[Mark]:
    if float(rate.max()) <= 0:
        return []
    if float(rate.max()) <= _CONSTANT * float(rate.min()):
        return [Guide(float(rate[0]) * factor, f"rate of the link {given(float(rate[0]), 'bit/s')}")]
    return [Line(middles, rate * factor, "rate of the link", Style(muted=True, thin=True))]


def _binned(rows: pl.DataFrame, column: str, edges: Values) -> Binned:
    at = np.clip(np.searchsorted(edges, rows["time_s"].to_numpy(), side="right") - 1, 0, BINS - 1)
    bins = (
        pl.DataFrame({"bin": at, "value": rows[column].to_numpy().astype(np.float64)})
        .group_by("bin")
        .agg(pl.mean("value").alias("mean"), pl.min("value").alias("low"), pl.max("value").alias("high"))
        .sort("bin")
    )
    before = np.clip(np.searchsorted(bins["bin"].to_numpy(), np.arange(BINS), side="right") - 1, 0, None)
    return Binned(*(bins[name].to_numpy()[before] for name in ("mean", "low", "high")))


def _delay(bins: pl.DataFrame, edges: Values) -> Binned | None:
    """The queueing delay; None where it was not recorded, or no packet came."""
    if "mean_queueing_delay_s" not in bins.columns:
        return None
    known = bins.drop_nulls("mean_queueing_delay_s")
    return None if known.is_empty() else _binned(known, "mean_queueing_delay_s", edges)


def _delay_panel(delay: Binned, middles: Values, time: Axis) -> Panel:
    scale = scale_for(float(delay.mean.max()), "s")
    style = Style(muted=True)
    marks: list[Mark] = [
        Band(middles, delay.low * scale.factor, delay.high * scale.factor, "", style),
        Line(middles, delay.mean * scale.factor, "", style),
    ]
    return Panel(marks, time, Axis("Queueing delay", scale.unit, minimum=0.0), height=0.75)


FIGURE = Figure("overview", "Goodput and queueing delay over time", prepare)
