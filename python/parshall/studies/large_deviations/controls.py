"""Figures 8 and 9: BIC, HighSpeed and CUBIC in ON/OFF cross traffic; and what the source leaves to others, predictions.

Predicted spectra are those of the chains with augmented state (`models.variants`), held against packets sent under
independent losses, where p(w) is known, and under the cross traffic, where it is measured.

References: Loiseau 2010, §5.3, Figs 8 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parshall.models import variants
from parshall.models.inputs import FloatArray
from parshall.models.large_deviations import Spectrum
from parshall.models.loss import Bernoulli
from parshall.models.measured_loss import measured
from parshall.models.persistent_loss import measured_persistent
from parshall.report.document import Drawn, Section, Table
from parshall.stats.spectrum import interval_means, superimpose
from parshall.studies.check import Check
from parshall.studies.large_deviations import network, published
from parshall.studies.large_deviations.cases import Found, together
from parshall.studies.large_deviations.cross_traffic import MEMORY, PUBLISHED_LOSS, READ_OFF, loss_plot
from parshall.studies.large_deviations.spectra import bounds_plot, spectra_plot
from parshall.studies.study import Scale
from parshall.traces.flow import clopper_pearson

SCALES = (200, 500, 1000)
FIGURES = {"bic": "a", "highspeed": "b", "cubic": "c"}


@dataclass(frozen=True)
class Case:
    """A control under independent losses: the loss probability, the RTT, simulated seconds (quick, paper)."""

    control: str
    loss: float
    rtt_s: float
    seconds: tuple[float, float]


CASES = (
    Case("bic", 1e-3, 0.012, (480, 3660)),
    Case("highspeed", 1e-3, 0.012, (600, 3660)),
    Case("cubic", 1e-4, 0.1, (2400, 36_000)),
    Case("scalable", 1e-3, 0.012, (600, 3660)),
)


IN_IT = tuple((control,) for control in FIGURES)
"""The cases of `in_cross_traffic`."""
UNDER_LOSSES = tuple((case,) for case in CASES)
"""The cases of `under_losses`."""


def in_cross_traffic(control: str, scale: Scale) -> Found:
    """A control of Figs 8 and 9."""
    letter = FIGURES[control]
    tcp = {**network.TCP, "congestion_control": control}
    rounds = network.rounds(network.ETHERNET, [tcp, network.AS_PAYLOAD], 3660 if scale == "paper" else 150)
    window, lost = rounds["window_packets"].to_numpy(), rounds["lost"].to_numpy()
    series, loss = network.per_rtt(rounds), measured(window, lost)
    together = superimpose(series, (100, 200, 500))
    persistent = measured_persistent(window, lost, MEMORY)
    theory = variants.spectrum(control, persistent, rtt_s=published.RTT_S, w_max=float(2 * window.max()))
    checks = [
        *_losses(letter, control, window, lost),
        _one_spectrum(letter, control, together.p_value),
        _extended(f"fig9{letter}", control, series, theory),
    ]
    figures = [
        Drawn(f"fig8{letter}", f"Loss probability, {control}", loss_plot(loss)),
        Drawn(f"fig9{letter}", f"Spectra, {control}", spectra_plot(series, theory, "Theory: chain, p(w, k)")),
    ]
    return Found(checks, _row(control, series, theory), figures)


def cross_traffic(found: list[Found]) -> tuple[list[Check], Section]:
    """Figs 8 and 9."""
    text = (
        "Cross traffic and link as on Ethernet in Fig. 5. The theory is beyond the source: chains whose state "
        "is the window at the last loss and the time since, with the measured p(w, k).",
        "The source says that eq. (11) models p(w) of all three. Ours is about half of it at large windows, since the "
        "buffer takes up what the normal model counts as lost; at smaller ones losses follow losses.",
    )
    return _joined("Figures 8 and 9: other controls", text, found)


def under_losses(case: Case, scale: Scale) -> Found:
    """A control's predicted spectrum against its packets."""
    link = {**network.WIDE, "loss": {"name": "bernoulli", "probability": case.loss}}
    tcp = {**network.TCP, "congestion_control": case.control, "rtt": f"{case.rtt_s:g} s"}
    seconds = network.WARM_UP_S + case.seconds[scale == "paper"]
    series = network.per_rtt(network.rounds(link, [tcp], seconds), case.rtt_s)
    theory = variants.spectrum(case.control, Bernoulli(case.loss), rtt_s=case.rtt_s)
    words = f"{case.control}, p = {case.loss:g}"
    figures = [
        Drawn(f"spectra-{case.control}", f"Spectra, {case.control}", spectra_plot(series, theory, "Predicted")),
        Drawn(f"range-{case.control}", f"Observed range, {case.control}", bounds_plot(series, theory)),
    ]
    return Found([_extended("variants", words, series, theory)], _row(words, series, theory), figures)


def independent(found: list[Found]) -> tuple[list[Check], Section]:
    """Predicted spectra of the four controls against packets under independent losses."""
    text = (
        "Nothing is fitted: the chains know the control's rules and p. Errors are of the prediction, relative to what "
        "the packets did; those of extremes contain chance, a few per cent.",
        "What the chains leave out: a loss is found one round trip after it happened, in which the window still grows "
        "(by up to 32 packets for BIC, 1 % for Scalable), and cycles are longer by half a round trip on average.",
    )
    return _joined("Beyond the source: predicted spectra", text, found)


def _joined(title: str, text: tuple[str, ...], found: list[Found]) -> tuple[list[Check], Section]:
    checks, rows, figures = together(found)
    return checks, Section(title, text, [_table(rows)], figures)


def errors(series: FloatArray, theory: Spectrum, scale: int) -> tuple[float, float]:
    """Relative errors of alpha_min and alpha_max at a scale."""
    means = interval_means(series, scale)
    low, high = theory.bounds(series.size, scale)
    return low / float(means.min()) - 1, high / float(means.max()) - 1


def _row(words: str, series: FloatArray, theory: Spectrum) -> tuple[str, ...]:
    cells = [words, f"{series.mean():.1f}", f"{theory.mean:.1f}", f"{100 * (theory.mean / series.mean() - 1):+.1f} %"]
    for scale in SCALES:
        low, high = errors(series, theory, scale)
        cells.append(f"{100 * low:+.0f} %, {100 * high:+.0f} %")
    return tuple(cells)


def _table(rows: list[tuple[str, ...]]) -> Table:
    scales = [f"errors of the range, n = {scale}" for scale in SCALES]
    header = ("control", "mean, simulated", "predicted", "error", *scales)
    return Table("Packets per RTT", header, rows, numbers=range(1, 7))


def _extended(artefact: str, words: str, series: FloatArray, theory: Spectrum) -> Check:
    error = 100 * float(theory.mean / series.mean() - 1)
    return Check(artefact, f"{words}: error of the predicted mean, %", None, error, None, None, 0.0)


def _losses(letter: str, control: str, window: FloatArray, lost: FloatArray) -> list[Check]:
    """p(w) around the windows at which eq. (11) has 5 % and 30 %."""
    found = []
    every = np.arange(1, 600)
    for level in (0.05, 0.3):
        at = int(every[np.searchsorted(PUBLISHED_LOSS(every), level)])
        here = np.abs(window - at) <= 10
        if here.sum() < 50:
            continue
        share = float(lost[here].mean())
        said = float(PUBLISHED_LOSS(at))
        name = f"{control}: p(w) at {at} ± 10 packets"
        buffered = float(PUBLISHED_LOSS(max(1, at - published.BUFFER_PACKETS)))
        size = published.BUFFER_PACKETS
        note = f"published: eq. (11), which has no buffer; with {size} packets of it {buffered:.3f}"
        interval = clopper_pearson(int(lost[here].sum()), int(here.sum()))
        found.append(Check(f"fig8{letter}", name, said, share, *interval, READ_OFF, f"{note}; {int(here.sum())} RTTs"))
    return found


def _one_spectrum(letter: str, control: str, p_value: float) -> Check:
    words = f"{control}: spectra of n = 100, 200, 500 superimpose (1: yes)"
    note = f"F test of the scaled variances, p = {p_value:.2g}"
    return Check(f"fig9{letter}", words, 1.0, float(p_value >= 0.05), None, None, 0.0, note)
