"""Figure 3: constant cross traffic, and what the link of the testbed left the flow.

The window climbs until the buffer is full: to (C - X) (RTT + B/C) packets, with C - X what the cross traffic X leaves
of the link and B the buffer. C and X depend on what is counted. Most of what then overflows is datagrams, so that the
flow climbs on until one of its own packets is hit.

References: Loiseau 2010, §4.2, Fig. 3.
"""

from __future__ import annotations

import numpy as np

from parshall.analysis.stats.claim_rules import equal, monotone
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Deterministic
from parshall_studies.large_deviations.flow import Flow, measure
from parshall_studies.large_deviations.record import Record
from parshall_studies.large_deviations.setting import PAPER, Setting
from parshall_studies.large_deviations.spectra import bounds_plot, spectra_plot
from parshall_studies.spectrum import interval_means

FLOW = "flow"


def points(setting: Setting) -> dict[str, Measurement]:
    """The flow beside constant cross traffic."""
    scenario = setting.of_flow(setting.constant_traffic(), setting.constant_s)
    arguments = ("reno", setting.rtt_s, setting.warm_up_s * setting.slower)
    return {FLOW: Measurement("fig3: constant cross traffic", scenario, measure, arguments)}


def claims(answers: Answers, setting: Setting) -> list[Claim]:
    """The windows, the rhythm of losses, and that the spectrum shrinks to a point."""
    flow: Flow = answers[FLOW]
    window = flow.record.window
    seen = {"lowest": float(window.min()), "highest": float(window.max()), "mean": float(flow.record.cwnd.mean())}
    low, high = PAPER["constant_range"]
    note = f"{setting.free_packets:.0f} packets per RTT are free, {setting.top_packets:.0f} with the buffer full"
    made = [
        equal(
            "fig3",
            f"{name} window, packets",
            printed,
            exactly(seen[name]),
            within=PAPER.within("window", printed),
            note=note,
        )
        for name, printed in (("lowest", low), ("highest", high), ("mean", PAPER["constant_mean"]))
    ]
    left = "packets an RTT that constant cross traffic leaves"
    top = PAPER["constant_range"][1]
    half = PAPER.within("half_a_packet")
    made.append(equal("section 4.2", left, top, exactly(setting.free_packets), within=half))
    quantity = "deviation of the times between losses over their mean"
    nulls = [Null("losses at random times", exactly(1.0))]
    rhythm = _rhythm(flow.record)
    made.append(equal("fig3", quantity, 0.0, rhythm, within=PAPER.within("periodic"), nulls=nulls))
    cwnd = flow.record.cwnd
    scales = [n for n in (50, *PAPER["scales"]) if cwnd.size >= 2 * n]
    widths = [float(np.ptp(interval_means(cwnd, n))) for n in scales]
    note = "widths: " + ", ".join(f"{w:.1f} at {n}" for n, w in zip(scales, widths, strict=True)) + " RTTs"
    return [*made, monotone("fig3a", "least step by which the spectrum's width falls with the scale", widths, -1, note)]


def _rhythm(record: Record) -> Interval | None:
    """Deviation over mean of the round trips from one loss event to the next."""
    gaps = np.diff(np.flatnonzero(record.events)).astype(float)
    if gaps.size < 2:
        return None
    value = float(gaps.std(ddof=1) / gaps.mean())
    half = 1.96 / np.sqrt(2 * gaps.size)
    return Interval(value, value * (1 - half), value * (1 + half), n=gaps.size)


def chain_claim() -> Claim:
    """The mean of the source's chain of certain loss at 147 packets."""
    mean = ld.spectrum(Deterministic(PAPER["constant_range"][1])).mean
    printed = PAPER["constant_mean"]
    within = PAPER.within("arithmetic")
    return equal("fig3", "chain: mean, packets per RTT", printed, exactly(mean), within=within)


def section(answers: Answers, setting: Setting) -> Section:
    """Windows over time, spectra and ranges, with the reason of the highest window."""
    flow: Flow = answers[FLOW]
    record = flow.record
    low, high = PAPER["constant_range"]
    cells = (setting.free_packets, setting.top_packets, float(record.window.min()), float(record.window.max()))
    rows = [
        ("ours", *(f"{each:.0f}" for each in cells), f"{record.cwnd.mean():.0f}"),
        ("the source", f"{high:.0f}", "", f"{low:.0f}", f"{high:.0f}", f"{PAPER['constant_mean']:.0f}"),
    ]
    events = max(1, int(record.events.sum()))
    text = (
        "The chain with certain loss from 147 packets on has the published mean, and a spectrum of one point. The "
        "means of the simulated flow come nearer to each other the longer the scale.",
        "The windows do not follow from the rates as stated: 1 Gbit/s less 833 Mbit/s are 167 packets per RTT. They "
        "follow if 1 Gbit/s counts Ethernet's framing and 833 Mbit/s the payload of UDP.",
        f"The window climbs beyond the level of a full buffer, {setting.top_packets:.0f} packets, since most of what "
        f"overflows is datagrams: {flow.dropped_others / events:.0f} of them are lost for one loss event of the flow, "
        f"which has {flow.dropped / events:.1f} packets lost. The flow finds out when a packet of its own is hit.",
    )
    header = ("where", "(C-X) RTT", "(C-X) (RTT+B/C)", "lowest window", "highest window", "mean")
    theory = {"theory": ld.spectrum(Deterministic(high))}
    figures = [
        Chart("fig3-window", "Window over time", window_plot(record)),
        Chart("fig3a", "Spectra", spectra_plot(record.cwnd, theory, "Constant cross traffic")),
        Chart("fig3b", "Observed range", bounds_plot(record.cwnd, theory)),
    ]
    table = Table("Windows, packets", header, rows, numbers=range(1, 6))
    return Section("Figure 3: constant cross traffic", text, [table], figures)


def window_plot(record: Record, seconds: float = 12.0) -> Plot:
    """Cwnd at the RTT rate over time, from where the record begins."""
    start = record.start_s - record.start_s[0]
    part = start < seconds
    axes = Axis("time", "s", minimum=0.0), Axis("window", "packets", minimum=0.0)
    line = Line(start[part], record.window[part])
    return Plot([Panel([line], *axes)], f"Congestion window at the RTT rate, {seconds:g} s after the warm-up.")


FIG3 = Artefact("fig3", points, claims, section)
