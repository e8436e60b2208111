"""The joint large-deviations spectrum of two realisations at one scale: how two flows share each interval.

| symbol | name | unit |
| --- | --- | --- |
| (U_i, V_i) | `one`, `two` | any: packets per RTT |
| n | `scale` | values averaged |
| (alpha, beta) | cells: middles of classes of both interval means | those of the series |
| S | covariance matrix of the interval means | |
| f_n(alpha, beta) | (1/n) log(share of intervals in the cell / (cell's area/(2 pi sqrt(det S)))) | 1/value |
| r_n | `correlation` of the interval means | |

As in `spectrum`, the share carries a factor that does not grow exponentially with n; around the apex it is that of the
normal density in two dimensions, and dividing by it makes the apex 0, up to chance. Flows that share a full link have
means whose sum hardly varies: r_n near -1, and a ridge along alpha + beta = const.

References: Loiseau 2010, §3.2.2 eq. (8) for one flow, §6 where several are future work; A. Dembo, O. Zeitouni, Large
Deviations Techniques and Applications, 2nd ed. 1998, §2.2 for the limit in several dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.spectrum import interval_means

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint spectrum.

    Attributes
    ----------
    scale, intervals
        n, and how many intervals there are.
    one, two
        Edges of the classes of each, ascending; shapes (a + 1,) and (b + 1,).
    f
        f_n of each cell, shape (b, a); NaN where no interval is.
    correlation
        r_n.
    """

    scale: int
    intervals: int
    one: FloatArray
    two: FloatArray
    f: FloatArray
    correlation: float


def joint_spectrum(one: ArrayLike, two: ArrayLike, scale: int, classes: int = 10) -> Joint:
    """The joint spectrum of two series of the same times.

    Parameters
    ----------
    one, two
        Values at the same times, shape (N,).
    scale
        n.
    classes
        Of each series.

    Raises
    ------
    StatisticsError
        The series are not as long as each other, as `parshall_studies.spectrum.interval_means`, or the means of
        one do not vary, or both vary as one.

    Examples
    --------
    >>> values = np.random.default_rng(1).normal(size=(2, 2**17))
    >>> found = joint_spectrum(*values, 16)
    >>> found.intervals, bool(abs(np.nanmax(found.f)) < 0.03), bool(abs(found.correlation) < 0.03)
    (8192, True, True)
    """
    first, second = np.asarray(one, dtype=np.float64), np.asarray(two, dtype=np.float64)
    if first.shape != second.shape:
        raise StatisticsError(f"series: found lengths {first.size} and {second.size}; accepted: the same")
    if classes < 1:
        raise StatisticsError(f"classes: found {classes}; accepted: 1 and more")
    means = np.stack([interval_means(first, scale), interval_means(second, scale)])
    covariance = np.cov(means)
    determinant = float(np.linalg.det(covariance))
    if determinant <= 1e-12 * float(covariance[0, 0] * covariance[1, 1]):
        raise StatisticsError("series: their means do not vary, or vary as one")
    counts, one_edges, two_edges = np.histogram2d(means[0], means[1], classes)
    area = float((one_edges[1] - one_edges[0]) * (two_edges[1] - two_edges[0]))
    normal = area / (2 * np.pi * np.sqrt(determinant))
    share = np.where(counts > 0, counts, np.nan) / means.shape[1]
    f = np.log(share / normal) / scale
    correlation = float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))
    return Joint(int(scale), means.shape[1], one_edges, two_edges, f.T, correlation)
