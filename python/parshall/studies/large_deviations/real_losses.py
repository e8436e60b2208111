"""What a flow of Linux loses, and how its throughput varies: Figs 3 (a), 4 (c), 5, 6, 8 and 9 on real stacks.

| artefact | what is compared |
| --- | --- |
| Fig. 3 (a) | whether the range of the means falls with the scale |
| Figs 4 (c), 8 | loss events over those that eq. (11) makes of the flow's own windows, beside the simulator's |
| Figs 5 (a), 6 (b), 9 | widths of the spectrum at two scales: whether spectra superimpose |

The source's scales need records of an hour. Shorter ones have `SHORT`, of which a verdict is seldom decisive. Eq. (11)
is of the source's network; in one that is slower, windows, and so p(w), are the same.

References: Loiseau 2010, §4.2, §5.1, §5.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parshall.emulation import kernel_name
from parshall.report.document import Drawn, Section, Table
from parshall.stats.spectrum import interval_means
from parshall.studies import stacks
from parshall.studies.check import Check
from parshall.studies.large_deviations.network import PAPER
from parshall.studies.large_deviations.on_off import BY_MODEL, loss_plot
from parshall.studies.large_deviations.record import Record
from parshall.studies.large_deviations.spectra import one_spectrum, spectra_plot
from parshall.studies.study import Emulated
from parshall.traces.flow import clopper_pearson

SCALES, SHORT = (100, 500), (50, 200)
"""Scales whose widths are compared, RTTs."""
INTERVALS = 20
"""Averages over the longer scale that a record needs."""
OF_MODEL = 0.2
"""How near losses that are modelled can be expected to be to eq. (11), which has no buffer, of their number."""


@dataclass(frozen=True)
class Figures:
    """The panels of the source that show an artefact's flow.

    Parameters
    ----------
    losses, spectra
        p(w), and the spectrum; without one, empty.
    modelled
        Whether the source has eq. (11) for these losses.
    """

    losses: str
    spectra: str
    modelled: bool = True


PANELS = {
    "fig3": Figures("", "fig3a", modelled=False),
    "fig5": Figures("fig4c", "fig5a"),
    "fig6": Figures("fig6a", "fig6b", modelled=False),
    **{f"fig9{letter}": Figures(f"fig8{letter}", f"fig9{letter}") for letter in "abc"},
}


def of_flow(
    name: str, control: str, simulated: Record, ratios: Sequence[float], linux: Emulated
) -> tuple[list[Check], Section]:
    """Checks and figures of an artefact.

    Parameters
    ----------
    simulated
        A simulated flow's record, which is drawn.
    ratios
        Loss events over those of eq. (11), a value a simulated run.
    linux
        The record of Linux.
    """
    panels, record = PANELS[name], linux.answer
    checks = _losses(panels, control, ratios, linux) if panels.modelled else []
    scales = scales_of(record)
    if name == "fig3":
        checks.append(_shrinks(record))
    else:
        reading = f"{kernel_name()}, {record.throughput.size} RTTs"
        ours, theirs = (
            one_spectrum(panels.spectra, f"{control} on Linux: ", each.throughput, scales, reading)
            for each in (record, simulated)
        )
        checks += stacks.by_one_instrument(ours, theirs)
    figures = []
    both = {kernel_name(): record.loss(), "simulated": simulated.loss()}
    if panels.losses:
        plot = loss_plot(both) if panels.modelled else loss_plot(both, {})
        figures.append(Drawn(f"{panels.losses}-linux", f"Loss probability, {control}", plot))
    words = f"{control}, {stacks.column(linux)}"
    drawn = tuple(scale for scale in (*SHORT, *PAPER["scales"]) if record.throughput.size >= 10 * scale)
    if drawn:
        plot = spectra_plot(record.throughput, {}, words, scales=drawn)
        figures.append(Drawn(f"{panels.spectra}-linux", f"Spectra, {control}", plot))
    table = Table(
        "Widths of the spectrum, sqrt(n Var(mean over n)), packets per RTT",
        ("where", *(f"n = {scale}" for scale in scales)),
        [
            (where, *(f"{width(each, scale):.1f}" for scale in scales))
            for where, each in (("simulated", simulated), (stacks.column(linux), record))
        ],
        numbers=range(1, len(scales) + 1),
    )
    heading = f"{panels.losses and f'{panels.losses} and '}{panels.spectra} on real stacks: {control}"
    return checks, Section(heading[0].upper() + heading[1:], (), [table], figures)


def scales_of(record: Record) -> tuple[int, int]:
    """The scales that a record is long enough for."""
    return SCALES if record.throughput.size >= INTERVALS * SCALES[1] else SHORT


def width(record: Record, scale: int) -> float:
    """Of the spectrum at a scale, packets per RTT."""
    return float(np.sqrt(scale * interval_means(record.throughput, scale).var(ddof=1)))


def of_model(record: Record) -> float:
    """Loss events over those that eq. (11) makes of a flow's windows."""
    return float(record.events.mean() / BY_MODEL(record.windows).mean())


def _losses(panels: Figures, control: str, ratios: Sequence[float], linux: Emulated) -> list[Check]:
    record: Record = linux.answer
    lost, trials = int(record.events.sum()), record.events.size
    expected = float(BY_MODEL(record.windows).mean())
    low, high = (end / expected for end in clopper_pearson(lost, trials))
    ours, quantity = of_model(record), f"{control} on Linux: loss events over those of eq. (11)"
    note = f"eq. (11), which has no buffer; {lost} events in {trials} RTTs; {linux.validity.level}"
    return [
        Check(panels.losses, quantity, None, ours, low, high, OF_MODEL, note, theory=1.0, decisive=0.3),
        stacks.beside_simulated(f"{panels.losses}-linux", quantity, linux, ours, ratios, least=0.05 * ours),
    ]


def _shrinks(record: Record) -> Check:
    """The claim of Fig. 3 (a): the range of the means falls as the scale grows."""
    scales = [scale for scale in (*SHORT, *PAPER["scales"]) if record.cwnd.size >= 4 * scale]
    ranges = [float(np.ptp(interval_means(record.cwnd, scale))) for scale in sorted(set(scales))]
    words = ", ".join(f"{each:.1f} at {n}" for each, n in zip(ranges, sorted(set(scales)), strict=True))
    falls = float(bool(np.all(np.diff(ranges) < 0)))
    quantity = "the spectrum's width falls with the scale (1: yes)"
    return Check("fig3a", quantity, 1.0, falls, None, None, 0.0, f"ranges: {words} RTTs", reading=f"{kernel_name()}")
