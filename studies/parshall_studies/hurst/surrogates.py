"""Surrogate series, which tell whether it is long-range dependence at all.

| surrogate | keeps | destroys | so the series differs from it if |
| --- | --- | --- | --- |
| shuffled | the values | all dependence | its values depend on each other |
| blocks shuffled | dependence within blocks | dependence beyond them | the dependence outlasts a block |
| phase-randomised | all autocorrelations | everything else | H comes from a shift or a trend, not from correlation |

For the first two the statistic is H from the lowest frequencies (`semiparametric_h`); a large one is evidence of
persistence, a small one of anti-persistence, so the tests are two-sided. With whole blocks (of n^(1/3) values) shuffled
only frequencies below one in two blocks are looked at. The third keeps the periodogram and with it that statistic;
there it is the level-shift statistic of `diagnostics`, and a large one is evidence *against* a stationary series.

Dependence of any kind is tested by two statistics of the shuffled series together: H, and the sum of the squares of the
first 20 autocorrelations (Box & Pierce). The smaller of their ranks is ranked in turn among those of the surrogates, so
that the level is exact (Westfall & Young).

p = (1 + number of surrogates at or beyond the series) / (1 + number of surrogates), twice the smaller one where there
are two sides: exact, and never 0. Series longer than 8192 are aggregated to at most that: long-range dependence is what
survives aggregation.

References: G. Box, D. Pierce, J. Am. Stat. Assoc. 65, 1970; P. Westfall, S. Young, Resampling-Based Multiple Testing,
1993, §2.3; J. Theiler et al., Testing for nonlinearity in time series: the method of surrogate data, Physica D 58,
1992; A. Erramilli, O. Narayan, W. Willinger, Experimental queueing analysis with long-range dependent packet traffic,
IEEE/ACM ToN 4(2), 1996 (shuffling blocks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, rfft

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst.diagnostics import level_shift
from parshall_studies.hurst.estimate import FloatArray
from parshall_studies.hurst.low_frequencies import FEWEST, bandwidth, lowest_powers, semiparametric_h
from parshall_studies.hurst.series import at_most, standardised
from parshall_studies.synthesis.gaussian import fgn

_LONGEST = 8192
_LAGS = 20
_LOWEST = 0.4
_SERIES, _SEED = 299, 19_510_402


@dataclass(frozen=True, slots=True)
class SurrogateTest:
    """The result of a test by surrogates.

    Parameters
    ----------
    h
        H from the lowest frequencies of the (aggregated) series.
    h_shuffled, p_shuffled
        Mean H of the shuffled series, and the two-sided p-value of `h` among them.
    p_dependent
        p-value of no dependence between the values, of whatever kind.
    h_blocks, p_blocks, frequencies_of_blocks
        H of the series from the frequencies below one in two blocks, its two-sided p-value among series of shuffled
        blocks, and how many frequencies these are.
    h_lowest, frequencies_lowest, p_flat
        H from the n^0.4 lowest frequencies, how many these are, and the p-value of such a fall of H among series of
        fGn, whose power law goes down to them: small where H is less there, as of a memory that ends.
    p_phase
        Probability of a level shift as large as this series' among phase-randomised ones.
    block_bins
        Length of a block, bins of the series as given.
    count
        How many surrogates of each kind.
    """

    h: float
    h_shuffled: float
    p_shuffled: float
    p_dependent: float
    h_blocks: float
    p_blocks: float
    frequencies_of_blocks: int
    h_lowest: float
    frequencies_lowest: int
    p_flat: float
    p_phase: float
    block_bins: int
    count: int

    def as_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)


def surrogate_test(series: ArrayLike | Sequence[float], *, count: int = 199, seed: int = 1) -> SurrogateTest:
    """Compare `series` with surrogates of it.

    Source: Theiler et al. 1992; Erramilli, Narayan & Willinger 1996.

    Parameters
    ----------
    series
        Values of equal bins, shape (n,), n >= 128.
    count
        How many surrogates of each kind; 19 or more.
    seed
        Of the surrogates.

    Raises
    ------
    StatisticsError
        If a value is not finite, the series is constant or too short, or `count` below 19.

    Examples
    --------
    >>> from parshall_studies.synthesis import fgn
    >>> test = surrogate_test(fgn(4096, 0.8, np.random.default_rng(3)))
    >>> test.p_shuffled, test.p_dependent, test.p_blocks, test.p_phase > 0.05
    (0.01, 0.005, 0.01, True)
    """
    if count < 19:
        raise StatisticsError(f"count: found {count}, accepted is 19 or more")
    z, size = at_most(standardised(series), _LONGEST)
    rng = np.random.default_rng(seed)
    m, _ = bandwidth(z.size, None)
    block = max(4, round(z.size ** (1 / 3)))
    low = max(FEWEST, z.size // (2 * block))
    h, h_blocks = float(_h(z, m)), float(_h(z, low))
    in_random_order = np.stack([rng.permutation(z) for _ in range(count)])
    shuffled = _h(in_random_order, m)
    squares = _squared_autocorrelations(np.vstack([z, in_random_order]))
    moved = _h(np.stack([_blocks_shuffled(z, block, rng) for _ in range(count)]), low)
    lowest = max(FEWEST, int(z.size**_LOWEST))
    h_lowest = float(_h(z, lowest))
    shift = float(level_shift(z))
    phases = level_shift(np.stack([phase_randomised(z, rng) for _ in range(count)]))
    return SurrogateTest(
        h=h,
        h_shuffled=float(shuffled.mean()),
        p_shuffled=_two_sided(shuffled, h),
        p_dependent=_together(np.abs(np.append(h, shuffled) - shuffled.mean()), squares),
        h_blocks=h_blocks,
        p_blocks=_two_sided(moved, h_blocks),
        frequencies_of_blocks=low,
        h_lowest=h_lowest,
        frequencies_lowest=lowest,
        p_flat=_p(_falls(z.size, float(np.clip(round(h, 1), 0.1, 0.9)), m, lowest), h - h_lowest),
        p_phase=_p(phases, shift),
        block_bins=block * size,
        count=count,
    )


def phase_randomised(z: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A series with the periodogram of `z` and random phases.

    Examples
    --------
    >>> z = np.random.default_rng(3).normal(size=64)
    >>> other = phase_randomised(z, np.random.default_rng(2))
    >>> bool(np.allclose(np.abs(rfft(other)), np.abs(rfft(z))))
    True
    """
    transform = rfft(z)
    phases = np.exp(2j * np.pi * rng.random(transform.size))
    phases[0] = 1
    if z.size % 2 == 0:
        phases[-1] = 1
    return np.asarray(irfft(transform * phases, n=z.size))


def _blocks_shuffled(z: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    count = z.size // size
    return np.asarray(rng.permutation(z[: count * size].reshape(count, size)).reshape(-1))


def _h(z: FloatArray, frequencies: int) -> FloatArray:
    """H of each series, along the last axis."""
    return semiparametric_h(lowest_powers(z, frequencies))


def _squared_autocorrelations(z: FloatArray) -> FloatArray:
    """Sum of the squares of the first autocorrelations, along the last axis. Box & Pierce 1970."""
    n = z.shape[-1]
    power = np.abs(rfft(z - z.mean(axis=-1, keepdims=True), axis=-1)) ** 2
    covariances = irfft(power, n=n, axis=-1)[..., : min(_LAGS, n // 8) + 1]
    return np.asarray(np.sum((covariances[..., 1:] / covariances[..., :1]) ** 2, axis=-1))


def _together(*statistics: FloatArray) -> float:
    """p-value of statistics together, each of the series first, then of its surrogates. Westfall & Young 1993, §2.3."""
    beyond = [np.sum(each[np.newaxis, :] >= each[:, np.newaxis], axis=1) for each in statistics]
    smallest = np.min(beyond, axis=0)
    return float(np.mean(smallest <= smallest[0]))


@lru_cache(maxsize=64)
def _falls(n: int, h: float, frequencies: int, lowest: int) -> FloatArray:
    """Falls of H from `frequencies` to the `lowest` of them in fGn, whose spectrum is a power law down to 0."""
    paths = fgn(n, h, np.random.default_rng(_SEED), series=_SERIES)
    return np.asarray(_h(paths, frequencies) - _h(paths, lowest))


def _two_sided(surrogates: FloatArray, value: float) -> float:
    return min(1.0, 2 * min(_p(surrogates, value), _p(-surrogates, -value)))


def _p(surrogates: FloatArray, value: float) -> float:
    return float((1 + np.count_nonzero(surrogates >= value)) / (1 + surrogates.size))
