"""Figure 4 (a), (b): random ON/OFF cross traffic by itself.

The text's ON and OFF times (0.12 s and 0.1 s) contradict its mean rate: 32 sources of 40 Mbit/s would send 698 Mbit/s,
not 580. Exchanged they send 582 Mbit/s.

A source of 40 Mbit/s sends a packet of 1500 bytes every 0.3 ms: exactly four in 1.2 ms, so that in bins of the
buffer's time scale the density is a comb with a tooth every four packets. In bins of 1.05 ms there are three or four,
equally often, and the sum of 32 sources is smooth; the density is drawn, and compared, in these. Means and deviations
are of 1.2 ms.

References: Loiseau 2010, §4.2, Fig. 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Mark, Panel, Plot, Points, Style
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall.studies.study import Case
from parshall_studies.large_deviations.setting import PAPER, WIDE, Setting
from parshall_studies.spectrum import interval_means

FINE_S = PAPER["cross_bin_s"] / 8
"""Bins that are recorded: eight make the buffer's 1.2 ms."""
SMOOTH = 7
"""Bins of the density, 1.05 ms: 3.5 packets of a source that is ON."""
LAG_S = 0.1
MEMORY_S = 2 * PAPER["on_s"] * PAPER["off_s"] / (PAPER["on_s"] + PAPER["off_s"])
"""Twice the time constant of the sum of such sources, 54.5 ms: values so far apart count as independent."""
KOLMOGOROV = 1.36
"""The 95 % point of Kolmogorov's distance times the root of the number of values."""
UNIFORM = Null("a uniform density", exactly(0.0572))
"""The largest distance of its distribution function from the normal one of the same deviation, at 0.80 sigma."""
ARRIVALS = "arrivals"


@dataclass(frozen=True)
class Arrivals:
    """The cross traffic that comes to the link, as of the source's network.

    Attributes
    ----------
    mean, deviation
        Of the rate in bins of 1.2 ms, Mbit/s.
    distance
        Kolmogorov's, of the rate in bins of 1.05 ms from the normal distribution.
    correlation
        Autocorrelation at lags of 1.2 ms, 2.4 ms, ..., shape (l,).
    rate, share
        Rates in bins of 1.05 ms, Mbit/s, and how often each is seen; shape (k,).
    at_lag
        Autocorrelation at 0.1 s.
    """

    mean: Interval
    deviation: Interval
    distance: Interval
    correlation: FloatArray
    rate: FloatArray
    share: FloatArray
    at_lag: Interval


def arrivals(run: Run, warm_up_s: float, datagram_bytes: int) -> Arrivals:
    """Arrivals at an uncontended link after the warm-up; a bin of a slower network holds as many packets."""
    table = run.link_samples
    assert table is not None  # noqa: S101 - the probe is on
    settled = table.filter(table["time_s"] >= warm_up_s)["arrivals_packets"].to_numpy()
    fine = np.asarray(settled * (8e-6 * datagram_bytes / FINE_S), dtype=np.float64)
    rate, smooth = interval_means(fine, 8), interval_means(fine, SMOOTH)
    values, counts = np.unique(smooth, return_counts=True)
    lags = np.arange(1, round(0.4 / PAPER["cross_bin_s"]))
    correlation = autocorrelation(rate, lags)
    low, high = _ends(_over_seconds((rate - rate.mean()) ** 2))
    half = KOLMOGOROV / np.sqrt(smooth.size * SMOOTH * FINE_S / MEMORY_S)
    distance = distance_to_normal(values, counts)
    return Arrivals(
        _over_seconds(rate),
        Interval(float(rate.std(ddof=1)), float(np.sqrt(max(low, 0.0))), float(np.sqrt(high)), 1),
        Interval(distance, max(0.0, distance - half), distance + half, 1),
        correlation,
        values,
        counts / counts.sum(),
        _of_lag(rate, round(LAG_S / PAPER["cross_bin_s"])),
    )


def _over_seconds(x: FloatArray) -> Interval:
    """The mean, from means over a second: twenty times the memory of the cross traffic."""
    return mean_interval(interval_means(x, round(1 / PAPER["cross_bin_s"])))


def _ends(value: Interval) -> tuple[float, float]:
    half = value.half_width or 0.0
    return value.mean - half, value.mean + half


def _of_lag(x: FloatArray, lag: int) -> Interval:
    """Autocorrelation at a lag with its interval, from products over seconds."""
    centred = x - x.mean()
    power = float((centred**2).mean())
    products = _over_seconds(centred[:-lag] * centred[lag:])
    low, high = _ends(products)
    return Interval(products.mean / power, low / power, high / power, 1)


def autocorrelation(x: FloatArray, lags: NDArray[np.int64]) -> FloatArray:
    """At each lag, in bins; shape of `lags`."""
    centred = x - x.mean()
    power = np.abs(np.fft.rfft(centred, 2 * x.size)) ** 2
    covariance = np.fft.irfft(power)[: x.size]
    return np.asarray(covariance[lags] / covariance[0])


def distance_to_normal(values: FloatArray, counts: NDArray[np.int64]) -> float:
    """Kolmogorov's distance to the normal distribution with the same mean and deviation, at the bins' own steps."""
    size = counts.sum()
    mean = float(values @ counts / size)
    deviation = float(np.sqrt((values - mean) ** 2 @ counts / (size - 1)))
    share = np.cumsum(counts) / size - counts / (2 * size)
    return float(np.abs(share - norm.cdf(values, mean, deviation)).max())


def points(setting: Setting) -> dict[str, Measurement]:
    """The sources alone at a link that holds all."""
    link = {**WIDE, "rate": f"{round(10e9 / setting.slower)} bit/s"}
    sources = {**setting.on_off_traffic(), "endpoint": "kernel"}
    samples = {"link_samples": f"{FINE_S * setting.slower:g} s"}
    scenario = setting.scenario(link, [sources], setting.cross_s, samples)
    arguments = (setting.warm_up_s * setting.slower, setting.datagram_bytes)
    return {ARRIVALS: Measurement("fig4: ON/OFF cross traffic", scenario, arrivals, arguments)}


def claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Mean, deviation, normality and memory of the cross traffic."""
    seen: Arrivals = answers[ARRIVALS]
    on_s, off_s = setting.on_off_s
    expected = PAPER["sources"] * setting.udp_bps(PAPER["source_bps"]) * on_s / (on_s + off_s) / 1e6
    mean, deviation = PAPER["cross_mean_bps"] / 1e6, PAPER["cross_std_bps"] / 1e6
    counted = (PAPER["source_bps"] / setting.udp_bps(PAPER["source_bps"])) if setting.payload else 1.0
    rates = [
        Interval(each.mean * counted, low * counted, high * counted, each.n)
        for each in (seen.mean, seen.deviation)
        for low, high in [_ends(each)]
    ]
    note = f"expected of these sources: {expected:.0f}; the text's times and mean contradict each other"
    low, high = _ends(seen.at_lag)
    less = Interval(0.2 - seen.at_lag.mean, 0.2 - high, 0.2 - low, 1)
    return [
        equal(
            "fig4",
            "mean of the cross traffic, Mbit/s",
            mean,
            rates[0],
            within=PAPER.within("cross_mean", mean),
            note=note,
        ),
        equal(
            "fig4", "sigma at 1.2 ms, Mbit/s", deviation, rates[1], within=PAPER.within("cross_deviation", deviation)
        ),
        equal(
            "fig4a",
            "largest distance to the normal distribution",
            0.0,
            seen.distance,
            within=PAPER.within("normal"),
            nulls=[UNIFORM],
            note="of distribution functions, in bins of 1.05 ms",
        ),
        sign("fig4b", "0.2 less the autocorrelation at 0.1 s", 1, less, f"autocorrelation: {seen.at_lag.mean:.3f}"),
    ]


def section(answers: Answers, setting: Setting) -> Section:
    """The density and the autocorrelation."""
    seen: Arrivals = answers[ARRIVALS]
    often = seen.share >= 5 * seen.share.min()
    step = float(np.diff(seen.rate).min())
    densities: list[Mark] = [
        Points(seen.rate[often], seen.share[often] / step, "cross traffic", Style(0)),
        Line(seen.rate, norm.pdf(seen.rate, seen.mean.mean, seen.deviation.mean), "normal", Style(0, dash=1)),
    ]
    lags = np.arange(1, seen.correlation.size + 1) * PAPER["cross_bin_s"]
    forgets = MEMORY_S / 2
    correlations: list[Mark] = [
        Line(lags, seen.correlation, "cross traffic", Style(0)),
        Line(lags, np.exp(-lags / forgets), "exp(-t/54.5 ms)", Style(3, dash=1)),
    ]
    on_s, off_s = setting.on_off_s
    spread = PAPER["source_bps"] * np.sqrt(PAPER["sources"] * on_s * off_s) / (on_s + off_s) / 1e6
    text = (
        "ON for 0.12 s and OFF for 0.1 s, as the text has it, makes a mean of 698 Mbit/s; exchanged, 582 Mbit/s, "
        "which is the mean that the text has.",
        f"32 independent sources have a standard deviation of {spread:.1f} Mbit/s either way, and exponential times "
        "an autocorrelation of exp(-t/54.5 ms): 0.16 after 0.1 s.",
        "The density is drawn in bins of 1.05 ms: a source that is ON sends exactly four packets in 1.2 ms, so "
        "that bins of that length hold multiples of four packets.",
    )
    rows = [
        (
            "ours, IP packets",
            *(f"{each:.3g}" for each in (seen.mean.mean, seen.deviation.mean, seen.distance.mean, seen.at_lag.mean)),
        ),
        ("the source", "580", "108", "", ""),
    ]
    header = ("cross traffic", "mean, Mbit/s", "sigma, Mbit/s", "distance to normal", "autocorrelation, 0.1 s")
    rate, lag = Axis("rate", "Mbit/s"), Axis("lag", "s", minimum=0.0)
    density = Plot([Panel(densities, rate, Axis("density", "s/Mbit"))], "Rate in bins of 1.05 ms.")
    memory = Plot([Panel(correlations, lag, Axis("autocorrelation"))], "Rate in bins of 1.2 ms.")
    figures = [
        Chart("fig4a", "Density of the cross traffic", density),
        Chart("fig4b", "Autocorrelation of the cross traffic", memory),
    ]
    table = Table("Bins of 1.2 ms", header, rows, numbers=range(1, 5))
    return Section("Figures 4 (a), (b): the cross traffic", text, [table], figures)


def points_once(setting: Setting) -> dict[str, Case]:
    """The same where many settings are judged: only what the sources depend on, done once a process."""
    arguments = (setting.exchanged, setting.payload, setting.datagram_bytes, setting.cross_s)
    return {ARRIVALS: Case("fig4: ON/OFF cross traffic", arrivals_once, arguments)}


@cache
def arrivals_once(exchanged: bool, payload: bool, datagram_bytes: int, seconds: float) -> Arrivals:
    """The arrivals of these sources."""
    setting = Setting(exchanged, payload=payload, datagram_bytes=datagram_bytes, cross_s=seconds, warm_up_s=2.0)
    answer: Arrivals = FIG4.cases(setting)[ARRIVALS].answer()
    return answer


FIG4 = Artefact("fig4", points, claims, section)
FIG4_ONCE = Artefact("fig4", points_once, claims)
