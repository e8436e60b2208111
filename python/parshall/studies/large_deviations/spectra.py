"""The two plots that each situation has: spectra at several scales, and the observed range at each scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from parshall.models.inputs import FloatArray
from parshall.models.large_deviations import Spectrum
from parshall.models.markov import WindowChain
from parshall.report.plot import Axis, Guide, Line, Mark, Panel, Plot, Points, Style
from parshall.stats.spectrum import empirical_spectra, interval_means
from parshall.studies.check import Check
from parshall.studies.large_deviations import published


def spectra_plot(series: FloatArray, theory: Spectrum, caption: str, scales: Sequence[int] = published.SCALES) -> Plot:
    """Panel (a): empirical spectra with their bands over the theory."""
    found = empirical_spectra(series, scales)
    deepest = min(float(each.f.min()) for each in found)
    marks: list[Mark] = []
    for place, each in enumerate(found, 1):
        seen = np.isfinite(each.low)
        low = np.where(seen, each.low, each.f)
        marks.append(Points(each.alpha, each.f, f"n = {each.scale}", Style(place), low, np.maximum(each.high, each.f)))
    if theory.degenerate:
        marks.append(Guide(theory.mean, "theory: one point", "x"))
    else:
        alpha, f = theory.curve(200, deepest=min(deepest, -1e-9))
        smallest = found[0].scale
        finite = theory.at_scale(alpha, smallest)
        marks.insert(0, Line(alpha, f, "theory", Style(0)))
        marks.insert(1, Line(alpha, finite, f"theory at n = {smallest}", Style(0, dash=1, thin=True)))
    axes = Axis("mean throughput", "packets per RTT"), Axis("f", "1/RTT")
    return Plot([Panel(marks, *axes)], f"{caption}. Bars: 95 % intervals, dependence by the block bootstrap.")


def covered(series: FloatArray, theory: Spectrum, scale: int) -> float:
    """Share of the points of the empirical spectrum whose 95 % band has the theory at that scale."""
    (found,) = empirical_spectra(series, (scale,))
    f = theory.at_scale(found.alpha, scale)
    return float(np.mean((found.low <= f) & (f <= found.high)))


def bounds_plot(series: FloatArray, theory: Spectrum) -> Plot:
    """Panel (b): the smallest and largest mean at each scale."""
    scales = np.unique(np.geomspace(50, min(5000, series.size // 4), 20).astype(int))
    means = [interval_means(series, int(n)) for n in scales]
    bounds = np.array([theory.bounds(series.size, int(n)) for n in scales])
    marks: list[Mark] = [
        Line(scales, bounds[:, 0], "theory, lowest", Style(0)),
        Line(scales, bounds[:, 1], "theory, highest", Style(0, dash=1)),
        Points(scales, [float(each.min()) for each in means], "observed, lowest", Style(1)),
        Points(scales, [float(each.max()) for each in means], "observed, highest", Style(2)),
    ]
    axes = Axis("scale", "RTTs", log=True), Axis("mean throughput", "packets per RTT")
    return Plot([Panel(marks, *axes)], "Extreme means over intervals of each scale, and eq. (10).")


Beyond = Callable[[int, bool, float, float], str]
"""Why an extreme is not the chain's: from the scale, whether it is the highest, eq. (10), the chain's median."""
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


def bounds_check(
    artefact: str,
    series: FloatArray,
    theory: Spectrum,
    scales: Sequence[int],
    chain: WindowChain,
    *,
    beyond: Beyond | None = None,
) -> list[Check]:
    """Observed extremes against eq. (10), to 5 %, with their scatter and the reason of a difference beside the number.

    Eq. (10) is a limit, and the extreme of one record scatters. Realisations of the chain, as long as the record, say
    by how much: the interval of an extreme x is x m/b to x m/a, where they have a to b with 95 % and m in the median.
    For those outside a to b `beyond(scale, highest, bound, m)` says what the chain leaves out, with a number.
    """
    checks = []
    drawn = sampled_extremes(chain, series.size, scales)
    for scale in scales:
        means = interval_means(series, scale)
        found = zip((False, True), theory.bounds(series.size, scale), (means.min(), means.max()), strict=True)
        for (highest, bound, seen), sample in zip(found, drawn[scale], strict=True):
            low, middle, high = (float(each) for each in np.quantile(sample, [0.025, 0.5, 0.975]))
            quantity = f"{'highest' if highest else 'lowest'} mean over {scale} RTTs, packets per RTT"
            note = (
                f"eq. (10); {RECORDS} realisations of the chain, {means.size} intervals each: {low:.4g} to {high:.4g}"
            )
            if scale < theory.least_scale:
                note += f"; the theory is for {theory.least_scale} RTTs and more, ten loss cycles"
            if not low <= bound <= high:
                note += "; eq. (10) is outside, as the limit for longer scales that it is"
            if low <= seen <= high:
                note += "; as here, so that a difference is the finite record's"
            elif beyond is not None:
                note += f"; not here: {beyond(scale, highest, bound, middle)}"
            interval = seen * middle / high, seen * middle / low
            checks.append(Check(artefact, quantity, bound, float(seen), *interval, 0.05 * bound, note))
    return checks


def known_bound(theory: Spectrum, n_rtts: int, scale: int, *, highest: bool) -> float | None:
    """Eq. (10), or None where the known part of the spectrum ends before it."""
    bound = theory.bounds(n_rtts, scale)[highest]
    span = theory.highest - theory.lowest
    inside = theory.lowest + 1e-6 * span < bound < theory.highest - 1e-6 * span
    return bound if inside or theory.exact_everywhere else None


def by_memory(series: FloatArray, memory: Spectrum) -> Beyond:
    """`beyond` of `bounds_check`: how far eq. (10) moves for the chain in which losses follow losses."""

    def said(scale: int, highest: bool, bound: float, middle: float) -> str:
        means = interval_means(series, scale)
        distance = float(means.max() if highest else means.min()) - middle
        with_memory = known_bound(memory, series.size, scale, highest=highest)
        if with_memory is None:
            end = memory.highest if highest else memory.lowest
            return f"losses follow losses; by how much is not known, as the spectrum with p(w, k) is known to {end:.4g}"
        moved = with_memory - bound
        share = (
            f"{100 * moved / distance:.0f} % of the distance" if moved * distance > 0 else "which explains none of it"
        )
        return f"losses follow losses, and with p(w, k) eq. (10) moves by {moved:+.4g}, {share}"

    return said
