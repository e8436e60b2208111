"""The study's page: trends of Figs 1 and 2, their panels, the sampled loads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.tails import mean_interval_of_pareto
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall_studies.tail_index import grid
from parshall_studies.tail_index.grid import Row, Rows
from parshall_studies.tail_index.measure import METRICS
from parshall_studies.tail_index.network import MEAN_PACKETS
from parshall_studies.tail_index.settings import Setting
from parshall_studies.tail_index.trends import Trends, change

_LOW = 0.7
"""Height of one of six panels below each other."""
_AXES = {"loss": ("loss rate", "%"), "delay_ms": ("queueing delay", "ms"), "throughput_mbps": ("throughput", "Mbit/s")}
_PUBLISHED = "Published: trends only, in the table above; the source prints no values."
_ERRORS = "Error bars are 95 % intervals over repetitions; those of rates are from a block bootstrap over time."


def trends(rows: Rows) -> Trends:
    """The change of every metric in every setting."""
    return {
        (setting, metric): change(list(row), [each.values(metric) for each in row.values()])
        for setting, row in rows.items()
        for metric in METRICS
    }


def figures(rows: Rows) -> Iterator[Section]:
    """Figs 1 and 2; the left of Fig. 1 is without slow start, in every reading, its right with it."""
    without = {setting: row for setting, row in rows.items() if not setting.slow_start}
    beside = {setting: row for setting, row in rows.items() if setting.slow_start and setting.figure == "fig1"}
    many = {setting: row for setting, row in rows.items() if setting.figure == "fig2"}
    yield Section(
        "Fig. 1: N = 45",
        (f"{_PUBLISHED} As in the source, each buffer has a scale of its own. {_ERRORS}",),
        figures=[
            *fig1(rows),
            *_rates({**without, **beside}, buffers=(896,)),
        ],
    )
    yield Section(
        "Fig. 2: N = 500, with slow start",
        (f"{_PUBLISHED} {_ERRORS}",),
        figures=[_metrics("fig2", "N = 500", many), *_rates(many, buffers=(100, 1000))],
    )


def fig1(rows: Rows, ending: str = "") -> list[Chart]:
    """The upper panels of Fig. 1, left and right; `ending` tells whose runs they are."""
    own = {setting: row for setting, row in rows.items() if setting.figure == "fig1" and setting.own_stack}
    sides = (("left", "without slow start", False), ("right", "with slow start", True))
    return [
        _metrics(
            "-".join(part for part in ("fig1", side, ending.replace(" ", "-")) if part),
            ", ".join(part for part in (label, ending) if part),
            {setting: row for setting, row in own.items() if setting.slow_start is slow_start},
        )
        for side, label, slow_start in sides
    ]


def _metrics(name: str, side: str, rows: Rows) -> Chart:
    """A panel for each metric and buffer; a curve a reading."""
    buffers = sorted({setting.buffer for setting in rows})
    panels: list[Panel] = []
    for metric in METRICS:
        for buffer in buffers:
            curves = {setting: row for setting, row in rows.items() if setting.buffer == buffer}
            marks = _curves(curves, metric, named=not panels)
            label, unit = _AXES[metric]
            panels.append(Panel(marks, Axis("tail index α"), Axis(f"{label}, B = {buffer}", unit), height=_LOW))
    title = f"Loss, delay and throughput against the tail index, {side}"
    return Chart(name, title, Plot(panels, f"Metrics of the bottleneck, {side}."))


def _curves(rows: Rows, metric: str, *, named: bool) -> list[Line | Points]:
    marks: list[Line | Points] = []
    for number, (setting, row) in enumerate(rows.items()):
        unit = 100 if metric == "loss" else 1  # per cent
        intervals = [mean_interval(each.values(metric) * unit) for each in row.values()]
        means = [each.mean for each in intervals]
        marks.append(Line(list(row), means, "", Style(number, thin=True)))
        marks.append(
            Points(
                list(row),
                means,
                setting.reading if named else "",
                Style(number),
                # None of the metrics can be negative.
                [each.mean if each.low is None else max(0.0, each.low) for each in intervals],
                [each.mean if each.high is None else each.high for each in intervals],
            )
        )
    return marks


def _rates(rows: Rows, buffers: Sequence[int]) -> list[Chart]:
    """The source's bottom panels: of Fig. 1 for one buffer."""
    return [
        _rate(f"{setting.figure}-rate-{_short(setting)}-{setting.buffer}", setting, row)
        for setting, row in rows.items()
        if setting.buffer in buffers and any(each.rates.packets.size for each in row.values())
    ]


def _short(setting: Setting) -> str:
    """What tells a setting from others of its figure and buffer."""
    return setting.ssthresh if setting.figure == "fig1" else setting.stack


def _rate(name: str, setting: Setting, row: Row) -> Chart:
    marks = [
        Points(each.rates.packets, each.rates.mbps, f"α = {alpha:g}", Style(number), each.rates.low, each.rates.high)
        for number, (alpha, each) in enumerate(row.items())
        if each.rates.packets.size
    ]
    panel = Panel(marks, Axis("size", "packets", log=True), Axis("mean rate", "Mbit/s", log=True))
    return Chart(name, f"Mean rate against size, {setting.label()}", Plot([panel], "Mean rate of transfers of a size."))


def load_section(rows: Rows) -> Section:
    """What was sampled where it is more than 5 % off what was asked."""
    listed = []
    for name, alpha, point in grid.off_load(rows):
        low, high = mean_interval_of_pareto(alpha, point.transfers)
        listed.append(
            (
                name,
                f"{alpha:g}",
                f"{point.mean_packets:.0f}",
                f"{point.mean_packets / MEAN_PACKETS - 1:+.0%}",
                f"{low * MEAN_PACKETS:.0f} to {high * MEAN_PACKETS:.0f}",
            )
        )
    text = (
        "In these runs the sampled mean size is more than 5 % off the 1000 packets asked for, so they carry another "
        "load. The last "
        "column is where the mean of so many Pareto values lies with probability 95 %: what such a run can say of its "
        "load."
        if listed
        else "In every run the sampled mean size is within 5 % of the 1000 packets asked for."
    )
    header = ("setting", "tail index", "sampled mean (packets)", "off by", "95 % of such samples (packets)")
    return Section("Sampled loads", (text,), [Table("", header, listed, numbers=(1, 2, 3, 4))] if listed else ())
