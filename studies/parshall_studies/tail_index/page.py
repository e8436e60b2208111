"""The page's sections of Figs 1 and 2: panels and curves of rates, signs, loads; each beside the closed-loop model.

ns-2's changes are what ns-2.35 finds from a tail index of 2.5 to 1.5 with buffers of 100 and 1000 packets; where N = 45
they are no part of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import norm

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.region import exactly
from parshall.analysis.stats.tails import mean_interval_of_pareto
from parshall.foundations.numbers import NO_BREAK
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall_studies.tail_index.fluid import Loop, Steady, closed
from parshall_studies.tail_index.measure import METRICS, WORDS, Measured
from parshall_studies.tail_index.network import MEAN_PACKETS
from parshall_studies.tail_index.runs import TOLERANCE, Drawn, Key, Rows, rows
from parshall_studies.tail_index.setting import FIG1, FIG2, PAPER, Curve, Setting
from parshall_studies.tail_index.trends import SIGNIFICANCE, VISIBLE, Change, Trends, trends

Answers = Mapping[Key, Drawn]
SIGNS = {1: "+", -1: "−", 0: "0", None: "not said"}
_AXES = {"loss": ("loss rate", "%"), "delay_ms": ("queueing delay", "ms"), "throughput_mbps": ("throughput", "Mbit/s")}
_LOW, _FAR, _SMALLEST_P, _ROUNDED = 0.7, 0.05, 0.001, 0.1
_MODEL = (
    "The closed-loop model gives each transfer the round trips that its window needs, and each source its size over "
    "that time and its idle time; the loop is closed by a queue and, where that is full, by losses. It has the "
    "transient of a transfer, and none of the losses at the end of a slow start."
)


def fig1(answers: Answers, setting: Setting) -> Section:
    """Fig. 1: N = 45."""
    found = rows(answers)
    charts = [
        _metrics(
            f"fig1-{side}",
            f"{side}: {words} slow start",
            found,
            [each for each in FIG1 if each.slow_start is so],
            setting,
        )
        for side, words, so in (("left", "without", False), ("right", "with", True))
    ]
    charts += [_rates(curve, found[curve], setting) for curve in FIG1 if curve.buffer == FIG1[-1].buffer]
    return _section("Fig. 1: N = 45", answers, setting, charts, [_settled(found, setting)])


def fig2(answers: Answers, setting: Setting) -> Section:
    """Fig. 2: N = 500, with slow start."""
    found = rows(answers)
    charts = [_metrics("fig2", "N = 500", found, FIG2, setting)]
    charts += [_rates(curve, found[curve], setting) for curve in FIG2]
    return _section("Fig. 2: N = 500, with slow start", answers, setting, charts, [])


def _section(
    heading: str, answers: Answers, setting: Setting, charts: Sequence[Chart], tables: Sequence[Table]
) -> Section:
    found = rows(answers)
    text = (
        "Published are trends only: the source prints no values. Error bars are 95 % intervals over repetitions; those "
        f"of rates are from a block bootstrap over time. {_MODEL}",
        "A sign is that of the metric's change from the lightest tail to the heaviest; a change that is not "
        f"significant at {SIGNIFICANCE:.0%}, or is below {VISIBLE:.0%}, is shown as 0.",
    )
    return Section(heading, text, [_signs(found, setting), _loads(answers), *tables], charts)


# --- signs


def loop(curve: Curve, setting: Setting, ssthresh: float) -> Loop:
    """The closed loop of a curve."""
    ends = float("inf") if curve.slow_start else ssthresh
    if curve.figure == "fig2" or setting.ns2_hosts:
        return Loop(curve.sources, curve.buffer, ends, setting.ns2_window, acks_each=True)
    return Loop(curve.sources, curve.buffer, ends, setting.hosts_window, acks_each=setting.hosts_acks_each)


def by_model(curve: Curve, row: Mapping[float, Measured], setting: Setting) -> dict[float, Steady]:
    """The closed loop at each tail index; of a cached ssthresh, from that which was measured."""
    return {alpha: closed(loop(curve, setting, _ssthresh(curve, each, setting)), alpha) for alpha, each in row.items()}


def _ssthresh(curve: Curve, point: Measured, setting: Setting) -> float:
    return float(np.nanmean(point.ssthresh_packets)) if setting.is_cached(curve) else 10.0


def model_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """The model's changes, which are ours."""
    return [
        reported(
            f"{curve.figure}-model",
            f"change of {WORDS[metric]} with heavier tails by the closed-loop model, {curve.name}",
            exactly(each),
        )
        for curve, row in rows(answers).items()
        for metric, each in model_changes(curve, row, setting).items()
    ]


def model_changes(curve: Curve, row: Mapping[float, Measured], setting: Setting) -> dict[str, float]:
    """By metric, the model's relative change from the lightest to the heaviest tail, over the mean of both."""
    used = [each for alpha, each in sorted(by_model(curve, row, setting).items()) if alpha >= setting.heaviest]
    heavy, light = used[0], used[-1]
    ends = {metric: (getattr(heavy, metric), getattr(light, metric)) for metric in METRICS}
    return {metric: 2 * (a - b) / (a + b) if a + b else 0.0 for metric, (a, b) in ends.items()}


def ns2_change(curve: Curve, setting: Setting, metric: str) -> Change | None:
    """The change that ns-2 finds from a tail index of 2.5 to 1.5, with its normal 95 % interval; None: not run."""
    kept = "unlimited" if curve.slow_start else "last"
    name = f"ns2.{curve.sources}, {curve.buffer}, {kept}"
    if f"{name}.mean" not in PAPER.entries or (curve.figure == "fig1" and not setting.ns2_hosts):
        return None
    light, heavy = PAPER.by(f"{name}.mean", metric).values()
    errors = PAPER.by(f"{name}.error", metric).values()
    relative = heavy / light - 1
    error = heavy / light * float(np.hypot(*(each / mean for each, mean in zip(errors, (light, heavy), strict=True))))
    half = float(norm.ppf(0.975)) * error
    return Change(relative, relative - half, relative + half, float(2 * norm.sf(abs(relative) / error)))


def _signs(found: Rows, setting: Setting) -> Table:
    """Published, measured and by the model."""
    changes = trends(found, setting)
    listed = []
    for curve, row in found.items():
        model = model_changes(curve, row, setting)
        for metric in METRICS:
            ours = changes[curve, metric]
            p = f"{ours.p_value:.2g}" if ours.p_value >= _SMALLEST_P else f"<{NO_BREAK}{_SMALLEST_P}"
            published = SIGNS[curve.published(metric)]
            cells = _told(ours), p, f"{model[metric]:+.1%}", _told(ns2_change(curve, setting, metric))
            listed.append((curve.name, WORDS[metric], published, *cells))
    header = ("curve", "metric", "published", "ours", "p", "closed-loop model", "ns-2.35")
    return Table("Changes with heavier tails", header, listed, numbers=(2, 3, 4, 5, 6))


def _told(each: Change | None) -> str:
    if each is None:
        return ""
    half = (each.high - each.low) / 2
    decimals = 0 if half >= _ROUNDED else 1
    return f"{SIGNS[each.sign]} ({each.relative:+.{decimals}%}{NO_BREAK}±{NO_BREAK}{half:.{decimals}%})"


# --- loads and ssthresh


def _loads(answers: Answers) -> Table:
    """What was sampled where it is off, or the means that were asked for where loads were adjusted."""
    listed = []
    for (curve, alpha, seed), each in answers.items():
        off = each.point.mean_packets / MEAN_PACKETS - 1
        if each.load is None and abs(off) > _FAR:
            low, high = mean_interval_of_pareto(alpha, each.point.transfers)
            note = f"95 % of such samples: {low * MEAN_PACKETS:.0f} to {high * MEAN_PACKETS:.0f}"
        elif each.load is not None and abs(off) > TOLERANCE:
            note = f"asked for: {each.load.mean:.0f}"
        else:
            continue
        listed.append((curve.name, f"{alpha:g}", f"{seed}", f"{each.point.mean_packets:.0f}", f"{off:+.0%}", note))
    caption = (
        f"Runs whose sampled mean size is off the {MEAN_PACKETS:.0f} packets wanted ({len(listed)} of {len(answers)})"
    )
    return Table(caption, ("curve", "tail index", "run", "sampled", "off by", ""), listed, numbers=(1, 2, 3, 4))


def _settled(found: Rows, setting: Setting) -> Table:
    """Where ssthresh settles, and who is aggressive."""
    alphas = sorted({alpha for row in found.values() for alpha in row})

    def cells(what: str, curve: Curve, text: Callable[[Measured], str]) -> tuple[str, ...]:
        return what, curve.name, *(text(found[curve][a]) if a in found[curve] else "" for a in alphas)

    listed = [
        cells("ssthresh, packets", curve, lambda each: f"{np.mean(each.ssthresh_packets):.1f}")
        for curve in found
        if setting.is_cached(curve)
    ]
    listed += [cells("rate of medium / of the largest flows, Mbit/s", curve, _medium) for curve in found]
    header = ("", "curve", *(f"α = {alpha:g}" for alpha in alphas))
    return Table("ssthresh of the second half of a run, and rates", header, listed, numbers=range(2, len(header)))


def _medium(each: Measured) -> str:
    pair = (each.medium_mbps, each.largest_mbps)
    means = (float(np.nanmean(values)) if np.isfinite(values).any() else None for values in pair)
    return " / ".join("none" if value is None else f"{value:.2f}" for value in means)


# --- figures


def _metrics(name: str, side: str, found: Rows, curves: Sequence[Curve], setting: Setting) -> Chart:
    """A panel for each metric and buffer: ours, and the model's."""
    panels: list[Panel] = []
    for metric in METRICS:
        label, unit = _AXES[metric]
        for curve in curves:
            marks = _marks(curve, found[curve], metric, setting, named=not panels)
            panels.append(Panel(marks, Axis("tail index α"), Axis(f"{label}, B = {curve.buffer}", unit), height=_LOW))
    title = f"Loss, delay and throughput against the tail index, {side}"
    return Chart(name, title, Plot(panels, f"Metrics of the bottleneck, {side}."))


def _marks(
    curve: Curve, row: Mapping[float, Measured], metric: str, setting: Setting, *, named: bool
) -> list[Line | Points]:
    unit = 100 if metric == "loss" else 1  # per cent
    intervals = [mean_interval(each.values(metric) * unit) for each in row.values()]
    model = [unit * getattr(each, metric) for each in by_model(curve, row, setting).values()]
    ours = Points(
        list(row),
        [each.mean for each in intervals],
        "simulated" if named else "",
        Style(0),
        # None of the metrics can be negative.
        [each.mean if each.low is None else max(0.0, each.low) for each in intervals],
        [each.mean if each.high is None else each.high for each in intervals],
    )
    return [ours, Line(list(row), model, "closed-loop model" if named else "", Style(1, 1))]


def _rates(curve: Curve, row: Mapping[float, Measured], setting: Setting) -> Chart:
    """Mean rate against size: the source's bottom panels."""
    model = by_model(curve, row, setting)
    marks: list[Points | Line] = []
    for number, (alpha, each) in enumerate(row.items()):
        rates = each.rates
        if rates.packets.size:
            marks.append(
                Points(rates.packets, rates.mbps, f"α = {alpha:g}", Style(number), rates.low, rates.high),
            )
            within = model[alpha].packets <= 2 * rates.packets.max()
            marks.append(Line(model[alpha].packets[within], model[alpha].mbps[within], "", Style(number, thin=True)))
    panel = Panel(marks, Axis("size", "packets", log=True), Axis("mean rate", "Mbit/s", log=True))
    name = f"{curve.figure}-rate-{'with' if curve.slow_start else 'without'}-{curve.buffer}"
    caption = "Mean rate of transfers of a size; lines: the closed-loop model."
    return Chart(name, f"Mean rate against size, {curve.name}", Plot([panel], caption))


# --- Fig. 1's network with another stack


def other_section(answers: Answers, setting: Setting) -> Section:
    """How many of Fig. 1's signs come out with ns-2's TCP, which is not the testbed's."""
    changes: Trends = trends(rows(answers), setting)
    as_published = sum(each.sign == curve.published(metric) for (curve, metric), each in changes.items())
    left = "; ".join(
        f"{changes[curve, 'throughput_mbps'].told()} with B = {curve.buffer}" for curve in FIG1 if not curve.slow_start
    )
    text = (
        "Fig. 1 was measured on a testbed of Linux hosts, so its network has Linux's TCP above: SACK, delayed ACKs, "
        f"timestamps, an initial window of 3. With ns-2's TCP, which is not the testbed's, {as_published} of the "
        "twelve signs are as published.",
        "Without slow start the testbed's throughput rises with heavier tails. With ns-2's TCP, which acknowledges "
        f"every packet, so that windows grow twice as fast: {left}.",
    )
    return Section("Fig. 1's network with ns-2's TCP", text, [_signs(rows(answers), setting)])
