"""Sample-path normalisation (Park & Tuan): the same *measured* load for every tail index.

| symbol | name here | unit |
| --- | --- | --- |
| b | location parameter of the Pareto distribution | of the values |
| alpha b/(alpha - 1) | `mean`, its mean | of the values |

Equal means do not give equal loads: the mean of a finite heavy-tailed sample is far from that of its distribution. So
the distribution's mean (hence b, with alpha kept) is adjusted until what is measured, with the same random numbers,
is the load that is wanted. H depends on alpha alone, so the burstiness is not touched.

The measured load grows with the mean, less than proportionally in a closed loop: secant steps on the logarithms of
both.

References: Park & Tuan 2000, §4.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from parshall.analysis.stats.confidence import StatisticsError


@dataclass(frozen=True, slots=True)
class Normalised:
    """What the adjustment came to.

    Parameters
    ----------
    mean
        Of the distribution that is to be used, in its unit.
    measured
        The load that it gives.
    target
        The load wanted.
    tried
        Every mean tried and the load measured with it, in order.
    """

    mean: float
    measured: float
    target: float
    tried: tuple[tuple[float, float], ...]

    @property
    def error(self) -> float:
        """Relative difference of the measured load from the target."""
        return self.measured / self.target - 1


def location(mean: float, tail_index: float) -> float:
    """Location parameter b of a Pareto distribution: mean (alpha - 1)/alpha. Park & Tuan 2000, §2.1.

    Examples
    --------
    >>> round(location(1000, 1.25), 6)
    200.0
    """
    return mean * (tail_index - 1) / tail_index


def normalised(
    measure: Callable[[float], float], target: float, start: float, *, tolerance: float = 0.02, steps: int = 8
) -> Normalised:
    """Adjust the mean until the measured load is within `tolerance` of `target`.

    Source: Park & Tuan 2000, §4.3.

    Parameters
    ----------
    measure
        From a distribution's mean to the load measured with it. It has to use the same random numbers at each call.
    target
        The load wanted, above 0.
    start
        The mean to begin with, above 0.
    tolerance
        Accepted relative error.
    steps
        Most measurements. The best one is the answer, whether or not it is within the tolerance: see
        `Normalised.error`.

    Raises
    ------
    StatisticsError
        If an argument, or a load that was measured, is not a finite number above 0.

    Examples
    --------
    >>> found = normalised(lambda mean: 0.7 * mean**0.8, target=100.0, start=100.0)
    >>> abs(found.error) <= 0.02, len(found.tried)
    (True, 3)
    """
    for name, value in (("target", target), ("start", start), ("tolerance", tolerance)):
        if not (math.isfinite(value) and value > 0):
            raise StatisticsError(f"{name}: found {value}, accepted is a finite number above 0")
    tried: list[tuple[float, float]] = []
    mean, slope = start, 1.0
    for _ in range(max(1, steps)):
        load = measure(mean)
        if not (math.isfinite(load) and load > 0):
            raise StatisticsError(f"measure: found a load of {load} with mean {mean:g}, accepted is a number above 0")
        tried.append((mean, load))
        if abs(load / target - 1) <= tolerance:
            break
        if len(tried) > 1 and tried[-2][0] != mean:
            between = math.log(load / tried[-2][1]) / math.log(mean / tried[-2][0])
            slope = min(2.0, max(0.1, between))
        mean *= min(4.0, max(0.25, (target / load) ** (1 / slope)))
    mean, load = min(tried, key=lambda each: abs(math.log(each[1] / target)))
    return Normalised(mean, load, target, tuple(tried))
