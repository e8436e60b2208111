"""Throughput, queue and drops of a link over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from parshall.foundations.numbers import Scale, given, scale_for
from parshall.report.description import listed
from parshall.report.figures.common import first_and_others, measured_from, sentences, warm_up_s
from parshall.report.plot import Axis, Band, Figure, Guide, Line, Mark, Missing, Panel, Plot, Style, Values, values
from parshall.report.thinning import Binned, averaged
from parshall.results.quantities.measuring import links_in
from parshall.results.records import Result

_CONSTANT = 1.001
"""Rates of bins within this factor of each other are those of a constant link."""

BEHIND = 300
"""Values of all curves of other repetitions of a link."""

LINKS = 3
"""The most links drawn: the busiest ones."""


def prepare(run: Result) -> Plot | Missing:
    """Panels with one abscissa: throughput, the queue of each link, packets dropped."""
    samples = run.tables.get("link_samples")
    if samples is None:
        return Missing("No series of the links was recorded; `[probes] link_samples` turns this on.")
    samples, others, which = first_and_others(samples)
    start = warm_up_s(run)
    samples, partial = _whole_bins(samples, start)
    others = [_whole_bins(other, start)[0] for other in others]
    if samples.is_empty():
        return Missing("The series of the links is one bin, in which the warm-up ends.")
    end = float((samples["time_s"] + samples["bin_s"]).to_numpy().max())
    links = links_in(samples)
    shown = sorted(_busiest(run, links)[:LINKS], key=links.index)
    rates = _rates(run, shown)
    top = max([*rates.values(), *(_throughput_bps(samples, link).max() for link in shown)])
    bits = scale_for(float(top), "bit/s")
    seconds = Axis("Time", "s", minimum=0.0, maximum=end)
    throughput: list[Mark] = []
    queues: list[Panel] = []
    drops: list[Mark] = []
    note = ""
    for index, link in enumerate(shown):
        rows = samples.filter(pl.col("link") == link).sort("time_s")
        time = rows["time_s"].to_numpy()
        name = link if len(links) > 1 else ""
        style = Style(series=index, thin=True)
        carried = averaged(time, _throughput_bps(rows, link) * bits.factor)
        waiting = averaged(time, rows["mean_queue_packets"].to_numpy().astype(float))
        dropped = averaged(time, rows["dropped_packets"].to_numpy() / rows["bin_s"].to_numpy())
        throughput += _curve(carried, name, style)
        of_link = link if len(shown) > 1 else ""
        behind = _behind(others, link)
        queues.append(
            Panel([*behind, *_curve(waiting, "", style)], seconds, Axis("Mean queue", "packets", minimum=0.0), of_link)
        )
        drops += _curve(dropped, "", style)
        note = note or carried.note
    reference = _reference(samples, shown[0], rates, bits) if len(shown) == 1 else []
    throughput += reference
    top = max(
        float(top), *(float(values(mark.y).max()) / bits.factor for mark in reference if isinstance(mark, Line)), 0.0
    )
    throughput += measured_from(start)
    headroom = float(top) * bits.factor * 1.12
    panels = [
        Panel(throughput, seconds, Axis("Throughput", bits.unit, minimum=0.0, maximum=headroom)),
        *queues,
    ]
    dropping = samples["dropped_packets"].sum() > 0
    if dropping:
        panels.append(Panel(drops, seconds, Axis("Dropped by the queue", "packets/s", minimum=0.0), height=0.6))
    what = "Bits forwarded (headers included), mean queue without the packet in service, and packets dropped"
    if not dropping:
        what = "Bits forwarded (headers included) and mean queue without the packet in service; nothing was dropped"
    width = f"in bins of {given(float(np.median(samples['bin_s'].to_numpy())), 's')}"
    left_out = [link for link in links if link not in shown]
    absent = f"Less loaded and not shown: {listed(left_out)}." if left_out else ""
    return Plot(panels, sentences(f"{what}, {width}.", which, note, partial, absent))


def _whole_bins(samples: pl.DataFrame, start_s: float) -> tuple[pl.DataFrame, str]:
    """Without the bin in which the warm-up ends: it holds only what came after."""
    begins, ends = pl.col("time_s"), pl.col("time_s") + pl.col("bin_s")
    inside = (begins < start_s - 1e-9) & (ends > start_s + 1e-9)
    if samples.filter(inside).is_empty():
        return samples, ""
    return samples.filter(~inside), "The bin in which the warm-up ends is left out, as it was recorded in part only."


def _curve(series: Binned, name: str, style: Style) -> list[Mark]:
    line = Line(series.x, series.mean, name, style, steps=True)
    return [Band(series.x, series.low, series.high, "", style), line] if series.is_thinned else [line]


def _behind(others: list[pl.DataFrame], link: str) -> list[Mark]:
    """The queue of a link in other repetitions."""
    marks: list[Mark] = []
    for other in others:
        rows = other.filter(pl.col("link") == link).sort("time_s")
        if not rows.is_empty():
            packets = rows["mean_queue_packets"].to_numpy().astype(float)
            queue = averaged(rows["time_s"].to_numpy(), packets, BEHIND // len(others))
            marks.append(Line(queue.x, queue.mean, "", Style(thin=True, muted=True, faint=True), steps=True))
    return marks


def _throughput_bps(samples: pl.DataFrame, link: str) -> Values:
    rows = samples.filter(pl.col("link") == link)
    return np.asarray(rows["forwarded_bytes"].to_numpy() * 8.0 / rows["bin_s"].to_numpy(), dtype=np.float64)


def _reference(samples: pl.DataFrame, link: str, rates: Mapping[str, float], bits: Scale) -> list[Mark]:
    """What a link could carry: a curve if that varies, else a line."""
    capacity = _varying_capacity(samples, link)
    if capacity is not None:
        drawn = averaged(*capacity)
        return [Line(drawn.x, drawn.mean * bits.factor, "capacity", Style(muted=True, thin=True), steps=True)]
    if link not in rates:
        return []
    return [Guide(rates[link] * bits.factor, f"link rate {given(rates[link], 'bit/s')}")]


def _varying_capacity(samples: pl.DataFrame, link: str) -> tuple[Values, Values] | None:
    """The rate of a link over time, s and bit/s, if it is not the same throughout."""
    if "rate_bps" not in samples.columns:
        return None  # recorded by a version that did not
    rows = samples.filter(pl.col("link") == link).sort("time_s")
    rates = rows["rate_bps"].to_numpy()
    return None if rates.max() <= _CONSTANT * rates.min() else (rows["time_s"].to_numpy(), rates)


def _busiest(run: Result, links: list[str]) -> list[str]:
    """The links, by falling utilisation (as they come when that was not recorded)."""
    table = run.tables.get("links")
    if table is None or len(links) == 1:
        return links
    mean = table.group_by("link").agg(pl.col("utilisation").mean())
    load = dict(mean.iter_rows())
    return sorted(links, key=lambda link: (-(load.get(link) or 0.0), links.index(link)))


def _rates(run: Result, links: list[str]) -> dict[str, float]:
    table = run.tables.get("links")
    if table is None:
        return {}
    mean = table.filter(pl.col("link").is_in(links)).group_by("link").agg(pl.col("rate_bps").mean())
    return {link: float(rate) for link, rate in mean.iter_rows() if rate is not None}


FIGURE = Figure("traffic", "Throughput and queue over time", prepare)
