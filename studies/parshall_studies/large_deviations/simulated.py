"""Figure 1, packet by packet: a Reno flow under independent losses, beside the chain with recovery and timeouts.

References: Loiseau 2010, §4.1.
"""

from __future__ import annotations

from parshall.report.document import Chart, Section, Table
from parshall.studies.study import Findings, Scale
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains import variants
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.chains.recovery import IndependentLosses
from parshall_studies.large_deviations import network
from parshall_studies.large_deviations.cases import CaseFindings, together
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.record import TIMEOUT
from parshall_studies.large_deviations.spectra import bounds_plot, extremes_checks, mean_check, spectra_plot

LOSSES = ((PAPER["p_packet"],), (PAPER["p_packet"] / 10,))
"""The cases of `at_loss`: the source's rate, and one where timeouts are rare."""


def at_loss(loss: float, scale: Scale) -> CaseFindings:
    """Losses on the medium."""
    link = {**network.LINK, "loss": {"name": "bernoulli", "probability": loss}}
    measured = network.measured(link, [network.TCP], 3660 if scale == "paper" else 960)
    record = measured.record
    recovery = IndependentLosses(loss, network.TIMEOUT_S / PAPER["rtt_s"])
    w_max = 12 / loss**0.5
    chain = ld.spectrum(Bernoulli(loss))
    theory = variants.spectrum("reno", loss, w_max=w_max, recovery=recovery)
    without = variants.epochs("reno", loss, w_max=w_max, recovery=IndependentLosses(loss)).mean
    label = f"packets, p = {loss:g}"
    waiting = float(record.rtts[record.repairing & (record.kind == TIMEOUT)].sum() / record.rtts.sum())
    timeouts = 1000 * measured.timeouts / float(record.rtts.sum())
    checks = [
        mean_check("fig1a", label, record, theory, "the chain with recovery and timeouts"),
        *extremes_checks("fig1b", label, record.throughput, theory, (200, 500, 1000)),
    ]
    row = (
        f"{loss:g}",
        f"{record.mean:.3f}",
        f"{chain.mean:.3f}",
        f"{100 * (chain.mean / record.mean - 1):+.1f} %",
        f"{without:.3f}",
        f"{theory.mean:.3f}",
        f"{100 * (theory.mean / record.mean - 1):+.1f} %",
        f"{timeouts:.2f}",
        f"{100 * waiting:.1f} %",
    )
    theories = {"eq. (2)": chain, "with recovery and timeouts": theory}
    figures = [
        Chart(f"fig1a-packets-{loss:g}", f"Spectra, p = {loss:g}", spectra_plot(record.throughput, theories, label)),
        Chart(f"fig1b-packets-{loss:g}", f"Observed range, p = {loss:g}", bounds_plot(record.throughput, theories)),
    ]
    return CaseFindings(checks, row, figures)


def independent(results: list[CaseFindings]) -> Findings:
    """Both rates."""
    checks, rows, figures = together(results)
    text = (
        "The chain of eq. (2) halves in the round trip after a loss and climbs on. A sender finds the loss one "
        "round trip later, in which the window still grows, and repairs it in another, in which it does not. If "
        "the retransmission is lost too, it waits for the timer of 0.2 s, 17 round trips of 12 ms. The chain with "
        "recovery and timeouts (`models.recovery`) has all of this from p alone; at 2 % losses it is the timeouts "
        "that count.",
    )
    header = (
        "p",
        "mean, simulated",
        "eq. (2)",
        "error",
        "with recovery",
        "and timeouts",
        "error",
        "timeouts a 1000 RTTs",
        "time in them",
    )
    table = Table("Packets per RTT", header, rows, numbers=range(1, 9))
    return Findings(checks, [Section("Figure 1, packet by packet", text, [table], figures)])
