"""Many differences judged together: which of those that are shown may be called differences.

| symbol | meaning |
| --- | --- |
| m | number of differences in the family: all that are shown together |
| p_(1) <= ... <= p_(m) | their p-values in order: Student's t, of pairs or of independent samples (Welch) |
| q | `LEVEL`, the false discovery rate |
| k | the largest i with p_(i) <= i q/m; what has p <= p_(k) is called a difference |

Each alone at 95 %, one in twenty of m differences would be shown by chance. By this procedure, of all that are called
differences a share of q at most is expected to be none; where nothing differs at all, something is called a difference
in a share of q of the families.

A family has the differences of which chance is known. What is exactly equal, of one repetition, without spread, or
stated by a model is not a part of it. A difference of binned values counts from the width of the bins on, so that its
p-value is too large rather than too small.

The level holds for independent p-values (Benjamini & Hochberg 1995), and where they depend positively on each other
(Benjamini & Yekutieli 2001, theorem 1.2). Quantities of one run are correlated with either sign, and their tests are
two-sided, which no theorem covers; the tests measure it (`tests/python/test_families.py`).

References: Y. Benjamini, Y. Hochberg, J. R. Stat. Soc. B 57(1), 1995; Y. Benjamini, D. Yekutieli, Annals of Statistics
29(4), 2001; B. Welch, Biometrika 34, 1947.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.confidence import Interval, compared, welch_freedom
from parshall.analysis.stats.quantiles import Pooled
from parshall.analysis.stats.verdict import AT_LEAST, Judgement, differed, has_spread, judgement
from parshall.foundations.distributions import student_tails

LEVEL = 0.05
"""Expected share of wrong ones among the differences that are called so."""

Key = TypeVar("Key")


@dataclass(frozen=True)
class Pair:
    """Two estimates of one quantity, of which the second is held against the first.

    Parameters
    ----------
    a, b
        The estimates, in the same unit.
    common_numbers
        Whether repetitions of the same number drew the same random numbers.
    """

    a: Pooled
    b: Pooled
    common_numbers: bool

    @classmethod
    def of_values(cls, a: Mapping[int, float], b: Mapping[int, float]) -> Pair:
        """Means of values by repetition, which are paired by their numbers; neither is empty."""
        one, other = (Pooled(Interval(sum(x.values()) / len(x), None, None, len(x)), x) for x in (a, b))
        return cls(one, other, common_numbers=True)

    def p_value(self, difference: Interval) -> float | None:
        """Probability of a difference as large as this one or larger where there is none; None where chance is unknown.

        That is of fewer than two repetitions, and of a difference that is the same in all of them to rounding.
        """
        if not has_spread(difference, self.a.interval.mean, self.b.interval.mean):
            return None
        after, before, paired = compared(self.b.by_repetition, self.a.by_repetition, common_numbers=self.common_numbers)
        return p_value(after, before, paired=paired, resolution=self.a.resolution + self.b.resolution)


def p_value(after: Sequence[float], before: Sequence[float], *, paired: bool, resolution: float = 0.0) -> float:
    """Two-sided p-value of no difference in the mean, by Student's t.

    Parameters
    ----------
    after, before
        Values by repetition, two at least of each; as many of each where they are pairs. The difference has a spread.
    paired
        Whether they are pairs; else Welch's test of independent samples.
    resolution
        Size of a difference that counts as none.

    Examples
    --------
    >>> round(p_value([2.0, 3.1, 4.0], [1.0, 2.0, 3.0], paired=True), 6)
    0.001039
    >>> round(p_value([1.0, 1.0, 1.0], [2.0, 2.0, 2.1], paired=False), 6)
    0.001039
    """
    a, b = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    variances = [float(np.var(each, ddof=1)) / each.size for each in ((b - a,) if paired else (b, a))]
    freedom = a.size - 1.0 if paired else welch_freedom((variances[0], variances[1]), (b.size, a.size))
    beyond = max(0.0, abs(float(b.mean() - a.mean())) - resolution)
    return student_tails(beyond / math.sqrt(sum(variances)), freedom)


def cutoff(p_values: Iterable[float | None], of: int = 0, level: float = LEVEL) -> float:
    """Largest p-value that is called a difference; 0 where none is.

    Source: Benjamini & Hochberg 1995, §3.1.

    Parameters
    ----------
    p_values
        Of the family; None where chance is unknown.
    of
        How many differences the family has, if that is more than there are p-values: the others count as not found.
    level
        The false discovery rate, q.

    Examples
    --------
    >>> cutoff([0.04, 0.001, None, 0.5, 0.02]), cutoff([0.04, 0.03]), cutoff([0.04, 0.001], of=100)
    (0.02, 0.04, 0.0)
    """
    p: NDArray[np.float64] = np.sort([each for each in p_values if each is not None])
    found = np.flatnonzero(p <= level * np.arange(1, p.size + 1) / max(of, p.size, 1))
    return float(p[found[-1]]) if found.size else 0.0


def judged(
    pairs: Mapping[Key, Pair], *, at_least: float = AT_LEAST, of: int = 0, again: Collection[Key] = ()
) -> dict[Key, Judgement]:
    """The judgements of a family of differences, under the keys of `pairs`.

    Parameters
    ----------
    at_least
        Share of A's value below which a difference does not matter.
    of
        How many differences the family has, as for `cutoff`.
    again
        Keys of pairs that say again what another one says: they are judged, and not counted.

    Examples
    --------
    >>> one, two = {0: 9.0, 1: 10.0, 2: 11.0}, {0: 18.5, 1: 20.0, 2: 21.5}
    >>> pair = Pair.of_values(one, two)
    >>> {key: str(each.verdict) for key, each in judged({"goodput": pair}).items()}
    {'goodput': 'higher'}
    >>> {key: str(each.verdict) for key, each in judged({"goodput": pair}, of=100).items()}
    {'goodput': 'no difference shown'}
    """
    differences = {key: differed(pair.a, pair.b, common_numbers=pair.common_numbers) for key, pair in pairs.items()}
    p_values = {key: pair.p_value(differences[key][0]) for key, pair in pairs.items()}
    largest = cutoff((p for key, p in p_values.items() if key not in again), of)
    made = {}
    for key, pair in pairs.items():
        (difference, paired), p = differences[key], p_values[key]
        made[key] = judgement(
            difference,
            pair.a,
            pair.b,
            paired=paired,
            at_least=at_least,
            p_value=p,
            significant=None if p is None else p <= largest,
        )
    return made
