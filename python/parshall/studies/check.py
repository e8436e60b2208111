"""One published value beside ours."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["reproduced", "not_reproduced", "extended"]


@dataclass(frozen=True)
class Check:
    """A value of a table or figure, published and ours.

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
        Largest accepted distance of the interval from the published value, in the quantity's unit.
    note
        What a reader must know.
    """

    artefact: str
    quantity: str
    published: float | None
    ours: float
    ci_low: float | None
    ci_high: float | None
    tolerance: float
    note: str = ""

    def __post_init__(self) -> None:
        values = (self.published, self.ours, self.ci_low, self.ci_high, self.tolerance)
        if not all(math.isfinite(value) for value in values if value is not None):
            raise ValueError(f"{self.artefact}, {self.quantity}: values must be finite, found {values}")

    @property
    def verdict(self) -> Verdict:
        """``reproduced`` if the interval comes within the tolerance of the published value.

        >>> Check("table1", "mean, s", 2.0, 2.5, 2.2, 2.8, 0.25).verdict
        'reproduced'
        """
        if self.published is None:
            return "extended"
        low = self.ours if self.ci_low is None else self.ci_low
        high = self.ours if self.ci_high is None else self.ci_high
        within = low - self.tolerance <= self.published <= high + self.tolerance
        return "reproduced" if within else "not_reproduced"

    def as_json(self) -> dict[str, Any]:
        """What ``parshall study --json`` prints; docs/json.md describes it."""
        return {**asdict(self), "verdict": self.verdict}

    def cells(self) -> tuple[str, ...]:
        """What is shown of it: artefact, quantity, published, ours, interval, tolerance, verdict, note."""
        published = "" if self.published is None else f"{self.published:g}"
        interval = "" if self.ci_low is None else f"{self.ci_low:.4g} .. {self.ci_high:.4g}"
        tolerance = "" if self.published is None else f"±{self.tolerance:.3g}"
        verdict = self.verdict.replace("_", " ")
        return (self.artefact, self.quantity, published, f"{self.ours:.4g}", interval, tolerance, verdict, self.note)
