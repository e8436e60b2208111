"""One value of ours beside what it is held against, and the verdict.

A value is held against one of two things: what the source published (`published`), or what our own theory says
(`theory`). The first answers "does it come out as the source says?", the second "do our simulator and our models
agree?". Agreement of ours with ours is never counted as a published result.

The rule, with r the reference, d the tolerance (the resolution of the published number, or the accuracy that is asked
of it), [a, b] the 95 % interval of ours, and w the `decisive` half-width:

| condition | verdict |
| --- | --- |
| no reference | ``extended`` |
| [a, b] and [r - d, r + d] have no value in common | ``not_reproduced`` |
| they have, and (b - a)/2 > w: an interval as wide as this would agree with too much | ``undecided`` |
| they have, and r was published | ``reproduced`` |
| they have, and r is our theory | ``consistent_with_theory`` |

A published value that is one run is compared with the interval in which one run of ours falls (`single_run`), a
published sign with the signs of the two ends of ours (`sign`).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from parshall.stats.confidence import Interval, prediction_interval

Verdict = Literal["reproduced", "not_reproduced", "undecided", "consistent_with_theory", "extended"]

SIGN = ": sign"
"""How the quantity of a check of a sign ends."""

DECISIVE_SHARE = 0.1
"""Where nothing else is said, an interval of more than 10 % of the reference on either side decides nothing."""


@dataclass(frozen=True)
class Check:
    """A value of a table or figure: the source's or our theory's, and ours.

    Parameters
    ----------
    artefact
        Where it was published: ``table1``, ``fig6a``.
    quantity
        What it is, with its unit.
    published, ours
        The values; `published` is None for what the source does not have.
    ci_low, ci_high
        95 % confidence interval of ours; None without one.
    tolerance
        Largest accepted distance of the interval from the reference, in the quantity's unit.
    note
        What a reader must know.
    theory
        What our own theory says, where nothing was published.
    decisive
        Half-width of our interval from which on agreement says nothing; None: the tolerance, or 10 % of the reference
        if that is more.
    reading
        Which reading of what the source leaves open ours rests on; a published value that is tried in several readings
        counts once.

    Raises
    ------
    ValueError
        A value is not finite, or both `published` and `theory` are given.
    """

    artefact: str
    quantity: str
    published: float | None
    ours: float
    ci_low: float | None
    ci_high: float | None
    tolerance: float
    note: str = ""
    theory: float | None = None
    decisive: float | None = None
    reading: str = ""

    def __post_init__(self) -> None:
        values = (self.published, self.theory, self.ours, self.ci_low, self.ci_high, self.tolerance, self.decisive)
        if not all(math.isfinite(value) for value in values if value is not None):
            raise ValueError(f"{self.artefact}, {self.quantity}: values must be finite, found {values}")
        if self.published is not None and self.theory is not None:
            raise ValueError(
                f"{self.artefact}, {self.quantity}: found a published value and one of theory; accepted: one"
            )

    @property
    def reference(self) -> float | None:
        """What ours is held against."""
        return self.theory if self.published is None else self.published

    @property
    def verdict(self) -> Verdict:
        """What the comparison says: the table of this module.

        >>> Check("table1", "mean, s", 2.0, 2.1, 2.0, 2.2, 0.05).verdict
        'reproduced'
        >>> Check("table1", "mean, s", 2.0, 2.1, 1.2, 3.0, 0.05).verdict
        'undecided'
        """
        reference = self.reference
        if reference is None:
            return "extended"
        low = self.ours if self.ci_low is None else self.ci_low
        high = self.ours if self.ci_high is None else self.ci_high
        if not low - self.tolerance <= reference <= high + self.tolerance:
            return "not_reproduced"
        decisive = max(self.tolerance, DECISIVE_SHARE * abs(reference)) if self.decisive is None else self.decisive
        if (high - low) / 2 > decisive:
            return "undecided"
        return "consistent_with_theory" if self.published is None else "reproduced"

    @property
    def named(self) -> str:
        """The quantity, and which reading of the source it rests on."""
        return f"{self.quantity} ({self.reading})" if self.reading else self.quantity

    @property
    def is_sign(self) -> bool:
        """Whether it is a published sign (`sign`): the verdict says all of it."""
        return self.quantity.endswith(SIGN)

    def as_json(self) -> dict[str, Any]:
        """What ``parshall study --json`` prints; docs/json.md describes it."""
        return {**asdict(self), "verdict": self.verdict}

    def cells(self) -> tuple[str, ...]:
        """What is shown of it: artefact, quantity, reference, ours, interval, tolerance, verdict, note."""
        reference = (
            "" if self.reference is None else f"{self.reference:g}" + ("" if self.theory is None else " (theory)")
        )
        interval = "" if self.ci_low is None else f"{self.ci_low:.4g} .. {self.ci_high:.4g}"
        tolerance = "" if self.reference is None else f"±{self.tolerance:.3g}"
        verdict = self.verdict.replace("_", " ")
        if self.theory is not None and self.verdict == "not_reproduced":
            verdict = "not as our theory says"
        return (self.artefact, self.named, reference, f"{self.ours:.4g}", interval, tolerance, verdict, self.note)


def single_run(
    artefact: str,
    quantity: str,
    published: float,
    runs: ArrayLike,
    *,
    tolerance: float,
    note: str = "",
    reading: str = "",
) -> Check:
    """A published value that is one run, beside the 95 % interval in which one run of ours falls.

    Parameters
    ----------
    runs
        One value a run of ours, shape (n,), n at least 2.
    tolerance
        Resolution of the published value.

    Examples
    --------
    >>> single_run("table2", "gain", 0.31, [0.28, 0.31, 0.30, 0.33], tolerance=0.005).verdict
    'undecided'
    >>> single_run("table2", "gain", 0.31, [0.301, 0.31, 0.303, 0.305], tolerance=0.005).verdict
    'reproduced'
    """
    one = prediction_interval(runs)
    return Check(artefact, quantity, published, one.mean, one.low, one.high, tolerance, note, reading=reading)


def sign(
    artefact: str,
    quantity: str,
    published: int | None,
    interval: Interval,
    note: str = "",
    *,
    negligible: float = 0.0,
    reading: str = "",
) -> Check:
    """A published sign (1, -1, or 0: no change), beside the signs of the two ends of our interval.

    Parameters
    ----------
    interval
        The difference with its interval.
    negligible
        What counts as no change, in the difference's unit.

    Examples
    --------
    >>> sign("fig9", "gain", 1, Interval(0.2, 0.1, 0.3, n=8)).verdict
    'reproduced'
    >>> sign("fig9", "gain", 1, Interval(0.2, -0.1, 0.5, n=8)).verdict
    'undecided'
    >>> sign("fig9", "gain", 1, Interval(-0.2, -0.3, -0.1, n=8)).verdict
    'not_reproduced'
    >>> sign("fig2", "change", 0, Interval(0.01, -0.01, 0.03, n=8), negligible=0.05).verdict
    'reproduced'
    """
    ends = (
        interval.mean if interval.low is None else interval.low,
        interval.mean if interval.high is None else interval.high,
    )
    low, high = (float((end > negligible) - (end < -negligible)) for end in ends)
    ours = low if low == high else 0.0
    reference = None if published is None else float(published)
    return Check(artefact, f"{quantity}{SIGN}", reference, ours, low, high, 0.4, note, decisive=0.4, reading=reading)
