"""What is asked of a network, and whether a simulation keeps it.

A bound is kept, or broken, where the whole confidence interval is on one side of it; else it is open, and more or
longer repetitions would tell. Of one repetition there is no interval, and a bound that it meets is open, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from parshall.report.numbers import quantity
from parshall.report.uncertainty import interval_text
from parshall.stats.confidence import Interval
from parshall.stats.region import Outcome, Region

Verdict = Literal["kept", "open", "broken"]

_WORDS: dict[Outcome, Verdict] = {"holds": "kept", "fails": "broken"}


@dataclass(frozen=True)
class Asked:
    """A bound on a quantity.

    Parameters
    ----------
    key
        The quantity's key, as in docs/metrics.md.
    label, unit
        Of the quantity, for people.
    bound
        In that unit.
    at_least
        Whether the quantity may not be below it; else it may not be above.
    """

    key: str
    label: str
    unit: str
    bound: float
    at_least: bool = False


@dataclass(frozen=True)
class Judged:
    """What was asked, what a model says, and what was simulated.

    Parameters
    ----------
    model
        None: no model holds.
    """

    asked: Asked
    model: float | None
    simulated: Interval

    def cells(self) -> tuple[str, str, str, str]:
        """What is shown of it: bound, model, simulation, verdict."""
        unit = self.asked.unit
        model = "" if self.model is None else quantity(self.model, unit)
        return quantity(self.asked.bound, unit), model, interval_text(self.simulated, unit), self.verdict

    @property
    def verdict(self) -> Verdict:
        """Whether the simulation keeps it."""
        return verdict(self.simulated, self.asked.bound, at_least=self.asked.at_least)


def verdict(value: Interval, bound: float, *, at_least: bool = False) -> Verdict:
    """Whether an interval is on the good side of a bound.

    >>> verdict(Interval(1.0, 0.9, 1.1, n=4), 1.05), verdict(Interval(1.0, 0.9, 1.1, n=4), 0.8, at_least=True)
    ('open', 'kept')
    >>> verdict(Interval(1.0, None, None, n=1), 2.0)
    'open'
    """
    region = Region(bound, math.inf) if at_least else Region(-math.inf, bound)
    return _WORDS.get(region.outcome(value), "open")


def of_all(verdicts: Iterable[Verdict]) -> Verdict:
    """One verdict on several: broken where one is, kept where all are."""
    different = set(verdicts)
    return "broken" if "broken" in different else "open" if "open" in different else "kept"
