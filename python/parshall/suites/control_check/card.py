"""A report card: what the conformance kit found, and what was measured beside Reno and CUBIC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.verdict import DIFFERENT, Judgement, Verdict
from parshall.foundations import notebook
from parshall.foundations.has_figures import HasFigures
from parshall.foundations.numbers import significant
from parshall.report import claims
from parshall.report.uncertainty import interval_text
from parshall.suites.control_check.conformance import Finding

RIVALS = ("reno", "cubic")
"""Beside which every control is put: the standard ones (RFC 9743 §5.2.1)."""

COLUMNS = ("Reno's formula", "accepted", "verdict")
"""Of a table of rows, after the controls."""

HARMLESS = 0.05
"""Harm below this does not matter: no standard has a number."""

_DECIDED = (*DIFFERENT, Verdict.SAME, Verdict.EQUAL)


@dataclass(frozen=True)
class CardRow:
    """One measure of all controls.

    Parameters
    ----------
    part
        ``response``, ``alone``, ``fairness`` or ``harm``.
    key
        Its name, for programs.
    label
        Its name, for people.
    unit
        Of the values; empty: a pure number.
    values
        Mean and 95 % interval over the repetitions, by control; None where it is not defined.
    formula
        What a closed form says of Reno, if there is one. It is no criterion: a control need not be Reno.
    claim
        What is asked of the control, if anything is.
    harm
        What a harm's difference from 0 shows, which is asked to be 0 at most.
    lacking
        Why there is no value, by control, where a reason is known.
    """

    part: str
    key: str
    label: str
    unit: str
    values: Mapping[str, Interval | None]
    formula: float | None = None
    claim: Claim | None = None
    harm: Judgement | None = None
    lacking: Mapping[str, str] = field(default_factory=dict)

    def text(self, control: str) -> str:
        """The value of a control with its unit, or why there is none."""
        return self.lacking.get(control) or interval_text(self.values[control], self.unit)

    @property
    def asked(self) -> str:
        """The values that are accepted, in words; empty without a criterion."""
        if self.claim is not None:
            return f"{claims.accepted(self.claim)} {self.claim.note}".rstrip()
        return "" if self.harm is None else "at most 0"

    @property
    def verdict(self) -> str:
        """The verdict in words; empty without a criterion."""
        if self.claim is not None:
            return claims.verdict(self.claim)
        return "" if self.harm is None else self.harm.verdict.text(HARMLESS)

    @property
    def accepted(self) -> bool | None:
        """True if the criterion is met; None without one, and where the repetitions do not tell."""
        if self.claim is not None:
            return {"holds": True, "fails": False}.get(self.claim.outcome)
        if self.harm is None or self.harm.verdict not in _DECIDED:
            return None
        if self.harm.verdict is Verdict.HIGHER:
            return False if self.harm.matters else None
        return True

    def cells(self, controls: Sequence[str]) -> list[str]:
        """The cells of its row: label, the value of each control, then `COLUMNS`."""
        formula = "" if self.formula is None else significant(self.formula)
        return [self.label, *map(self.text, controls), formula, self.asked, self.verdict]

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        values = {name: None if estimate is None else asdict(estimate) for name, estimate in self.values.items()}
        return {
            "part": self.part,
            "key": self.key,
            "label": self.label,
            "unit": self.unit,
            "values": values,
            "formula": self.formula,
            "claim": None if self.claim is None else self.claim.as_json(),
            "verdict": self.verdict,
            "accepted": self.accepted,
            "lacking": dict(self.lacking),
        }


@dataclass(frozen=True)
class Trajectory:
    """A window over time, packets against seconds, at a buffer in BDP."""

    control: str
    buffer_bdp: float
    time_s: Sequence[float]
    cwnd_packets: Sequence[float]


@dataclass(frozen=True)
class Card(HasFigures, page="parshall.suites.control_check.page:page"):
    """The findings on a control.

    Parameters
    ----------
    control
        What the card calls it.
    source
        Where it comes from: ``mine.py:Mine``, or the catalog.
    seed, repetitions
        What all random numbers follow from, and how many runs of each simulation there were.
    findings
        Of the conformance kit.
    rows
        The measures; empty if `not_measured` says why.
    trajectories
        Windows over time, of the first repetition.
    wall_s
        Seconds that all took.
    """

    control: str
    source: str
    seed: int
    repetitions: int
    findings: Sequence[Finding]
    rows: Sequence[CardRow] = ()
    trajectories: Sequence[Trajectory] = field(default=(), repr=False)
    not_measured: str | None = None
    wall_s: float = 0.0

    @property
    def passed(self) -> bool:
        """True if it keeps all that the conformance kit requires."""
        return not any(finding.fails for finding in self.findings)

    @property
    def controls(self) -> list[str]:
        """The columns: itself, then those it is compared with."""
        return list(dict.fromkeys((self.control, *RIVALS)))

    def trajectories_at(self, buffer_bdp: float) -> list[Trajectory]:
        """Windows over time at a buffer, in the order of `controls`."""
        return [each for each in self.trajectories if each.buffer_bdp == buffer_bdp]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the conformance kit, and the measures beside those of others."""
        kit = ([each.name, each.sentence, each.text] for each in self.findings)
        tables = [notebook.table(("check", "what must hold", "found"), kit)]
        if self.rows:
            columns = ("", *self.controls, *COLUMNS)
            tables.append(notebook.table(columns, (each.cells(self.controls) for each in self.rows)))
        remark = "passes the conformance kit" if self.passed else "fails the conformance kit"
        return notebook.fragment(self.control, remark, *tables)

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints; docs/json.md describes it."""
        return {
            "control": self.control,
            "source": self.source,
            "seed": self.seed,
            "repetitions": self.repetitions,
            "passed": self.passed,
            "conformance": [finding.as_json() for finding in self.findings],
            "measures": [row.as_json() for row in self.rows],
            "not_measured": self.not_measured,
            "wall_s": round(self.wall_s, 3),
        }


def interval(values: Sequence[float | None]) -> Interval | None:
    """Over the repetitions; None if one has no value."""
    known = [value for value in values if value is not None]
    return mean_interval(known) if known and len(known) == len(values) else None
