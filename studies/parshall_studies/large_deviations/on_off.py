"""Figures 4 (c) and 5: a Reno flow in ON/OFF cross traffic.

Three chains are held against the packets: eq. (2) with the measured p(w), the source's "theo. 1"; eq. (2) with eq.
(11), its "theo. 2"; and ours, with the measured p(w, k) and with recoveries and timeouts as measured.

The band of a prediction is that of chains whose p(w) is drawn anew within what the record leaves open: in each class
of windows a share of lossy round trips from the posterior of a binomial share.

References: Loiseau 2010, §3, §4.2, Figs 4 (c) and 5.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Band, Line, Mark, Panel, Plot, Style
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.measured_loss import Measured
from parshall_studies.large_deviations.constant import FLOW, window_plot
from parshall_studies.large_deviations.flow import HOUR, Flow, mean_of, measure
from parshall_studies.large_deviations.losses import later_claim, loss_plot, losses_claims, small_window_claims
from parshall_studies.large_deviations.setting import BY_MODEL, PAPER, Setting
from parshall_studies.large_deviations.spectra import (
    FEWEST,
    bound_claims,
    bounds_plot,
    extremes_checks,
    mean_check,
    one_spectrum,
    spectra_plot,
    theory_ratio,
)
from parshall_studies.spectrum import interval_means

RANGE = 1000
"""Scale of the published range of Fig. 5."""
AGREES = 500
"""Scale at which theories are held against the estimate."""
DRAWS = 40
"""Loss functions that make the band of a prediction; hours that are drawn of a record."""
BLOCK = 500
"""Round trips that stay together in these: some loss cycles."""


def points(setting: Setting) -> dict[str, Measurement]:
    """The flow in the cross traffic of Fig. 4."""
    scenario = setting.of_flow(setting.on_off_traffic(), setting.flow_s)
    arguments = ("reno", setting.rtt_s, setting.warm_up_s * setting.slower)
    return {FLOW: Measurement("fig5: a Reno flow in ON/OFF cross traffic", scenario, measure, arguments)}


def claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Losses, small windows, the spectrum and its theories, and the range."""
    flow: Flow = answers[FLOW]
    record, series = flow.record, flow.record.throughput
    theories = {"theo. 1": ld.spectrum(flow.raw), "theo. 2": ld.spectrum(BY_MODEL)}
    made = [
        *range_claims(flow),
        *one_spectrum("fig5a", "", series, (100, 1000)),
        *(_agrees(name, theory, series) for name, theory in theories.items() if series.size >= FEWEST * AGREES),
        *bound_claims("fig5b", series, theories["theo. 1"], "theo. 1"),
        *losses_claims("fig4c", "", record),
        *small_window_claims(record, flow.raw),
        of_chain(flow),
        _of_window(flow),
        _steady(flow),
        later_claim("fig4c", "Reno: ", record),
    ]
    if setting.beyond:
        note = "chain with p(w, k), recoveries and timeouts as measured"
        made.append(mean_check("fig5a", "Reno", series, flow.chain, note))
        made += extremes_checks("fig5b", "Reno", series, flow.chain, (200, 500, 1000))
    return made


def range_claims(flow: Flow) -> list[Claim]:
    """The published extremes of an hour beside those of hours that are drawn of the record; the source has one hour."""
    if flow.record.throughput.size < FEWEST * RANGE:
        return []
    hours, made = drawn_hours(flow.record.throughput), []
    for side, (name, published) in enumerate(zip(("lowest", "highest"), PAPER["on_off_range"], strict=True)):
        low, middle, high = np.quantile(hours[side], (0.025, 0.5, 0.975)).tolist()
        note = f"one hour: {low:.0f} to {high:.0f}, drawn of a record of {flow.record.throughput.size} RTTs"
        quantity, within = f"{name} mean over {RANGE} RTTs in an hour", PAPER.within("plot", published)
        claim = equal("fig5", quantity, published, exactly(middle), within=within, note=note)
        made.append(replace(claim, uncertain=(high - low) / 2))
    return made


def drawn_hours(series: FloatArray, seed: int = 1) -> tuple[FloatArray, FloatArray]:
    """Least and greatest mean over `RANGE` round trips in hours that are put together of `BLOCK` round trips each."""
    random = np.random.default_rng(seed)
    sums = np.cumsum(np.concatenate([[0.0], series]))
    starts = random.integers(0, max(1, series.size - BLOCK), (DRAWS, HOUR // RANGE, RANGE // BLOCK))
    means = ((sums[starts + BLOCK] - sums[starts]) / BLOCK).mean(axis=2)
    return means.min(axis=1), means.max(axis=1)


def model_claims() -> list[Claim]:
    """The published range beside eq. (11) and (10)."""
    limits = ld.spectrum(BY_MODEL).bounds(HOUR, RANGE)
    return [
        equal(
            "fig5",
            f"eq. (11) and (10): {name} mean over {RANGE} RTTs, 1 h",
            published,
            exactly(ours),
            within=PAPER.within("plot", published),
        )
        for name, published, ours in zip(("lowest", "highest"), PAPER["on_off_range"], limits, strict=True)
    ]


def _agrees(name: str, theory: ld.Spectrum, series: FloatArray) -> Claim:
    quantity = f"f of {name} over the estimate at {AGREES} RTTs, above the mean"
    ratio = theory_ratio(theory, series, AGREES)
    return equal("fig5a", quantity, 1.0, ratio, within=PAPER.within("good"))


def of_chain(flow: Flow) -> Claim:
    """The mean of eq. (2) with the measured p(w) over that of the flow."""
    mean = mean_of(flow.record.throughput)
    low, high = (None if end is None else flow.raw.mean / end for end in (mean.high, mean.low))
    ratio = Interval(flow.raw.mean / mean.mean, low, high, n=mean.n)
    quantity, note = "mean of eq. (2) with the measured p(w) over the flow's", "eq. (2) has no recoveries or timeouts"
    return equal("fig5a", quantity, 1.0, ratio, within=PAPER.within("plot"), note=note)


def _of_window(flow: Flow) -> Claim:
    """Packets sent a round trip over the mean window, which is also that of round trips of recovery."""
    sent, window = flow.record.throughput, flow.record.cwnd
    length = min(sent.size, window.size)
    ratio = mean_of(sent[:length] / float(window.mean()))
    return equal("fig5", "packets sent a round trip over the mean window", 1.0, ratio, within=PAPER.within("plot"))


def _steady(flow: Flow) -> Claim:
    """The claim of §4.2 that the queue does not change the round-trip time."""
    quantity = "greatest smoothed RTT over that without queues"
    ratio = exactly(flow.longest_rtt_s / flow.rtt_s)
    return equal("section 4.2", quantity, 1.0, ratio, within=PAPER.within("delay"))


def section(answers: Answers, _: Setting) -> Section:
    """P(w), spectra and ranges with the three theories, and the band of a prediction."""
    flow: Flow = answers[FLOW]
    record, series = flow.record, flow.record.throughput
    theories = {
        "theo. 1: eq. (2), measured p(w)": ld.spectrum(flow.raw),
        "theo. 2: eq. (2), eq. (11)": ld.spectrum(BY_MODEL),
    }
    theories |= flow.recovering()
    means = interval_means(series, RANGE) if series.size >= 2 * RANGE else series
    once, kinds = record.after(1), record.kinds()
    rows = [
        ("the flow", f"{record.mean:.0f}", f"{means.min():.0f} .. {means.max():.0f}"),
        *(
            (name, f"{each.mean:.0f}", "{:.0f} .. {:.0f}".format(*each.bounds(HOUR, RANGE)))
            for name, each in theories.items()
        ),
        ("the source", "", "125 .. 190"),
    ]
    band = predicted_band(record.loss())
    text = (
        "Windows in packets per RTT. A loss counts once, where the window is reduced; the round trips that repair it "
        f"are no trials of p(w). P(loss) in a round trip is {record.events.mean():.4f}, one round trip after a "
        f"recovery {once[1] / max(1, once[0]):.4f}; {100 * kinds[2] / max(1, kinds.sum()):.0f} % of the repairs have a "
        "timeout.",
        "Eq. (2) with the measured p(w) is high, since it has neither recoveries nor timeouts; the chain with p(w, k), "
        "recoveries and timeouts has the mean without errors that cancel. Eq. (11) has no buffer: the more of it an "
        "arrival finds, the later p(w) rises.",
        f"What the record leaves open of p(w) moves the mean of theo. 1 by {100 * band.spread:.1f} % (standard "
        "deviation of the predictions); the last figure has the band of f.",
        "The line at 262.5 packets is 3/4 of 350: from the source's measured p(w), which is 1 there.",
    )
    limit = PAPER["limit_packets"], f"limit {PAPER['limit_packets']:g}"
    figures = [
        Chart("fig5-window", "Window over time", window_plot(record)),
        Chart("fig4c", "Loss probability", loss_plot(record.loss())),
        Chart("fig5a", "Spectra", spectra_plot(series, theories, "Reno in ON/OFF cross traffic", limit=limit)),
        Chart("fig5b", "Observed range", bounds_plot(series, theories)),
        Chart("fig5a-band", "Band of the prediction", band.plot()),
    ]
    header = ("what", "mean", "over 1000 RTTs in an hour")
    table = Table("Throughput, packets per RTT", header, rows, numbers=(1, 2))
    return Section("Figures 4 (c) and 5: a Reno flow in ON/OFF cross traffic", text, [table], figures)


class PredictedBand:
    """F of eq. (2) with a measured p(w), and of chains whose p(w) is drawn within what the record leaves open.

    Attributes
    ----------
    alpha, f, low, high
        Throughputs, packets per RTT; f of the measured p(w), and its 95 % band; shape (k,).
    spread
        Standard deviation of the mean, over the mean.
    """

    def __init__(self, theory: ld.Spectrum, drawn: list[ld.Spectrum]) -> None:
        self.alpha, self.f = theory.curve(60)
        curves = np.array([each.f(np.clip(self.alpha, each.lowest, each.highest)) for each in drawn])
        self.low, self.high = np.quantile(curves, (0.025, 0.975), axis=0)
        self.spread = float(np.std([each.mean for each in drawn], ddof=1) / theory.mean)

    def plot(self) -> Plot:
        """The band around the curve."""
        marks: list[Mark] = [
            Band(self.alpha, self.low, self.high, "95 % of the loss functions", Style(0)),
            Line(self.alpha, self.f, "theo. 1: eq. (2), measured p(w)", Style(0)),
        ]
        axes = Axis("mean throughput", "packets per RTT"), Axis("f", "1/RTT")
        return Plot([Panel(marks, *axes)], f"Eq. (2) with {DRAWS} loss functions that the record allows.")


def predicted_band(loss: Measured, seed: int = 1) -> PredictedBand:
    """The band of the spectrum that follows from a measured p(w)."""
    random = np.random.default_rng(seed)
    classes = np.concatenate([[0], np.flatnonzero(np.diff(loss.probability)) + 1])
    rounds, lossy = (np.add.reduceat(each, classes) for each in (loss.rounds, loss.lossy))
    lengths = np.diff(np.append(classes, loss.window.size))
    w_max = int(loss.window[-1])
    drawn = []
    for _ in range(DRAWS):
        shares = random.beta(lossy + 0.5, rounds - lossy + 0.5)  # Jeffreys' prior of a binomial share
        drawn.append(ld.spectrum(replace(loss, probability=np.repeat(shares, lengths)), w_max=w_max))
    return PredictedBand(ld.spectrum(loss, w_max=w_max), drawn)


FIG5 = Artefact("fig5", points, claims, section)
