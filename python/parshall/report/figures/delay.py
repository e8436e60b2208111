"""How long packets wait: the complementary distribution of the queueing delay at each link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from parshall.report.figures.common import link_names, pooled, sentences
from parshall.report.numbers import quantity, scale_for
from parshall.report.palette import SERIES
from parshall.report.plot import Axis, Figure, Line, Mark, Missing, Panel, Plot, Points, Style, Values
from parshall.report.source import RunLike, filled
from parshall.report.thinning import extremes
from parshall.runs.merit import delay_bins
from parshall.stats.histogram import histogram_quantiles

LEVELS = (0.5, 0.9, 0.99, 0.999)


@dataclass(frozen=True)
class Tail:
    """P(delay > `delay_s`) = `share`, exact at both ends of each of the histogram's bins."""

    delay_s: Values
    share: Values
    percentiles_s: Values
    """At `LEVELS`."""


def tail_of(histogram: pl.DataFrame) -> Tail | None:
    """The complementary distribution of one link's histogram; ``None`` if it counts no packet."""
    bins = histogram.group_by("low_s", "high_s").agg(pl.col("packets").sum()).sort("high_s")
    packets = bins["packets"].to_numpy().astype(np.float64)
    total = packets.sum()
    ends = bins["low_s"].to_numpy(), bins["high_s"].to_numpy()
    exact = delay_bins(bins)
    percentiles = histogram_quantiles(exact.low, exact.high, exact.counts, LEVELS)
    if percentiles is None:
        return None
    beyond = np.clip(1.0 - np.cumsum(packets) / total, 0.0, 1.0)
    beyond[np.cumsum(packets) == total] = 0.0
    places = np.append(0.0, np.column_stack(ends).ravel())
    before = np.append(1.0, beyond[:-1])
    return Tail(places, np.append(1.0, np.column_stack((before, beyond)).ravel()), percentiles)


def prepare(run: RunLike) -> Plot | Missing:
    """One curve a link, percentiles as points on it."""
    histogram = filled(run.delay_histogram)
    if histogram is None:
        return Missing("No queueing delays were recorded.")
    tails: dict[str, Tail] = {}
    for link in link_names(histogram):
        tail = tail_of(histogram.filter(pl.col("link") == link))
        if tail is not None:
            tails[link] = tail
    if not tails:
        return Missing("No packet was forwarded after the warm-up, so there is no queueing delay.")
    largest = max(float(tail.delay_s[-1]) for tail in tails.values())
    scale = scale_for(largest, "s")
    least = min(float(tail.share[tail.share > 0.0].min()) for tail in tails.values())
    floor = float(10.0 ** np.floor(np.log10(min(least, 1.0 - LEVELS[-1]))))
    marks: list[Mark] = []
    words: list[str] = []
    several = len(tails) > 1
    for index, (link, tail) in enumerate(list(tails.items())[:SERIES]):
        style = Style(series=index, dash=index)
        curve = extremes(tail.delay_s * scale.factor, np.maximum(tail.share, floor))
        marks.append(Line(curve.x, curve.y, link if several else "", style))
        levels = [level for level in LEVELS if 1.0 - level > 1.001 * floor]
        delays = tail.percentiles_s[: len(levels)] * scale.factor
        marks.append(Points(delays, 1.0 - np.array(levels), "", style))
        named = ", ".join(
            f"{100 * level:g} %: {quantity(delay, 's')}"
            for level, delay in zip(LEVELS, tail.percentiles_s, strict=True)
        )
        words.append(f"{link}: {named}." if several else f"Percentiles (points): {named}.")
    panel = Panel(
        marks,
        Axis("Queueing delay x", scale.unit, minimum=0.0),
        Axis("Share of packets that wait longer than x", log=True, minimum=floor, maximum=1.0),
    )
    left_out = "" if len(tails) <= SERIES else f"The first {SERIES} of {len(tails)} links are drawn."
    opening = "Waiting time in the queue, without the packet's own transmission, after the warm-up."
    return Plot([panel], sentences(opening, *words, pooled(histogram), left_out))


FIGURE = Figure("delay", "Distribution of the queueing delay", prepare)
