"""Local Whittle (Gaussian semiparametric) estimator: only the lowest frequencies, and only their power law.

| symbol | argument | unit |
| --- | --- | --- |
| m | `frequencies` | - |
| lambda_j = 2 pi j/n | | rad per bin |
| d = H - 1/2 | | |

Minimises log(mean of j^(2d) I_j) - 2d mean log j over the m lowest frequencies. Nothing is assumed of the rest of the
spectrum, at the price of a standard error of 1/(2 sqrt m): with n^0.65 frequencies 0.021 at n = 2^14. The standard
error here uses the sum of (log j - its mean)^2, which is below m in finite samples, instead of m.

Range: H in (0, 1.5); above 1 the series is not stationary, and the estimate consistent nevertheless.

Deviations: the default m = n^0.65 is a common rule, not an optimum: the optimum depends on the spectrum.

References: P. Robinson, Gaussian semiparametric estimation of long range dependence, Annals of Statistics 23(5),
1995; C. Velasco, Gaussian semiparametric estimation of non-stationary time series, Journal of Time Series Analysis
20(1), 1999.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst.diagnostics import warnings_about
from parshall_studies.hurst.estimate import Estimate, Scales
from parshall_studies.hurst.low_frequencies import (
    bandwidth,
    lowest_powers,
    semiparametric_error,
    semiparametric_h,
)
from parshall_studies.hurst.series import check_level, standardised


def local_whittle(
    series: ArrayLike | Sequence[float],
    *,
    frequencies: int | None = None,
    level: float = 0.95,
    diagnose: bool = True,
) -> Estimate:
    """H of `series` from the power law of its lowest frequencies.

    Source: Robinson 1995, eq. (3.2).

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
        If a value is not finite, the series is constant or too short, or an option is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from parshall_studies.synthesis import fgn
    >>> estimate = local_whittle(fgn(2**14, 0.8, np.random.default_rng(3)))
    >>> estimate.contains(0.8), round(estimate.standard_error, 3)
    (True, 0.022)
    """
    check_level(level)
    z = standardised(series)
    m, chosen = bandwidth(z.size, frequencies)
    power = lowest_powers(z, m)
    if power.max() <= 1e-24 * z.size:
        raise StatisticsError("series: found no power at low frequencies, accepted is a series that is not periodic")
    h = float(semiparametric_h(power))
    warnings = warnings_about(z, h, diagnose=diagnose)
    scales = Scales(z.size / m, z.size, m, chosen)
    return Estimate("local_whittle", h, semiparametric_error(m), level, z.size, scales, warnings)
