"""Figs 5, 6, 7: what the RTT does to throughput and fairness, and flows that join one after the other.

| artefact | claim of the source | how it is checked |
| --- | --- | --- |
| Figs 5, 6 | to 20 ms all variants are alike and excellent | lowest over highest, mean over fair share, Jain's index |
| Figs 5, 6 | from 20 to 100 ms they begin to differ | sign of the change of highest minus lowest |
| Figs 5, 6 | above 100 ms performance degrades | sign of the change from 100 to 200 ms, over variants |
| Fig. 7 | the steps get less steep with the RTT | sign of the change of the use of the link, over variants |
| Fig. 7 | most so for Reno and CUBIC, which do not fill the link | how many of the other four use it better |

The length of a flow of Figs 5 and 6 is not in the source. The *use* of a step is what the bottleneck forwards while k
flows are there over the most that they can send, k Gbit/s or 10 Gbit/s. Five hosts that are alike, share nothing and
lose nothing by chance have a Jain's index of 1 whatever they run: then no run of ours could contradict it.

On real stacks one flow alone is TU, the calibration: what a host gets that shares nothing.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.2, §5.5.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.fairness import jain
from parshall.analysis.stats.region import exactly
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Style
from parshall.studies.artefact import Artefact, Measurement
from parshall_studies.itb.network import (
    ACCESS_BPS,
    CAPACITY_BPS,
    HIGH_MS,
    LOW_MS,
    PAPER,
    PAYLOAD_SHARE,
    VARIANTS,
    Measured,
    Place,
    Setting,
    Values,
    bed,
    by_place,
    speeds,
    together,
)

COUNTS = (5, 12)
STEPS_MS = (11.0, 100.0)
FLOWS = 12
_SLOWER_TWO = ("reno", "cubic_2005")
_ALIKE = "hosts that are alike and share nothing have it whatever they run"
_START_SHARE = 1 / 40
"""Of the length of a flow: within this time all flows start."""

Key = tuple[float, tuple[str, ...]]
Answers = Mapping[Key, Measured]


# --- Figs 5 and 6 ---


def place_name(variant: str, count: int, rtt_ms: float) -> str:
    """The place of Figs 5 and 6 with a control, so many flows and an RTT."""
    return f"{variant}-{count}-{rtt_ms:g}"


def goodputs(run: Run, slower: int) -> Measured:
    """Goodput of each flow by place, bit/s of the source's network."""
    return Measured(by_place(run.flows.with_columns(goodput=pl.col("goodput_bps") * slower), "goodput"))


def _lasting(setting: Setting) -> dict[Key, Measurement]:
    """Flows that send for the whole time, by RTT and the controls of a bed."""
    points = {}
    for rtt_ms in setting.rtts_ms:
        for names in setting.batches:
            places = [
                Place(place_name(name, count, rtt_ms), name, count, start=("uniform", _START_SHARE * setting.flow_s))
                for name in names
                for count in setting.counts
            ]
            scenario = bed(places, setting, rtt_ms, setting.flow_s)
            label = f"Figs 5 and 6, {rtt_ms:g} ms, {', '.join(names)}"
            points[rtt_ms, names] = Measurement(label, scenario, goodputs, (setting.slower,))
    return points


def fair_bps(count: int) -> float:
    """The goodput of each of so many flows that share the bottleneck, bit/s."""
    return min(ACCESS_BPS, CAPACITY_BPS / count) * PAYLOAD_SHARE


def _over_share(goodputs_bps: Values) -> float:
    return float(goodputs_bps.mean()) / fair_bps(goodputs_bps.size)


def _fairness(goodputs_bps: Values) -> float:
    return jain(goodputs_bps) or 0.0


_STATISTICS = {"fig5": (_over_share, "goodput over the fair share"), "fig6": (_fairness, "Jain's index")}


def _table(answers: Answers, artefact: str, count: int, rtt_ms: float) -> Values:
    """One value a variant and repetition, shape (variants, repetitions)."""
    statistic, values = _STATISTICS[artefact][0], together(answers).values
    return np.array([[statistic(run) for run in values[place_name(name, count, rtt_ms)]] for name in VARIANTS])


def _ranges(answers: Answers, setting: Setting, artefact: str, count: int) -> list[Claim]:
    """Differences from 20 ms on, and the fall above 100 ms; intervals are over repetitions, and over variants."""
    what, longest = _STATISTICS[artefact][1], setting.rtts_ms[-1]
    low, high, long = (_table(answers, artefact, count, rtt) for rtt in (LOW_MS, HIGH_MS, longest))
    wider = mean_interval(np.ptp(high, axis=0) - np.ptp(low, axis=0))
    change = mean_interval((long - high).mean(axis=1))
    quantity = f"{what}, highest less lowest variant, from {LOW_MS:g} to {HIGH_MS:g} ms, {count} flows"
    falls = f"{what}, change from {HIGH_MS:g} to {longest:g} ms, {count} flows"
    negligible = PAPER.within("plot")
    return [
        sign(artefact, quantity, 1, wider, negligible=negligible),
        sign(artefact, falls, -1, change, negligible=negligible),
    ]


def _short(answers: Answers, setting: Setting, artefact: str, count: int) -> Values:
    """Values at RTTs up to 20 ms, shape (RTTs, variants, repetitions)."""
    return np.array([_table(answers, artefact, count, rtt) for rtt in setting.rtts_ms if rtt <= LOW_MS])


def _fig5_claims(answers: Answers, setting: Setting) -> list[Claim]:
    claims: list[Claim] = []
    for count in COUNTS:
        short = _short(answers, setting, "fig5", count)
        alike = (short.min(axis=1) / short.max(axis=1)).min(axis=0)
        where = f"up to {LOW_MS:g} ms, {count} flows"
        near, mean = PAPER.within("goodputs"), mean_interval(short.mean(axis=(0, 1)))
        claims += [
            equal("fig5", f"lowest over highest goodput {where}", 1.0, mean_interval(alike), within=near),
            equal("fig5", f"mean goodput over the fair share {where}", 1.0, mean, within=near),
            *_ranges(answers, setting, "fig5", count),
        ]
    return claims


def _fig6_claims(answers: Answers, setting: Setting) -> list[Claim]:
    claims: list[Claim] = []
    for count in COUNTS:
        mean = mean_interval(_short(answers, setting, "fig6", count).mean(axis=(0, 1)))
        quantity = f"mean Jain's index up to {LOW_MS:g} ms, {count} flows"
        near = equal("fig6", quantity, 1.0, mean, within=PAPER.within("fairness"))
        if count * ACCESS_BPS <= CAPACITY_BPS and not setting.loss and setting.slowest == 1:
            near = replace(near, nulls=(Null("hosts that share nothing", exactly(1.0)),), note=_ALIKE)
        claims += [near, *_ranges(answers, setting, "fig6", count)]
    return claims


def _over_rtt(answers: Answers, setting: Setting, artefact: str, y: Axis) -> Plot:
    """Curves of all variants; 5 flows on the left, 12 on the right."""
    values, panels = together(answers).values, []
    for count in COUNTS:
        marks: list[Line | Guide] = []
        for number, name in enumerate(VARIANTS):
            runs = [values[place_name(name, count, rtt)] for rtt in setting.rtts_ms]
            curve = [
                float(np.mean([run.mean() / 1e6 if artefact == "fig5" else _fairness(run) for run in each]))
                for each in runs
            ]
            marks.append(Line(setting.rtts_ms, curve, name, Style(series=number)))
        marks += [Guide(each, "", along="x") for each in (LOW_MS, HIGH_MS)]
        x = Axis("RTT", "ms", minimum=0, maximum=1.05 * setting.rtts_ms[-1])
        panels.append(Panel(marks, x, y, f"{count} flows", height=1.6))
    return Plot(panels, f"Flows of {setting.flow_s:g} s; means over runs.", columns=len(COUNTS))


def _fig5_section(answers: Answers, setting: Setting) -> Section:
    values = together(answers).values

    def cell(runs: Sequence[Values]) -> str:
        return f"{np.mean(runs) / 1e6:.0f} ({np.mean([_fairness(run) for run in runs]):.3f})"

    rows = [
        (f"`{name}`", f"{count}", *(cell(values[place_name(name, count, rtt)]) for rtt in setting.rtts_ms))
        for count in setting.counts
        for name in VARIANTS
    ]
    header = ("control", "flows", *(f"{rtt:g} ms" for rtt in setting.rtts_ms))
    table = Table("Figs 5 and 6: mean goodput in Mbit/s (Jain's index)", header, rows, numbers=range(1, len(header)))
    plot = _over_rtt(answers, setting, "fig5", Axis("mean goodput", "Mbit/s", minimum=0, maximum=1000))
    return Section("Fig. 5: goodput and RTT", (), [table], [Chart("fig5", "Fig. 5: goodput and RTT", plot)])


def _fig6_section(answers: Answers, setting: Setting) -> Section:
    plot = _over_rtt(answers, setting, "fig6", Axis("Jain's index", minimum=0, maximum=1))
    return Section("Fig. 6: fairness and RTT", (), [], [Chart("fig6", "Fig. 6: fairness and RTT", plot)])


# --- Fig. 7 ---


def uses(run: Run, setting: Setting, step_s: float) -> Measured:
    """Use of each step by place, shape (12,) a repetition; and throughput behind the bottleneck as a curve."""
    assert run.link_samples is not None, "the probe is on"  # noqa: S101
    most = np.minimum(np.cumsum(speeds(FLOWS, setting)) * ACCESS_BPS, CAPACITY_BPS) * step_s / setting.slower
    values: dict[str, list[Values]] = {}
    curves = {}
    rows = run.link_samples.sort("repetition", "time_s")
    for (name, repetition), part in rows.group_by(["link", "repetition"], maintain_order=True):
        width_s = part["bin_s"].to_numpy()
        time_s, bits = part["time_s"].to_numpy() + width_s / 2, 8.0 * part["forwarded_bytes"].to_numpy()
        step = np.minimum((time_s / step_s).astype(int), FLOWS - 1)
        values.setdefault(str(name), []).append(np.bincount(step, weights=bits, minlength=FLOWS) / most)
        if setting.drawn and repetition == 0:
            curves[str(name)] = (time_s, setting.slower * bits / width_s)
    return Measured(values, curves)


def _joining(setting: Setting) -> dict[Key, Measurement]:
    """One flow more each step until there are twelve, by RTT and the controls of a bed."""
    points = {}
    for rtt_ms in STEPS_MS:
        step_s = setting.step(rtt_ms)
        for names in setting.batches:
            start = ("staggered", step_s)
            places = [Place(place_name(name, FLOWS, rtt_ms), name, FLOWS, start=start) for name in names]
            scenario = bed(places, setting, rtt_ms, FLOWS * step_s, bins_s=step_s / 20)
            label = f"Fig. 7, {rtt_ms:g} ms, {', '.join(names)}"
            points[rtt_ms, names] = Measurement(label, scenario, uses, (setting, step_s))
    return points


def _fig7_claims(answers: Answers, _: Setting) -> list[Claim]:
    values, (short, long) = together(answers).values, STEPS_MS
    # Shape (variants, repetitions).
    at = {
        rtt: np.array([[run.mean() for run in values[place_name(name, FLOWS, rtt)]] for name in VARIANTS])
        for rtt in STEPS_MS
    }
    change = mean_interval((at[long] - at[short]).mean(axis=1))
    quantity = f"use of the link, mean over the steps, change from {short:g} to {long:g} ms"
    claims = [sign("fig7", quantity, -1, change, negligible=PAPER.within("plot"))]
    own = dict(zip(VARIANTS, at[long], strict=True))
    others = [name for name in VARIANTS if name not in _SLOWER_TWO]
    for name in _SLOWER_TWO:
        below = sum(own[name] < own[other] for other in others)
        quantity = f"of the other four, how many use the link better than {name} at {long:g} ms"
        claims.append(equal("fig7", quantity, float(len(others)), mean_interval(below)))
    return claims


def _fig7_section(answers: Answers, setting: Setting) -> Section:
    """A row a variant, 11 ms on the left and 100 ms on the right."""
    found = together(answers)
    header = ("control", *(f"{what}, {rtt:g} ms" for rtt in STEPS_MS for what in ("mean", "least", "last")))
    rows, panels = [], []
    y, most = Axis("throughput", "Gbit/s", minimum=0, maximum=10.5), np.minimum(np.arange(1, FLOWS + 2), 10)
    for number, name in enumerate(VARIANTS):
        cells: list[Any] = []
        for rtt in STEPS_MS:
            place = place_name(name, FLOWS, rtt)
            steps = np.mean(found.values[place], axis=0)
            cells += [steps.mean(), steps.min(), steps[-1]]
            if place not in found.curves:
                continue
            edges = np.arange(FLOWS + 1) * setting.step(rtt)
            time_s, bps = found.curves[place]
            marks = [
                Line(edges, most, "what the flows can send", Style(muted=True, thin=True), steps=True),
                Line(time_s, bps / 1e9, name, Style(series=number)),
            ]
            x = Axis("time", "s", minimum=0, maximum=float(edges[-1]))
            panels.append(Panel(marks, x, y, f"{name}, {rtt:g} ms", height=0.8))
        rows.append((f"`{name}`", *(f"{cell:.3f}" for cell in cells)))
    caption = "Fig. 7: use of the link in the twelve steps, of the most that the flows can send"
    table = Table(caption, header, rows, numbers=range(1, len(header)))
    steps_s = " and ".join(f"{setting.step(rtt):g} s ({rtt:g} ms)" for rtt in STEPS_MS)
    drawn = Plot(panels, f"Throughput behind the bottleneck; one flow more each {steps_s}.", columns=len(STEPS_MS))
    charts = [Chart("fig7", "Fig. 7: flows that join", drawn)] if panels else []
    return Section("Fig. 7: flows that join", (), [table], charts)


FIG5 = Artefact("fig5", _lasting, _fig5_claims, _fig5_section)
FIG6 = Artefact("fig6", _lasting, _fig6_claims, _fig6_section)
FIG7 = Artefact("fig7", _joining, _fig7_claims, _fig7_section)
