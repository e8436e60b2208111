"""Exact Gaussian series with a given autocovariance: fractional Gaussian noise and fARIMA(0, d, 0).

| symbol | argument | unit |
| --- | --- | --- |
| n | `n` | values |
| H, d = H - 1/2 | `h` | - |
| r(k) | | autocovariance |

Circulant embedding: r(0) .. r(n) is mirrored to a circulant of length 2n, whose eigenvalues are one FFT; a second FFT
of Gaussian noise with these variances has exactly the autocovariance r. The eigenvalues of both families are not
negative for any H in (0, 1); rounding errors are checked, not trusted.

References: R. Davies, D. Harte, Tests for Hurst effect, Biometrika 74(1), 1987; A. Wood, G. Chan, Simulation of
stationary Gaussian processes in [0, 1]^d, Journal of Computational and Graphical Statistics 3(4), 1994; P. Craigmile,
Simulating a class of stationary Gaussian processes using the Davies-Harte algorithm, Journal of Time Series Analysis
24(5), 2003.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import dct, irfft, next_fast_len

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.long_memory import farima_autocovariance, fgn_autocovariance

FloatArray = NDArray[np.float64]
Autocovariance = Callable[[ArrayLike, float], FloatArray]

_KEPT = 1 << 17
"""Eigenvalues of circulants up to this length are kept for the next series."""


def fgn(n: int, h: float, rng: np.random.Generator, *, series: int | None = None) -> FloatArray:
    """Fractional Gaussian noise of mean 0 and variance 1, exact.

    Source: Davies & Harte 1987; Wood & Chan 1994.

    Parameters
    ----------
    n
        Length, 1 or more.
    h
        Hurst parameter, in (0, 1).
    rng
        Where the randomness comes from.
    series
        How many independent series; default one, as a vector.

    Returns
    -------
    Shape (n,), or (series, n).

    Raises
    ------
    StatisticsError
        If `n` or `series` is below 1 or H not in (0, 1).

    Examples
    --------
    >>> x = fgn(4096, 0.8, np.random.default_rng(7), series=50)
    >>> float((x[:, 1:] * x[:, :-1]).mean().round(2)), float(fgn_autocovariance(1, 0.8).round(2))
    (0.51, 0.52)
    """
    return _embedded(n, h, rng, series, fgn_autocovariance)


def farima(n: int, h: float, rng: np.random.Generator, *, series: int | None = None) -> FloatArray:
    """fARIMA(0, d, 0) with d = h - 1/2 and innovations of variance 1, exact.

    Source: Craigmile 2003.

    Parameters and errors as `fgn`.

    Examples
    --------
    >>> farima(8, 0.7, np.random.default_rng(7)).shape
    (8,)
    """
    return _embedded(n, h, rng, series, farima_autocovariance)


def _embedded(
    n: int, h: float, rng: np.random.Generator, series: int | None, autocovariance: Autocovariance
) -> FloatArray:
    if n < 1:
        raise StatisticsError(f"n: found {n}, accepted is 1 or more")
    if not 0 < h < 1:
        raise StatisticsError(f"h: found {h}, accepted is a number between 0 and 1 (both excluded)")
    if series is not None and series < 1:
        raise StatisticsError(f"series: found {series}, accepted is 1 or more")
    half = int(next_fast_len(max(n, 2), real=True))
    roots = _kept_roots(half, h, autocovariance) if half <= _KEPT else _roots(half, h, autocovariance)
    shape = (half + 1,) if series is None else (series, half + 1)
    noise = rng.standard_normal((*shape, 2)).view(np.complex128)[..., 0]
    # The two ends of the half spectrum are real, with the whole variance.
    for end in (0, half):
        noise[..., end] = noise[..., end].real * np.sqrt(2)
    noise *= roots
    path = irfft(noise, n=2 * half, axis=-1, norm="ortho", overwrite_x=True)
    return np.ascontiguousarray(path[..., :n])


def _roots(half: int, h: float, autocovariance: Autocovariance) -> FloatArray:
    """Square roots of half the eigenvalues of the circulant of length 2 `half`: deviations of a part of the noise."""
    row = np.asarray(autocovariance(np.arange(half + 1), h))
    # The circulant's row is symmetric: its FFT is a cosine transform of half the length.
    values = np.asarray(dct(row, type=1, overwrite_x=True))
    if values.min() < -1e-8 * values.max():
        raise StatisticsError(f"h: found {h}, for which the circulant of length {2 * half} is not positive")
    np.maximum(values, 0, out=values)
    values /= 2
    return np.asarray(np.sqrt(values, out=values))


_kept_roots = lru_cache(maxsize=64)(_roots)
