"""Demands on a network, and whether a simulation meets them.

What is asked is a claim of the rule ``at_most`` or ``at_least``, and the verdict is its outcome
(`parshall.analysis.stats.claims`): it holds, or fails, where the whole confidence interval is on one side of the bound.
Else it is compatible, and more or longer repetitions would tell; a single value beyond the bound is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from parshall.analysis.stats import claim_rules
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import Outcome
from parshall.foundations.numbers import quantity
from parshall.report.uncertainty import interval_text


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
    """A demand, the model's value, and the simulated one.

    Parameters
    ----------
    model
        None: no model holds.
    """

    asked: Asked
    model: float | None
    simulated: Interval

    def cells(self) -> tuple[str, str, str, str]:
        """Return its cells: bound, model, simulation, verdict."""
        unit = self.asked.unit
        model = "" if self.model is None else quantity(self.model, unit)
        return quantity(self.asked.bound, unit), model, interval_text(self.simulated, unit), self.verdict

    @property
    def verdict(self) -> Outcome:
        """Outcome of the simulation beside the bound."""
        return claim(self.asked.label, self.simulated, self.asked.bound, at_least=self.asked.at_least).outcome


def claim(quantity: str, value: Interval, bound: float, *, at_least: bool = False) -> Claim:
    """The claim that a simulated value is on the good side of a bound.

    >>> value = Interval(1.0, 0.9, 1.1, n=4)
    >>> claim("delay, s", value, 1.05).outcome, claim("use", value, 0.8, at_least=True).outcome
    ('compatible', 'holds')
    >>> [claim("delay, s", Interval(x, None, None, n=1), 2.0).outcome for x in (1.0, 3.0)]
    ['compatible', 'undecided']
    """
    rule = claim_rules.at_least if at_least else claim_rules.at_most
    return rule("asked", quantity, bound, value)


def of_all(verdicts: Iterable[Outcome]) -> Outcome:
    """One verdict on several: it fails where one does, and holds where all do.

    >>> of_all(["holds", "compatible"]), of_all(["holds", "undecided", "fails"])
    ('compatible', 'fails')
    """
    found = set(verdicts)
    order: tuple[Outcome, ...] = ("fails", "undecided", "compatible")
    return next((each for each in order if each in found), "holds")
