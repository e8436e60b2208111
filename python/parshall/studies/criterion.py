"""One value of ours beside what a document asks of it, and whether that is met: what suites have instead of checks.

| the 95 % interval | verdict |
| --- | --- |
| is on the good side of the bound | ``passed`` |
| is on the other side | ``failed`` |
| has the bound within it, or there is none (one repetition, no value) | ``undecided`` |
| has no bound: the document asks for the value alone | ``reported`` |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from parshall.design import judging
from parshall.report.numbers import counted
from parshall.stats.confidence import Interval

Verdict = Literal["passed", "failed", "undecided", "reported"]

COLUMNS = ("asked by", "quantity", "accepted", "found", "95 %", "verdict", "note")
"""Of a table of criteria (`Criterion.cells`)."""

RULE = (
    "A criterion is passed, or failed, where the whole 95 % interval over the repetitions is on one side of the bound; "
    "else it is undecided, and more or longer repetitions would tell. What has no bound is only reported."
)

_VERDICTS: dict[judging.Verdict, Verdict] = {"kept": "passed", "broken": "failed", "open": "undecided"}


@dataclass(frozen=True)
class Criterion:
    """A value, and the bound that it is held against.

    Parameters
    ----------
    asked_by
        Where it is asked: ``RFC 9743 §5.1.2``.
    quantity
        What it is, with its unit.
    value
        Ours with its interval; None: there is none.
    bound
        In the quantity's unit; None: the document asks for the value alone.
    at_least
        Whether the value may not be below the bound; else it may not be above.
    note
        What a reader must know, such as whose the bound is.

    Examples
    --------
    >>> Criterion("RFC 9743 §5.1.4", "Jain's index", Interval(0.97, 0.95, 0.99, n=5), 0.8, at_least=True).verdict
    'passed'
    """

    asked_by: str
    quantity: str
    value: Interval | None
    bound: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """The table of this module."""
        if self.bound is None:
            return "reported"
        if self.value is None:
            return "undecided"
        return _VERDICTS[judging.verdict(self.value, self.bound, at_least=self.at_least)]

    def as_json(self) -> dict[str, Any]:
        """What ``parshall suite --json`` prints; docs/json.md describes it."""
        value = self.value
        return {
            "asked_by": self.asked_by,
            "quantity": self.quantity,
            "value": None if value is None else value.mean,
            "ci_low": None if value is None else value.low,
            "ci_high": None if value is None else value.high,
            "bound": self.bound,
            "at_least": self.at_least,
            "note": self.note,
            "verdict": self.verdict,
        }

    def cells(self) -> tuple[str, ...]:
        """What is shown of it, by `COLUMNS`."""
        value = self.value
        accepted = "" if self.bound is None else f"at {'least' if self.at_least else 'most'} {self.bound:g}"
        between = "" if value is None or value.low is None else f"{value.low:.4g} .. {value.high:.4g}"
        shown = "none" if value is None else f"{value.mean:.4g}"
        return (self.asked_by, self.quantity, accepted, shown, between, self.verdict, self.note)


def headline(criteria: Sequence[Criterion]) -> str:
    """How many criteria are met; the first sentence of a suite."""
    by_verdict = Counter(each.verdict for each in criteria)
    asked = counted(by_verdict.total() - by_verdict["reported"], "criterion", "criteria")
    reported = f" Only reported: {counted(by_verdict['reported'], 'value')}." if by_verdict["reported"] else ""
    return (
        f"Of {asked}, passed: {by_verdict['passed']}; failed: {by_verdict['failed']}; undecided: "
        f"{by_verdict['undecided']}.{reported}"
    )
