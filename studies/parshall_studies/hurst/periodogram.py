"""Periodogram regression (Geweke & Porter-Hudak): the slope of the log-periodogram at the lowest frequencies.

| symbol | argument | unit |
| --- | --- | --- |
| m | `frequencies` | - |
| x_j = -2 log(2 sin(lambda_j/2)) | | |
| d = H - 1/2 | | slope of log I_j against x_j |

The errors of log I_j are those of the logarithm of an exponential variable, of variance pi^2/6, which gives the
standard error. Less precise than `local_whittle` by a factor pi/sqrt 6 = 1.28 from the same frequencies, and kept
because it can be drawn: the diagram is the evidence.

Deviations: m = n^0.65 by default, as `local_whittle`, rather than n^0.5.

References: J. Geweke, S. Porter-Hudak, The estimation and application of long memory time series models, Journal of
Time Series Analysis 4(4), 1983.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst.diagnostics import warnings_about
from parshall_studies.hurst.estimate import Diagram, Estimate, FloatArray, Scales
from parshall_studies.hurst.low_frequencies import bandwidth, lowest_powers
from parshall_studies.hurst.series import check_level, standardised


def periodogram(
    series: ArrayLike | Sequence[float],
    *,
    frequencies: int | None = None,
    level: float = 0.95,
    diagnose: bool = True,
) -> Estimate:
    """H of `series` from the regression of its log-periodogram.

    Source: Geweke & Porter-Hudak 1983.

    Parameters
    ----------
    series
        Values of equal bins, shape (n,), n >= 128.
    frequencies
        How many of the lowest frequencies to use; default n^0.65.
    level
        Confidence level.
    diagnose
        Whether to look for trends, level shifts and the like (`warnings`).

    Raises
    ------
    StatisticsError
        If a value is not finite, the series is constant or too short, or an option is out of range; if the series
        has no power at one of the frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> from parshall_studies.synthesis import fgn
    >>> periodogram(fgn(2**14, 0.8, np.random.default_rng(3))).contains(0.8)
    True
    """
    check_level(level)
    z = standardised(series)
    m, chosen = bandwidth(z.size, frequencies)
    power = lowest_powers(z, m)
    if np.any(power <= 1e-24 * power.max()):
        raise StatisticsError("series: found a frequency without power, accepted is a series that is not periodic")
    j = np.arange(1, m + 1)
    regressor = -2 * np.log(2 * np.sin(np.pi * j / z.size))
    centred = regressor - regressor.mean()
    d = float(centred @ np.log(power) / (centred @ centred))
    error = float(np.pi / np.sqrt(6 * (centred @ centred)))
    h = d + 0.5
    warnings = warnings_about(z, h, diagnose=diagnose)
    scales = Scales(z.size / m, z.size, m, chosen)
    return Estimate("periodogram", h, error, level, z.size, scales, warnings, _diagram(j, power, z.size, d))


def _diagram(j: np.ndarray[tuple[int], np.dtype[np.signedinteger]], power: FloatArray, n: int, d: float) -> Diagram:
    """Means of the log-periodogram in 24 groups of frequencies: single values scatter too much to be looked at."""
    scale = np.log2(n / j)
    log_power = np.log2(power / n)
    edges = np.unique(np.geomspace(1, j.size + 1, 25).round().astype(int)) - 1
    groups = list(pairwise(edges))
    x = np.array([scale[low:high].mean() for low, high in groups])
    y = np.array([log_power[low:high].mean() for low, high in groups])
    intercept = float(log_power.mean() - 2 * d * scale.mean())
    return Diagram(x, y, np.ones(x.size, dtype=np.bool_), 2 * d, intercept, "log2 of the periodogram")
