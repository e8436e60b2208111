"""Figure 1, packet by packet: a Reno flow under independent losses, and why it sends less than the chain at 2 %.

References: Loiseau 2010, §4.1.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from parshall.models import large_deviations as ld
from parshall.models.loss import Bernoulli
from parshall.models.markov import chain
from parshall.report.document import Drawn, Section, Table
from parshall.runs import Run
from parshall.stats.spectrum import interval_means
from parshall.studies.check import Check
from parshall.studies.large_deviations import network, published
from parshall.studies.large_deviations.spectra import Beyond, bounds_check, bounds_plot, spectra_plot
from parshall.studies.study import Scale

WAITS_S = 0.15
"""Rounds of this length wait for a timeout (of 0.2 s and more); others last one or two RTTs of 12 ms."""


def independent(scale: Scale) -> tuple[list[Check], Section]:
    """Losses on the medium, at the source's rate and at one where timeouts are rare."""
    checks: list[Check] = []
    rows, figures = [], []
    for loss in (published.P_PACKET, published.P_PACKET / 10):
        link = {**network.LINK, "loss": {"name": "bernoulli", "probability": loss}}
        done = network.simulated(link, [network.TCP], 3660 if scale == "paper" else 960)
        rounds = network.rounds_of(done)
        series, theory = network.per_rtt(rounds), ld.spectrum(Bernoulli(loss))
        mean, case = float(series.mean()), f"packet simulation, p = {loss:g}"
        waits = (
            f"{100 * _waiting(rounds):.1f} % of the time is spent waiting for timeouts, which the chain does not have"
        )
        checks += [
            Check("fig1a", f"{case}: mean, packets per RTT", theory.mean, mean, None, None, 0.02 * theory.mean, waits),
            *bounds_check(
                f"fig1b, p = {loss:g}",
                series,
                theory,
                (200, 500, 1000),
                chain(Bernoulli(loss)),
                beyond=_without_waits(rounds),
            ),
        ]
        rows.append(_row(loss, done, rounds, theory.mean))
        figures += [
            Drawn(f"fig1a-packets-{loss:g}", f"Spectra, p = {loss:g}", spectra_plot(series, theory, case)),
            Drawn(f"fig1b-packets-{loss:g}", f"Observed range, p = {loss:g}", bounds_plot(series, theory)),
        ]
    text = (
        "At 2 % losses the flow waits for timeouts, which the chain does not have. A window of a few packets that "
        "loses gets too few duplicate ACKs to notice; the timer takes 0.2 s, 17 RTTs of 12 ms. The table has the"
        " share of the time that passes so, and the mean over the rest of the time: what is left of the difference "
        "has the round trip that a loss takes to be found, and that of the recovery.",
    )
    header = (
        "p",
        "mean, simulated",
        "chain",
        "difference",
        "timeouts a 1000 RTTs",
        "time waiting",
        "rest",
        "difference",
    )
    table = Table("Packets per RTT", header, rows, numbers=range(1, 8))
    return checks, Section("Figure 1, packet by packet", text, [table], figures)


def _without_waits(rounds: pl.DataFrame) -> Beyond:
    """`beyond` of `bounds_check`: the same extreme with the rounds left out that wait for a timeout."""
    waits = rounds["length_s"].to_numpy() > WAITS_S
    rest = rounds.filter(~waits)
    moved = rest.with_columns(start_s=pl.Series(np.concatenate([[0.0], np.cumsum(rest["length_s"].to_numpy())[:-1]])))
    series = network.per_rtt(moved)

    def said(scale: int, highest: bool, bound: float, middle: float) -> str:
        del bound, middle
        means = interval_means(series, scale)
        extreme = float(means.max() if highest else means.min())
        return f"without the {int(waits.sum())} rounds that wait for a timeout, which the chain has not: {extreme:.4g}"

    return said


def _row(loss: float, done: Run, rounds: pl.DataFrame, chain: float) -> tuple[str, ...]:
    """Where the time goes: waiting for timeouts, and the mean over the rest."""
    length, sent = (rounds[name].to_numpy() for name in ("length_s", "window_packets"))
    waiting = length > WAITS_S
    mean = float(sent.sum() / length.sum()) * published.RTT_S
    rest = float(sent[~waiting].sum() / length[~waiting].sum()) * published.RTT_S
    trips = float(length.sum()) / published.RTT_S
    timeouts = 1000 * float(done.flows["timeouts"][0]) / trips
    return (
        f"{loss:g}",
        f"{mean:.3f}",
        f"{chain:.3f}",
        f"{100 * (mean / chain - 1):+.1f} %",
        f"{timeouts:.2f}",
        f"{100 * _waiting(rounds):.1f} %",
        f"{rest:.3f}",
        f"{100 * (rest / chain - 1):+.1f} %",
    )


def _waiting(rounds: pl.DataFrame) -> float:
    """Share of the time spent in rounds that wait for a timeout."""
    length = rounds["length_s"].to_numpy()
    return float(np.sum(length[length > WAITS_S]) / length.sum())
