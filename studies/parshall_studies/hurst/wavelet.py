"""Wavelet estimator (Abry & Veitch): the logscale diagram, and the weighted line through it.

| symbol | name here | unit |
| --- | --- | --- |
| N | `moments` | vanishing moments of the wavelet |
| j | `octave` | log2 of the scale in bins |
| n_j | `count` | coefficients at octave j |
| mu_j | `energy` | their mean square |
| y_j = log2 mu_j - g(j) | | g: bias of the logarithm of a mean of n_j squares |
| j_1, j_2 | `octaves` | range of the line |

y_j has slope 2H - 1. With Gaussian, nearly uncorrelated coefficients g(j) = psi(n_j/2)/log 2 - log2(n_j/2) and var
y_j = zeta(2, n_j/2)/log(2)^2; the line is fitted with these variances as weights. Daubechies' wavelets of N vanishing
moments are blind to polynomial trends of degree below N, so this estimator alone is not misled by a linear trend.
Coefficients that need values beyond the ends of the series are left out.

Range of octaves: j_1 is the smallest octave from 4 on from which the line passes the chi-squared test at 0.1 %, so
that short-range structure is left out where there is some; below octave 4 fGn itself departs from the power law (from
3 on, H = 0.95 was 0.005 too high). j_2 is the largest octave with 4 coefficients.

Deviations: j_1 by the first p-value above 0.1 % instead of the largest relative improvement of the p-value (Veitch,
Abry & Taqqu 2003), and a level of 0.1 %, not 5 %: a start that depends on chance makes the intervals too short (on
fGn with H = 0.5, n = 2^14 they covered 88 % with 5 %).

References: P. Abry, D. Veitch, Wavelet analysis of long-range-dependent traffic, IEEE Trans. Information Theory
44(1), 1998; D. Veitch, P. Abry, A wavelet-based joint estimator of the parameters of long-range dependence, IEEE
Trans. Information Theory 45(3), 1999; D. Veitch, P. Abry, M. Taqqu, On the automatic selection of the onset of
scaling, Fractals 11(4), 2003.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, zeta
from scipy.stats import chi2

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst import daubechies
from parshall_studies.hurst.diagnostics import warnings_about
from parshall_studies.hurst.estimate import Diagram, Estimate, FloatArray, Scales
from parshall_studies.hurst.series import check_level, standardised

_FIRST_OCTAVE = 4
_FEWEST_COEFFICIENTS = 4
_FEWEST_OCTAVES, _FEW_OCTAVES = 3, 4
_ACCEPTED = 0.001


def wavelet(
    series: ArrayLike | Sequence[float],
    *,
    octaves: tuple[int, int] | None = None,
    moments: int = 2,
    level: float = 0.95,
    diagnose: bool = True,
) -> Estimate:
    """H of `series` from its logscale diagram.

    Source: Veitch & Abry 1999, §III.

    Parameters
    ----------
    series
        Values of equal bins, shape (n,), n >= 128.
    octaves
        First and last octave of the line, both included; default as the module says.
    moments
        Vanishing moments N of Daubechies' wavelet, 1 to 10.
    level
        Confidence level.
    diagnose
        Whether to look for trends, level shifts and the like (`warnings`).

    Raises
    ------
    StatisticsError
        If a value is not finite, the series is constant or too short, or an option is out of range; if the series
        has no variation at some octave.

    Examples
    --------
    >>> from parshall_studies.synthesis import fgn
    >>> estimate = wavelet(fgn(2**14, 0.8, np.random.default_rng(3)))
    >>> estimate.contains(0.8), estimate.scales.low
    (True, 16)
    """
    check_level(level)
    if not 1 <= moments <= 10:
        raise StatisticsError(f"moments: found {moments}, accepted are 1 to 10")
    z = standardised(series)
    energy, count = energies(z, moments)
    if np.any(energy <= 1e-24 * energy.max()):
        raise StatisticsError(
            "series: found an octave without variation, accepted is a series that varies at all scales"
        )
    y = np.log2(energy) - digamma(count / 2) / np.log(2) + np.log2(count / 2)
    variance = zeta(2, count / 2) / np.log(2) ** 2
    octave = np.arange(1, energy.size + 1)
    first, last, chosen, fits = _range(octave, y, variance, octaves)
    used = (octave >= first) & (octave <= last)
    slope, intercept, error, _ = _line(octave[used], y[used], variance[used])
    h = (slope + 1) / 2
    warnings = [*warnings_about(z, h, diagnose=diagnose)]
    if not fits:
        warnings.append("no straight line: the logscale diagram is not straight at any range of octaves")
    elif octaves is None and first > _FIRST_OCTAVE and last - first < _FEW_OCTAVES:
        warnings.append(
            f"few octaves: a line fits the last {last - first + 1} only, from {2**first} bins on; almost any series "
            "looks straight over so few"
        )
    return Estimate(
        "wavelet",
        h,
        error / 2,
        level,
        z.size,
        Scales(2**first, 2**last, last - first + 1, chosen),
        tuple(warnings),
        Diagram(
            octave.astype(np.float64), y, used, slope, intercept, "log2 of the mean energy of wavelet coefficients"
        ),
    )


def energies(z: FloatArray, moments: int) -> tuple[FloatArray, NDArray[np.int64]]:
    """mu_j and n_j of all octaves with enough coefficients, each of shape (octaves,)."""
    skipped = moments - 1
    approximation, energy, count = z, [], []
    while True:
        inside = approximation.size // 2
        if inside - skipped < _FEWEST_COEFFICIENTS:
            break
        approximation, detail = (part[skipped:inside] for part in daubechies.step(approximation, moments))
        energy.append(float(np.mean(detail**2)))
        count.append(detail.size)
    return np.array(energy), np.array(count)


def _range(
    octave: NDArray[np.int64], y: FloatArray, variance: FloatArray, asked: tuple[int, int] | None
) -> tuple[int, int, str, bool]:
    """First and last octave, how they were chosen, and whether a line fits them."""
    last = int(octave[-1])
    if asked is not None:
        low, high = asked
        if not 1 <= low < high <= last:
            raise StatisticsError(f"octaves: found {low} to {high}, accepted are two of 1 to {last}, in order")
        return low, high, "as asked", True
    # A short series has no three octaves from the fourth on; then it is the last three.
    latest = max(1, last - _FEWEST_OCTAVES + 1)
    starts = range(min(_FIRST_OCTAVE, latest), latest + 1)
    p_values = {}
    for start in starts:
        misfit = _line(octave[start - 1 :], y[start - 1 :], variance[start - 1 :])[3]
        p_values[start] = float(chi2.sf(misfit, last - start - 1))
        if p_values[start] >= _ACCEPTED:
            return (
                start,
                last,
                f"from the first octave on from which a line is not rejected (p = {p_values[start]:.2g})",
                True,
            )
    best = max(p_values, key=lambda start: p_values[start])
    return (
        best,
        last,
        f"a line is rejected from every octave on; this one is the least bad (p = {p_values[best]:.2g})",
        False,
    )


def _line(x: NDArray[np.int64], y: FloatArray, variance: FloatArray) -> tuple[float, float, float, float]:
    """Weighted least squares: slope, intercept, standard error of the slope, and the weighted squares left."""
    weight = 1 / variance
    middle = float(weight @ x / weight.sum())
    spread = float(weight @ (x - middle) ** 2)
    slope = float(weight @ ((x - middle) * y) / spread)
    intercept = float(weight @ y / weight.sum()) - slope * middle
    return slope, intercept, float(1 / np.sqrt(spread)), float(weight @ (y - intercept - slope * x) ** 2)
