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
from scipy.optimize import minimize_scalar

from parshall.stats.confidence import StatisticsError
from parshall.stats.hurst.estimate import FloatArray

EXPONENT = 0.65
FEWEST = 8
LOWEST, HIGHEST = 0.0, 1.5


def bandwidth(n: int, frequencies: int | None) -> tuple[int, str]:
    """How many frequencies to use of a series of `n` values, and how that was chosen.

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


def semiparametric_h(power: FloatArray) -> float:
    """H that minimises Robinson's objective. Robinson 1995, eq. (3.2)."""
    scaled = np.maximum(power / max(float(power.max()), np.finfo(float).tiny), 1e-300)
    logs = np.log(np.arange(1, power.size + 1))
    middle = float(logs.mean())

    def objective(h: float) -> float:
        two_d = 2 * h - 1
        return float(np.log(np.mean(np.exp(two_d * (logs - middle)) * scaled)))

    found = minimize_scalar(objective, bounds=(LOWEST, HIGHEST), method="bounded", options={"xatol": 1e-6})
    return float(found.x)


def semiparametric_error(frequencies: int) -> float:
    """Standard error of `semiparametric_h`: 1/2 over the root of the sum of nu_j^2."""
    logs = np.log(np.arange(1, frequencies + 1))
    return float(0.5 / np.sqrt(np.sum((logs - logs.mean()) ** 2)))
