"""Empirical spectra of realisations with a known theory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.markov import chain
from parshall_studies.spectrum import empirical_spectra, empirical_spectrum, interval_means, superimpose


def test_independent_normal_values() -> None:
    """f(alpha) = -alpha^2/2 at every scale."""
    x = np.random.default_rng(2).normal(size=2**18)
    for found in empirical_spectra(x, [16, 64, 256]):
        inside = (found.low <= -(found.alpha**2) / 2) & (-(found.alpha**2) / 2 <= found.high)
        # 95 % nominal; 40 to 100 classes, so that chance is some 3 %.
        assert inside.mean() > 0.86
        assert found.intervals == 2**18 // found.scale
        assert found.lowest == interval_means(x, found.scale).min()
    assert not superimpose(x, [16, 64, 256]).differ


def test_a_reno_realisation_shows_its_spectrum() -> None:
    c = chain(0.02)
    x = c.sample(2**18, np.random.default_rng(4))
    theory = ld.spectrum(c)
    for scale in (100, 200, 500, 1000, 2000):
        found = empirical_spectrum(x, scale)
        if scale >= 500:
            low, high = theory.bounds(x.size, scale)
            assert found.lowest == pytest.approx(low, rel=0.05)
            assert found.highest == pytest.approx(high, rel=0.05)
        f = theory.at_scale(found.alpha, scale)
        # 95 % nominal, and 10 to 40 classes.
        assert ((found.low <= f) & (f <= found.high)).mean() >= 0.8
    assert not superimpose(x, [200, 500, 1000]).differ


def test_bands_of_rare_classes_are_exact() -> None:
    """A class with two intervals: their expected number is 0.242 to 7.22 (Garwood 1936, table)."""
    found = empirical_spectrum(np.random.default_rng(3).normal(size=2**14), 16)
    one = found.f == found.f.min()
    widths = (found.high - found.low)[one] * 16
    assert widths == pytest.approx(np.log(7.2247 / 0.2422), rel=0.05)  # the design effect is about 1


def test_long_memory_is_noticed() -> None:
    walk = np.cumsum(np.random.default_rng(6).normal(size=2**14))
    assert superimpose(walk, [16, 64, 256]).differ


def test_a_memory_of_half_the_smallest_scale_is_noticed_in_a_few_hundred_intervals() -> None:
    """Autoregressive values with a memory of 49; an F test of variances lets 16 of 20 pass."""
    random, kept = np.random.default_rng(7), np.exp(-1 / 49)
    found, independent = 0, 0
    for _ in range(20):
        x = lfilter([1.0], [1.0, -kept], random.normal(size=25_000))
        found += superimpose(x, [100, 200, 500]).differ
        independent += not superimpose(random.exponential(size=25_000), [100, 200, 500]).differ
    assert found >= 14
    # 95 % of series without memory pass: 19 of 20, with a deviation of 1.
    assert independent >= 17


def test_constant_values_have_one_class() -> None:
    found = empirical_spectrum(np.full(1000, 7.0), 10)
    assert found.alpha.tolist() == pytest.approx([7.0])
    assert found.f.tolist() == [0.0]
    assert not superimpose(np.full(1000, 7.0), [10, 20]).differ


def test_too_short() -> None:
    with pytest.raises(StatisticsError, match="accepted are 1 to half"):
        empirical_spectrum([1.0, 2.0, 3.0], 2)
    with pytest.raises(StatisticsError, match="too few for any"):
        empirical_spectra([1.0, 2.0], [100, 200])
    with pytest.raises(StatisticsError, match="finite"):
        interval_means([1.0, np.nan], 1)
