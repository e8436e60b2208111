"""Figures 8 and 9: BIC, HighSpeed and CUBIC in ON/OFF cross traffic; and what the source leaves to others, predictions.

Predicted spectra are those of the chains with augmented state (`models.variants`), with recovery (`models.recovery`),
held against packets sent under independent losses, where all is derived from p, and under the cross traffic, where
p(w, k), recoveries and timeouts are measured. Reno under the losses of Fig. 1 is among the former.

References: Loiseau 2010, §4.1, §5.3, Figs 1, 8 and 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from parshall.analysis.stats.claims import Claim
from parshall.report.document import Chart, Section, Table
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall_studies.chains import variants
from parshall_studies.chains.large_deviations import Spectrum
from parshall_studies.chains.recovery import IndependentLosses
from parshall_studies.large_deviations.flow import Flow, measure
from parshall_studies.large_deviations.losses import loss_plot, losses_claims
from parshall_studies.large_deviations.setting import PAPER, TCP, TIMEOUT_S, WIDE, Setting, probes_of_flow
from parshall_studies.large_deviations.spectra import (
    bounds_plot,
    extremes_checks,
    mean_check,
    one_spectrum,
    spectra_plot,
)
from parshall_studies.spectrum import interval_means

SCALES = (200, 500, 1000)
FIGURES = {"bic": "a", "highspeed": "b", "cubic": "c"}


@dataclass(frozen=True)
class Losses:
    """A control under independent losses, and for how many round trips at quick scale."""

    control: str
    loss: float
    rtt_s: float
    rounds: int

    @property
    def label(self) -> str:
        """Names it."""
        return f"{self.control}, p = {self.loss:g}"

    def scenario(self, setting: Setting) -> Any:
        """Packets on a link without a queue."""
        link = {**WIDE, "loss": {"name": "bernoulli", "probability": self.loss}}
        tcp = {**TCP, "congestion_control": self.control, "rtt": f"{self.rtt_s:g} s"}
        seconds = self.rounds * self.rtt_s * max(1.0, setting.flow_s / Setting().flow_s)
        return replace(setting, slower=1).scenario(link, [tcp], seconds, probes_of_flow(self.rtt_s))


@cache
def theory_of(losses: Losses) -> Spectrum:
    """The chain with recovery and timeouts, from p alone."""
    recovery = IndependentLosses(losses.loss, TIMEOUT_S / losses.rtt_s)
    if losses.control == "reno":
        return variants.spectrum("reno", losses.loss, recovery=recovery, w_max=12 / losses.loss**0.5)
    return variants.spectrum(losses.control, losses.loss, recovery=recovery, rtt_s=losses.rtt_s)


RENO = tuple(Losses("reno", p, 0.012, 75_000) for p in (PAPER["p_packet"], PAPER["p_packet"] / 10))
"""The source's loss rate, and one where timeouts are rare."""
OTHERS = (
    Losses("bic", 1e-3, 0.012, 40_000),
    Losses("highspeed", 1e-3, 0.012, 50_000),
    Losses("cubic", 1e-4, 0.1, 24_000),
    Losses("scalable", 1e-3, 0.012, 50_000),
)


def points(setting: Setting) -> dict[str, Measurement]:
    """Each control in the cross traffic of Fig. 4."""
    arguments = setting.rtt_s, setting.warm_up_s * setting.slower
    return {
        control: Measurement(
            f"fig9{letter}: {control} in ON/OFF cross traffic",
            setting.of_flow(setting.on_off_traffic(), setting.control_s, control),
            measure,
            (control, *arguments),
        )
        for control, letter in FIGURES.items()
    }


def claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Losses by eq. (11), one spectrum at all scales, and our chains."""
    made: list[Claim] = []
    for control, letter in FIGURES.items():
        if control not in answers:
            continue
        flow: Flow = answers[control]
        series = flow.record.throughput
        made += losses_claims(f"fig8{letter}", f"{control}: ", flow.record)
        made += one_spectrum(f"fig9{letter}", f"{control}: ", series, (100, 500))
        if setting.beyond:
            note = "chain with p(w, k), recoveries and timeouts as measured"
            made.append(mean_check(f"fig9{letter}", control, series, flow.chain, note))
    return made


def section(answers: Answers, _: Setting) -> Section:
    """P(w) and spectra of the three controls."""
    text = (
        "Cross traffic and link as in Fig. 5. The theory is beyond the source: chains whose state is the window at the "
        "last loss and the time since, with the measured p(w, k), recoveries and timeouts.",
        "With SACK of RFC 6675 BIC waits for the timer after a large share of its losses, since its bursts lose "
        "retransmissions too; RACK sends those again, and BIC gets more. HighSpeed and CUBIC differ by less.",
        "CUBIC's loss cycles are longer than 100 RTTs here, so that its spectrum at that scale is not yet the limit.",
    )
    figures: list[Chart] = []
    rows = []
    for control, letter in FIGURES.items():
        flow: Flow = answers[control]
        record, theories = flow.record, flow.recovering()
        rows += [_row(control, flow, theory) for theory in theories.values()]
        drawn = spectra_plot(record.throughput, theories, control)
        figures += [
            Chart(f"fig8{letter}", f"Loss probability, {control}", loss_plot(record.loss())),
            Chart(f"fig9{letter}", f"Spectra, {control}", drawn),
        ]
    return Section("Figures 8 and 9: other controls", text, [_table(rows)], figures)


def points_under_losses(setting: Setting) -> dict[Losses, Measurement]:
    """Each control under independent losses."""
    return {
        each: Measurement(
            f"predicted: {each.label}", each.scenario(setting), measure, (each.control, each.rtt_s, setting.warm_up_s)
        )
        for each in (*RENO, *OTHERS)
    }


def claims_under_losses(answers: Answers, _: Setting) -> list[Claim]:
    """Means and extremes beside the chains: ours against ours."""
    made: list[Claim] = []
    for losses in (*RENO, *OTHERS):
        series, theory, reno = answers[losses].record.throughput, theory_of(losses), losses in RENO
        label = f"packets, p = {losses.loss:g}" if reno else losses.label
        mean, bounds, scales = ("fig1a", "fig1b", SCALES) if reno else ("variants", "variants", SCALES[1:])
        made.append(mean_check(mean, label, series, theory, "the chain with recovery and timeouts, from p alone"))
        made += extremes_checks(bounds, label, series, theory, scales)
    return made


def section_under_losses(answers: Answers, _: Setting) -> Section:
    """Spectra and ranges beside the predictions."""
    text = (
        "Nothing is fitted: the chains know the control's rules, p, the round-trip time and the least timeout. The "
        "chain of eq. (2) halves in the round trip after a loss and climbs on; a sender finds the loss one round trip "
        "later and repairs it in another. If the retransmission is lost too, SACK waits for the timer of 0.2 s, 17 "
        "round trips.",
        "Errors are of the prediction, relative to what the packets did; those of extremes contain chance.",
    )
    rows, figures = [], []
    for losses in (*RENO, *OTHERS):
        flow, theory, name = answers[losses], theory_of(losses), f"{losses.control}-{losses.loss:g}"
        rows.append(_row(losses.label, flow, theory))
        drawn = spectra_plot(flow.record.throughput, {"predicted": theory}, losses.label)
        figures += [
            Chart(f"spectra-{name}", f"Spectra, {losses.label}", drawn),
            Chart(
                f"range-{name}",
                f"Observed range, {losses.label}",
                bounds_plot(flow.record.throughput, {"predicted": theory}),
            ),
        ]
    return Section("Beyond the source: predicted spectra", text, [_table(rows)], figures)


def _row(label: str, flow: Flow, theory: Spectrum) -> tuple[str, ...]:
    series, timeouts = flow.record.throughput, f"{100 * flow.timeouts / max(1, int(flow.record.kinds().sum())):.1f} %"
    cells = [label, f"{flow.record.mean:.1f}", f"{theory.mean:.1f}"]
    cells += [f"{100 * (theory.mean / flow.record.mean - 1):+.1f} %", timeouts]
    for scale in SCALES:
        if series.size < 2 * scale:
            cells.append("")
            continue
        means, (low, high) = interval_means(series, scale), theory.bounds(series.size, scale)
        cells.append(f"{100 * (low / means.min() - 1):+.0f} %, {100 * (high / means.max() - 1):+.0f} %")
    return tuple(cells)


def _table(rows: Sequence[tuple[str, ...]]) -> Table:
    scales = [f"errors of the range, n = {scale}" for scale in SCALES]
    header = ("control", "mean, simulated", "predicted", "error", "events with a timeout", *scales)
    return Table("Packets per RTT", header, list(rows), numbers=range(1, 8))


FIG9 = Artefact("fig9", points, claims, section)
PREDICTED = Artefact("predicted", points_under_losses, claims_under_losses, section_under_losses)
