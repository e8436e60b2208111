"""What a flow of Linux loses, and how its throughput varies: Figs 3 (a), 4 (c), 5, 6, 8 and 9 on real stacks.

| artefact | what is compared |
| --- | --- |
| Fig. 3 (a) | whether the range of the means falls with the scale |
| Figs 4 (c), 8 | loss events over those that eq. (11) makes of the flow's own windows, beside the simulator's |
| Figs 4 (c), 6 (a), 8 | P(loss) in the round trip after a recovery, beside the simulator's: m-dependence |
| Figs 5 (a), 6 (b), 9 | widths of the spectrum at two scales: whether spectra superimpose; the theory's curves |
| Figs 3 (b), 5 (b), 6 (c) | the observed range at each scale, and eq. (10) of the theories |

The theories are those of the simulated figures, made of the flow's own record: eq. (2) with the measured p(w), and the
chain with p(w, k), recoveries and timeouts; of Fig. 3 eq. (2) with certain loss. BIC, HighSpeed and CUBIC have the
second one alone.

The source's scales need records of an hour. Shorter ones have `SHORT`, of which a verdict is seldom decisive. Eq. (11)
is of the source's network; in one that is slower, windows, and so p(w), are the same.

References: Loiseau 2010, §4.2, §5.1, §5.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall.analysis.stats.claim_rules import equal, monotone
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.instruments.emulation import kernel_name
from parshall.instruments.observation.flow import clopper_pearson
from parshall.report.document import Chart, Section, Table
from parshall.studies.study import Emulated
from parshall_studies import stacks
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Deterministic
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.on_off import BY_MODEL, chain, later_check, loss_plot, range_checks
from parshall_studies.large_deviations.record import Record
from parshall_studies.large_deviations.spectra import bounds_plot, extremes_checks, one_spectrum, spectra_plot
from parshall_studies.spectrum import interval_means

SCALES, SHORT = (100, 500), (50, 200)
"""Scales whose widths are compared, RTTs."""
INTERVALS = 20
"""Averages over the longer scale that a record needs."""


@dataclass(frozen=True)
class Figures:
    """The panels of the source that show an artefact's flow.

    Parameters
    ----------
    losses, spectra, bounds
        p(w), the spectrum, and the observed range; without one, empty.
    modelled
        Whether the source has eq. (11) for these losses.
    """

    losses: str
    spectra: str
    bounds: str = ""
    modelled: bool = True


PANELS = {
    "fig3": Figures("", "fig3a", "fig3b", modelled=False),
    "fig5": Figures("fig4c", "fig5a", "fig5b"),
    "fig6": Figures("fig6a", "fig6b", "fig6c", modelled=False),
    **{f"fig9{letter}": Figures(f"fig8{letter}", f"fig9{letter}") for letter in "abc"},
}


@dataclass(frozen=True)
class Simulated:
    """What simulated flows have beside that of Linux.

    Parameters
    ----------
    record
        That of one, which is drawn.
    ratios, later
        `of_model` and `later`, a value a run.
    rtt_s
        Without queues.
    """

    record: Record
    ratios: Sequence[float]
    later: Sequence[float]
    rtt_s: float


def of_flow(name: str, control: str, simulated: Simulated, linux: Emulated) -> tuple[list[Claim], Section]:
    """Checks and figures of an artefact; `linux` is the record of Linux."""
    panels, record = PANELS[name], linux.answer
    checks = _losses(panels, control, simulated.ratios, linux) if panels.modelled else []
    if panels.losses:
        checks += _later(panels.losses, control, simulated.later, linux)
    scales = scales_of(record)
    theories, remarks = _theories(name, control, record, simulated.rtt_s)
    if name == "fig5" and record.throughput.size >= INTERVALS * RANGE:
        checks += _range(record, simulated, control)
    if name == "fig3":
        checks.append(_shrinks(record))
    else:
        reading = f"{kernel_name()}, {record.throughput.size} RTTs"
        ours, theirs = (
            one_spectrum(panels.spectra, f"{control} on Linux: ", each.throughput, scales, reading)
            for each in (record, simulated.record)
        )
        checks += stacks.by_one_instrument(ours, theirs)
    figures = []
    both = {kernel_name(): record.loss(), "simulated": simulated.record.loss()}
    if panels.losses:
        plot = loss_plot(both) if panels.modelled else loss_plot(both, {})
        figures.append(Chart(f"{panels.losses}-linux", f"Loss probability, {control}", plot))
    label = f"{control}, {stacks.column(linux)}"
    drawn = tuple(scale for scale in sorted({*SHORT, *PAPER["scales"]}) if record.throughput.size >= 10 * scale)
    if drawn:
        plot = spectra_plot(series_of(name, record), theories, label, scales=drawn)
        figures.append(Chart(f"{panels.spectra}-linux", f"Spectra, {control}", plot))
    if panels.bounds and drawn:
        plot = bounds_plot(series_of(name, record), theories)
        figures.append(Chart(f"{panels.bounds}-linux", f"Observed range, {control}", plot))
        if RECOVERING in theories:
            on_linux = f"{control} on Linux"
            checks += extremes_checks(panels.bounds, on_linux, record.throughput, theories[RECOVERING], drawn)
    table = Table(
        "Widths of the spectrum, sqrt(n Var(mean over n)), packets per RTT",
        ("where", *(f"n = {scale}" for scale in scales)),
        [
            (where, *(f"{width(each, scale):.1f}" for scale in scales))
            for where, each in (("simulated", simulated.record), (stacks.column(linux), record))
        ],
        numbers=range(1, len(scales) + 1),
    )
    heading = f"{panels.losses and f'{panels.losses} and '}{panels.spectra} on real stacks: {control}"
    return checks, Section(heading[0].upper() + heading[1:], remarks, [table], figures)


RECOVERING = "with recovery, p(w, k)"
RANGE = 1000
"""Scale of the published range of Fig. 5."""


def series_of(name: str, record: Record) -> FloatArray:
    """What a figure's spectra are of: windows in Fig. 3, else throughput."""
    return record.cwnd if name == "fig3" else record.throughput


def _theories(name: str, control: str, record: Record, rtt_s: float) -> tuple[dict[str, ld.Spectrum], tuple[str, ...]]:
    """The theories of an artefact by their names, and what is to be said of those that are left out."""
    if name == "fig3":
        return {"theory": ld.spectrum(Deterministic(PAPER["constant_range"][1]))}, ()
    theories: dict[str, ld.Spectrum] = {}
    try:
        if control == "reno":
            theories["eq. (2), measured p(w)"] = ld.spectrum(record.loss(), w_max=int(record.windows.max()))
        theories[RECOVERING] = chain(record, control, rtt_s)
    except ModelInputError as error:
        return theories, (f"The record of Linux is too short for all theories: {error}.",)
    return theories, ()


def _range(record: Record, simulated: Simulated, control: str) -> list[Claim]:
    """The published range of Fig. 5, by the chains that are fitted to Linux and to the simulator."""
    made = [
        range_checks(f"{kernel_name()}, the slower network", each, chain(each, control, simulated.rtt_s), whole=False)
        for each in (record, simulated.record)
    ]
    return stacks.by_one_instrument(*made)


def later(record: Record) -> float:
    """P(loss) in the round trip after a recovery; NaN where there was none."""
    trials, losses = record.after(1)
    return losses / trials if trials else float("nan")


def _later(artefact: str, control: str, simulated: Sequence[float], linux: Emulated) -> list[Claim]:
    record: Record = linux.answer
    known = [each for each in simulated if np.isfinite(each)]
    if not record.after(1)[0] or len(known) < 2:
        return []
    here = later_check(artefact, f"{control} on Linux", record)
    return [here, stacks.beside_simulated(f"{artefact}-linux", here.quantity, linux, later(record), known, least=0.02)]


def scales_of(record: Record) -> tuple[int, int]:
    """The scales that a record is long enough for."""
    return SCALES if record.throughput.size >= INTERVALS * SCALES[1] else SHORT


def width(record: Record, scale: int) -> float:
    """Of the spectrum at a scale, packets per RTT."""
    return float(np.sqrt(scale * interval_means(record.throughput, scale).var(ddof=1)))


def of_model(record: Record) -> float:
    """Loss events over those that eq. (11) makes of a flow's windows."""
    return float(record.events.mean() / BY_MODEL(record.windows).mean())


def _losses(panels: Figures, control: str, ratios: Sequence[float], linux: Emulated) -> list[Claim]:
    record: Record = linux.answer
    lost, trials = int(record.events.sum()), record.events.size
    expected = float(BY_MODEL(record.windows).mean())
    low, high = (end / expected for end in clopper_pearson(lost, trials))
    ours, quantity = of_model(record), f"{control} on Linux: loss events over those of eq. (11)"
    note = f"eq. (11), which has no buffer; {lost} events in {trials} RTTs; {linux.validity.level}"
    return [
        equal(
            panels.losses,
            quantity,
            1.0,
            Interval(ours, low, high, 1),
            within=PAPER.within("loss_ratio"),
            basis="theory",
            note=note,
        ),
        stacks.beside_simulated(f"{panels.losses}-linux", quantity, linux, ours, ratios, least=0.05 * ours),
    ]


def _shrinks(record: Record) -> Claim:
    """The claim of Fig. 3 (a): the range of the means falls as the scale grows."""
    scales = [scale for scale in (*SHORT, *PAPER["scales"]) if record.cwnd.size >= 4 * scale]
    ranges = [float(np.ptp(interval_means(record.cwnd, scale))) for scale in sorted(set(scales))]
    label = ", ".join(f"{each:.1f} at {n}" for each, n in zip(ranges, sorted(set(scales)), strict=True))
    quantity = "least step by which the spectrum's width falls with the scale"
    return monotone("fig3a", quantity, ranges, -1, f"ranges: {label} RTTs", reading=f"{kernel_name()}")
