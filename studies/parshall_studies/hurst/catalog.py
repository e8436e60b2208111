"""The one list of estimators of the Hurst parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from numpy.typing import ArrayLike

from parshall_studies.hurst.dfa import dfa
from parshall_studies.hurst.estimate import Estimate
from parshall_studies.hurst.local_whittle import local_whittle
from parshall_studies.hurst.periodogram import periodogram
from parshall_studies.hurst.rescaled_range import rescaled_range
from parshall_studies.hurst.variance_time import variance_time
from parshall_studies.hurst.wavelet import wavelet
from parshall_studies.hurst.whittle_farima import whittle_farima
from parshall_studies.hurst.whittle_fgn import whittle_fgn


class Estimating(Protocol):
    """A function that estimates H; each has options of its own beside these."""

    def __call__(
        self, series: ArrayLike | Sequence[float], /, *, level: float = 0.95, diagnose: bool = True
    ) -> Estimate:
        """The estimate."""
        ...


@dataclass(frozen=True)
class Estimator:
    """An entry: the function's name, what it does in a line, when to use it, and its source."""

    name: str
    summary: str
    use: str
    reference: str
    estimate: Estimating


ESTIMATORS: tuple[Estimator, ...] = (
    Estimator(
        "local_whittle",
        "power law of the lowest frequencies, by likelihood",
        "by default: it assumes nothing of short scales",
        "Robinson 1995",
        local_whittle,
    ),
    Estimator(
        "wavelet",
        "logscale diagram of wavelet coefficients",
        "where there may be trends, and to see which scales scale",
        "Veitch & Abry 1999",
        wavelet,
    ),
    Estimator(
        "whittle_fgn",
        "Whittle's likelihood of fractional Gaussian noise",
        "the most precise, if the series is fGn at all scales",
        "Beran 1994",
        whittle_fgn,
    ),
    Estimator(
        "whittle_farima",
        "Whittle's likelihood of fARIMA(0, d, 0)",
        "the same for fARIMA",
        "Beran 1994",
        whittle_farima,
    ),
    Estimator(
        "periodogram",
        "slope of the log-periodogram (GPH)",
        "to draw the power law",
        "Geweke & Porter-Hudak 1983",
        periodogram,
    ),
    Estimator(
        "variance_time",
        "variances of block means",
        "to compare with publications of the 1990s",
        "Taqqu, Teverovsky & Willinger 1995",
        variance_time,
    ),
    Estimator(
        "rescaled_range",
        "R/S of blocks",
        "to compare with older publications",
        "Mandelbrot & Wallis 1969",
        rescaled_range,
    ),
    Estimator("dfa", "detrended fluctuation analysis", "where there may be trends", "Peng et al. 1994", dfa),
)


def all_estimates(series: ArrayLike | Sequence[float], *, level: float = 0.95) -> tuple[Estimate, ...]:
    """H of `series` by every estimator, in the order of `ESTIMATORS`.

    Raises
    ------
    StatisticsError
        If a value is not finite, the series is constant or too short, or `level` is not in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from parshall_studies.synthesis import fgn
    >>> estimates = all_estimates(fgn(4096, 0.7, np.random.default_rng(3)))
    >>> [estimate.method for estimate in estimates if not 0.6 < estimate.h < 0.8]
    []
    """
    return tuple(estimator.estimate(series, level=level) for estimator in ESTIMATORS)
