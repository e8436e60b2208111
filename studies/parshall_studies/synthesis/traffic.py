"""Traffic that is long-range dependent for a reason: heavy-tailed ON/OFF sources, and M/G/infinity.

| symbol | argument | unit |
| --- | --- | --- |
| alpha | `tail_index` | -, in (1, 2) for long-range dependence |
| E[ON], E[OFF] | `mean_on`, `mean_off` | bins |
| lambda | `arrivals` | sessions a bin |
| H = (3 - alpha)/2 | | |

Both start in their stationary state: what is going on at time 0 has a residual duration of the equilibrium
distribution, whose tail index is alpha - 1; a start with all sources off would need time without end to forget it.
Durations are Pareto with P(X > x) = (b/x)^alpha and mean alpha b/(alpha - 1), hence b = mean (alpha - 1)/alpha, which
one easily gets wrong: `parshall_studies.closed_loop` verifies mean and H of what comes out.

The value of a bin is the time that sources are active in it, exactly and not sampled.

References: W. Willinger, M. Taqqu, R. Sherman, D. Wilson, Self-similarity through high-variability, IEEE/ACM ToN
5(1), 1997; D. Cox, Long-range dependence: a review, in Statistics: An Appraisal, 1984 (M/G/infinity); Park & Tuan
2000, §2.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.confidence import StatisticsError

FloatArray = NDArray[np.float64]


def on_off(
    n: int,
    sources: int,
    rng: np.random.Generator,
    *,
    mean_on: float,
    mean_off: float,
    tail_index: float,
    rate: float = 1.0,
) -> FloatArray:
    """Sum of sources that are ON for Pareto and OFF for exponential times, per bin.

    Its mean is sources rate E[ON]/(E[ON] + E[OFF]), its Hurst parameter (3 - alpha)/2.

    Source: Willinger, Taqqu, Sherman & Wilson 1997, §II.

    Parameters
    ----------
    n
        Bins.
    sources
        How many sources.
    rng
        Where the randomness comes from.
    mean_on, mean_off
        Mean times, bins.
    tail_index
        Of the ON times, above 1.
    rate
        What a source adds to a bin in which it is ON throughout.

    Returns
    -------
    Shape (n,).

    Raises
    ------
    StatisticsError
        If an argument is out of range.

    Examples
    --------
    >>> x = on_off(1000, 20, np.random.default_rng(1), mean_on=5, mean_off=15, tail_index=1.5)
    >>> x.shape, bool(x.min() >= 0), bool(x.max() <= 20)
    ((1000,), True, True)
    """
    _check(n, tail_index, sources=sources, mean_on=mean_on, mean_off=mean_off, rate=rate)
    work = np.zeros(n + 1)
    for _ in range(sources):
        starts, ends = _source(n, rng, mean_on, mean_off, tail_index)
        work += _active(starts, ends, n)
    return np.asarray(rate * np.cumsum(work)[:n])


def mg_infinity(
    n: int, rng: np.random.Generator, *, arrivals: float, mean_duration: float, tail_index: float
) -> FloatArray:
    """Sessions in progress, averaged over each bin: Poisson arrivals of Pareto durations, all served at once.

    Its mean is lambda E[duration], its Hurst parameter (3 - alpha)/2.

    Source: Cox 1984; Park & Tuan 2000, §2.1.

    Parameters
    ----------
    n
        Bins.
    rng
        Where the randomness comes from.
    arrivals
        Sessions that begin in a bin, on average.
    mean_duration
        Bins.
    tail_index
        Of the durations, above 1.

    Returns
    -------
    Shape (n,).

    Raises
    ------
    StatisticsError
        If an argument is out of range.

    Examples
    --------
    >>> x = mg_infinity(20_000, np.random.default_rng(1), arrivals=2, mean_duration=10, tail_index=1.8)
    >>> bool(15 < x.mean() < 25)
    True
    """
    _check(n, tail_index, arrivals=arrivals, mean_duration=mean_duration)
    going_on = rng.poisson(arrivals * mean_duration)
    coming = rng.poisson(arrivals * n)
    starts = np.concatenate((np.zeros(going_on), rng.random(coming) * n))
    durations = np.concatenate(
        (_residual(rng, going_on, mean_duration, tail_index), pareto(rng, coming, mean_duration, tail_index))
    )
    return np.asarray(np.cumsum(_active(starts, starts + durations, n))[:n])


def pareto(rng: np.random.Generator, count: int, mean: float, tail_index: float) -> FloatArray:
    """Pareto values of a given mean, shape (count,); Park & Tuan 2000, §2.1.

    Examples
    --------
    >>> x = pareto(np.random.default_rng(1), 100_000, 10.0, 3.0)
    >>> round(float(x.mean()), 1), round(float(x.min()), 2)
    (10.0, 6.67)
    """
    # 1 - U is never 0, U may be.
    return np.asarray(_smallest(mean, tail_index) * (1 - rng.random(count)) ** (-1 / tail_index))


def _residual(rng: np.random.Generator, count: int, mean: float, tail_index: float) -> FloatArray:
    """Times that are left of Pareto durations met at a random moment: density P(X > x)/mean."""
    above = 1 - rng.random(count)
    smallest = _smallest(mean, tail_index)
    tail = smallest * (tail_index * above) ** (-1 / (tail_index - 1))
    return np.asarray(np.where(above > 1 / tail_index, mean * (1 - above), tail))


def _smallest(mean: float, tail_index: float) -> float:
    return mean * (tail_index - 1) / tail_index


def _source(
    n: int, rng: np.random.Generator, mean_on: float, mean_off: float, tail_index: float
) -> tuple[FloatArray, FloatArray]:
    """Starts and ends of a source's ON times, until they pass `n`."""
    first = rng.random() < mean_on / (mean_on + mean_off)
    time = float(_residual(rng, 1, mean_on, tail_index)[0]) if first else 0.0
    starts, ends = [np.zeros(int(first))], [np.full(int(first), time)]
    while time < n:
        count = int(1.1 * (n - time) / (mean_on + mean_off)) + 8
        on = pareto(rng, count, mean_on, tail_index)
        until = time + np.cumsum(on + rng.exponential(mean_off, count))
        starts.append(until - on)
        ends.append(until)
        time = float(until[-1])
    return np.concatenate(starts), np.concatenate(ends)


def _active(starts: FloatArray, ends: FloatArray, n: int) -> FloatArray:
    """Differences, from bin to bin, of the time that intervals cover in each; shape (n + 1,)."""
    change = np.zeros(n + 2)
    for times, sign in ((starts, 1.0), (ends, -1.0)):
        inside = times[times < n]
        bin_ = inside.astype(np.int64)
        part = inside - bin_
        change[:] += sign * np.bincount(bin_, weights=1 - part, minlength=n + 2)
        change[:] += sign * np.bincount(bin_ + 1, weights=part, minlength=n + 2)
    return change[: n + 1]


def _check(n: int, tail_index: float, **positive: float) -> None:
    if n < 1:
        raise StatisticsError(f"n: found {n}, accepted is 1 or more")
    if not 1 < tail_index < np.inf:
        raise StatisticsError(
            f"tail_index: found {tail_index}, accepted is a finite number above 1; with 1 or less the mean is infinite"
        )
    for name, value in positive.items():
        if not (np.isfinite(value) and value > 0):
            raise StatisticsError(f"{name}: found {value}, accepted is a finite number above 0")
