"""From a series to a verdict: every estimator, the surrogates, and one sentence.

First it is asked whether H of the lowest frequencies differs from that of shuffled values, and beyond a block from that
of shuffled blocks; both tests are two-sided. If it does, the verdict is the first of these that applies:

| verdict | if |
| --- | --- |
| `not stationary` | there is a trend, a level shift or a change of variance |
| `short-range dependent` | H > 1/2 falls to the lowest frequencies, which show no dependence: the memory ends |
| `long-range dependent` | the 95 % intervals of `local_whittle` and `wavelet` are above 1/2, and both H below 1 |
| `anti-persistent` | both intervals are below 1/2 |
| `undecided` | else |

If it does not:

| verdict | if |
| --- | --- |
| `too short to tell` | H = 0.8 would be found in fewer than four of five series of that length |
| `short-range dependent` | the values depend on each other, by whatever statistic |
| `no long-range dependence shown` | else |

Not to find something is no finding: these three say from which H on dependence beyond a block would be found in four
of five series. H from m frequencies has a standard error s (`semiparametric_error`), and a test with a known spread
would need 1/2 + (z(1 - level/2) + z(0.8)) s, z being quantiles of the normal distribution. With surrogates it needs 1.3
times that distance from 1/2: of series of fGn with 1024 to 4096 values 80 to 90 % are then found at the level 0.01
(`tests/python/test_stats_hurst.py`). The 0.8 of the table is H of Ethernet traffic (Leland et al. 1994); some 2000
values are enough for it.

White noise is called dependent with a probability of `level`, and long-range dependent or anti-persistent less often
than that: it would have to pass two more tests.

References: P. Robinson, Annals of Statistics 23(5), 1995 (standard error); W. Leland, M. Taqqu, W. Willinger,
D. Wilson, IEEE/ACM ToN 2(1), 1994.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from parshall.analysis.stats.confidence import StatisticsError
from parshall_studies.hurst.catalog import all_estimates
from parshall_studies.hurst.estimate import Estimate
from parshall_studies.hurst.low_frequencies import semiparametric_error
from parshall_studies.hurst.series import check_level
from parshall_studies.hurst.surrogates import SurrogateTest, surrogate_test

Label = Literal[
    "not stationary",
    "long-range dependent",
    "anti-persistent",
    "short-range dependent",
    "no long-range dependence shown",
    "too short to tell",
    "undecided",
]

_CONTRADICTIONS = ("trend", "level shift", "variance")

_TO_BE_FOUND = 0.8
"""H that a series must be long enough to show."""

_POWER = 0.8
"""Share of series in which it is to be shown."""

_SURROGATES = 1.3
"""Measured: distance from 1/2 that surrogates find, over that of a test with a known spread."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a series, and its reasons.

    Parameters
    ----------
    label
        One of seven; see the module.
    sentence
        The same with its reasons, for readers.
    h
        Median of the estimates.
    detectable_h
        H from which on dependence beyond a block is found in four of five series of that length.
    bin_s
        Length of a bin, s.
    level
        Level of the tests.
    estimates
        Every estimator's answer, with 95 % intervals.
    surrogates
        The comparison with surrogate series.
    warnings
        What in the series contradicts a stationary model, each once.
    """

    label: Label
    sentence: str
    h: float
    detectable_h: float
    bin_s: float
    level: float
    estimates: tuple[Estimate, ...]
    surrogates: SurrogateTest
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Numbers and words, scales in seconds too."""
        estimates = [
            {
                **each.as_json(),
                "scale_low_s": each.scales.low * self.bin_s,
                "scale_high_s": each.scales.high * self.bin_s,
            }
            for each in self.estimates
        ]
        return {
            "verdict": self.label,
            "sentence": self.sentence,
            "h": self.h,
            "detectable_h": self.detectable_h,
            "bin_s": self.bin_s,
            "level": self.level,
            "estimates": estimates,
            "surrogates": self.surrogates.as_json(),
            "warnings": list(self.warnings),
        }


def verdict(
    series: ArrayLike | Sequence[float], bin_s: float, *, level: float = 0.01, surrogates: int = 199, seed: int = 1
) -> Verdict:
    """Return the verdict on long-range dependence of `series`, by every estimator and three kinds of surrogates.

    Parameters
    ----------
    series
        Values of equal bins (bytes, packets, arrivals), shape (n,), n >= 128.
    bin_s
        Length of a bin, s.
    level
        Level of each test, at least 2/(surrogates + 1): they are two-sided.
    surrogates, seed
        How many surrogates of each kind, and their seed.

    Raises
    ------
    StatisticsError
        If a value is not finite, the series is constant or too short, or an option is out of range.

    Examples
    --------
    >>> from parshall_studies.synthesis import fgn
    >>> verdict(fgn(8192, 0.8, np.random.default_rng(3)), 0.01).label
    'long-range dependent'
    >>> verdict(np.random.default_rng(3).poisson(5, 8192), 0.01).label
    'no long-range dependence shown'
    """
    check_level(level)
    if not (np.isfinite(bin_s) and bin_s > 0):
        raise StatisticsError(f"bin_s: found {bin_s}, accepted is a finite number above 0")
    if level < 2 / (surrogates + 1):
        raise StatisticsError(
            f"level: found {level}, accepted with {surrogates} surrogates is {2 / (surrogates + 1):g} or more"
        )
    test = surrogate_test(series, count=surrogates, seed=seed)
    estimates = all_estimates(series)
    warnings = tuple(dict.fromkeys(warning for each in estimates for warning in each.warnings))
    h = float(np.median([each.h for each in estimates]))
    detectable = detectable_h(test.frequencies_of_blocks, level)
    block_s = test.block_bins * bin_s
    if max(test.p_shuffled, test.p_blocks) > level:
        label, reason = _nothing_beyond_a_block(test, level, block_s, detectable)
    else:
        label, reason = _of_dependence(test, estimates, warnings, level, block_s)
    sentence = f"{label[0].upper()}{label[1:]}: {reason}"
    return Verdict(label, sentence, h, detectable, bin_s, level, estimates, test, warnings)


def detectable_h(frequencies: int, level: float) -> float:
    """H that a two-sided test of 1/2 by the lowest frequencies finds in four of five series.

    Source: Robinson 1995, theorem 2, for the standard error.

    Examples
    --------
    >>> [round(detectable_h(m, 0.01), 2) for m in (51, 78, 128)]  # of 1024, 2048, 4096 values
    [0.85, 0.78, 0.71]
    """
    return float(0.5 + _SURROGATES * (ndtri(1 - level / 2) + ndtri(_POWER)) * semiparametric_error(frequencies))


def _of_dependence(
    test: SurrogateTest, estimates: tuple[Estimate, ...], warnings: tuple[str, ...], level: float, block_s: float
) -> tuple[Label, str]:
    """Return the label of dependence beyond a block: stationary or not, and short or long."""
    against = [warning for warning in warnings if warning.startswith(_CONTRADICTIONS)]
    if against or test.p_phase <= level:
        shift = f"its level shifts more than its correlations explain (p = {test.p_phase:.3g})"
        return "not stationary", f"{against[0] if against else shift}; every estimator reads that as a large H."
    if test.h > 0.5 and test.p_flat <= level and not _shown_at_lowest(test, level):
        return "short-range dependent", (
            f"the values depend on each other beyond {block_s:.3g} s (p = {test.p_blocks:.3g}), but H falls from "
            f"{test.h:.2f} to {test.h_lowest:.2f} at the lowest frequencies (p = {test.p_flat:.3g}), where no "
            "dependence is shown."
        )
    return _by_estimators(test, estimates, block_s)


def _shown_at_lowest(test: SurrogateTest, level: float) -> bool:
    """True if the lowest frequencies show dependence by themselves."""
    return bool(abs(test.h_lowest - 0.5) > ndtri(1 - level / 2) * semiparametric_error(test.frequencies_lowest))


def _nothing_beyond_a_block(test: SurrogateTest, level: float, block_s: float, detectable: float) -> tuple[Label, str]:
    """Return the label where no dependence is shown beyond a block, with the dependence that would have been."""
    dependent = test.p_dependent <= level
    values = "the values depend on each other" if dependent else "no dependence between the values is shown"
    first = f"{values} (p = {test.p_dependent:.3g})"
    if detectable > _TO_BE_FOUND:
        return "too short to tell", (
            f"{first}, and series of that length show dependence beyond {block_s:.3g} s in four of five cases only "
            f"{'if H is 1' if detectable >= 1 else f'from H = {detectable:.2f} on'}."
        )
    beyond = (
        f"beyond {block_s:.3g} s none is shown (p = {test.p_blocks:.3g}), where H = {detectable:.2f} or more would be "
        "in four of five series."
    )
    if dependent:
        return "short-range dependent", f"{first}; {beyond}"
    return "no long-range dependence shown", f"{first}, and {beyond}"


def _by_estimators(test: SurrogateTest, estimates: tuple[Estimate, ...], block_s: float) -> tuple[Label, str]:
    """Return the label of dependence without an end, by the estimators."""
    by_name = {each.method: each for each in estimates}
    local, wavelet = by_name["local_whittle"], by_name["wavelet"]
    low, high = min(each.h for each in estimates), max(each.h for each in estimates)
    found = (
        f"H = {local.h:.2f} ({local.ci[0]:.2f} to {local.ci[1]:.2f}) by local Whittle, {low:.2f} to {high:.2f} by all "
        f"{len(estimates)} estimators"
    )
    differs = (
        f"shuffled values (p = {test.p_shuffled:.3g}) and shuffled blocks of {block_s:.3g} s (p = {test.p_blocks:.3g})"
    )
    if max(local.h, wavelet.h) >= 1:
        return "undecided", (
            f"{found}, larger than that of {differs}. No stationary series has 1 or more at all scales: it is not "
            "stationary, or its memory reaches beyond the scales looked at."
        )
    if min(local.ci[0], wavelet.ci[0]) > 0.5:
        return "long-range dependent", f"{found}, larger than that of {differs}."
    if max(local.ci[1], wavelet.ci[1]) < 0.5:
        return "anti-persistent", f"{found}, smaller than that of {differs}."
    return "undecided", f"the estimators disagree: {low:.2f} to {high:.2f}, and not all intervals leave out 0.5."
