"""Figure 6: a long flow among 45 ON/OFF TCP sources with heavy-tailed ON times.

The source draws ON times; TCP sources here draw sizes, whose mean is what a source sends in 0.48 s. How fast a source
can send is not in the text, but what the flow loses is: 0.6 % of its packets. The figure is drawn for the rate that
makes it so. With a tail of 1.1 the mean load still grows after minutes, so that this rate depends on how long the run
is: 53 Mbit/s lose 0.6 % in seven minutes (50 Mbit/s: 0.4 %, 56 Mbit/s: 0.8 %, nine minutes each), but 1.1 % in two
hours, in which 48 Mbit/s lose 0.7 %. Two other readings show what hangs on it: the 40 Mbit/s of the sources of §4.2,
and the 1 Gbit/s of a host.

References: Loiseau 2010, §5.1, Fig. 6.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import exactly, single
from parshall.report.document import Chart, Section, Table
from parshall.studies.study import Findings, Scale
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.large_deviations import network
from parshall_studies.large_deviations.cases import CaseFindings, together
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.on_off import chain, loss_plot
from parshall_studies.large_deviations.record import Record
from parshall_studies.large_deviations.spectra import (
    bounds_plot,
    extremes_checks,
    mean_check,
    one_spectrum,
    spectra_plot,
)


@dataclass(frozen=True)
class Reading:
    """How fast a source can send, and the mean size at which its ON times last 0.48 s, about."""

    label: str
    rate_bps: float
    mean_bytes: float

    def sources(self, slower: float = 1) -> dict[str, object]:
        """The 45 sources; of a network that is so many times slower."""
        size = {"name": "pareto", "mean": f"{self.mean_bytes:.0f} B", "tail_index": PAPER["long_range_tail"]}
        off = {"name": "exponential", "mean": f"{PAPER['long_range_s'] * slower:g} s"}
        return {
            **network.TCP,
            "name": "sources",
            "count": PAPER["long_range_sources"],
            "rtt": f"{12 * slower:g} ms",
            "access_rate": f"{self.rate_bps / slower:.0f} bit/s",
            "workload": {"name": "on_off", "size": size, "off": off},
        }


def sending_at(rate_bps: float) -> Reading:
    """Sources that send so fast for 0.48 s on average."""
    return Reading(f"{rate_bps / 1e6:.0f} Mbit/s", rate_bps, rate_bps * PAPER["long_range_s"] / 8)


SETTLED: dict[Scale, Reading] = {"quick": sending_at(53e6), "paper": sending_at(48e6)}
"""Where the flow loses 0.6 % of its packets, as the source's."""
OTHERS = (
    sending_at(PAPER["source_bps"]),
    # Transfers of 1000 packets last 0.14 s, of 3000 packets 0.57 s.
    Reading("1 Gbit/s", PAPER["capacity_bps"], 2600 * 1460),
)
PLACES = tuple((place,) for place in range(len(OTHERS) + 1))
"""The cases of `among_sources`."""


def among_sources(place: int, scale: Scale) -> CaseFindings:
    """Two hours where the figure is drawn, as the source; `quick`: minutes."""
    drawn = place == 0
    reading = SETTLED[scale] if drawn else OTHERS[place - 1]
    seconds = {"paper": 7260.0 if drawn else 660.0, "quick": 460.0 if drawn else 160.0}[scale]
    measured = network.measured(network.LINK, [network.TCP, reading.sources()], seconds, transfers=True)
    record, lost = measured.record, measured.loss_rate
    raw, ours = ld.spectrum(record.loss(), w_max=int(record.windows.max())), chain(record, "reno")
    independent = ld.spectrum(lost, w_max=2000)
    cells = (
        reading.label,
        f"{100 * lost:.2f} %",
        measured.on_time,
        f"{100 * measured.utilisation:.0f} %",
        *(f"{each:.1f}" for each in (record.mean, raw.mean, ours.mean, independent.mean)),
    )
    if not drawn:
        return CaseFindings([], cells, [])
    label = f"sources of {reading.label}"
    name, published = f"{label}: packet loss rate of the flow", PAPER["long_range_loss"]
    fitted = equal("fig6a", name, published, single(lost), within=PAPER.digits("long_range_loss"))
    checks = [
        replace(fitted, calibrated="the rate of the sources"),
        _shape(record, lost),
        *one_spectrum("fig6b", "", record.throughput, (100, 1000)),
        _beside("fig6b", f"{label}, eq. (2) with measured p(w)", record, raw),
        mean_check("fig6b", label, record, ours, "chain with p(w, k), recoveries and timeouts as measured"),
        *extremes_checks("fig6c", label, record.throughput, ours, (200, 500, 1000)),
    ]
    theories = {"eq. (2), measured p(w)": raw, "with recovery, p(w, k)": ours}
    bernoulli = {f"independent losses, {100 * lost:.2f} %": Bernoulli(lost)}
    figures = [
        Chart("fig6a", f"Loss probability, {label}", loss_plot(record.loss(), bernoulli)),
        Chart("fig6b", f"Spectra, {label}", spectra_plot(record.throughput, theories, label)),
        Chart("fig6c", f"Observed range, {label}", bounds_plot(record.throughput, theories)),
    ]
    return CaseFindings(checks, cells, figures)


def long_range(results: list[CaseFindings]) -> Findings:
    """The three readings, and the figure of one."""
    checks, rows, figures = together(results)
    rows.append(("the source", "0.60 %", "0.48 s", "", "", "", "", ""))
    text = (
        "How fast a source can send decides how much the flow loses: sources of 40 Mbit/s leave it room, hosts of "
        "1 Gbit/s send their slow starts into a buffer of 96 packets. In the first row it loses what the source's "
        "flow lost; p(w), spectra and ranges are of that reading.",
        "Losses do not depend on the window alone here, since the load lasts for seconds: p(w) is a mean over "
        "quiet and busy times, and a chain that draws each round trip anew varies less than the flow.",
    )
    header = (
        "a source sends at",
        "loss rate",
        "ON time",
        "link full",
        "mean",
        "eq. (2), p(w)",
        "with recovery",
        "independent",
    )
    table = Table("The flow, in packets per RTT", header, rows, numbers=range(1, 8))
    return Findings(checks, [Section("Figure 6: long-range dependent cross traffic", text, [table], figures)])


def _beside(artefact: str, label: str, record: Record, theory: ld.Spectrum) -> Claim:
    """The claim that the prediction is very accurate: of the mean."""
    error = theory.mean / record.mean - 1
    repairing = float(record.rtts[record.repairing].sum() / record.rtts.sum())
    note = f"{100 * repairing:.0f} % of the time are recoveries and timeouts, which eq. (2) does not have"
    return equal(
        artefact,
        f"{label}: error of the mean, relative",
        0.0,
        single(error),
        within=PAPER.within("accurate"),
        note=note,
        nulls=[Null("a prediction of half, or of one and a half times it", exactly(0.5))],
    )


def _shape(record: Record, lost: float) -> Claim:
    """The claim of Fig. 6 (a): p(w) is not that of independent losses."""
    expected = Bernoulli(lost)(record.windows)
    spread = float(np.sqrt(np.sum(expected * (1 - expected))))
    distance = (float(record.events.sum()) - float(expected.sum())) / spread
    note = f"{int(record.events.sum())} loss events; independent losses make {expected.sum():.0f}"
    half = 1.96 * np.sqrt(float(record.events.sum())) / spread
    value = Interval(abs(distance), abs(distance) - half, abs(distance) + half, 1)
    return sign("fig6a", "distance of the loss events from those of independent losses, deviations", 1, value, note)
