"""Figure 6: a long flow among 45 ON/OFF TCP sources with heavy-tailed ON times.

A source has all that TCP takes while it is ON, as the text has it; how fast its host is, whether a connection outlives
an OFF time and what a new one knows of the last ssthresh are open. Nothing is fitted to the flow's loss rate.

References: Loiseau 2010, §5.1, Fig. 6.
"""

from __future__ import annotations

import math

import numpy as np

from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.large_deviations.constant import FLOW
from parshall_studies.large_deviations.flow import Flow, mean_of, measure
from parshall_studies.large_deviations.losses import loss_plot
from parshall_studies.large_deviations.setting import PAPER, Setting
from parshall_studies.large_deviations.spectra import (
    bound_claims,
    bounds_plot,
    extremes_checks,
    mean_check,
    one_spectrum,
    spectra_plot,
)


def points(setting: Setting) -> dict[str, Measurement]:
    """The flow among the sources."""
    scenario = setting.of_flow(setting.tcp_sources(), setting.long_s)
    arguments = ("reno", setting.rtt_s, setting.warm_up_s * setting.slower)
    return {FLOW: Measurement("fig6: a Reno flow among 45 TCP sources", scenario, measure, arguments)}


def claims(answers: Answers, setting: Setting) -> list[Claim]:
    """The loss rate, p(w), the spectrum and the range."""
    flow: Flow = answers[FLOW]
    series, label = flow.record.throughput, "among TCP sources"
    made = [_loss_rate(flow), _shape(flow)]
    if not flow.record.events.any():
        return made
    made += one_spectrum("fig6b", "", series, (100, 1000))
    made.append(_error(flow))
    made += bound_claims("fig6c", series, ld.spectrum(flow.raw), "eq. (2) with the measured p(w)")
    if setting.beyond:
        made.append(mean_check("fig6b", label, series, flow.chain, "chain with p(w, k), recoveries and timeouts"))
        made += extremes_checks("fig6c", label, series, flow.chain, (200, 500, 1000))
    return made


def _loss_rate(flow: Flow) -> Claim:
    """The flow's packet loss rate; it comes in loss events, which count as independent."""
    ours, events = flow.loss_rate, max(1, int(flow.record.events.sum()))
    half = 1.96 * ours / math.sqrt(events)
    value = Interval(ours, max(0.0, ours - half), ours + half, n=events)
    quantity, printed = "packet loss rate of the flow", PAPER["long_range_loss"]
    return equal("fig6a", quantity, printed, value, within=PAPER.digits("long_range_loss"))


def _error(flow: Flow) -> Claim:
    """The claim that the prediction is very accurate: of the mean."""
    mean = mean_of(flow.record.throughput)
    low, high = (None if end is None else flow.raw.mean / end - 1 for end in (mean.high, mean.low))
    error = Interval(flow.raw.mean / mean.mean - 1, low, high, n=mean.n)
    record = flow.record
    repairing = float(record.rtts[record.repairing].sum() / record.rtts.sum())
    note = f"{100 * repairing:.0f} % of the time are recoveries and timeouts, which eq. (2) does not have"
    nulls = [Null("a prediction of half, or of one and a half times it", exactly(0.5))]
    quantity = "eq. (2) with measured p(w): error of the mean, relative"
    return equal("fig6b", quantity, 0.0, error, within=PAPER.within("accurate"), note=note, nulls=nulls)


def _shape(flow: Flow) -> Claim:
    """The claim of Fig. 6 (a): p(w) is not that of independent losses."""
    events = float(flow.record.events.sum())
    expected = Bernoulli(max(flow.loss_rate, 1e-9))(flow.record.windows)
    spread = float(np.sqrt(np.sum(expected * (1 - expected))))
    distance = abs(events - float(expected.sum())) / spread
    half = 1.96 * math.sqrt(events) / spread
    note = f"{events:.0f} loss events; independent losses make {expected.sum():.0f}"
    quantity = "distance of the loss events from those of independent losses, deviations"
    return sign("fig6a", quantity, 1, Interval(distance, distance - half, distance + half, 1), note)


def section(answers: Answers, setting: Setting) -> Section:
    """P(w), spectra and ranges."""
    flow: Flow = answers[FLOW]
    record, lost = flow.record, flow.loss_rate
    theories = {"eq. (2), measured p(w)": ld.spectrum(flow.raw), **flow.recovering()}
    rows = [
        ("the flow", f"{100 * lost:.2f} %", f"{record.mean:.1f}"),
        *((name, "", f"{each.mean:.1f}") for name, each in theories.items()),
        ("independent losses", "", f"{ld.spectrum(lost, w_max=2000).mean:.1f}"),
        ("the source", "0.60 %", ""),
    ]
    keeps = "keep their connection" if setting.persistent else f"open new ones (ssthresh: {setting.ssthresh_cached})"
    text = (
        f"45 sources with all that TCP takes in ON times of 0.48 s (tail index {PAPER['long_range_tail']}), from hosts "
        f"of {setting.host_bps / 1e9:g} Gbit/s; they {keeps}. The text has the ON times and the flow's loss rate, and "
        "nothing of hosts and connections.",
        "Losses do not depend on the window alone here, since the load lasts for seconds: p(w) is a mean over quiet "
        "and busy times, and a chain that draws each round trip anew varies less than the flow.",
    )
    bernoulli = {f"independent losses, {100 * lost:.2f} %": Bernoulli(lost)}
    # The axis begins at 1 packet, as the source compares both curves at small windows.
    figures = [
        Chart("fig6a", "Loss probability", loss_plot(record.loss(), bernoulli)),
        Chart("fig6b", "Spectra", spectra_plot(record.throughput, theories, "Reno among TCP sources")),
        Chart("fig6c", "Observed range", bounds_plot(record.throughput, theories)),
    ]
    table = Table("The flow", ("what", "loss rate", "packets per RTT"), rows, numbers=(1, 2))
    return Section("Figure 6: long-range dependent cross traffic", text, [table], figures)


FIG6 = Artefact("fig6", points, claims, section)
