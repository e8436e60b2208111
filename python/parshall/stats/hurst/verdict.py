"""From a series to a verdict: every estimator, the surrogates, and one sentence.

The verdict is the first of these that applies, at the level asked for:

| verdict | if |
| --- | --- |
| `independent` | H is not larger than that of the shuffled series |
| `short-range dependent` | H at scales beyond a block is not larger than that of shuffled blocks |
| `not stationary` | there is a trend, a level shift, a change of variance, or H >= 1 |
| `long-range dependent` | the 95 % intervals of `local_whittle` and `wavelet` are both above 1/2 |
| `undecided` | else |

White noise is called long-range dependent less often than `level`: it would have to pass the first two tests, each of
that level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from parshall.stats.confidence import StatisticsError
from parshall.stats.hurst.catalog import all_estimates
from parshall.stats.hurst.estimate import Estimate
from parshall.stats.hurst.series import check_level
from parshall.stats.hurst.surrogates import SurrogateTest, surrogate_test

Label = Literal["independent", "short-range dependent", "not stationary", "long-range dependent", "undecided"]

_CONTRADICTIONS = ("trend", "level shift", "variance", "not stationary")


@dataclass(frozen=True)
class Verdict:
    """What a series is, and why.

    Parameters
    ----------
    label
        One of five; see the module.
    sentence
        The same with its reasons, for readers.
    h
        Median of the estimates.
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
            "bin_s": self.bin_s,
            "level": self.level,
            "estimates": estimates,
            "surrogates": self.surrogates.as_json(),
            "warnings": list(self.warnings),
        }


def verdict(
    series: ArrayLike | Sequence[float], bin_s: float, *, level: float = 0.01, surrogates: int = 199, seed: int = 1
) -> Verdict:
    """Whether `series` is long-range dependent, by every estimator and three kinds of surrogates.

    Parameters
    ----------
    series
        Values of equal bins (bytes, packets, arrivals), shape (n,), n >= 128.
    bin_s
        Length of a bin, s.
    level
        Level of each test, at least 1/(surrogates + 1).
    surrogates, seed
        How many surrogates of each kind, and their seed.

    Raises
    ------
    StatisticsError
        If a value is not finite, the series is constant or too short, or an option is out of range.

    Examples
    --------
    >>> from parshall.stats.synthesis import fgn
    >>> verdict(fgn(8192, 0.8, np.random.default_rng(3)), 0.01).label
    'long-range dependent'
    >>> verdict(np.random.default_rng(3).poisson(5, 8192), 0.01).label
    'independent'
    """
    check_level(level)
    if not (np.isfinite(bin_s) and bin_s > 0):
        raise StatisticsError(f"bin_s: found {bin_s}, accepted is a finite number above 0")
    if level < 1 / (surrogates + 1):
        raise StatisticsError(
            f"level: found {level}, accepted with {surrogates} surrogates is {1 / (surrogates + 1):g} or more"
        )
    test = surrogate_test(series, count=surrogates, seed=seed)
    estimates = all_estimates(series)
    warnings = tuple(dict.fromkeys(warning for each in estimates for warning in each.warnings))
    h = float(np.median([each.h for each in estimates]))
    label, reason = _decide(test, estimates, warnings, level, test.block_bins * bin_s)
    return Verdict(label, f"{label.capitalize()}: {reason}", h, bin_s, level, estimates, test, warnings)


def _decide(
    test: SurrogateTest, estimates: tuple[Estimate, ...], warnings: tuple[str, ...], level: float, block_s: float
) -> tuple[Label, str]:
    by_name = {each.method: each for each in estimates}
    local, wavelet = by_name["local_whittle"], by_name["wavelet"]
    if test.p_shuffled > level:
        return "independent", (
            f"H = {test.h:.2f} is not larger than that of the same values in random order (p = {test.p_shuffled:.3g})."
        )
    if test.p_blocks > level:
        return "short-range dependent", (
            f"the values depend on each other, but beyond {block_s:.3g} s no more than if blocks of that length "
            f"came in random order (p = {test.p_blocks:.3g})."
        )
    against = [warning for warning in warnings if warning.startswith(_CONTRADICTIONS)]
    if against or test.p_phase <= level:
        text = (
            against[0] if against else f"its level shifts more than its correlations explain (p = {test.p_phase:.3g})"
        )
        return "not stationary", f"{text}; every estimator reads that as a large H."
    low, high = min(each.h for each in estimates), max(each.h for each in estimates)
    if local.ci[0] > 0.5 and wavelet.ci[0] > 0.5:
        return "long-range dependent", (
            f"H = {local.h:.2f} ({local.ci[0]:.2f} to {local.ci[1]:.2f}) by local Whittle, {low:.2f} to {high:.2f} "
            f"by all {len(estimates)} estimators, beyond what shuffled values (p = {test.p_shuffled:.3g}) and shuffled "
            f"blocks of {block_s:.3g} s (p = {test.p_blocks:.3g}) have."
        )
    return "undecided", f"the estimators disagree: {low:.2f} to {high:.2f}, and not all intervals are above 0.5."
