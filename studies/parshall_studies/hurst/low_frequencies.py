"""The lowest frequencies of a series and the power law in them, for `local_whittle`, `periodogram` and the tests.

| symbol | name here |
| --- | --- |
| m | `frequencies` |
| I_j | `power` |
| nu_j = log j - mean log j | `_centred_logs` |
"""

from __future__ import annotations

import numpy as np
from scipy.fft import rfft

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst.estimate import FloatArray

EXPONENT = 0.65
FEWEST = 8
LOWEST, HIGHEST = 0.0, 1.5
_HALVINGS = 24


def bandwidth(n: int, frequencies: int | None) -> tuple[int, str]:
    """Return the number of frequencies to use of a series of `n` values, and the reason for it.

    Raises
    ------
    StatisticsError
        If `frequencies` is not from 8 to (n - 1)/2.
    """
    most = (n - 1) // 2
    if frequencies is None:
        return min(most, int(n**EXPONENT)), f"the n^{EXPONENT} lowest frequencies"
    if not FEWEST <= frequencies <= most:
        raise StatisticsError(f"frequencies: found {frequencies}, accepted are {FEWEST} to {most}")
    return frequencies, "as asked"


def lowest_powers(z: FloatArray, frequencies: int) -> FloatArray:
    """|Fourier sum|^2 of the lowest frequencies along the last axis, the mean left out; the scale does not matter."""
    transform = rfft(z, axis=-1)[..., 1 : frequencies + 1]
    return np.asarray(transform.real**2 + transform.imag**2, dtype=np.float64)


def semiparametric_h(power: FloatArray) -> FloatArray:
    """H that minimises Robinson's objective, along the last axis: shape (..., m) -> (...). Robinson 1995, eq. (3.2).

    The objective is the logarithm of a sum of exponentials of H, so it is convex, and its slope is bisected.

    Examples
    --------
    >>> powers = np.arange(1, 65.0) ** np.array([[0.0], [-0.6]])
    >>> semiparametric_h(powers).round(3).tolist()
    [0.5, 0.8]
    """
    largest = np.maximum(power.max(axis=-1, keepdims=True), np.finfo(float).tiny)
    scaled = np.maximum(power / largest, 1e-300)
    logs = np.log(np.arange(1, power.shape[-1] + 1))
    centred = logs - logs.mean()
    low = np.full(power.shape[:-1], LOWEST)
    high = np.full(power.shape[:-1], HIGHEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        growing = (np.exp((2 * middle - 1)[..., np.newaxis] * centred) * scaled) @ centred > 0
        low, high = np.where(growing, low, middle), np.where(growing, middle, high)
    return np.asarray((low + high) / 2)


def semiparametric_error(frequencies: int) -> float:
    """Standard error of `semiparametric_h`: 1/2 over the root of the sum of nu_j^2."""
    logs = np.log(np.arange(1, frequencies + 1))
    return float(0.5 / np.sqrt(np.sum((logs - logs.mean()) ** 2)))
