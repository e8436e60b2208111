"""Figures 4 (c) and 5: a Reno flow in ON/OFF cross traffic.

What the source leaves open are readings: ON and OFF times as stated or exchanged (`cross_traffic`), rates with
Ethernet's framing (`constant`), and how much of the buffer's 96 packets an arrival finds: hosts send in bursts and
switches share their memory, so an effective buffer of 55 and of 45 packets are tried too.

Three chains are held against the packets: eq. (2) with the measured p(w), the source's "theo. 1"; eq. (2) with eq.
(11), its "theo. 2"; and ours, with the measured p(w, k) and with recoveries and timeouts as measured.

References: Loiseau 2010, §4.2, Figs 4 (c) and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import exactly
from parshall.instruments.observation.flow import clopper_pearson
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.studies.study import Findings, Scale
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import GaussianCrossTraffic, LossFunction
from parshall_studies.chains.measured_loss import Measured
from parshall_studies.chains.variants import spectrum as variant_spectrum
from parshall_studies.large_deviations import network, small_windows
from parshall_studies.large_deviations.cases import CaseFindings, together
from parshall_studies.large_deviations.constant import window_plot
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.record import Record
from parshall_studies.large_deviations.spectra import (
    bounds_plot,
    extremes_checks,
    mean_check,
    one_spectrum,
    spectra_plot,
)
from parshall_studies.spectrum import interval_means

MEMORY = 10
"""Round trips for which a loss matters: 0.12 s, an ON time."""
BY_MODEL = GaussianCrossTraffic(
    PAPER["capacity_bps"], PAPER["cross_mean_bps"], PAPER["cross_std_bps"], PAPER["rtt_s"], PAPER["packet_bytes"]
)
"""Eq. (11) with the source's values."""
HOUR = round(3600 / PAPER["rtt_s"])
"""Round trips of the source's record."""


@dataclass(frozen=True)
class Reading:
    """A reading of the testbed."""

    label: str
    link: Mapping[str, Any]
    sources: Mapping[str, Any]
    drawn: bool = True

    @property
    def name(self) -> str:
        """For files."""
        return self.label.replace(",", "").replace(" ", "-")


READINGS = (
    Reading("as stated", network.LINK, network.AS_STATED, drawn=False),
    Reading("ON and OFF exchanged", network.LINK, network.AS_MEASURED, drawn=False),
    *(
        Reading(f"on Ethernet, buffer {packets}", network.ethernet(packets), network.AS_PAYLOAD)
        for packets in (PAPER["buffer_packets"], 55, 45)
    ),
)
PLACES = tuple((place,) for place in range(len(READINGS)))
"""The cases of `in_reading`."""


def in_reading(place: int, scale: Scale) -> CaseFindings:
    """A Reno flow in the cross traffic of a reading."""
    reading = READINGS[place]
    seconds = 3660 if scale == "paper" else 560
    record = network.measured(dict(reading.link), [network.TCP, dict(reading.sources)], seconds).record
    raw, ours = ld.spectrum(record.loss()), chain(record, "reno")
    series = record.throughput
    label = f"Reno, {reading.label}"
    checks = [
        *range_checks(reading.label, record, ours, whole=scale == "paper"),
        *one_spectrum("fig5a", "", series, (100, 1000), reading.label),
        *losses_checks("fig4c", "", record, reading.label),
        *small_windows.claims(record, BY_MODEL, reading.label),
        later_check("fig4c", label, record),
        mean_check("fig5a", label, record, ours, "chain with p(w, k), recoveries and timeouts as measured"),
        *extremes_checks("fig5b", label, series, ours, (200, 500, 1000)),
    ]
    means = interval_means(series, 1000)
    hour = ours.bounds(HOUR, 1000)
    once, later = record.after(1), record.events.mean()
    row = (
        reading.label,
        *(f"{each:.0f}" for each in (record.mean, raw.mean, ours.mean)),
        f"{100 * (ours.mean / record.mean - 1):+.1f} %",
        f"{means.min():.0f} .. {means.max():.0f}",
        f"{hour[0]:.0f} .. {hour[1]:.0f}",
        f"{later:.4f}",
        f"{once[1] / once[0]:.4f}",
        f"{100 * record.kinds()[2] / record.kinds().sum():.0f} %",
    )
    if not reading.drawn:
        return CaseFindings(checks, row, [])
    theories = {"theo. 1: eq. (2), measured p(w)": raw, "theo. 2: eq. (2), eq. (11)": ld.spectrum(BY_MODEL)}
    theories |= {"with recovery, p(w, k)": ours}
    limit = PAPER["limit_packets"], f"limit {PAPER['limit_packets']:g}"
    figures = [
        Chart(f"fig4c-{reading.name}", f"Loss probability, {reading.label}", loss_plot(record.loss())),
        Chart(f"fig5a-{reading.name}", f"Spectra, {reading.label}", spectra_plot(series, theories, label, limit=limit)),
        Chart(f"fig5b-{reading.name}", f"Observed range, {reading.label}", bounds_plot(series, theories)),
    ]
    if reading is READINGS[2]:
        figures.insert(0, Chart("fig5-window", f"Window over time, {reading.label}", window_plot(record)))
    return CaseFindings(checks, row, figures)


def chain(record: Record, control: str, rtt_s: float = PAPER["rtt_s"]) -> ld.Spectrum:
    """A control's chain with the measured p(w, k), recoveries and timeouts.

    Raises
    ------
    ModelInputError
        The record is too short: losses, or what follows them, are not seen often enough.
    """
    w_max = float(record.windows.max()) + 1
    losses, recovery = record.persistent(MEMORY), record.repairs()
    return variant_spectrum(control, losses, rtt_s=rtt_s, w_max=w_max, recovery=recovery)


def flow(results: list[CaseFindings]) -> Findings:
    """All readings."""
    checks, rows, figures = together(results)
    by_model = ld.spectrum(BY_MODEL)
    low, high = by_model.bounds(HOUR, 1000)
    for label, published, ours in (
        ("lowest", PAPER["on_off_range"][0], low),
        ("highest", PAPER["on_off_range"][1], high),
    ):
        quantity = f"eq. (11) and (10): {label} mean over 1000 RTTs, 1 h"
        checks.append(equal("fig5", quantity, published, exactly(ours), within=PAPER.within("plot", published)))
    rows.append(
        ("eq. (11), 580 Mbit/s", "", f"{by_model.mean:.0f}", "", "", "", f"{low:.0f} .. {high:.0f}", "", "", "")
    )
    rows.append(("the source", "", "", "", "", "", "125 .. 190", "", "", ""))
    header = (
        "reading",
        "mean",
        "eq. (2), p(w)",
        "with recovery",
        "error",
        "over 1000 RTTs, seen",
        "in an hour, eq. (10)",
        "P(loss)",
        "one round later",
        "timeouts",
    )
    text = (
        "Windows in packets per RTT. A loss counts once, where the window is reduced; the round trips that repair "
        "it are no trials of p(w). Counted so, losses hardly follow losses: P(loss) one round trip after a "
        "recovery is of the order of P(loss) in any. The chain with the measured p(w, k), recoveries and timeouts "
        "has the mean without errors that cancel; eq. (2) with the same p(w) is high, since it has neither.",
        "On Ethernet: exchanged ON and OFF times, 40 Mbit/s of payload and a link of Gigabit Ethernet, the reading "
        "of rates that has the published windows of Fig. 3. It leaves the flow "
        f"{(network.ETHERNET_BPS - 581.8e6 * network.OF_PAYLOAD) / 1e6:.0f} Mbit/s on average; exchanged alone "
        "leaves 418, the text's times 302.",
        "Eq. (11) has no buffer. With 96 packets of it p(w) rises later and the flow gets more than the source's; "
        "with about half of them, or eq. (11) itself, the range is the source's.",
        "The line at 262.5 packets is 3/4 of 350: from the source's measured p(w), which is 1 there.",
    )
    table = Table("Throughput, packets per RTT", header, rows, numbers=range(1, 10))
    return Findings(
        checks, [Section("Figures 4 (c) and 5: a Reno flow in ON/OFF cross traffic", text, [table], figures)]
    )


def range_checks(label: str, record: Record, ours: ld.Spectrum, *, whole: bool) -> list[Claim]:
    """The published extremes of an hour beside the interval in which those of one hour fall, by the fitted chain.

    Parameters
    ----------
    whole
        Whether the record is of an hour itself, so that its own extremes count.
    """
    means = interval_means(record.throughput, 1000)
    middle, wide = (ours.extremes(HOUR, 1000, level) for level in (1e-3, 0.95))
    checks = []
    for side, (name, published) in enumerate(zip(("lowest", "highest"), PAPER["on_off_range"], strict=True)):
        expected, seen = sum(middle[side]) / 2, float(means.max() if side else means.min())
        low, high = wide[side]
        note = f"one hour of the chain with recovery: {low:.0f} to {high:.0f}"
        note += f"; seen in {record.throughput.size} RTTs: {seen:.0f}"
        if whole:
            expected = seen
        quantity = f"{name} mean over 1000 RTTs in an hour"
        within = PAPER.within("plot", published)
        claim = equal("fig5", quantity, published, exactly(expected), within=within, note=note, reading=label)
        checks.append(replace(claim, uncertain=(high - low) / 2))  # the source has one hour
    return checks


LEVELS = (0.05, 0.3)
"""Losses of eq. (11) at whose windows p(w) is compared: large windows, at which the source calls it accurate."""


def losses_checks(artefact: str, label: str, record: Record, reading: str) -> list[Claim]:
    """The claims of Figs 4 (c) and 8: at large windows p(w) is that of eq. (11)."""
    checks = []
    every, size = np.arange(1, 600), PAPER["buffer_packets"]
    for level in LEVELS:
        at = int(every[np.searchsorted(BY_MODEL(every), level)])
        here = np.abs(record.windows - at) <= 10
        trials, losses = int(here.sum()), int(record.events[here].sum())
        if trials < 50:
            continue
        predicted, buffered = float(BY_MODEL(at)), float(BY_MODEL(max(1, at - size)))
        note = f"eq. (11), which has no buffer; with {size} packets of it {buffered:.3f}; {trials} RTTs"
        value = Interval(losses / trials, *clopper_pearson(losses, trials), 1)
        within, name = PAPER.within("loss", predicted), f"{label}p(w) at {at} ± 10 packets"
        checks.append(equal(artefact, name, predicted, value, within=within, note=note, reading=reading))
    return checks


def later_check(artefact: str, label: str, record: Record) -> Claim:
    """How probable a loss is in the round trip after a recovery: whether losses depend on each other."""
    trials, losses = record.after(1)
    note = f"all round trips: {record.events.mean():.4f}; {trials} events"
    interval = clopper_pearson(losses, trials)
    quantity = f"{label}: P(loss one round after a recovery)"
    return reported(artefact, quantity, Interval(losses / max(1, trials), *interval, 1), note)


BINS = 20
"""Points of a plot of p(w)."""


def loss_plot(loss: Measured | Mapping[str, Measured], models: Mapping[str, LossFunction] | None = None) -> Plot:
    """p(w) measured, in intervals of windows with about equally many round trips, and models: eq. (11) as published.

    Several records by their names are drawn over each other.
    """
    models = {"eq. (11), published values": BY_MODEL} if models is None else models
    records = loss if isinstance(loss, Mapping) else {"measured": loss}
    points = [_binned(each, name, len(models) + place) for place, (name, each) in enumerate(records.items())]
    w = np.linspace(1.0, max(float(each.window[_last(each)]) for each in records.values()), 300)
    lines = [Line(w, model(w), name, Style(place)) for place, (name, model) in enumerate(models.items())]
    highest = max(float(np.max(each.high)) for each in points if each.high is not None)
    top = min(max(1.5 * highest, 0.02), 1.0)
    axes = Axis("window", "packets", minimum=0.0, maximum=float(w[-1])), Axis("p(w)", minimum=0.0, maximum=top)
    caption = "Share of the round trips in which a loss event begins. Bars: 95 % (Clopper-Pearson)."
    return Plot([Panel([*lines, *points], *axes)], caption)


def _last(loss: Measured) -> int:
    """The largest window that is drawn: those beyond it, of 0.1 % of the round trips, would hide the others."""
    seen = np.cumsum(loss.rounds)
    return int(np.searchsorted(seen, 0.999 * seen[-1]))


def _binned(loss: Measured, name: str, place: int) -> Points:
    seen, last = np.cumsum(loss.rounds), _last(loss)
    number = (BINS * (seen[: last + 1] - loss.rounds[: last + 1]) / seen[last]).astype(int)
    window, share, low, high = [], [], [], []
    for here in (np.flatnonzero(number == each) for each in np.unique(number)):
        rounds, lossy = int(loss.rounds[here].sum()), int(loss.lossy[here].sum())
        window.append(float(loss.rounds[here] @ loss.window[here]) / rounds)
        share.append(lossy / rounds)
        ends = clopper_pearson(lossy, rounds)
        low.append(ends[0])
        high.append(ends[1])
    return Points(window, share, name, Style(place), low, high)
