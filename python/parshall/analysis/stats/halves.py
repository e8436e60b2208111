"""The difference between both halves of a time: in a stationary process, nothing but chance.

Halves are paired, as both are of one repetition; the spread is that over repetitions, so that correlation within a half
does no harm. All quantities that are looked at are one family (`parshall.analysis.stats.families`). A difference below
`MATTERS` of the first half's value does not count, nor does one that is the same in all repetitions, which may be
copies of each other. One repetition has no answer.

References: A. Law, Simulation Modeling and Analysis, 5th ed., 2015, §9.5.1 (the initial transient) and §10.2.1 (pairs).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.families import Pair, judged

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
    pairs = {name: Pair.of_values(*both) for name, both in halves.items()}
    made = {}
    for name, found in judged(pairs, at_least=MATTERS).items():
        first, second = (each.interval.mean for each in (pairs[name].a, pairs[name].b))
        differs = None if found.p_value is None else found.matters
        made[name] = Change(first, second, cast("Interval", found.difference), differs)
    return made
