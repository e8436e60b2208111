"""The two plots that each situation has: spectra at several scales, and the observed range at each scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parshall.models.inputs import FloatArray
from parshall.models.large_deviations import Spectrum
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


def bounds_check(
    artefact: str, series: FloatArray, theory: Spectrum, scales: Sequence[int], *, beyond: str = ""
) -> list[Check]:
    """Observed extremes against eq. (10), to 5 %, with the reason of a difference beside the number.

    Eq. (10) is a limit: at a finite scale extremes scatter, and lie further in or out. The note has the range where a
    record of this length has them with 95 % (`Spectrum.extremes`), and, for those outside, `beyond`: what the chain
    leaves out here.
    """
    checks = []
    for scale in scales:
        means = interval_means(series, scale)
        found = zip(("lowest", "highest"), theory.bounds(series.size, scale), (means.min(), means.max()), strict=True)
        for (name, bound, seen), (low, high) in zip(found, theory.extremes(series.size, scale), strict=True):
            quantity = f"{name} mean over {scale} RTTs, packets per RTT"
            note = f"eq. (10); {means.size} intervals of this chain have it at {low:.4g} to {high:.4g} (95 %)"
            if scale < theory.least_scale:
                note += f"; the theory is for {theory.least_scale} RTTs and more, ten loss cycles"
            if low <= seen <= high:
                note += ": as here"
            elif beyond:
                note += f": not here, {beyond}"
            checks.append(Check(artefact, quantity, bound, float(seen), None, None, 0.05 * bound, note))
    return checks
