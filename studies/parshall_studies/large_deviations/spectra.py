"""The two plots that each situation has: spectra at several scales, and the observed range at each scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import exactly, single
from parshall.report.plot import Axis, Guide, Line, Mark, Panel, Plot, Points, Style
from parshall_studies.chains.large_deviations import Spectrum
from parshall_studies.chains.markov import WindowChain
from parshall_studies.large_deviations.flow import mean_of
from parshall_studies.large_deviations.setting import PAPER
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
    """The least and greatest mean over each scale in `RECORDS` realisations of `n_rtts` RTTs; shape (RECORDS,)."""
    random = np.random.default_rng(seed)
    records = [chain.sample(n_rtts, random) for _ in range(RECORDS)]
    means = {scale: np.array([interval_means(each, scale) for each in records]) for scale in scales}
    return {scale: (each.min(axis=1), each.max(axis=1)) for scale, each in means.items()}


def mean_check(artefact: str, label: str, series: FloatArray, theory: Spectrum, note: str = "") -> Claim:
    """A record's mean, with the interval that its parts give, beside that of a chain with recovery."""
    within = PAPER.within("recovery", float(series.mean()))
    quantity = f"{label}: mean, packets per RTT"
    return equal(artefact, quantity, theory.mean, mean_of(series), within=within, basis="theory", note=note)


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


REJECTED = 0.05
"""A p-value below it says that the record has memory, so that its spectra do not superimpose."""
RESAMPLES = 200
"""Of the block bootstrap of a ratio of spectra."""
FEWEST = 10
"""Intervals of the longer scale that a spectrum needs."""


def one_spectrum(artefact: str, label: str, series: FloatArray, scales: tuple[int, int]) -> list[Claim]:
    """The claim that spectra of several scales superimpose, as equivalence of the curves, and whether there is memory.

    The ratio of f at equal throughput has to be within the tolerance with its whole interval; where the shuffled means
    show memory, it is contested.
    """
    least, largest = scales
    name = f"{label}f at n = {largest} over f at n = {least} at equal throughput"
    memory = f"{label}memory beyond {least} RTTs: p-value against shuffled means"
    nulls = [Null("fractional noise with H = 0.65, of which no such law holds", exactly((largest / least) ** -0.3))]
    if series.size < FEWEST * largest:
        return []
    ratio = curve_ratio(series, scales)
    together = superimpose(series, (least, 2 * least, largest))
    alike = equal(
        artefact, name, 1.0, ratio, within=PAPER.within("superimposed"), note=f"{ratio.n} intervals", nulls=nulls
    )
    if together.p_value < REJECTED and alike.outcome != "fails":
        alike = replace(alike, contested=f"memory beyond {least} RTTs: p = {together.p_value:.2g}")
    return [alike, reported(artefact, memory, single(together.p_value))]


def curve_ratio(series: FloatArray, scales: tuple[int, int]) -> Interval:
    """F at the larger scale over f at the smaller one, at equal throughput, with its 95 % interval.

    To second order in the distance from the mean, f at a scale n is -(alpha - mean)^2 / (2 n Var(mean over n)), of
    eq. (9) with normal averages: so the ratio of the curves is that of n Var(mean over n), inverted. Its interval is
    that of the logarithm, by resampled blocks of four of the larger scale, which keep both scales together.
    """
    least, largest = scales
    block = 4 * largest
    if series.size < 4 * block:
        block = largest
    parts = series[: series.size // block * block].reshape(-1, block)
    moments = [
        np.array([[means.mean(), (means**2).mean()] for means in (interval_means_of(part, n) for part in parts)])
        for n in scales
    ]
    random = np.random.default_rng(1)
    drawn = random.integers(0, len(parts), (RESAMPLES, len(parts)))
    spread = [_variance(each[None, :, :])[0] for each in moments]
    resampled = [_variance(each[drawn]) for each in moments]
    ratio = float(least * spread[0] / (largest * spread[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(least * resampled[0] / (largest * resampled[1]))
    half = 1.96 * float(np.std(log[np.isfinite(log)]))
    return Interval(ratio, ratio * np.exp(-half), ratio * np.exp(half), n=series.size // largest)


def interval_means_of(part: FloatArray, scale: int) -> FloatArray:
    """Means of consecutive intervals, one of them being allowed."""
    return np.asarray(part[: part.size // scale * scale].reshape(-1, scale).mean(axis=1))


def _variance(moments: FloatArray) -> FloatArray:
    """Variance of averages from the first two moments of blocks, shapes (k, blocks, 2) and (k,)."""
    first, second = moments[..., 0].mean(axis=1), moments[..., 1].mean(axis=1)
    return np.asarray(second - first**2)


def theory_ratio(theory: Spectrum, seen: FloatArray, scale: int) -> Interval | None:
    """F of a theory over the estimate at a scale, above the mean of the flow, with the band of the estimate.

    The ratio is that of the sums over the classes from half a deviation above the mean on; its ends are those that the
    bands of the classes give, as of independent ones.
    """
    (spectrum,) = empirical_spectra(seen, (scale,))
    above = (spectrum.alpha > seen.mean() + 0.5 * interval_means(seen, scale).std()) & (spectrum.alpha < theory.highest)
    f = theory.at_scale(spectrum.alpha[above], scale)
    deviation = (spectrum.high - spectrum.low)[above] / (2 * 1.96)
    known = np.isfinite(f) & np.isfinite(deviation)
    if not known.any():
        return None
    total, estimate = float(f[known].sum()), float(spectrum.f[above][known].sum())
    half = 1.96 * float(np.sqrt((deviation[known] ** 2).sum()))
    ends = sorted(total / min(each, -1e-12) for each in (estimate - half, estimate + half))
    return Interval(total / estimate, ends[0], ends[1], n=spectrum.intervals)


def bound_claims(artefact: str, series: FloatArray, theory: Spectrum, name: str) -> list[Claim]:
    """Eq. (10) over the extremes that were seen, at the scales of which the record has enough intervals."""
    claims = []
    for scale in PAPER["scales"][1:]:
        if series.size < FEWEST * scale:
            continue
        means, limits = interval_means(series, scale), theory.bounds(series.size, scale)
        try:
            wide = theory.extremes(series.size, scale)
        except ModelInputError:
            continue
        for side, seen, limit, ends in zip(
            ("lowest", "highest"), (means.min(), means.max()), limits, wide, strict=True
        ):
            half = (ends[1] - ends[0]) / 2
            ratio = Interval(limit / seen, limit / (seen + half), limit / max(seen - half, 1e-9), n=means.size)
            quantity = f"eq. (10), {name}, over the {side} mean over {scale} RTTs"
            claims.append(equal(artefact, quantity, 1.0, ratio, within=PAPER.within("accurate")))
    return claims
