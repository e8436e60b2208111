"""Figure 3: constant cross traffic, and what the link of the testbed left the flow.

The window climbs until the buffer is full: to (C - X) (RTT + B/C) packets, with C - X what the cross traffic X leaves
of the link and B the buffer. C and X depend on what is counted: Ethernet carries bytes that are not IP, and the rate
of a UDP generator is often its payload's.

References: Loiseau 2010, §4.2, Fig. 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from parshall.models import large_deviations as ld
from parshall.models.inputs import FloatArray
from parshall.models.loss import Deterministic
from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot
from parshall.stats.spectrum import interval_means
from parshall.studies.check import Check
from parshall.studies.large_deviations import network, published
from parshall.studies.large_deviations.spectra import spectra_plot
from parshall.studies.study import Scale

WITHIN = 0.05
"""Windows are read off the text; a testbed's rates are known to a few per cent."""


@dataclass(frozen=True)
class Reading:
    """A reading of the testbed's rates: of the link for IP packets, and of the cross traffic's IP packets."""

    words: str
    link_bps: float
    cross_bps: float
    delayed_ack: bool = False

    @property
    def free(self) -> float:
        """(C - X) RTT, packets."""
        return (self.link_bps - self.cross_bps) * published.RTT_S / (8 * published.PACKET_BYTES)

    @property
    def top(self) -> float:
        """(C - X) (RTT + B/C), packets."""
        drained = published.BUFFER_PACKETS * 8 * published.PACKET_BYTES / self.link_bps
        return self.free * (1 + drained / published.RTT_S)


_FRAMED, _PAYLOAD = network.ETHERNET_BPS, published.CONSTANT_BPS * network.OF_PAYLOAD
AS_STATED = Reading("as stated", published.CAPACITY_BPS, published.CONSTANT_BPS)
FITTING = "Ethernet's framing and rates of UDP payload leave"
READINGS = (
    AS_STATED,
    Reading("as stated, delayed ACKs", published.CAPACITY_BPS, published.CONSTANT_BPS, delayed_ack=True),
    Reading("1 Gbit/s with Ethernet's framing", _FRAMED, published.CONSTANT_BPS),
    Reading("and 833 Mbit/s of UDP payload", _FRAMED, _PAYLOAD),
)


def constant(scale: Scale) -> tuple[list[Check], Section]:
    """The checks and the section."""
    seconds = 3660.0 if scale == "paper" else 100.0
    checks = [_chain()]
    rows = []
    for reading in READINGS:
        found = _rounds(reading, seconds if reading is AS_STATED else min(seconds, 360.0))
        low, high = _range(found)
        mean = float(network.per_rtt(found).mean())
        if not reading.delayed_ack:
            checks += _checks(reading, low, high, mean)
        cells = (reading.free, reading.top, low, high, mean)
        rows.append((reading.words, *(f"{each:.0f}" for each in cells)))
        if reading is AS_STATED:
            shown, series, top = found, network.per_rtt(found), high
    rows.append(("the source", f"{published.CONSTANT_RANGE[1]:.0f}", "", "73", "147", f"{published.CONSTANT_MEAN:.0f}"))
    header = ("reading", "(C-X) RTT", "(C-X) (RTT+B/C)", "lowest window", "highest window", "mean")
    spread = [float(np.ptp(interval_means(series, n))) for n in (100, 200, 500)]
    text = (
        "The chain with certain loss from 147 packets on has the published mean, and a spectrum of one point.",
        f"Means over 100, 200 and 500 RTTs of the simulated flow differ by {spread[0]:.1f}, {spread[1]:.1f} and "
        f"{spread[2]:.1f} packets: the spectrum shrinks to a point.",
        "The published window of 73 to 147 packets does not follow from the rates as stated: 1 Gbit/s less 833 Mbit/s "
        f"are {AS_STATED.free:.0f} packets per RTT, and a flow that fills the buffer of 96 packets reaches "
        f"{AS_STATED.top:.0f}. With Ethernet's framing the link carries {_FRAMED / 1e6:.0f} Mbit/s of such packets, "
        f"which leaves {READINGS[2].free:.0f} to {READINGS[2].top:.0f}; if moreover 833 Mbit/s are the payload of UDP, "
        f"as generators count it, {READINGS[3].free:.0f} to {READINGS[3].top:.0f}. Nothing is fitted here, "
        "and the last one has the published window: so it is what the testbed's rates probably were. The "
        "window passes the level of a full buffer by a few packets, since a loss is found one RTT after it happened. "
        "Delayed ACKs double the time of a climb and leave its ends where they are.",
    )
    figures = [
        Drawn("fig3-window", "Window over time", window_plot(shown)),
        Drawn(
            "fig3a",
            "Spectra",
            spectra_plot(series, ld.spectrum(Deterministic(round(top))), "Constant cross traffic, packet simulation"),
        ),
    ]
    return checks, Section(
        "Figure 3: constant cross traffic",
        text,
        [Table("Windows, packets", header, rows, numbers=range(1, 6))],
        figures,
    )


def window_plot(found: pl.DataFrame, seconds: float = 12.0) -> Plot:
    """Packets of each round trip over time, from where the records begin."""
    start = found["start_s"].to_numpy()
    part = start < start[0] + seconds
    line = Line(start[part] - start[0], found["window_packets"].to_numpy()[part])
    axes = Axis("time", "s", minimum=0.0), Axis("window", "packets", minimum=0.0)
    return Plot([Panel([line], *axes)], f"Packets sent in each round trip, {seconds:g} s after the warm-up.")


def _chain() -> Check:
    theory = ld.spectrum(Deterministic(published.CONSTANT_RANGE[1]))
    return Check("fig3", "chain: mean, packets per RTT", published.CONSTANT_MEAN, theory.mean, None, None, 1e-6)


def _checks(reading: Reading, low: float, high: float, mean: float) -> list[Check]:
    wanted = (
        ("lowest window", published.CONSTANT_RANGE[0], low),
        ("highest window", published.CONSTANT_RANGE[1], high),
        ("mean", published.CONSTANT_MEAN, mean),
    )
    note = f"{reading.free:.0f} packets per RTT are free, {reading.top:.0f} with the buffer full"
    if reading is not READINGS[-1]:
        note += f"; the published window fits {READINGS[-1].free:.0f} and {READINGS[-1].top:.0f}, which {FITTING}"
    return [
        Check("fig3", f"simulated, {reading.words}: {name}, packets", said, ours, None, None, WITHIN * said, note)
        for name, said, ours in wanted
    ]


def _rounds(reading: Reading, seconds: float) -> pl.DataFrame:
    tcp = {**network.TCP, "delayed_ack": reading.delayed_ack}
    workload = {"name": "cbr", "rate": f"{round(reading.cross_bps)} bit/s"}
    udp = {"name": "udp", "rtt": "12 ms", "packet_size": "1500 B", "workload": workload}
    return network.rounds({**network.LINK, "rate": f"{round(reading.link_bps)} bit/s"}, [tcp, udp], seconds)


def _range(found: pl.DataFrame) -> tuple[float, float]:
    """Extremes of the rounds that are no recoveries, without the thousandth at each end."""
    whole: FloatArray = found.filter(pl.col("length_s") < 1.5 * published.RTT_S)["window_packets"].to_numpy()
    low, high = np.quantile(whole, [0.001, 0.999])
    return float(low), float(high)
