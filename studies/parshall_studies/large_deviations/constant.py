"""Figure 3: constant cross traffic, and what the link of the testbed left the flow.

The window climbs until the buffer is full: to (C - X) (RTT + B/C) packets, with C - X what the cross traffic X leaves
of the link and B the buffer. C and X depend on what is counted: Ethernet carries bytes that are not IP, and the rate
of a UDP generator is often its payload's.

References: Loiseau 2010, §4.2, Fig. 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parshall.analysis.stats.claim_rules import equal, monotone
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot
from parshall.studies.study import Findings, Scale
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Deterministic
from parshall_studies.large_deviations import network
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.record import Record
from parshall_studies.large_deviations.spectra import bounds_plot, spectra_plot
from parshall_studies.spectrum import interval_means


@dataclass(frozen=True)
class Reading:
    """A reading of the testbed's rates: of the link for IP packets, and of the cross traffic's IP packets."""

    label: str
    link_bps: float
    cross_bps: float
    delayed_ack: bool = False

    @property
    def free(self) -> float:
        """(C - X) RTT, packets."""
        return (self.link_bps - self.cross_bps) * PAPER.number("rtt_s") / (8 * PAPER.number("packet_bytes"))

    @property
    def top(self) -> float:
        """(C - X) (RTT + B/C), packets."""
        drained = PAPER["buffer_packets"] * 8 * PAPER["packet_bytes"] / self.link_bps
        return float(self.free * (1 + drained / PAPER["rtt_s"]))


_FRAMED, _PAYLOAD = network.ETHERNET_BPS, PAPER["constant_bps"] * network.OF_PAYLOAD
AS_STATED = Reading("rates as stated", PAPER["capacity_bps"], PAPER["constant_bps"])
FITTING = Reading("Ethernet's framing, UDP payload", _FRAMED, _PAYLOAD)
READINGS = (
    AS_STATED,
    Reading("rates as stated, delayed ACKs", PAPER["capacity_bps"], PAPER["constant_bps"], delayed_ack=True),
    Reading("Ethernet's framing", _FRAMED, PAPER["constant_bps"]),
    FITTING,
)


def constant(scale: Scale) -> Findings:
    """The checks and the section."""
    seconds = 3660.0 if scale == "paper" else 360.0
    checks = [_chain()]
    rows = []
    for reading in READINGS:
        record = _record(reading, seconds if reading is FITTING else min(seconds, 120.0))
        low, high, mean = float(record.window.min()), float(record.window.max()), float(record.cwnd.mean())
        checks += _checks(reading, low, high, mean)
        cells = (reading.free, reading.top, low, high, mean)
        rows.append((reading.label, *(f"{each:.0f}" for each in cells)))
    checks += _shrinks(record)
    rows.append(("the source", f"{PAPER['constant_range'][1]:.0f}", "", "73", "147", f"{PAPER['constant_mean']:.0f}"))
    header = ("reading", "(C-X) RTT", "(C-X) (RTT+B/C)", "lowest window", "highest window", "mean")
    text = (
        "The chain with certain loss from 147 packets on has the published mean, and a spectrum of one point. The "
        "means of the simulated flow come nearer to each other the longer the scale: the spectrum shrinks to a "
        "point.",
        "The published window of 73 to 147 packets does not follow from the rates as stated: 1 Gbit/s less 833 "
        f"Mbit/s are {AS_STATED.free:.0f} packets per RTT, and a flow that fills the buffer of 96 packets reaches "
        f"{AS_STATED.top:.0f}. With Ethernet's framing the link carries {_FRAMED / 1e6:.0f} Mbit/s of such packets, "
        f"which leaves {READINGS[2].free:.0f} to {READINGS[2].top:.0f}; if moreover 833 Mbit/s are the payload of "
        f"UDP, as generators count it, {FITTING.free:.0f} to {FITTING.top:.0f}. Nothing is fitted here, and the "
        "last one has the published window: so it is what the testbed's rates probably were, and the figures are "
        "drawn for it. The window passes the level of a full buffer by a few packets, since a loss is found one "
        "RTT after it happened. Delayed ACKs double the time of a climb and leave its ends where they are.",
    )
    theory = {"theory": ld.spectrum(Deterministic(PAPER["constant_range"][1]))}
    figures = [
        Chart("fig3-window", "Window over time", window_plot(record)),
        Chart("fig3a", "Spectra", spectra_plot(record.cwnd, theory, "Constant cross traffic, packet simulation")),
        Chart("fig3b", "Observed range", bounds_plot(record.cwnd, theory)),
    ]
    table = Table("Windows, packets", header, rows, numbers=range(1, 6))
    return Findings(checks, [Section("Figure 3: constant cross traffic", text, [table], figures)])


def window_plot(record: Record, seconds: float = 12.0) -> Plot:
    """Cwnd at the RTT rate over time, from where the record begins."""
    start = record.start_s - record.start_s[0]
    part = start < seconds
    line = Line(start[part], record.window[part])
    axes = Axis("time", "s", minimum=0.0), Axis("window", "packets", minimum=0.0)
    return Plot([Panel([line], *axes)], f"Congestion window at the RTT rate, {seconds:g} s after the warm-up.")


def _chain() -> Claim:
    theory = ld.spectrum(Deterministic(PAPER["constant_range"][1]))
    return equal(
        "fig3",
        "chain: mean, packets per RTT",
        PAPER["constant_mean"],
        exactly(theory.mean),
        within=PAPER.within("arithmetic"),
    )


def _checks(reading: Reading, low: float, high: float, mean: float) -> list[Claim]:
    wanted = (
        ("lowest window, packets", PAPER["constant_range"][0], low),
        ("highest window, packets", PAPER["constant_range"][1], high),
        ("mean window, packets", PAPER["constant_mean"], mean),
    )
    note = f"{reading.free:.0f} packets per RTT are free, {reading.top:.0f} with the buffer full"
    return [
        equal(
            "fig3",
            name,
            published,
            exactly(ours),
            within=PAPER.within("window", published),
            note=note,
            reading=reading.label,
        )
        for name, published, ours in wanted
    ]


def _shrinks(record: Record) -> list[Claim]:
    """The claim of Fig. 3 (a): the width of the spectrum falls as the scale grows."""
    widths = [float(np.ptp(interval_means(record.cwnd, n))) for n in PAPER["scales"]]
    note = "widths: " + ", ".join(f"{w:.1f} at {n}" for n, w in zip(PAPER["scales"], widths, strict=True)) + " RTTs"
    return [monotone("fig3a", "least step by which the spectrum's width falls with the scale", widths, -1, note)]


def _record(reading: Reading, seconds: float) -> Record:
    tcp = {**network.TCP, "delayed_ack": reading.delayed_ack}
    workload = {"name": "cbr", "rate": f"{round(reading.cross_bps)} bit/s"}
    udp = {"name": "udp", "rtt": "12 ms", "packet_size": "1500 B", "workload": workload}
    link = {**network.LINK, "rate": f"{round(reading.link_bps)} bit/s"}
    return network.measured(link, [tcp, udp], seconds).record
