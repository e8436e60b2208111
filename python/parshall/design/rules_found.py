"""The effects of Linux's rules on a quantity: of all of them, and of each one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.verdict import Judgement

WHOLE = "all"
"""All rules, in the place of one."""

COLUMNS = ("together", "alone", "through")
"""The differences of a rule."""


@dataclass(frozen=True)
class RuleEffect:
    """The effect of a rule on a quantity: with Linux's form of it less with the RFCs' form.

    Parameters
    ----------
    together
        While all others are Linux's; None: no value.
    alone
        While all others are the RFCs'; None: no value, or the rule is all of them.
    through
        The first less the second: what it does through others; None where one is missing or neither is anything.
    """

    together: Judgement | None
    alone: Judgement | None = None
    through: Judgement | None = None


@dataclass(frozen=True)
class RulesOfQuantity:
    """A quantity, and what all rules together and each one do to it.

    Parameters
    ----------
    label, unit
        Of the quantity, for people.
    linux, rfc
        Its values with all rules of Linux, and with all of the RFCs.
    effects
        By rule; `WHOLE` is all of them.
    at_least
        Share of the value with all rules of the RFCs below which no difference matters.
    kernel
        The kernel's value; None: nothing was emulated, or it has none.
    """

    key: str
    label: str
    unit: str
    linux: Interval
    rfc: Interval
    effects: Mapping[str, RuleEffect]
    at_least: float = 0.01
    kernel: float | None = None

    @property
    def whole(self) -> Judgement:
        """The difference of all rules together."""
        found = self.effects[WHOLE].together
        if found is None:
            raise ValueError(f"{self.key}: a quantity without values is not asked")
        return found

    def share(self, found: Judgement | None) -> float | None:
        """A difference over the value with the rules of the RFCs; None if that is 0, or there is none."""
        return None if found is None or self.rfc.mean == 0 else found.difference.value / abs(self.rfc.mean)

    def matters(self, found: Judgement | None) -> bool:
        """True if a difference is shown and large enough."""
        share = self.share(found)
        return found is not None and found.matters and (share is None or abs(share) >= self.at_least)

    def parts(self, column: str = "together") -> list[tuple[str, Judgement]]:
        """The rules that change it by as much as matters, the most first."""
        known = [(name, getattr(effect, column)) for name, effect in self.effects.items() if name != WHOLE]
        shown = [(name, found) for name, found in known if self.matters(found)]
        return sorted(shown, key=lambda part: -abs(part[1].difference.value))

    @property
    def shown(self) -> bool:
        """True if some rule is shown to change the quantity by as much as matters."""
        return self.matters(self.whole) or bool(self.parts() or self.parts("alone"))
