"""Surrogate series, which tell whether it is long-range dependence at all.

| surrogate | keeps | destroys | so the series differs from it if |
| --- | --- | --- | --- |
| shuffled | the values | all dependence | its values depend on each other |
| blocks shuffled | dependence within blocks | dependence beyond them | the dependence outlasts a block |
| phase-randomised | all autocorrelations | everything else | H comes from a shift or a trend, not from correlation |

For the first two the statistic is H from the lowest frequencies (`semiparametric_h`), and a large one is evidence.
With whole blocks (of n^(1/3) values) shuffled only frequencies below one in two blocks are looked at. The third keeps
the periodogram and with it that statistic; there it is the level-shift statistic of `diagnostics`, and a large one is
evidence *against* a stationary series.

p = (1 + number of surrogates at or beyond the series) / (1 + number of surrogates): exact, and never 0. Series longer
than 8192 are aggregated to at most that: long-range dependence is what survives aggregation.

References: J. Theiler et al., Testing for nonlinearity in time series: the method of surrogate data, Physica D 58,
1992; A. Erramilli, O. Narayan, W. Willinger, Experimental queueing analysis with long-range dependent packet traffic,
IEEE/ACM ToN 4(2), 1996 (shuffling blocks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, rfft

from parshall.stats.confidence import StatisticsError
from parshall.stats.hurst.diagnostics import level_shift
from parshall.stats.hurst.estimate import FloatArray
from parshall.stats.hurst.low_frequencies import FEWEST, bandwidth, lowest_powers, semiparametric_h
from parshall.stats.hurst.series import at_most, standardised

_LONGEST = 8192


@dataclass(frozen=True, slots=True)
class SurrogateTest:
    """What the surrogates say.

    Parameters
    ----------
    h
        H from the lowest frequencies of the (aggregated) series.
    h_shuffled, p_shuffled
        Mean H of the shuffled series, and the probability of `h` or more among them.
    h_blocks, p_blocks
        H of the series from the frequencies below one in two blocks, and its probability among series of shuffled
        blocks.
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
    h_blocks: float
    p_blocks: float
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
    >>> from parshall.stats.synthesis import fgn
    >>> test = surrogate_test(fgn(4096, 0.8, np.random.default_rng(3)))
    >>> test.p_shuffled, test.p_blocks, test.p_phase > 0.05
    (0.005, 0.005, True)
    """
    if count < 19:
        raise StatisticsError(f"count: found {count}, accepted is 19 or more")
    z, size = at_most(standardised(series), _LONGEST)
    rng = np.random.default_rng(seed)
    m, _ = bandwidth(z.size, None)
    block = max(4, round(z.size ** (1 / 3)))
    low = max(FEWEST, z.size // (2 * block))
    h, h_blocks = float(_h(z, m)), float(_h(z, low))
    shuffled = _h(np.stack([rng.permutation(z) for _ in range(count)]), m)
    moved = _h(np.stack([_blocks_shuffled(z, block, rng) for _ in range(count)]), low)
    shift = float(level_shift(z))
    phases = level_shift(np.stack([phase_randomised(z, rng) for _ in range(count)]))
    return SurrogateTest(
        h=h,
        h_shuffled=float(shuffled.mean()),
        p_shuffled=_p(shuffled, h),
        h_blocks=h_blocks,
        p_blocks=_p(moved, h_blocks),
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


def _p(surrogates: FloatArray, value: float) -> float:
    return float((1 + np.count_nonzero(surrogates >= value)) / (1 + surrogates.size))
