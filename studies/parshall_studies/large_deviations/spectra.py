"""The two plots that each situation has: spectra at several scales, and the observed range at each scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly, single
from parshall.report.plot import Axis, Guide, Line, Mark, Panel, Plot, Points, Style
from parshall_studies.chains.large_deviations import Spectrum
from parshall_studies.chains.markov import WindowChain
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.record import Record
from parshall_studies.spectrum import empirical_spectra, interval_means, superimpose

Theories = Mapping[str, Spectrum]
"""Spectra by what they are of, drawn in this order."""


def spectra_plot(
    series: FloatArray,
    theories: Theories,
    caption: str,
    *,
    finite: bool = False,
    limit: tuple[float, str] | None = None,
    scales: Sequence[int] = PAPER["scales"],
) -> Plot:
    """Panel (a): empirical spectra with their bands over the theories.

    Parameters
    ----------
    finite
        Whether the first theory is also drawn at the smallest scale (`Spectrum.at_scale`).
    limit
        A throughput that a theory cannot exceed, and its name: a vertical line.
    """
    spectra = empirical_spectra(series, scales)
    deepest = min(float(each.f.min()) for each in spectra)
    marks: list[Mark] = []
    for place, (name, theory) in enumerate(theories.items()):
        marks.append(_drawn(theory, name, place, deepest))
    if finite:
        name, theory = next(iter(theories.items()))
        marks.append(_at_scale(theory, spectra[0].scale, deepest))
    if limit is not None:
        marks.append(Guide(*limit, "x"))
    for place, each in enumerate(spectra, len(theories)):
        seen = np.isfinite(each.low)
        low = np.where(seen, each.low, each.f)
        marks.append(Points(each.alpha, each.f, f"n = {each.scale}", Style(place), low, np.maximum(each.high, each.f)))
    # The line's name stands beside it.
    furthest = None if limit is None else max(1.12 * limit[0], 1.02 * max(float(each.alpha.max()) for each in spectra))
    axes = Axis("mean throughput", "packets per RTT", maximum=furthest), Axis("f", "1/RTT")
    return Plot([Panel(marks, *axes)], f"{caption}. Bars: 95 % intervals, dependence by the block bootstrap.")


def _drawn(theory: Spectrum, name: str, place: int, deepest: float) -> Mark:
    """F down to the deepest value of the record, or as far as it is known."""
    if theory.degenerate:
        return Guide(theory.mean, f"{name}: one point", "x")
    alpha, f = theory.curve(200, deepest=min(deepest, -1e-9))
    return Line(alpha, f, name, Style(place))


def _at_scale(theory: Spectrum, scale: int, deepest: float) -> Mark:
    """The theory at a finite scale, between its straight parts: on those it has no density of this kind."""
    alpha, _ = theory.curve(200, deepest=min(deepest, -1e-9))
    low = max((part.high for part in theory.linear_parts if part.high < theory.mean), default=-np.inf)
    high = min((part.low for part in theory.linear_parts if part.low > theory.mean), default=np.inf)
    alpha = alpha[(alpha > low) & (alpha < high)]
    return Line(alpha, theory.at_scale(alpha, scale), f"theory at n = {scale}", Style(0, dash=1, thin=True))


def covered(series: FloatArray, theory: Spectrum, scale: int) -> float:
    """Share of the points of the empirical spectrum whose 95 % band has the theory at that scale."""
    (spectrum,) = empirical_spectra(series, (scale,))
    f = theory.at_scale(spectrum.alpha, scale)
    return float(np.mean((spectrum.low <= f) & (f <= spectrum.high)))


def bounds_plot(series: FloatArray, theories: Theories) -> Plot:
    """Panel (b): the smallest and largest mean at each scale, and eq. (10)."""
    scales = np.unique(np.geomspace(50, min(5000, series.size // 4), 20).astype(int))
    means = [interval_means(series, int(n)) for n in scales]
    marks: list[Mark] = []
    for place, (name, theory) in enumerate(theories.items()):
        bounds = np.array([theory.bounds(series.size, int(n)) for n in scales])
        marks += [
            Line(scales, bounds[:, 0], name, Style(place)),
            Line(scales, bounds[:, 1], "", Style(place)),
        ]
    place = len(theories)
    marks += [
        Points(scales, [float(each.min()) for each in means], "observed, lowest", Style(place)),
        Points(scales, [float(each.max()) for each in means], "observed, highest", Style(place + 1)),
    ]
    axes = Axis("scale", "RTTs", log=True), Axis("mean throughput", "packets per RTT")
    return Plot([Panel(marks, *axes)], "Extreme means over intervals of each scale, and eq. (10).")


RECORDS = 100
"""Records of a chain that show where its extremes lie."""


def sampled_extremes(
    chain: WindowChain, n_rtts: int, scales: Sequence[int], seed: int = 1
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """The smallest and the largest mean over each scale in `RECORDS` realisations of `n_rtts` RTTs; shape (RECORDS,).

    Nothing of the theory is in it: windows are drawn, RTT by RTT.
    """
    random = np.random.default_rng(seed)
    state = random.choice(chain.windows.size, RECORDS, p=chain.stationary)
    total = np.zeros(RECORDS)
    since = {scale: np.zeros(RECORDS) for scale in scales}
    least = {scale: np.full(RECORDS, np.inf) for scale in scales}
    most = {scale: np.full(RECORDS, -np.inf) for scale in scales}
    for rtt in range(1, n_rtts + 1):
        total += chain.windows[state]
        state = np.where(random.random(RECORDS) < chain.loss[state], chain.down[state], chain.up[state])
        for scale in scales:
            if rtt % scale == 0:
                mean = (total - since[scale]) / scale
                since[scale] = total.copy()
                least[scale], most[scale] = np.minimum(least[scale], mean), np.maximum(most[scale], mean)
    return {scale: (least[scale], most[scale]) for scale in scales}


def extremes_checks(
    artefact: str, label: str, series: FloatArray, theory: Spectrum, scales: Sequence[int]
) -> list[Claim]:
    """Observed extremes against those that the theory expects of a record of this length.

    The reference is the median of a record's extreme (`Spectrum.extremes`), of which eq. (10) is the limit for long
    scales; the interval is that in which the extreme of one record falls, moved to the one that was seen. Where the
    spectrum is not known far enough there is no check.
    """
    checks = []
    for scale in scales:
        means = interval_means(series, scale)
        try:
            middle, wide = (theory.extremes(series.size, scale, level) for level in (1e-3, 0.95))
        except ModelInputError:
            continue
        limits = theory.bounds(series.size, scale)
        for side, (name, seen) in enumerate((("lowest", means.min()), ("highest", means.max()))):
            reference = sum(middle[side]) / 2
            low, high = wide[side]
            note = f"eq. (10): {limits[side]:.4g}; one record of {means.size} intervals: {low:.4g} to {high:.4g}"
            if scale < theory.least_scale:
                note += f"; the theory is for {theory.least_scale} RTTs and more, ten loss cycles"
            quantity = f"{label}: {name} mean over {scale} RTTs, packets per RTT"
            ends = float(seen) + reference - high, float(seen) + reference - low
            checks.append(
                equal(
                    artefact,
                    quantity,
                    reference,
                    Interval(float(seen), *ends, 1),
                    within=PAPER.within("recovery", reference),
                    basis="theory",
                    note=note,
                )
            )
    return checks


def mean_check(artefact: str, label: str, record: Record, theory: Spectrum, note: str = "") -> Claim:
    """A record's mean, with the interval that its parts give, beside that of a chain with recovery."""
    series = record.throughput
    interval = mean_interval(interval_means(series, series.size // PARTS))
    half, mean = interval.half_width or 0.0, record.mean
    quantity = f"{label}: mean, packets per RTT"
    return equal(
        artefact,
        quantity,
        theory.mean,
        Interval(mean, mean - half, mean + half, 1),
        within=PAPER.within("recovery", mean),
        basis="theory",
        note=note,
    )


PARTS = 20
"""Parts of a record whose means give the mean's interval: each of some loss cycles."""
REJECTED = 0.05
"""A p-value below it says that the record has memory, so that its spectra do not superimpose."""


def one_spectrum(
    artefact: str, label: str, series: FloatArray, scales: tuple[int, int], reading: str = ""
) -> list[Claim]:
    """The claim that spectra of several scales superimpose: by their widths at two scales, and by their memory.

    The width at a scale is the square root of n Var(mean over n), which is the same at all scales that are long
    enough; its interval is that of independent intervals. Whether a difference is more than chance is the p-value.
    """
    least, largest = scales
    spread = [interval_means(series, scale) for scale in scales]
    width = [float(np.sqrt(scale * means.var(ddof=1))) for scale, means in zip(scales, spread, strict=True)]
    ratio, chance = width[1] / width[0], 1.96 * float(np.sqrt(sum(1 / (2 * means.size) for means in spread)))
    ends = ratio * np.exp(-chance), ratio * np.exp(chance)
    together = superimpose(series, (least, 2 * least, largest))
    name = f"{label}width of the spectrum at n = {largest} over that at n = {least}"
    note = f"1 where they superimpose; {spread[1].size} and {spread[0].size} intervals"
    memory = f"{label}memory beyond {least} RTTs: p-value against shuffled means"
    nulls = [Null("fractional noise with H = 0.6, of which no such law holds", exactly((largest / least) ** 0.1))]
    value, within = Interval(ratio, float(ends[0]), float(ends[1]), 1), PAPER.within("superimposed")
    alike = equal(artefact, name, 1.0, value, within=within, note=note, nulls=nulls, reading=reading)
    if together.p_value < REJECTED and alike.outcome != "fails":
        alike = replace(alike, contested=f"memory beyond {least} RTTs: p = {together.p_value:.2g}")
    return [
        alike,
        reported(artefact, memory, single(together.p_value), reading=reading),
    ]
