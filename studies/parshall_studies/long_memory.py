"""Spectral densities and autocovariances of fractional Gaussian noise and of fARIMA(0, d, 0).

| symbol | argument | unit |
| --- | --- | --- |
| lambda | `frequency` | rad per bin, in (0, pi] |
| H | `h` | -, in (0, 1) |
| d = H - 1/2 | `h` | |
| k | `lag` | bins |

Fractional Gaussian noise (fGn): f = (1/pi) sin(pi H) Gamma(2H+1) (1 - cos lambda) B, where B = sum over all integers
j of |lambda + 2 pi j|^(-2H-1). The term j = 0 holds the pole; the others are a smooth function of lambda^2, given
exactly by Hurwitz' zeta function at a few Chebyshev points and interpolated between them. The singularity next to [0,
pi^2] is at 4 pi^2, so each term gains a factor of 13.9, and 14 terms suffice for doubles.

fARIMA(0, d, 0): f = (1/2 pi) (2 sin(lambda/2))^(-2d).

Deviations: Beran and Paxson truncate the sum and correct it; here it is exact.

References: J. Beran, Statistics for Long-Memory Processes, Chapman & Hall, 1994, §2.3 and §2.5; V. Paxson, Fast,
approximate synthesis of fractional Gaussian noise, ACM CCR 27(5), 1997.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, zeta

from parshall.analysis.stats.confidence import StatisticsError

FloatArray = NDArray[np.float64]

_TERMS = 16


class FgnSpectrum:
    """log f of fGn at fixed frequencies, for many H: what a likelihood asks for again and again."""

    def __init__(self, frequency: FloatArray) -> None:
        self._log_frequency = np.log(frequency)
        self._log_high_pass = np.log(2 * np.sin(frequency / 2) ** 2)
        self._abscissa = 2 * (frequency / np.pi) ** 2 - 1

    def log_density(self, h: float) -> FloatArray:
        """Log f(lambda; H), shape of the frequencies."""
        s = 2 * h + 1
        pole = np.exp(-s * self._log_frequency)
        rest = chebyshev.chebval(self._abscissa, _aliases(s))
        constant = np.log(np.sin(np.pi * h) / np.pi) + gammaln(s)
        return np.asarray(constant + self._log_high_pass + np.log(pole + rest))

    def log_scale(self, log_density: FloatArray, n: int) -> float:
        """Mean of log f over all frequencies, by Beran's sum."""
        return float(2 / n * log_density.sum())


class FarimaSpectrum:
    """log f of fARIMA(0, d, 0) at fixed frequencies, for many H = d + 1/2."""

    def __init__(self, frequency: FloatArray) -> None:
        self._log_difference = np.log(2 * np.sin(frequency / 2))

    def log_density(self, h: float) -> FloatArray:
        """Log f(lambda; d = H - 1/2), shape of the frequencies."""
        return np.asarray((1 - 2 * h) * self._log_difference - np.log(2 * np.pi))

    def log_scale(self, log_density: FloatArray, n: int) -> float:  # noqa: ARG002 (the integral is known)
        """Mean of log f over all frequencies: log of the innovations' variance over 2 pi."""
        return float(-np.log(2 * np.pi))


def fgn_density(frequency: ArrayLike, h: float) -> FloatArray:
    """Spectral density of fGn of variance 1 at `frequency`, rad per bin.

    Source: Beran 1994, §2.3.

    Raises
    ------
    StatisticsError
        If a frequency is not in (0, pi], or H not in (0, 1).

    Examples
    --------
    >>> fgn_density([0.1, 3.0], 0.5).round(6).tolist()
    [0.159155, 0.159155]
    """
    return np.asarray(np.exp(FgnSpectrum(_checked(frequency, h)).log_density(h)))


def farima_density(frequency: ArrayLike, h: float) -> FloatArray:
    """Spectral density of fARIMA(0, H - 1/2, 0) with innovations of variance 1.

    Source: Beran 1994, §2.5.

    Raises
    ------
    StatisticsError
        If a frequency is not in (0, pi], or H not in (0, 1).

    Examples
    --------
    >>> farima_density([1.0], 0.5).round(6).tolist()
    [0.159155]
    """
    return np.asarray(np.exp(FarimaSpectrum(_checked(frequency, h)).log_density(h)))


def fgn_autocovariance(lag: ArrayLike, h: float) -> FloatArray:
    """r(k) of fGn of variance 1, (|k+1|^2H - 2|k|^2H + |k-1|^2H)/2.

    Source: Park & Tuan 2000, eq. (1). Beyond a lag of 1000 its expansion in 1/k is used, in which no digits cancel.

    Examples
    --------
    >>> fgn_autocovariance([0, 1, 2], 0.75).round(4).tolist()
    [1.0, 0.4142, 0.2696]
    """
    k = np.abs(np.asarray(lag, dtype=np.float64))
    two_h = 2 * h
    # The Taylor series of the second difference; the next term is of relative size k^-4 / 30.
    far = np.asarray(np.maximum(k, 1) ** (two_h - 2))
    far *= two_h * (two_h - 1) / 2 * (1 + (two_h - 2) * (two_h - 3) / (12 * np.maximum(k, 1) ** 2))
    near = k <= 1000
    few = k[near]
    far[near] = (np.abs(few + 1) ** two_h - 2 * few**two_h + np.abs(few - 1) ** two_h) / 2
    return far


def farima_autocovariance(lag: ArrayLike, h: float) -> FloatArray:
    """Autocovariance of fARIMA(0, d = H - 1/2, 0) with innovations of variance 1.

    Source: Beran 1994, §2.5: Gamma(1-2d) Gamma(k+d) / (Gamma(d) Gamma(1-d) Gamma(k+1-d)), by its ratios.

    Examples
    --------
    >>> farima_autocovariance([0, 1, 2], 0.5).tolist()
    [1.0, 0.0, 0.0]
    """
    d = h - 0.5
    k = np.abs(np.asarray(lag))
    steps = np.arange(1, int(k.max(initial=0)) + 1)
    ratios = np.concatenate(([1.0], (steps - 1 + d) / (steps - d)))
    variance = np.exp(gammaln(1 - 2 * d) - 2 * gammaln(1 - d))
    return np.asarray(variance * np.cumprod(ratios)[k.astype(np.intp)])


def _aliases(s: float) -> FloatArray:
    """Chebyshev coefficients in 2 (lambda/pi)^2 - 1 of sum over j != 0 of |lambda + 2 pi j|^-s."""
    nodes = np.cos(np.pi * (np.arange(_TERMS) + 0.5) / _TERMS)
    turn = np.sqrt((nodes + 1) / 2) / 2
    values = (zeta(s, 1 + turn) + zeta(s, 1 - turn)) / (2 * np.pi) ** s
    return np.asarray(chebyshev.chebfit(nodes, values, _TERMS - 1))


def _checked(frequency: ArrayLike, h: float) -> FloatArray:
    values = np.atleast_1d(np.asarray(frequency, dtype=np.float64))
    if not np.all((values > 0) & (values <= np.pi)):
        raise StatisticsError("frequency: accepted are numbers from above 0 to pi")
    if not 0 < h < 1:
        raise StatisticsError(f"h: found {h}, accepted is a number between 0 and 1 (both excluded)")
    return values
