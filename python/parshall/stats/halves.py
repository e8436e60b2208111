"""Whether the second half of a time differs from the first: a stationary process gives no difference but chance.

| symbol | meaning |
| --- | --- |
| a_i, b_i | means of the first and the second half of repetition i |
| t | mean of b_i - a_i over its standard error, with n - 1 degrees of freedom |
| q | `LEVEL`, the false discovery rate over all quantities that are looked at |
| t_i | quantile 1 - q i/(2 m) of Student's t |

Halves are paired, as both are of one repetition; the spread is that over repetitions, so that correlation within a half
does no harm. Of m quantities those are said to differ whose |t| is among the k largest, k being the largest number
with |t|_(k) >= t_k (Benjamini & Hochberg 1995). A difference below `MATTERS` of the first half's value does not count,
nor does one that is the same in all repetitions, which may be copies of each other. One repetition has no answer.

References: A. Law, Simulation Modeling and Analysis, 5th ed., 2015, §9.5.1 (the initial transient) and §10.2.1 (pairs);
Y. Benjamini, Y. Hochberg, J. R. Stat. Soc. B 57(1), 1995.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parshall.distributions import student_quantile
from parshall.stats.confidence import Interval, paired_difference
from parshall.stats.verdict import ROUNDING

LEVEL = 0.05
"""Expected share of wrong ones among the differences that are found."""

MATTERS = 0.05
"""Share of the first half's value below which a difference does not count."""


@dataclass(frozen=True)
class Change:
    """A quantity in both halves.

    Parameters
    ----------
    first, second
        Means over the repetitions.
    difference
        Second less first, with its 95 % interval.
    differs
        Whether they differ; None where chance is not known.
    """

    first: float
    second: float
    difference: Interval
    differs: bool | None

    @property
    def relative(self) -> float:
        """The difference as a share of the first half's value; infinite if that is 0."""
        return self.difference.mean / abs(self.first) if self.first else float("inf")


Halves = tuple[Mapping[int, float], Mapping[int, float]]
"""The means of both halves, by repetition."""


def changes(halves: Mapping[str, Halves]) -> dict[str, Change]:
    """The changes of each quantity between both halves, judged together.

    Parameters
    ----------
    halves
        By the name of the quantity; each has the same repetitions in both halves, and one at least.

    Raises
    ------
    StatisticsError
        A value is not a finite number.

    Examples
    --------
    >>> risen = {0: 1.0, 1: 1.1, 2: 0.9}, {0: 2.0, 1: 2.2, 2: 1.9}
    >>> steady = {0: 1.0, 1: 1.1, 2: 0.9}, {0: 1.1, 1: 0.9, 2: 1.0}
    >>> [each.differs for each in changes({"queue": risen, "goodput": steady}).values()]
    [True, False]
    >>> changes({"queue": ({0: 1.0}, {0: 2.0})})["queue"].differs is None
    True
    """
    differences = {
        name: paired_difference([second[number] for number in first], list(first.values()))
        for name, (first, second) in halves.items()
    }
    found = _found({name: each for name, each in differences.items() if _has_spread(each)})
    made = {}
    for name, (first, second) in halves.items():
        means = [sum(half.values()) / len(half) for half in (first, second)]
        large = abs(differences[name].mean) >= MATTERS * abs(means[0])
        differs = (name in found and large) if _has_spread(differences[name]) else None
        made[name] = Change(means[0], means[1], differences[name], differs)
    return made


def _has_spread(difference: Interval) -> bool:
    return bool(difference.half_width and difference.half_width > ROUNDING * abs(difference.mean))


def _found(differences: Mapping[str, Interval]) -> set[str]:
    """The names of those that differ, of differences that have a spread."""
    sizes = {name: _t(each) for name, each in differences.items()}
    ranked = sorted(sizes, key=lambda name: -sizes[name])
    found: set[str] = set()
    for rank, name in enumerate(ranked, 1):
        freedom = differences[name].n - 1
        if sizes[name] >= student_quantile(1 - LEVEL * rank / (2 * len(ranked)), freedom):
            found = set(ranked[:rank])
    return found


def _t(difference: Interval) -> float:
    """|t| of a difference, from its interval; 0 without one."""
    if not difference.half_width:
        return 0.0
    quantile = student_quantile((1 + difference.level) / 2, difference.n - 1)
    return abs(difference.mean) / difference.half_width * quantile
