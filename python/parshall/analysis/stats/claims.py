"""A claim: a value with its interval, what it is held against, by which rule, and the verdict. There is one table.

A rule accepts a region of values, and `Claim.outcome` is where the 95 % interval of the value lies beside it
(`parshall.analysis.stats.region`). The rules, with the reference r and the tolerance d:

| rule | the region |
| --- | --- |
| ``equal`` | r - d to r + d |
| ``at_most``, ``at_least`` | up to r + d; from r - d |
| ``sign`` | for r = 1 above d, for r = -1 below -d, for r = 0 from -d to d |
| ``ordering`` | above d: the value is the least difference between neighbours |
| ``monotone`` | above d: the value is the least step of the curve, in the direction that is claimed |
| ``line`` | 0 to d: the value is the largest distance from the fitted line, over its rise |
| ``reported`` | none |

The verdict says the outcome in words:

| verdict | when |
| --- | --- |
| ``reproduced``, ``holds`` | the whole interval is within the region: of a source; of a criterion |
| ``compatible`` | the interval is partly within: the record is too short to say more |
| ``not_reproduced``, ``fails`` | the whole interval is outside |
| ``undecided`` | the source's own value is one run, or so rounded that it may mean both; ours is missing or one value |
| | outside the region; or two instruments contradict each other |
| ``theory`` | ours is held against ours |
| ``calibrated`` | a parameter was fitted to this very value |
| ``reported`` | there is no region |

**Nulls.** Each claim is also asked of answers that it must not accept: the effect switched off, another column, a
reversed curve. One that accepts a null *cannot fail* (`Claim.cannot_fail`): it is shown, and never counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import Outcome, Region, exactly

Rule = Literal["equal", "at_most", "at_least", "sign", "ordering", "monotone", "line", "reported"]
Basis = Literal["published", "theory", "asked"]
Verdict = Literal[
    "reproduced", "not_reproduced", "holds", "fails", "compatible", "undecided", "theory", "calibrated", "reported"
]

SIGN = ": sign"
"""End of the quantity's name in a claim of a sign."""
BOUND = "a bound: any value beyond it fails"
"""Reason why a claim of a bound has no null of its own."""

_WORDS: dict[Outcome, Verdict] = {"holds": "reproduced", "fails": "not_reproduced"}


@dataclass(frozen=True)
class Tolerance:
    """The accepted distance of a value from its reference, in the value's unit, and the reason for it.

    The reason never comes from our own values.
    """

    value: float
    reason: str

    def __add__(self, other: Tolerance) -> Tolerance:
        """Both, one beside the other."""
        return Tolerance(self.value + other.value, f"{self.reason}; {other.reason}")


@dataclass(frozen=True)
class Null:
    """An answer that a claim must not accept: what it is, and its value."""

    name: str
    value: Interval


@dataclass(frozen=True)
class Claim:
    """A value, and what it is held against.

    Parameters
    ----------
    artefact
        Where the claim is made: ``table1``, ``RFC 9743 §5.1.2``.
    quantity
        What the value is, with its unit.
    value
        Ours with its 95 % interval; None: it was not found.
    rule, reference, tolerance, tolerance_reason
        The region that is accepted (this module's table), and why the tolerance is what it is.
    basis
        Whose the reference is: a source's (``published``), our own theory's, or a document's criterion (``asked``).
    uncertain
        Half-width of the source's own value: of one run of it, or of its rounding beyond the tolerance.
    nulls, null_reason
        Answers that must not be accepted; or why there are none.
    reading
        Which reading of what the source leaves open ours rests on.
    note
        What a reader must know.
    contested
        What another instrument says against it; such a claim is ``undecided``.
    kind
        Of the register (`parshall.studies.register`): ``value``, ``definition``, ...
    calibrated
        Which parameter was fitted to this very value.

    Raises
    ------
    ValueError
        A value is not finite, or the rule needs a reference that is missing.

    Examples
    --------
    >>> claim = Claim("table1", "mean, s", Interval(2.1, 2.0, 2.2, n=4), "equal", 2.0, 0.3)
    >>> claim.outcome, claim.verdict, claim.cannot_fail
    ('holds', 'reproduced', False)
    >>> from dataclasses import replace
    >>> replace(claim, tolerance=1.2).cannot_fail  # half of the published value would be accepted, too
    True
    """

    artefact: str
    quantity: str
    value: Interval | None
    rule: Rule = "reported"
    reference: float | None = None
    tolerance: float = 0.0
    tolerance_reason: str = ""
    basis: Basis = "published"
    uncertain: float = 0.0
    nulls: tuple[Null, ...] = ()
    null_reason: str = ""
    reading: str = ""
    note: str = ""
    contested: str = ""
    kind: str = ""
    calibrated: str = ""

    def __post_init__(self) -> None:
        ends = () if self.value is None else (self.value.mean, self.value.low, self.value.high)
        values = (*ends, self.reference, self.tolerance, self.uncertain)
        if not all(math.isfinite(value) for value in values if value is not None):
            raise ValueError(f"{self.name}: values must be finite, found {values}")
        if (self.reference is None) != (self.rule in {"reported", "ordering", "monotone", "line"}):
            raise ValueError(f"{self.name}: found the reference {self.reference} of a rule {self.rule}")

    @property
    def name(self) -> str:
        """Artefact and quantity: what registers and headlines call it."""
        return f"{self.artefact}: {self.quantity}"

    @property
    def named(self) -> str:
        """The quantity, and which reading of the source it rests on."""
        return f"{self.quantity} ({self.reading})" if self.reading else self.quantity

    @property
    def region(self) -> Region | None:
        """The region that the rule accepts; None: it has no bound."""
        r, d = self.reference or 0.0, self.tolerance
        if self.rule == "sign" and r:
            return Region(d, math.inf, is_open=True) if r > 0 else Region(-math.inf, -d, is_open=True)
        return {
            "equal": Region(r - d, r + d),
            "at_most": Region(-math.inf, r + d),
            "at_least": Region(r - d, math.inf),
            "sign": Region(-d, d),
            "ordering": Region(d, math.inf, is_open=True),
            "monotone": Region(d, math.inf, is_open=True),
            "line": Region(0.0, d),
        }.get(self.rule)

    @property
    def outcome(self) -> Outcome:
        """The outcome for the value, by the table of this module."""
        if self.region is None:
            return "reported"
        return "undecided" if self.contested else self.region.outcome(self.value, self.uncertain)

    @property
    def verdict(self) -> Verdict:
        """The outcome in the words of its basis; ``theory`` and ``calibrated`` are never counted as reproduced."""
        if self.outcome == "reported":
            return "reported"
        if self.basis == "theory":
            return "theory"
        if self.calibrated:
            return "calibrated"
        return _WORDS.get(self.outcome, self.outcome) if self.basis == "published" else self.outcome

    @property
    def asked_of(self) -> tuple[Null, ...]:
        """Its nulls: those that were given, else those that follow from the rule."""
        return self.nulls or _automatic(self)

    @property
    def accepted_nulls(self) -> tuple[Null, ...]:
        """The nulls that the rule takes for what is claimed."""
        region = self.region
        return () if region is None else tuple(each for each in self.asked_of if region.outcome(each.value) == "holds")

    @property
    def cannot_fail(self) -> bool:
        """True if the claim accepts a null, so that it says nothing."""
        return bool(self.accepted_nulls)

    @property
    def counted(self) -> bool:
        """True if it counts as a claim of a source or document."""
        return self.region is not None and self.basis != "theory" and not self.calibrated and not self.cannot_fail

    def problem(self) -> str | None:
        """Return the reason why a study with this claim refuses to run; None: nothing is missing."""
        if self.region is None:
            return None
        if self.tolerance and not self.tolerance_reason:
            return f"{self.name}: tolerance: found {self.tolerance:g} without a reason; its data file says one"
        if not self.asked_of and not self.null_reason and self.rule not in {"at_most", "at_least"}:
            return f"{self.name}: null: found none, and no reason; accepted: an answer that it must not accept"
        return None

    @property
    def ours(self) -> float | None:
        """The value without its interval."""
        return None if self.value is None else self.value.mean

    @property
    def published(self) -> float | None:
        """The reference, if it is a source's."""
        return self.reference if self.basis == "published" else None

    @property
    def theory(self) -> float | None:
        """The reference, if it is our own theory's."""
        return self.reference if self.basis == "theory" else None

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it; docs/json.md describes it."""
        value = self.value
        asked = self.basis == "asked"
        return {
            ("asked_by" if asked else "artefact"): self.artefact,
            "quantity": self.quantity,
            "rule": self.rule,
            **({"bound": self.reference} if asked else {"published": self.published, "theory": self.theory}),
            ("value" if asked else "ours"): self.ours,
            "ci_low": None if value is None else value.low,
            "ci_high": None if value is None else value.high,
            "tolerance": self.tolerance,
            "tolerance_reason": self.tolerance_reason,
            "uncertain": self.uncertain,
            "nulls": [
                {"name": each.name, "value": each.value.mean, "accepted": each in self.accepted_nulls}
                for each in self.asked_of
            ],
            "null_reason": self.null_reason,
            "cannot_fail": self.cannot_fail,
            "reading": self.reading,
            "note": self.note,
            "contested": self.contested,
            "kind": self.kind,
            "calibrated": self.calibrated,
            "outcome": self.outcome,
            "verdict": self.verdict,
        }


def _automatic(claim: Claim) -> tuple[Null, ...]:
    """The nulls that follow from a rule; curves and orders bring their own."""
    r, d = claim.reference, claim.tolerance
    if claim.rule == "equal" and r:
        return Null("half of it", exactly(r / 2)), Null("one and a half times it", exactly(1.5 * r))
    if claim.rule == "sign" and r:
        half = 0.0 if claim.value is None else claim.value.half_width or 0.0
        return (Null("no difference, known as well", Interval(0.0, -half, half, 1)),)
    if claim.rule == "sign":
        return (Null("a change twice as large as what counts as none", exactly(2 * d)),) if d else ()
    return ()


def unfinished(claims: Sequence[Claim]) -> list[str]:
    """The problems of claims: tolerances without a reason, nulls that were not computed."""
    return [problem for each in claims if (problem := each.problem()) is not None]
