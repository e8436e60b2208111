"""The answer that every estimator of the Hurst parameter gives.

| symbol | field | unit |
| --- | --- | --- |
| H | `h` | - |
| m | `Scales.low`, `Scales.high` | bins of the series |

`Estimate` is immutable; `Diagram` holds the points that a log-log plot of the method shows, with the line fitted to
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scales:
    """The time scales that an estimate rests on.

    Parameters
    ----------
    low, high
        Smallest and largest scale, bins of the series. A frequency j/n of a periodogram is the scale n/j.
    count
        How many scales or frequencies were used.
    chosen
        How the range was chosen, in words.
    """

    low: float
    high: float
    count: int
    chosen: str


@dataclass(frozen=True, slots=True)
class Diagram:
    """A method's log-log diagram and the straight line in it.

    Parameters
    ----------
    log2_scale, log2_statistic
        The points, shape (k,); the scale in bins.
    used
        Which of them the line was fitted to, shape (k,).
    slope, intercept
        The line.
    statistic
        What the ordinate is, in words.
    """

    log2_scale: FloatArray
    log2_statistic: FloatArray
    used: NDArray[np.bool_]
    slope: float
    intercept: float
    statistic: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """A Hurst parameter, its interval, and what it rests on.

    Parameters
    ----------
    method
        Name of the estimator in `parshall_studies.hurst.ESTIMATORS`.
    h
        The estimate. Above 1 it says that the series is not stationary; `warnings` says so too.
    standard_error
        Of `h`, if the series is what the method assumes.
    level
        Confidence level of `ci`.
    n
        Length of the series.
    scales
        The range of time scales used, and how it was chosen.
    warnings
        What in the series contradicts the model; empty if nothing was found.
    diagram
        The method's log-log diagram; `None` where the method has none.
    interval
        The confidence interval where it is not symmetric; `None`: `h` -+ z standard errors.
    fit_p_value
        Of a test that the method's model fits at all frequencies (`parshall_studies.hurst.fit`); `None` where
        the method has
        no model of all frequencies. If it is small, interval and standard error say nothing: the model is another.
    """

    method: str
    h: float
    standard_error: float
    level: float
    n: int
    scales: Scales
    warnings: tuple[str, ...] = ()
    diagram: Diagram | None = None
    interval: tuple[float, float] | None = None
    fit_p_value: float | None = None

    @property
    def ci(self) -> tuple[float, float]:
        """The confidence interval: `interval`, or h -+ z standard errors.

        Examples
        --------
        >>> low, high = Estimate("local_whittle", 0.8, 0.02, 0.95, 4096, Scales(9, 4096, 455, "")).ci
        >>> round(low, 3), round(high, 3)
        (0.761, 0.839)
        """
        if self.interval is not None:
            return self.interval
        half = float(norm.ppf((1 + self.level) / 2)) * self.standard_error
        return self.h - half, self.h + half

    def contains(self, h: float) -> bool:
        """True if `h` is in the confidence interval."""
        low, high = self.ci
        return low <= h <= high

    def as_json(self) -> dict[str, Any]:
        """Numbers and words, without the diagram."""
        low, high = self.ci
        return {
            "method": self.method,
            "h": self.h,
            "ci_low": low,
            "ci_high": high,
            "level": self.level,
            "n": self.n,
            "scale_low_bins": self.scales.low,
            "scale_high_bins": self.scales.high,
            "scales_chosen": self.scales.chosen,
            "fit_p_value": self.fit_p_value,
            "warnings": list(self.warnings),
        }
