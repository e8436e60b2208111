"""One Reno flow, packet by packet: under independent losses, constant and ON/OFF cross traffic (Figs 3 to 5).

The source resamples cwnd at the RTT rate. Here the packets sent are counted in consecutive intervals of one RTT,
from the `rounds` records: a round of recovery lasts two RTTs, and its packets are spread over both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from parshall.models import large_deviations as ld
from parshall.models.inputs import FloatArray
from parshall.models.loss import Bernoulli, Deterministic, GaussianCrossTraffic
from parshall.models.measured_loss import Measured, measured
from parshall.report.document import Drawn, Section
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.runs import run
from parshall.scenario import Scenario
from parshall.stats.spectrum import interval_means
from parshall.studies.check import Check
from parshall.studies.large_deviations import published
from parshall.studies.large_deviations.spectra import bounds_check, bounds_plot, spectra_plot
from parshall.studies.study import Scale

WARM_UP_S = 60.0
TCP = {"name": "tcp", "rtt": "12 ms", "congestion_control": "reno", "packet_size": "1500 B"}
LINK = {"rate": "1 Gbit/s", "queue": {"name": "drop_tail", "limit": "96 packets"}}
ON_OFF = {
    "name": "on_off_cbr",
    "rate": "40 Mbit/s",
    "on": {"name": "exponential", "mean": "0.12 s"},
    "off": {"name": "exponential", "mean": "0.1 s"},
}


def independent(scale: Scale) -> tuple[list[Check], Section]:
    """Losses on the medium, at the source's rate and at one where timeouts are rare."""
    checks: list[Check] = []
    text: list[str] = []
    figures: list[Drawn] = []
    for loss in (published.P_PACKET, published.P_PACKET / 10):
        link = {**LINK, "loss": {"name": "bernoulli", "probability": loss}}
        rounds = _rounds(link, [TCP], 3660 if scale == "paper" else 1560)
        series, theory = per_rtt(rounds), ld.spectrum(Bernoulli(loss))
        mean, case = float(series.mean()), f"packet simulation, p = {loss:g}"
        waits = float(np.mean(rounds["length_s"].to_numpy() > 0.15))
        checks += [
            Check("fig1a", f"{case}: mean, packets per RTT", theory.mean, mean, None, None, 0.02 * theory.mean),
            *bounds_check(f"fig1b, p = {loss:g}", series, theory, (200, 500, 1000)),
        ]
        text.append(
            f"At p = {loss:g} the simulated mean is {mean:.3f} packets per RTT, the chain's {theory.mean:.3f}: "
            f"{100 * (mean / theory.mean - 1):+.1f} %. {100 * waits:.2f} % of the rounds wait for a timeout.",
        )
        figures += [
            Drawn(f"fig1a-packets-{loss:g}", f"Spectra, p = {loss:g}", spectra_plot(series, theory, case)),
            Drawn(f"fig1b-packets-{loss:g}", f"Observed range, p = {loss:g}", bounds_plot(series, theory)),
        ]
    text.append(
        "The chain has no timeouts, which small windows wait for, and halves at once, where a flow learns of a loss "
        "one RTT later. Both matter less, the larger the window."
    )
    return checks, Section("Figure 1, packet by packet", text, figures=figures)


def constant(scale: Scale) -> tuple[list[Check], Section]:
    """Fig. 3: constant cross traffic of 833 Mbit/s."""
    udp = {"name": "udp", "rtt": "12 ms", "packet_size": "1500 B", "workload": {"name": "cbr", "rate": "833 Mbit/s"}}
    rounds = _rounds(LINK, [TCP, udp], 3660 if scale == "paper" else 180)
    series, theory = per_rtt(rounds), ld.spectrum(Deterministic(published.CONSTANT_RANGE[1]))
    whole = rounds.filter(pl.col("length_s") < 1.5 * published.RTT_S)["window_packets"]
    low, high = (float(whole.quantile(at) or 0) for at in (0.001, 0.999))
    note = "167 packets per RTT are left in ours, not 147"
    checks = [
        Check("fig3", "chain: mean, packets per RTT", published.CONSTANT_MEAN, theory.mean, None, None, 1e-6),
        Check(
            "fig3",
            "simulated: mean, packets per RTT",
            published.CONSTANT_MEAN,
            float(series.mean()),
            None,
            None,
            5.5,
            note,
        ),
        Check("fig3", "simulated: lowest window, packets", published.CONSTANT_RANGE[0], low, None, None, 3.7, note),
        Check("fig3", "simulated: highest window, packets", published.CONSTANT_RANGE[1], high, None, None, 7.4, note),
    ]
    spread = [float(np.ptp(interval_means(series, n))) for n in (100, 200, 500)]
    text = (
        f"The window climbs from {low:.0f} to {high:.0f} packets and falls back, in a strict period. "
        f"Means over 100, 200 and 500 RTTs differ by {spread[0]:.1f}, {spread[1]:.1f} and {spread[2]:.1f} packets: "
        "the spectrum shrinks to a point.",
        "The testbed leaves the flow 147 packets per RTT; 1 Gbit/s less 833 Mbit/s are 167 packets of 1500 bytes.",
    )
    own = ld.spectrum(Deterministic(round(high)))
    figures = [Drawn("fig3a", "Spectra", spectra_plot(series, own, "Constant cross traffic, packet simulation"))]
    return checks, Section("Figure 3: constant cross traffic", text, figures=figures)


def on_off(scale: Scale) -> tuple[list[Check], Section]:
    """Figs 4(c) and 5: 32 ON/OFF sources of 40 Mbit/s."""
    udp = {"name": "udp", "count": 32, "rtt": "12 ms", "packet_size": "1500 B", "workload": ON_OFF}
    rounds = _rounds(LINK, [TCP, udp], 3660 if scale == "paper" else 660)
    series = per_rtt(rounds)
    loss = measured(rounds["window_packets"].to_numpy(), rounds["lost"].to_numpy())
    model = GaussianCrossTraffic(
        published.CAPACITY_BPS,
        published.CROSS_MEAN_BPS,
        published.CROSS_STD_BPS,
        published.RTT_S,
        published.PACKET_BYTES,
    )
    theory, from_record = ld.spectrum(model), ld.spectrum(loss)
    means = interval_means(series, 1000)
    lowest, highest = published.ON_OFF_RANGE
    share = 0.05 if scale == "paper" else 0.15
    checks = [
        Check("fig5", "simulated: lowest mean over 1000 RTTs", lowest, float(means.min()), None, None, share * lowest),
        Check(
            "fig5", "simulated: highest mean over 1000 RTTs", highest, float(means.max()), None, None, share * highest
        ),
    ]
    length = 300_000
    for name, spectrum in (("eq. (11)", theory), ("measured p(w)", from_record)):
        low, high = spectrum.bounds(length, 1000)
        checks.append(Check("fig5", f"{name}: lowest over 1000 RTTs, 1 h", lowest, low, None, None, 0.05 * lowest))
        checks.append(Check("fig5", f"{name}: highest over 1000 RTTs, 1 h", highest, high, None, None, 0.05 * highest))
    checks += bounds_check("fig5b, simulated", series, from_record, (200, 500, 1000))
    text = (
        f"Mean: {series.mean():.1f} packets per RTT simulated, {theory.mean:.1f} by eq. (11), {from_record.mean:.1f} "
        f"by the measured p(w) ({loss.smoothing}).",
        "Eq. (11) takes losses of different round trips as independent; ON periods last ten RTTs, losses come in "
        "groups, and our buffer absorbs what the normal model counts as lost.",
    )
    figures = [
        Drawn("fig4c", "Loss probability", _loss_plot(loss, model)),
        Drawn("fig5a", "Spectra", spectra_plot(series, from_record, "ON/OFF cross traffic; theory: measured p(w)")),
        Drawn("fig5b", "Observed range", bounds_plot(series, from_record)),
    ]
    return checks, Section("Figures 4 and 5: ON/OFF cross traffic", text, figures=figures)


def per_rtt(rounds: pl.DataFrame) -> FloatArray:
    """Packets sent in consecutive intervals of one RTT, shape (N,); a round's packets are spread over its length."""
    start, length = rounds["start_s"].to_numpy(), rounds["length_s"].to_numpy()
    sent = np.concatenate([[0.0], np.cumsum(rounds["window_packets"].to_numpy(), dtype=np.float64)])
    times = np.append(start, start[-1] + length[-1])
    grid = np.arange(times[0], times[-1], published.RTT_S)
    return np.asarray(np.diff(np.interp(grid, times, sent)))


def _rounds(link: dict[str, Any], flows: list[dict[str, Any]], duration_s: int) -> pl.DataFrame:
    """The TCP flow's rounds after the warm-up, with their lengths."""
    probes = {"rounds": 1, "flow_samples": False, "link_samples": False, "transfers": False}
    scenario = Scenario(
        duration=f"{duration_s} s",
        warm_up=f"{WARM_UP_S:g} s",
        bottleneck=link,
        flows=flows,
        probes=probes,
    )
    table = run(scenario).rounds
    assert table is not None  # noqa: S101 - the probe is on
    rounds = table.filter(pl.col("flow") == 0).sort("round")
    lengths = rounds.with_columns(length_s=pl.col("start_s").shift(-1) - pl.col("start_s"))
    return lengths.filter((pl.col("start_s") >= WARM_UP_S) & pl.col("length_s").is_not_null())


def _loss_plot(loss: Measured, model: GaussianCrossTraffic) -> Plot:
    seen = loss.rounds > 0
    w = loss.window[seen]
    points = Points(w, loss.probability[seen], "measured", Style(1), loss.low[seen], loss.high[seen])
    line = Line(w, model(w), "eq. (11)", Style(0))
    axes = Axis("window", "packets"), Axis("p(w)")
    return Plot(
        [Panel([line, points], *axes)], "Share of round trips that lose a packet. Bars: 95 % (Clopper-Pearson)."
    )
