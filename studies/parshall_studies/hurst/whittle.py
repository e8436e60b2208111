"""Whittle's approximate maximum likelihood, for a spectrum of known shape.

| symbol | name here | meaning |
| --- | --- | --- |
| I(lambda_j) | `periodogram` | periodogram at lambda_j = 2 pi j/n, j = 1 .. (n-1)/2 |
| f(lambda; H) | `log_density` | spectral density, up to its scale |
| f = s f*, log s | `Spectrum.log_scale` | f* has a logarithm of mean 0; s is the innovations' variance over 2 pi |
| Q(H) | `objective` | log of the mean of I/f*: the scale is profiled out |

How log s is computed matters in short series. `normalisation="beran"`, the default, does what the published values
were made with: for fGn (2/n) times the sum of log f over the frequencies used, for fARIMA(0, d, 0) the exact value of
the integral. `"mean"` takes the mean over the frequencies used for both. On fGn with H = 0.9 and n = 256 the first is
0.019 too low on average, the second 0.004; at n = 2^14 both by less than 0.001 (docs/self_similar.md).

The mean of the series is not needed: it only moves I(0). The variance of the estimate is 1 over the sum of
(d log f/dH - its mean)^2, the information of the profiled likelihood; with the integral for the sum it is Fox &
Taqqu's and Dahlhaus' asymptotic variance.

All frequencies are used, so the estimate is only as good as the model is at *all* scales: short-range dependence
that fGn or fARIMA(0, d, 0) do not have biases it (see `local_whittle`). Whether it does is tested
(`parshall_studies.hurst.fit`): `Estimate.fit_p_value`, and a warning below 0.01.

Range: H in (0.01, 0.999), and intervals end there; an estimate at an end is no estimate, and is said to be none.

References: J. Beran, Statistics for Long-Memory Processes, 1994, §5.5 to §6.1; R. Fox, M. Taqqu, Annals of Statistics
14(2), 1986.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import rfft
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst import fit
from parshall_studies.hurst.diagnostics import contradictions
from parshall_studies.hurst.estimate import Estimate, FloatArray, Scales
from parshall_studies.hurst.series import check_level, standardised

LOWEST, HIGHEST = 0.01, 0.999

Normalisation = Literal["beran", "mean"]


class SpectralModel(Protocol):
    """A family of spectral densities at fixed frequencies."""

    def __init__(self, frequency: FloatArray) -> None: ...

    def log_density(self, h: float) -> FloatArray:
        """Log f at the frequencies."""
        ...

    def log_scale(self, log_density: FloatArray, n: int) -> float:
        """Log s, computed as Beran's programs do."""
        ...


def periodogram(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Frequencies 2 pi j/n, j = 1 .. (n-1)/2, in rad per bin, and the periodogram |sum z e^-ij|^2 / (2 pi n) there."""
    n = z.size
    half = (n - 1) // 2
    transform = rfft(z)[1 : half + 1]
    power = (transform.real**2 + transform.imag**2) / (2 * np.pi * n)
    return 2 * np.pi * np.arange(1, half + 1) / n, np.asarray(power, dtype=np.float64)


def whittle(
    method: str,
    family: type[SpectralModel],
    series: ArrayLike | Sequence[float],
    level: float,
    *,
    normalisation: Normalisation,
    diagnose: bool,
) -> Estimate:
    """The Whittle estimate of `family`; what `whittle_fgn` and `whittle_farima` share.

    Raises
    ------
    StatisticsError
        As `standardised`, or if `level` is not in (0, 1) or `normalisation` is neither word.
    """
    check_level(level)
    if normalisation not in ("beran", "mean"):
        raise StatisticsError(f'normalisation: found "{normalisation}"; accepted: "beran", "mean"')
    z = standardised(series)
    frequency, power = periodogram(z)
    spectrum = family(frequency)

    def objective(h: float) -> float:
        # Beran 1994, §6.1.
        log_density = spectrum.log_density(h)
        beran = normalisation == "beran"
        log_scale = spectrum.log_scale(log_density, z.size) if beran else float(log_density.mean())
        return float(np.log(np.mean(power * np.exp(log_scale - log_density))))

    minimum = minimize_scalar(
        objective,
        bounds=(LOWEST, HIGHEST),
        method="bounded",
        options={"xatol": 1e-6},
    )
    h = float(minimum.x)
    step = min(1e-4, (1 - h) / 2)
    slope = (spectrum.log_density(h + step) - spectrum.log_density(h - step)) / (2 * step)
    information = float(np.sum((slope - slope.mean()) ** 2))
    warnings = list(contradictions(z)) if diagnose else []
    if h > HIGHEST - 1e-3 or h < LOWEST + 1e-3:
        warnings.append(
            f"the likelihood is largest at the end of its range ({h:.3f}): no stationary series of this model fits"
        )
    fit_p = fit.p_value(frequency, power * np.exp(-spectrum.log_density(h)), slope)
    if fit_p < fit.SIGNIFICANCE:
        warnings.append(
            f"the model does not fit (p = {fit_p:.1g}): its spectrum is not the series' at all frequencies, so the "
            "interval may not hold H; see local_whittle, which assumes nothing of short scales"
        )
    scales = Scales(z.size / power.size, z.size, power.size, "all frequencies: the model is to hold at every scale")
    error = float(1 / np.sqrt(information))
    half = float(ndtri((1 + level) / 2)) * error
    interval = max(LOWEST, h - half), min(HIGHEST, h + half)
    return Estimate(method, h, error, level, z.size, scales, tuple(warnings), interval=interval, fit_p_value=fit_p)
