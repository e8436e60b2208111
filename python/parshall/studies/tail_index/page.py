"""The study's page: trends of Figs 1 and 2 and their checks, the panels, the sampled loads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.stats.confidence import mean_interval
from parshall.stats.tails import mean_interval_of_pareto
from parshall.studies.check import Check
from parshall.studies.tail_index import grid
from parshall.studies.tail_index.grid import Setting
from parshall.studies.tail_index.measure import METRICS, WORDS, Measured
from parshall.studies.tail_index.network import MEAN_PACKETS
from parshall.studies.tail_index.published import FIG1, FIG2, published_sign
from parshall.studies.tail_index.trends import Change, change

Rows = dict[Setting, tuple[Measured, ...]]
_DECADE = 5.0
_AXES = {
    "loss": Axis("loss rate", log=False),
    "delay_ms": Axis("mean queueing delay", "ms"),
    "throughput_mbps": Axis("throughput", "Mbit/s"),
}


def trends(tail_indices: Sequence[float], rows: Rows) -> dict[tuple[Setting, str], Change]:
    """The change of every metric in every setting."""
    return {
        (setting, metric): change(tail_indices, [each.values(metric) for each in row])
        for setting, row in rows.items()
        for metric in METRICS
    }


def checks(found: dict[tuple[Setting, str], Change]) -> list[Check]:
    """A check a sign."""
    listed = []
    for (setting, metric), each in found.items():
        sign = published_sign(setting, metric)
        listed.append(
            Check(
                FIG1 if setting[0] == 45 else FIG2,
                f"{WORDS[metric]} with heavier tails, {grid.name(setting)}: sign",
                None if sign is None else float(sign),
                float(each.sign),
                None,
                None,
                0.5,
                f"{each.relative:+.1%} ({each.low:+.1%} to {each.high:+.1%}), p = {each.p_value:.2g}",
            )
        )
    return listed


def figures(tail_indices: Sequence[float], rows: Rows) -> Iterator[Section]:
    """Figs 1 and 2, all panels."""
    for name, sources in ((FIG1, 45), (FIG2, 500)):
        chosen = {setting: row for setting, row in rows.items() if setting[0] == sources}
        drawn = [_metrics(name, tail_indices, chosen)]
        drawn += [
            _rate(f"{name}-rate-{number}", setting, tail_indices, row)
            for number, (setting, row) in enumerate(chosen.items())
            if (sources == 500 or setting[1] == 896) and any(each.rates.packets.size for each in row)
        ]
        text = (
            "Published: trends only, in the table above; the source prints no values. Error bars are 95 % intervals "
            "over "
            "repetitions; those of rates are from a block bootstrap over time."
        )
        yield Section(f"{'Fig. 1: N = 45' if sources == 45 else 'Fig. 2: N = 500'}", (text,), figures=drawn)


def _metrics(name: str, tail_indices: Sequence[float], rows: Rows) -> Drawn:
    panels = []
    for metric in METRICS:
        marks: list[Line | Points] = []
        for number, (setting, row) in enumerate(rows.items()):
            intervals = [mean_interval(each.values(metric)) for each in row]
            means = [each.mean for each in intervals]
            marks.append(Line(tail_indices, means, "", Style(number, thin=True)))
            marks.append(
                Points(
                    tail_indices,
                    means,
                    f"B = {setting[1]}, {'without' if setting[2] else 'with'} slow start"
                    if metric == METRICS[0]
                    else "",
                    Style(number),
                    # None of the metrics can be negative.
                    [each.mean if each.low is None else max(0.0, each.low) for each in intervals],
                    [each.mean if each.high is None else each.high for each in intervals],
                )
            )
        panels.append(Panel(marks, Axis("tail index α"), _AXES[metric]))
    return Drawn(name, "Loss, delay and throughput against the tail index", Plot(panels, "Metrics of the bottleneck."))


def _rate(name: str, setting: Setting, tail_indices: Sequence[float], row: Sequence[Measured]) -> Drawn:
    marks = [
        Points(each.rates.packets, each.rates.mbps, f"α = {alpha:g}", Style(number), each.rates.low, each.rates.high)
        for number, (alpha, each) in enumerate(zip(tail_indices, row, strict=True))
        if each.rates.packets.size
    ]
    rates = np.concatenate([each.rates.mbps for each in row])
    # A logarithmic axis of less than a decade has hardly a label.
    decade = bool(rates.max() >= _DECADE * rates.min())
    panel = Panel(marks, Axis("size", "packets", log=True), Axis("mean rate", "Mbit/s", log=decade))
    return Drawn(
        name, f"Mean rate against size, {grid.name(setting)}", Plot([panel], "Mean rate of transfers of a size.")
    )


def load_section(tail_indices: Sequence[float], rows: Rows) -> Section:
    """What was sampled where it is more than 5 % off what was asked."""
    listed = []
    for name, alpha, point in grid.off_load(tail_indices, rows):
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
