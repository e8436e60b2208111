"""The figures of a comparison: all candidates at a glance, what differs most, distributions over each other, courses.

Each result has a letter, and the same colour, dash and symbol in all figures; at most `MOST` are drawn in a figure
that would be illegible with more.

References: F. Yan et al., Pantheon: the training ground for Internet congestion-control research, USENIX ATC 2018
(throughput against delay, with an ellipse of one standard deviation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from parshall.analysis.stats.censored import Durations, KaplanMeier
from parshall.analysis.stats.ranges import Number, Range
from parshall.foundations.numbers import counted, scale_for
from parshall.report.comparing import letter
from parshall.report.comparison import Comparison
from parshall.report.document import Chart
from parshall.report.figures.common import sentences
from parshall.report.figures.delays import of_all, of_link
from parshall.report.figures.overview import Course, course, layers, stacked
from parshall.report.figures.tails import DrawnTail, tail_of, tails_panel
from parshall.report.palette import SERIES
from parshall.report.plot import Axis, Guide, Line, Mark, Panel, Plot, Points, Style, Values, box
from parshall.results.quantities.completion import lasted
from parshall.results.quantities.definition import link_name
from parshall.results.quantities.measuring import ALL_FLOWS, Metric, busiest_of_all, of_run
from parshall.results.records import Result

MOST = SERIES
"""The most results whose distributions or courses are drawn: the first ones."""

ROWS = 20
"""The most quantities in the figure of differences."""

_FAR = 10.0
"""Delays that differ by this factor are drawn on a logarithmic axis."""

_ROOM = 1.12
"""The end of an axis over the largest value."""

_SPREAD = 0.6
"""Of the room between two rows, what the results of a row take."""

_NAME = 40


def candidates(comparison: Comparison) -> Chart | None:
    """Throughput against delay: a point a result, with an ellipse of one standard deviation over its repetitions."""
    link = _link(comparison)
    pairs = [(place, *pair) for place, each in enumerate(comparison.sources) if (pair := _speed_and_delay(each, link))]
    if len(pairs) < 2:
        return None
    speeds = [goodput.interval.mean for _, goodput, _ in pairs]
    delays = [delay.interval.mean for _, _, delay in pairs]
    log = min(delays) > 0 and max(delays) > _FAR * min(delays)
    bits, seconds = scale_for(max(speeds), "bit/s"), scale_for(max(delays), "s")
    ellipses: list[Mark] = []
    points: list[Mark] = []
    for place, goodput, delay in pairs:
        style = _style(place)
        x, y = delay.interval.mean * seconds.factor, goodput.interval.mean * bits.factor
        points.append(Points([x], [y], _called(comparison, place), style))
        both = sorted(set(goodput.values) & set(delay.values))
        across = np.array([delay.values[each] for each in both]) * seconds.factor
        up = np.array([goodput.values[each] for each in both]) * bits.factor
        outline = _ellipse(across, up, log=log)
        if outline is not None:
            ellipses.append(Line(*outline, "", Style(series=style.series, thin=True)))
    what = "Mean of the RTTs" if link is None else f"Mean queueing delay at {link_name(link)}"
    axes = (
        Axis(
            what,
            seconds.unit,
            log=log,
            minimum=None if log else 0.0,
            maximum=None if log else _ROOM * max(delays) * seconds.factor,
        ),
        Axis("Goodput, all flows", bits.unit, minimum=0.0, maximum=_ROOM * max(speeds) * bits.factor),
    )
    panel = Panel([*ellipses, *points], *axes)
    outlines = "An ellipse is one standard deviation over the repetitions." if ellipses else ""
    caption = sentences(
        "Goodput of all flows against delay, means over repetitions.", outlines, "Better is up, and to the left."
    )
    return Chart("candidates", "Throughput against delay", Plot([panel], caption))


def differences(comparison: Comparison) -> Chart | None:
    """A row a quantity, the most relevant at the top: each result over the first, with its interval."""
    rows = []
    told = set()
    for row in comparison.shown:
        base = row.intervals[0]
        values = (row.unit, *(each and each.value for each in row.intervals))
        if values in told:
            continue  # what is said of a run is that of its busiest link, and what is said of that is the same again
        told.add(values)
        ratios = [
            _ratio(place, each.b.value, base.value, each.difference)
            for place, each in enumerate(row.differences, 1)
            if base is not None
            and each is not None
            and each.difference
            and each.b
            and base.value > 0
            and each.b.value > 0
        ]
        if any(each.value != 1.0 for each in ratios):
            rows.append((row.label, ratios))
    shown = rows[:ROWS]
    if not shown:
        return None
    least = 0.5 * min(each.value for _, ratios in shown for each in ratios)
    others = range(1, len(comparison.results))
    marks: list[Mark] = [Guide(1.0, f"as {letter(0)}", along="x")]
    for index, place in enumerate(others):
        offset = _SPREAD * ((len(others) - 1) / 2 - index) / len(others)
        of_place = [
            (len(shown) - 1 - number + offset, each)
            for number, (_, ratios) in enumerate(shown)
            for each in ratios
            if each.place == place
        ]
        marks += [box(y, *each.ends(least), _style(place)) for y, each in of_place if each.is_range]
        if of_place:
            y, x = [y for y, _ in of_place], [each.value for _, each in of_place]
            low, high = zip(*(each.bar(least) for _, each in of_place), strict=True)
            marks.append(Points(x, y, _called(comparison, place), _style(place), low, high, along="x"))
    boxes = any(each.is_range for _, ratios in shown for each in ratios)
    panel = Panel(
        marks,
        Axis(f"Over {_called(comparison, 0)}", log=True),
        Axis("", names=tuple(label for label, _ in reversed(shown)), minimum=-0.6, maximum=len(shown) - 0.4),
        height=0.3 + 0.055 * len(shown) * (1.0 + 0.25 * len(others)),
    )
    left_out = f"{counted(len(rows) - len(shown), 'quantity', 'quantities')} that differ less are not drawn."
    caption = sentences(
        f"Each quantity of the others over that of {letter(0)}; what differs and matters is at the top, the largest "
        "difference first. Bars are 95 % confidence intervals of the difference. What is 0 has no ratio, and no point.",
        "A box is a range and no interval: the difference to a prediction, from empty to full buffers."
        if boxes
        else "",
        left_out if len(rows) > len(shown) else "",
    )
    return Chart("differences", "What differs", Plot([panel], caption))


def distributions(comparison: Comparison) -> list[Chart]:
    """Delays, completion times and goodputs, those of all results in one panel each."""
    link = _link(comparison)
    shown, left_out = _shown(comparison)
    curves = [
        _tails("cdf-delay", f"Queueing delay at {link_name(link)}", "wait", _queueing(shown, link)) if link else None,
        _tails("cdf-latency", "One-way delay of all packets", "take", _latencies(shown)),
        _shares("cdf-completion", "Completion time", "Transfers", "s", _completions(shown)),
        _shares("cdf-goodput", "Goodput of a flow", "Flows", "bit/s", _goodputs(shown)),
    ]
    return [
        Chart(each.name, each.title, Plot(each.plot.panels, sentences(each.plot.caption, left_out)))
        for each in curves
        if each is not None
    ]


def courses(comparison: Comparison) -> list[Chart]:
    """Goodput over time, a panel a result; and the delays of all in one panel."""
    link = _link(comparison)
    shown, left_out = _shown(comparison)
    by_name = {name: each for name, run in shown.items() if link and isinstance(each := course(run, link), Course)}
    if len(by_name) < 2:
        return []
    end = max(float(each.edges[-1]) for each in by_name.values())
    time = Axis("Time", "s", minimum=0.0, maximum=end)
    top = max(each.top_bps for each in by_name.values())
    bits = scale_for(top, "bit/s")
    axis = Axis("Goodput", bits.unit, minimum=0.0, maximum=1.12 * top * bits.factor)
    every = list(dict.fromkeys(group for each in by_name.values() for group in each.groups))
    panels = []
    for name, each in by_name.items():
        styles = layers(each.groups)
        if len(every) <= SERIES:
            styles = {group: (each.groups[group], Style(series=every.index(group))) for group in styles}
        panels.append(Panel(stacked(each, bits, styles), time, axis, name, height=0.6))
    what = f"Goodput of the groups that send over {link}, stacked below its rate; means over repetitions."
    drawn = [Chart("goodput-over-time", "Goodput over time", Plot(panels, sentences(what, left_out)))]
    waits = {name: (each.middles, each.delay.mean) for name, each in by_name.items() if each.delay is not None}
    if len(waits) > 1:
        seconds = scale_for(max(float(delay.max()) for _, delay in waits.values()), "s")
        lines = [
            Line(middles, delay * seconds.factor, name, Style(series=index, dash=index))
            for index, (name, (middles, delay)) in enumerate(waits.items())
        ]
        panel = Panel(lines, time, Axis("Queueing delay", seconds.unit, minimum=0.0))
        caption = sentences(f"Mean wait of packets at {link}; means over repetitions.", left_out)
        drawn.append(Chart("delay-over-time", "Queueing delay over time", Plot([panel], caption)))
    return drawn


def _link(comparison: Comparison) -> str | None:
    """The link that figures speak of."""
    return busiest_of_all(each.tables.get("links") for each in comparison.sources)


def _style(place: int) -> Style:
    return Style(series=place, dash=place + place // SERIES)


def _called(comparison: Comparison, place: int) -> str:
    name = comparison.results[place].name
    return f"{letter(place)}: {name if len(name) <= _NAME else '…' + name[1 - _NAME :]}"


def _shown(comparison: Comparison) -> tuple[dict[str, Result], str]:
    """The results that are drawn by their names, and the sentence about the others."""
    sources = list(comparison.sources)
    left_out = f"The first {MOST} of {counted(len(sources), 'result')} are drawn." if len(sources) > MOST else ""
    return {_called(comparison, place): each for place, each in enumerate(sources[:MOST])}, left_out


def _speed_and_delay(run: Result, link: str | None) -> tuple[Metric, Metric] | None:
    """Goodput and delay of a result: at the link that all have, or of round trips."""
    if run.instrument == "predict":
        return None
    metrics = of_run(run.tables, link) | (run.of_all_flows() if link is None else {})
    delay = metrics.get(f"group/{ALL_FLOWS}/rtt_s" if link is None else "queueing_delay_s")
    goodput = metrics.get("goodput_bps")
    return None if goodput is None or delay is None else (goodput, delay)


def _ellipse(x: Values, y: Values, *, log: bool) -> tuple[Values, Values] | None:
    """The outline one standard deviation around the mean; None of fewer than three points, or without a spread."""
    if len(x) < 3 or (log and (x <= 0).any()):
        return None
    points = np.stack([np.log(x) if log else x, y])
    spreads, axes = np.linalg.eigh(np.cov(points))
    if spreads[-1] <= 0:
        return None
    angle = np.linspace(0.0, 2.0 * np.pi, 61)
    turned = axes @ (np.sqrt(np.maximum(spreads, 0.0))[:, None] * np.stack([np.cos(angle), np.sin(angle)]))
    outline = points.mean(axis=1)[:, None] + turned
    return (np.exp(outline[0]) if log else outline[0]), outline[1]


@dataclass(frozen=True)
class _Ratio:
    """The value of a result over that of the first, and the ends of its interval or range."""

    place: int
    value: float
    low: float
    high: float
    is_range: bool

    def ends(self, least: float) -> tuple[float, float]:
        """Both ends, drawn from `least` on."""
        return max(self.low, least), max(self.high, least)

    def bar(self, least: float) -> tuple[float, float]:
        """The ends of a confidence interval; those of a range are none."""
        return (self.value, self.value) if self.is_range else self.ends(least)


def _ratio(place: int, value: float, base: float, difference: Number) -> _Ratio:
    """A difference as a ratio to the base; its ends are the value itself where it has no interval."""
    low, high = (difference.value if end is None else end for end in (difference.low, difference.high))
    has_width = isinstance(difference, Range) and difference.has_width
    return _Ratio(place, value / base, 1.0 + low / base, 1.0 + high / base, has_width)


def _tails(name: str, what: str, verb: str, tails: Mapping[str, DrawnTail]) -> Chart | None:
    if len(tails) < 2:
        return None
    panel, note = tails_panel(tails, what, verb)
    return Chart(name, what, Plot([panel], sentences("All repetitions of each result together.", note)))


def _queueing(shown: Mapping[str, Result], link: str) -> dict[str, DrawnTail]:
    found = {name: of_link(run.tables, link) for name, run in shown.items()}
    return {name: tail_of(delays) for name, delays in found.items() if delays is not None}


def _latencies(shown: Mapping[str, Result]) -> dict[str, DrawnTail]:
    found = {name: of_all(run.tables, "one_way_delay") for name, run in shown.items()}
    return {name: tail_of(delays) for name, delays in found.items() if delays is not None}


def _completions(shown: Mapping[str, Result]) -> dict[str, KaplanMeier]:
    """Of all transfers, those too that had not ended."""
    tables = {name: lasted(run.tables) for name, run in shown.items() if run.tables.get("transfers") is not None}
    return {
        name: KaplanMeier(Durations(table["lasted_s"].to_numpy(), table["ended"].to_numpy()))
        for name, table in tables.items()
    }


def _goodputs(shown: Mapping[str, Result]) -> dict[str, KaplanMeier]:
    """Of results with several flows."""
    tables = {name: run.tables.get("flows") for name, run in shown.items()}
    by_name = {
        name: table["goodput_bps"].drop_nulls().to_numpy() for name, table in tables.items() if table is not None
    }
    several = any(table is not None and table["flow"].n_unique() > 1 for table in tables.values())
    known = {name: Durations.of(values, np.ones(len(values))) for name, values in by_name.items()}
    return {name: KaplanMeier(each) for name, each in known.items()} if several else {}


def _shares(name: str, what: str, who: str, unit: str, curves: Mapping[str, KaplanMeier]) -> Chart | None:
    """Distribution functions, each of at most 500 points."""
    present = {each: curve for each, curve in curves.items() if curve.ended}
    if len(present) < 2:
        return None
    pooled = np.concatenate([curve.at_s for curve in present.values()])
    scale = scale_for(float(np.quantile(pooled, 0.9)), unit)
    log = float(pooled.min()) > 0 and float(pooled.max()) > _FAR * float(np.median(pooled))
    marks: list[Mark] = []
    for index, (each, curve) in enumerate(present.items()):
        x, shares = curve.drawn(500)
        marks.append(Line(x * scale.factor, shares * 100.0, each, Style(series=index, dash=index)))
    axes = (
        Axis(f"{what} x", scale.unit, log=log, minimum=None if log else 0.0),
        Axis(f"{who} of at most x", "%", minimum=0.0, maximum=100.0),
    )
    numbers = ", ".join(f"{each}: {_of(curve)}" for each, curve in present.items())
    cut_off = any(curve.ended < curve.n for curve in present.values())
    ends = "A curve ends where no more is known (Kaplan and Meier)." if cut_off else ""
    caption = sentences(f"All repetitions of each result together ({numbers}).", ends)
    return Chart(name, what, Plot([Panel(marks, *axes)], caption))


def _of(curve: KaplanMeier) -> str:
    """Return the number of values of a curve: ``12 values``, or ``9 of 12 ended``."""
    return counted(curve.n, "value") if curve.ended == curve.n else f"{curve.ended} of {curve.n} ended"
