"""Figures 4 and 5: random ON/OFF cross traffic; its own statistics, the loss probability, the spectra.

The text's ON and OFF times (0.12 s and 0.1 s) contradict its mean rate: 32 sources of 40 Mbit/s would send 698 Mbit/s,
not 580. Exchanged they send 582 Mbit/s. Both are simulated: `network.AS_STATED` and `network.AS_MEASURED`.

References: Loiseau 2010, §4.2, Figs 4 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from parshall.models import large_deviations as ld
from parshall.models.inputs import FloatArray
from parshall.models.loss import GaussianCrossTraffic, LossFunction
from parshall.models.markov import chain
from parshall.models.measured_loss import Measured, measured
from parshall.models.persistent_loss import measured_persistent
from parshall.models.variants import spectrum as variant_spectrum
from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Line, Mark, Panel, Plot, Points, Style
from parshall.stats.confidence import mean_interval
from parshall.stats.spectrum import interval_means
from parshall.studies.check import Check
from parshall.studies.large_deviations import network, published
from parshall.studies.large_deviations.cases import Found, together
from parshall.studies.large_deviations.constant import window_plot
from parshall.studies.large_deviations.spectra import bounds_check, bounds_plot, by_memory, known_bound, spectra_plot
from parshall.studies.study import Scale

READ_OFF = 0.05
"""What can be read off a plot whose axis runs from 0 to 1, and off a range of round numbers."""
MEMORY = 10
"""Round trips for which a loss matters: 0.12 s, an ON time."""
PUBLISHED_LOSS = GaussianCrossTraffic(
    published.CAPACITY_BPS, published.CROSS_MEAN_BPS, published.CROSS_STD_BPS, published.RTT_S, published.PACKET_BYTES
)


def statistics(scale: Scale) -> tuple[list[Check], Section]:
    """Figs 4(a), 4(b): the cross traffic alone, in bins of the buffer's drain time."""
    seconds = network.WARM_UP_S + (600 if scale == "paper" else 60)
    checks: list[Check] = []
    densities: list[Mark] = []
    correlations: list[Mark] = []
    rows = []
    for place, (words, sources) in enumerate(_readings()):
        rate = _arriving(sources, seconds)
        mean, deviation = float(rate.mean()), float(rate.std(ddof=1))
        lags = np.arange(1, round(0.4 / published.CROSS_BIN_S))
        correlation = _autocorrelation(rate, lags)
        at_mean_on = float(np.interp(0.1, lags * published.CROSS_BIN_S, correlation))
        distance = _distance_to_normal(rate)
        checks += [
            Check("fig4", f"{words}: mean, Mbit/s", 580.0, mean / 1e6, *_interval(rate / 1e6), 0.01 * 580, MEANS),
            Check(
                "fig4",
                f"{words}: sigma at 1.2 ms, Mbit/s",
                108.0,
                deviation / 1e6,
                *_deviation_interval(rate / 1e6),
                0.05 * 108,
                "expected of 32 independent sources: 112.3, whichever way the times are",
            ),
            Check("fig4a", f"{words}: largest distance to the normal distribution", 0.0, distance, None, None, 0.05),
            Check("fig4b", f"{words}: autocorrelation at 0.1 s", None, at_mean_on, None, None, 0.0),
        ]
        cells = f"{mean / 1e6:.0f}", f"{deviation / 1e6:.1f}", f"{distance:.3f}", f"{at_mean_on:.2f}"
        rows.append((words, *cells))
        height, edges = np.histogram(rate / 1e6, 80, density=True)
        middle = (edges[:-1] + edges[1:]) / 2
        densities += [
            Points(middle, height, words, Style(place)),
            Line(middle, norm.pdf(middle, mean / 1e6, deviation / 1e6), f"normal, {words}", Style(place, dash=1)),
        ]
        correlations.append(Line(lags * published.CROSS_BIN_S, correlation, words, Style(place)))
    decay = np.arange(1, 400) * 1e-3
    forgets = published.ON_S * published.OFF_S / (published.ON_S + published.OFF_S)
    correlations.append(Line(decay, np.exp(-decay / forgets), "exp(-t/54.5 ms)", Style(3, dash=1)))
    peak = published.SOURCE_BPS * np.sqrt(published.SOURCES * 0.12 * 0.1) / 0.22 / 1e6
    text = (
        "ON for 0.12 s and OFF for 0.1 s, as the text has it, makes a mean of 698 Mbit/s; exchanged, 582 Mbit/s, which "
        "is the mean that the text has. So the source's cross traffic was the exchanged one, or its sources did not "
        "send at 40 Mbit/s while ON.",
        f"32 independent sources have a standard deviation of {peak:.1f} Mbit/s either way, and exponential times an "
        "autocorrelation of exp(-t/54.5 ms): 0.16 after 0.1 s.",
    )
    header = ("ON and OFF times", "mean, Mbit/s", "sigma, Mbit/s", "distance to normal", "autocorrelation, 0.1 s")
    rows.append(("the source", "580", "108", "", ""))
    rate_axis, lag_axis = Axis("rate", "Mbit/s"), Axis("lag", "s", minimum=0.0)
    figures = [
        Drawn(
            "fig4a",
            "Density of the cross traffic",
            Plot([Panel(densities, rate_axis, Axis("density", "s/Mbit"))], "Rate in bins of 1.2 ms."),
        ),
        Drawn(
            "fig4b",
            "Autocorrelation of the cross traffic",
            Plot([Panel(correlations, lag_axis, Axis("autocorrelation"))], "Rate in bins of 1.2 ms."),
        ),
    ]
    table = Table("Bins of 1.2 ms", header, rows, numbers=range(1, 5))
    return checks, Section("Figures 4 (a), (b): the cross traffic", text, [table], figures)


LEFT = {"as stated": 302, "exchanged": 418, "on Ethernet": 382}
"""Packets per RTT of 12 ms that the cross traffic leaves on average: the same number in Mbit/s."""
MEANS = "expected: 698 with the text's ON and OFF times, 582 with the two exchanged; the text contradicts itself"
PLACES = ((0,), (1,), (2,))
"""The cases of `in_reading`: places in `_flow_readings`."""


def in_reading(place: int, scale: Scale) -> Found:
    """A Reno flow in the cross traffic of a reading."""
    link, words, sources = _flow_readings()[place]
    name = words.replace(" ", "-")
    rounds = network.rounds(link, [network.TCP, sources], 3660 if scale == "paper" else 210)
    series = network.per_rtt(rounds)
    window, lost = rounds["window_packets"].to_numpy(), rounds["lost"].to_numpy()
    loss = measured(window, lost)
    fitted, m_dependent = ld.spectrum(loss), m_dependent_chain(window, lost)
    means = interval_means(series, 1000)
    beyond = by_memory(series, m_dependent)
    checks = [
        *_range_checks(words, means, series.size, scale, m_dependent),
        *bounds_check(f"fig5b, {words}", series, fitted, (200, 500, 1000), chain(loss), beyond=beyond),
    ]
    bounds = fitted.bounds(series.size, 1000)
    row = (
        words,
        *(f"{each:.0f}" for each in (series.mean(), fitted.mean, m_dependent.mean)),
        f"{means.min():.0f} .. {means.max():.0f}",
        f"{bounds[0]:.0f} .. {bounds[1]:.0f}",
        "{:.0f} .. {:.0f}".format(*m_dependent.bounds(series.size, 1000)),
    )
    figures = [
        Drawn(f"window-{name}", f"Window over time, {words}", window_plot(rounds)),
        Drawn(f"fig4c-{name}", f"Loss probability, {words}", loss_plot(loss)),
        Drawn(f"fig5a-{name}", f"Spectra, {words}", spectra_plot(series, fitted, "Theory: measured p(w)")),
        Drawn(f"fig5b-{name}", f"Observed range, {words}", bounds_plot(series, fitted)),
    ]
    return Found(checks, row, figures)


def flow(found: list[Found]) -> tuple[list[Check], Section]:
    """Figs 4(c) and 5: a Reno flow in it."""
    checks, rows, figures = together(found)
    by_model = ld.spectrum(PUBLISHED_LOSS)
    low, high = by_model.bounds(300_000, 1000)
    for words, said, ours in (
        ("lowest", published.ON_OFF_RANGE[0], low),
        ("highest", published.ON_OFF_RANGE[1], high),
    ):
        checks.append(Check("fig5", f"eq. (11): {words} over 1000 RTTs, 1 h", said, ours, None, None, READ_OFF * said))
    rows.append(("eq. (11), 580 Mbit/s", "", f"{by_model.mean:.0f}", "", "", f"{low:.0f} .. {high:.0f}", ""))
    header = (
        "ON and OFF times",
        "mean",
        "chain's mean",
        "m-dependent",
        "over 1000 RTTs",
        "chain",
        "m-dependent",
    )
    text = (
        "Windows in packets per RTT. The chain has the measured p(w); the m-dependent chain the measured p(w, k) for "
        f"the first {MEMORY} round trips after a loss, which the source proposes: losses follow losses, since an ON "
        "time lasts ten RTTs.",
        "On Ethernet: exchanged ON and OFF times, 40 Mbit/s of payload and a link of Gigabit Ethernet, the reading of "
        "rates that has the published windows of Fig. 3. It leaves the flow "
        f"{(network.ETHERNET_BPS - 581.8e6 * network.OF_PAYLOAD) / 1e6:.0f} Mbit/s on average; exchanged alone leaves "
        "418, the text's times 302.",
        "Simulated p(w) rises later than eq. (11): the buffer absorbs what the normal model counts as lost, and "
        "the flow sends its window in bursts that ACKs clock.",
    )
    table = Table("Throughput, packets per RTT", header, rows, numbers=range(1, 7))
    return checks, Section("Figures 4 (c) and 5: a Reno flow in ON/OFF cross traffic", text, [table], figures)


def loss_plot(loss: Measured, models: Mapping[str, LossFunction] | None = None) -> Plot:
    """p(w) measured, and models: eq. (11) with the source's values."""
    models = {"eq. (11), published values": PUBLISHED_LOSS} if models is None else models
    seen = loss.rounds > 0
    w = loss.window[seen]
    points = Points(w, loss.probability[seen], "measured", Style(1), loss.low[seen], loss.high[seen])
    lines = [Line(w, model(w), name, Style(0)) for name, model in models.items()]
    axes = Axis("window", "packets"), Axis("p(w)")
    caption = "Share of round trips that lose a packet. Bars: 95 % (Clopper-Pearson)."
    return Plot([Panel([*lines, points], *axes)], caption)


def _flow_readings() -> list[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Link, words, sources."""
    readings = [(network.LINK, *reading) for reading in _readings()]
    return [*readings, (network.ETHERNET, "on Ethernet", network.AS_PAYLOAD)]


def _readings() -> tuple[tuple[str, dict[str, Any]], ...]:
    return (("as stated", network.AS_STATED), ("exchanged", network.AS_MEASURED))


def m_dependent_chain(window: FloatArray, lost: FloatArray) -> ld.Spectrum:
    """Reno's chain in which losses follow losses: with the measured p(w, k)."""
    losses = measured_persistent(window, lost, MEMORY)
    return variant_spectrum("reno", losses, w_max=float(2 * window.max()), grid=256)


def _range_checks(words: str, means: FloatArray, length: int, scale: Scale, memory: ld.Spectrum) -> list[Check]:
    lowest, highest = published.ON_OFF_RANGE
    # In a shorter record the extremes of fewer intervals are nearer to the mean.
    share = READ_OFF if scale == "paper" else 3 * READ_OFF
    hour = round(3600 / published.RTT_S)
    found = []
    for name, said, seen in (("lowest", lowest, float(means.min())), ("highest", highest, float(means.max()))):
        note = f"{length} RTTs; this reading leaves the flow {LEFT[words]} packets per RTT on average"
        here, there = (known_bound(memory, n, 1000, highest=name == "highest") for n in (length, hour))
        if here is not None and there is not None:
            note += f"; the chain with p(w, k) has it at {here:.0f} in these, at {there:.0f} in an hour"
        found.append(Check("fig5", f"{words}: {name} mean over 1000 RTTs", said, seen, None, None, share * said, note))
    return found


def _arriving(sources: dict[str, Any], seconds: float) -> FloatArray:
    """The rate that arrives at an uncontended link, bit/s, in bins of the buffer's drain time."""
    probes = {"rounds": 0, "link_samples": f"{published.CROSS_BIN_S:g} s"}
    table = network.simulated(network.WIDE, [sources], seconds, probes=probes).link_samples
    assert table is not None  # noqa: S101 - the probe is on
    settled = table.filter(table["time_s"] >= network.WARM_UP_S)["arrivals_packets"].to_numpy()
    return np.asarray(settled * (8 * published.PACKET_BYTES / published.CROSS_BIN_S), dtype=np.float64)


def _interval(x: FloatArray) -> tuple[float, float]:
    """95 % interval of the mean, from means over a second: twenty times the memory of the cross traffic."""
    found = mean_interval(interval_means(x, round(1 / published.CROSS_BIN_S)))
    half = found.half_width or 0.0
    return found.mean - half, found.mean + half


def _deviation_interval(x: FloatArray) -> tuple[float, float]:
    """95 % interval of the standard deviation."""
    low, high = _interval((x - x.mean()) ** 2)
    return float(np.sqrt(max(low, 0.0))), float(np.sqrt(high))


def _autocorrelation(x: FloatArray, lags: NDArray[np.int64]) -> FloatArray:
    centred = x - x.mean()
    power = np.abs(np.fft.rfft(centred, 2 * x.size)) ** 2
    covariance = np.fft.irfft(power)[: x.size]
    return np.asarray(covariance[lags] / covariance[0])


def _distance_to_normal(x: FloatArray) -> float:
    """Kolmogorov's distance to the normal distribution with the same mean and deviation, at the bins' own steps."""
    values, counts = np.unique(x, return_counts=True)
    share = np.cumsum(counts) / x.size - counts / (2 * x.size)
    return float(np.abs(share - norm.cdf(values, x.mean(), x.std(ddof=1))).max())
