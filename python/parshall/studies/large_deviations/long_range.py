"""Figure 6: a long flow among 45 ON/OFF TCP sources with heavy-tailed ON times.

The source draws ON times; TCP sources here draw sizes, with a mean at which ON times last about 0.48 s. How fast a
source can send is not in the text. Two readings: the 40 Mbit/s of the sources of §4.2, and the 1 Gbit/s of a host.

References: Loiseau 2010, §5.1, Fig. 6.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from parshall.models import large_deviations as ld
from parshall.models.loss import Bernoulli
from parshall.models.markov import chain
from parshall.models.measured_loss import measured
from parshall.report.document import Drawn, Section, Table
from parshall.studies.check import Check
from parshall.studies.large_deviations import network, published
from parshall.studies.large_deviations.cross_traffic import loss_plot, m_dependent_chain
from parshall.studies.large_deviations.spectra import bounds_check, bounds_plot, by_memory, spectra_plot
from parshall.studies.study import Scale


@dataclass(frozen=True)
class Reading:
    """How fast a source can send, and the mean size at which its ON times last 0.48 s, about."""

    words: str
    rate_bps: float
    mean_bytes: float

    def sources(self) -> dict[str, object]:
        """The 45 sources."""
        size = {"name": "pareto", "mean": f"{self.mean_bytes:.0f} B", "tail_index": published.LONG_RANGE_TAIL}
        off = {"name": "exponential", "mean": f"{published.LONG_RANGE_S:g} s"}
        return {
            **network.TCP,
            "name": "sources",
            "count": published.LONG_RANGE_SOURCES,
            "access_rate": f"{self.rate_bps:.0f} bit/s",
            "workload": {"name": "on_off", "size": size, "off": off},
        }


LASTING = "p(w) is a mean over loads that last: the losses of a large window are those of quiet times"
"""Why the mean of a chain with p(w) is not the flow's."""
UNKNOWN = "the text does not say how fast a source sends; the two readings enclose the published value"

READINGS = (
    Reading("40 Mbit/s", published.SOURCE_BPS, published.SOURCE_BPS * published.LONG_RANGE_S / 8),
    # Transfers of 1000 packets last 0.14 s, of 3000 packets 0.57 s.
    Reading("1 Gbit/s", published.CAPACITY_BPS, 2600 * 1460),
)


def long_range(scale: Scale) -> tuple[list[Check], Section]:
    """Two hours, as the source; `quick`: minutes."""
    checks: list[Check] = []
    rows, figures = [], []
    for reading in READINGS:
        found, cells, drawn = _measured(reading, 7260 if scale == "paper" else 150)
        checks += found
        rows.append(cells)
        figures += drawn
    rows.append(("the source", "0.60 %", "0.48 s", "", "", "", ""))
    text = (
        "How fast a source can send decides how much the flow loses: sources of 40 Mbit/s leave it room, hosts of "
        "1 Gbit/s send their slow starts into a buffer of 96 packets. The published loss rate is between the two.",
        "The chain has the measured p(w). Losses do not depend on the window alone, since the load lasts: where the "
        "loss is rare the chain misses the long part of that memory, and extremes at large scales show it.",
    )
    header = ("a source sends at", "loss rate", "ON time", "link full", "mean", "chain, p(w)", "chain, independent")
    table = Table("The flow, in packets per RTT", header, rows, numbers=range(1, 7))
    return checks, Section("Figure 6: long-range dependent cross traffic", text, [table], figures)


def _measured(reading: Reading, seconds: float) -> tuple[list[Check], tuple[str, ...], list[Drawn]]:
    probes = {"transfers": True}
    done = network.simulated(network.LINK, [network.TCP, reading.sources()], seconds, probes=probes)
    rounds = network.rounds_of(done)
    series = network.per_rtt(rounds)
    window, losses = rounds["window_packets"].to_numpy(), rounds["lost"].to_numpy()
    loss = measured(window, losses)
    theory, memory = ld.spectrum(loss), m_dependent_chain(window, losses)
    lost, mean = float(done.flows["loss_rate"][0]), float(series.mean())
    words = f"sources of {reading.words}"
    said = published.LONG_RANGE_LOSS
    checks = [
        Check("fig6a", f"{words}: packet loss rate", said, lost, None, None, 0.1 * said, UNKNOWN),
        Check("fig6b", f"{words}: chain's mean beside simulated", mean, theory.mean, None, None, 0.05 * mean, LASTING),
        *bounds_check(
            f"fig6c, {words}", series, theory, (200, 500, 1000), chain(loss), beyond=by_memory(series, memory)
        ),
    ]
    cells = (
        reading.words,
        f"{100 * lost:.2f} %",
        f"{_on_time(done.scan('transfers')):.2f} s",
        f"{100 * float(done.links['utilisation'][0]):.0f} %",
        f"{mean:.1f}",
        f"{theory.mean:.1f}",
        f"{ld.spectrum(lost, w_max=2000).mean:.1f}",
    )
    name = reading.words.replace(" ", "-").replace("/", "-")
    independent = {f"independent losses, {100 * lost:.2f} %": Bernoulli(lost)}
    figures = [
        Drawn(f"fig6a-{name}", f"Loss probability, {words}", loss_plot(loss, independent)),
        Drawn(f"fig6b-{name}", f"Spectra, {words}", spectra_plot(series, theory, "Theory: measured p(w)")),
        Drawn(f"fig6c-{name}", f"Observed range, {words}", bounds_plot(series, theory)),
    ]
    return checks, cells, figures


def _on_time(transfers: pl.LazyFrame | None) -> float:
    """Mean duration of the finished transfers, s."""
    assert transfers is not None  # noqa: S101 - the probe is on
    finished = transfers.filter(pl.col("completion_s").is_not_null() & (pl.col("group") == "sources"))
    return float(finished.select((pl.col("completion_s") - pl.col("start_s")).mean()).collect().item())
