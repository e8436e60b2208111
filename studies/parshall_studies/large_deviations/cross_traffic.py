"""Figure 4 (a), (b): random ON/OFF cross traffic by itself.

The text's ON and OFF times (0.12 s and 0.1 s) contradict its mean rate: 32 sources of 40 Mbit/s would send 698 Mbit/s,
not 580. Exchanged they send 582 Mbit/s. Both are simulated: `network.AS_STATED` and `network.AS_MEASURED`.

A source of 40 Mbit/s sends a packet of 1500 bytes every 0.3 ms: exactly four in 1.2 ms, so that in bins of the
buffer's time scale the density is a comb with a tooth every four packets. In bins of 1.05 ms there are three or four,
equally often, and the sum of 32 sources is smooth; the density is drawn, and compared, in these. Means and deviations
are of 1.2 ms.

References: Loiseau 2010, §4.2, Fig. 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly, single
from parshall.instruments.simulation import run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Mark, Panel, Plot, Points, Style
from parshall.studies.study import Findings, Scale
from parshall_studies.large_deviations import network
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.spectrum import interval_means

FINE_S = PAPER["cross_bin_s"] / 8
"""Bins of the simulator: eight make the buffer's 1.2 ms."""
SMOOTH = 7
"""Bins of the density, 1.05 ms: 3.5 packets of a source that is ON."""
MEANS = "expected: 698 with the text's ON and OFF times, 582 with the two exchanged; the text contradicts itself"
UNIFORM = Null("a uniform density", exactly(0.0572))
"""The largest distance of its distribution function from the normal one of the same deviation, at 0.80 sigma."""
READINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ON and OFF times as stated", network.AS_STATED),
    ("ON and OFF times exchanged", network.AS_MEASURED),
)


def statistics(scale: Scale) -> Findings:
    """The cross traffic alone, in bins of the buffer's drain time."""
    seconds = network.WARM_UP_S + (600 if scale == "paper" else 60)
    checks: list[Claim] = []
    densities: list[Mark] = []
    correlations: list[Mark] = []
    rows = []
    for place, (label, sources) in enumerate(READINGS):
        fine = _arriving(sources, seconds)
        rate, smooth = interval_means(fine, 8), interval_means(fine, SMOOTH)
        mean, deviation = float(rate.mean()), float(rate.std(ddof=1))
        lags = np.arange(1, round(0.4 / PAPER["cross_bin_s"]))
        correlation = autocorrelation(rate, lags)
        at_mean_on = float(np.interp(0.1, lags * PAPER["cross_bin_s"], correlation))
        distance = distance_to_normal(smooth)
        checks += [
            equal(
                "fig4",
                "mean of the cross traffic, Mbit/s",
                PAPER["cross_mean_bps"] / 1e6,
                Interval(mean / 1e6, *interval(rate / 1e6), 1),
                within=PAPER.within("cross_mean", PAPER["cross_mean_bps"] / 1e6),
                note=MEANS,
                reading=label,
            ),
            equal(
                "fig4",
                "sigma at 1.2 ms, Mbit/s",
                PAPER["cross_std_bps"] / 1e6,
                Interval(deviation / 1e6, *deviation_interval(rate / 1e6), 1),
                within=PAPER.within("cross_deviation", PAPER["cross_std_bps"] / 1e6),
                note="expected of 32 independent sources: 112.3, whichever way the times are",
                reading=label,
            ),
            equal(
                "fig4a",
                "largest distance to the normal distribution",
                0.0,
                single(distance),
                within=PAPER.within("normal"),
                nulls=[UNIFORM],
                note="of distribution functions, in bins of 1.05 ms; the source calls the density normal",
                reading=label,
            ),
            reported("fig4b", "autocorrelation at 0.1 s", single(at_mean_on), reading=label),
        ]
        cells = f"{mean / 1e6:.0f}", f"{deviation / 1e6:.1f}", f"{distance:.3f}", f"{at_mean_on:.2f}"
        rows.append((label, *cells))
        densities += density(smooth / 1e6, label, place)
        correlations.append(Line(lags * PAPER["cross_bin_s"], correlation, label, Style(place)))
    decay = np.arange(1, 400) * 1e-3
    forgets = PAPER["on_s"] * PAPER["off_s"] / (PAPER["on_s"] + PAPER["off_s"])
    correlations.append(Line(decay, np.exp(-decay / forgets), "exp(-t/54.5 ms)", Style(3, dash=1)))
    peak = PAPER["source_bps"] * np.sqrt(PAPER["sources"] * 0.12 * 0.1) / 0.22 / 1e6
    text = (
        "ON for 0.12 s and OFF for 0.1 s, as the text has it, makes a mean of 698 Mbit/s; exchanged, 582 Mbit/s, "
        "which is the mean that the text has. So the source's cross traffic was the exchanged one, or its sources "
        "did not send at 40 Mbit/s while ON.",
        f"32 independent sources have a standard deviation of {peak:.1f} Mbit/s either way, and exponential times "
        "an autocorrelation of exp(-t/54.5 ms): 0.16 after 0.1 s.",
        "The density is drawn in bins of 1.05 ms: a source that is ON sends exactly four packets in 1.2 ms, so "
        "that bins of that length hold multiples of four packets.",
    )
    header = ("cross traffic", "mean, Mbit/s", "sigma, Mbit/s", "distance to normal", "autocorrelation, 0.1 s")
    rows.append(("the source", "580", "108", "", ""))
    rate_axis, lag_axis = Axis("rate", "Mbit/s"), Axis("lag", "s", minimum=0.0)
    figures = [
        Chart(
            "fig4a",
            "Density of the cross traffic",
            Plot([Panel(densities, rate_axis, Axis("density", "s/Mbit"))], "Rate in bins of 1.05 ms."),
        ),
        Chart(
            "fig4b",
            "Autocorrelation of the cross traffic",
            Plot([Panel(correlations, lag_axis, Axis("autocorrelation"))], "Rate in bins of 1.2 ms."),
        ),
    ]
    table = Table("Bins of 1.2 ms", header, rows, numbers=range(1, 5))
    return Findings(checks, [Section("Figures 4 (a), (b): the cross traffic", text, [table], figures)])


def density(rate: FloatArray, label: str, place: int) -> list[Mark]:
    """Relative frequency of each number of packets, and the normal density."""
    step = 8e-6 * PAPER["packet_bytes"] / (SMOOTH * FINE_S)
    packets, counts = np.unique(np.round(rate / step), return_counts=True)
    often = counts >= 5
    at = packets * step
    return [
        Points(at[often], counts[often] / counts.sum() / step, label, Style(place)),
        Line(at, norm.pdf(at, rate.mean(), rate.std(ddof=1)), f"normal, {label}", Style(place, dash=1)),
    ]


def _arriving(sources: dict[str, Any], seconds: float) -> FloatArray:
    """The rate that arrives at an uncontended link, bit/s, in bins of `FINE_S`."""
    probes = {"link_samples": f"{FINE_S:g} s"}
    table = run(network.declared(network.WIDE, [sources], seconds, probes=probes)).link_samples
    assert table is not None  # noqa: S101 - the probe is on
    settled = table.filter(table["time_s"] >= network.WARM_UP_S)["arrivals_packets"].to_numpy()
    return np.asarray(settled * (8 * PAPER["packet_bytes"] / FINE_S), dtype=np.float64)


def interval(x: FloatArray) -> tuple[float, float]:
    """95 % interval of the mean, from means over a second: twenty times the memory of the cross traffic."""
    means = mean_interval(interval_means(x, round(1 / PAPER["cross_bin_s"])))
    half = means.half_width or 0.0
    return means.mean - half, means.mean + half


def deviation_interval(x: FloatArray) -> tuple[float, float]:
    """95 % interval of the standard deviation."""
    low, high = interval((x - x.mean()) ** 2)
    return float(np.sqrt(max(low, 0.0))), float(np.sqrt(high))


def autocorrelation(x: FloatArray, lags: NDArray[np.int64]) -> FloatArray:
    """At each lag, in bins; shape of `lags`."""
    centred = x - x.mean()
    power = np.abs(np.fft.rfft(centred, 2 * x.size)) ** 2
    covariance = np.fft.irfft(power)[: x.size]
    return np.asarray(covariance[lags] / covariance[0])


def distance_to_normal(x: FloatArray) -> float:
    """Kolmogorov's distance to the normal distribution with the same mean and deviation, at the bins' own steps."""
    values, counts = np.unique(x, return_counts=True)
    share = np.cumsum(counts) / x.size - counts / (2 * x.size)
    return float(np.abs(share - norm.cdf(values, x.mean(), x.std(ddof=1))).max())
