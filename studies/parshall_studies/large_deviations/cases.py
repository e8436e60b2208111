"""What one case of a section gives, and all of them together: cases are done apart, in processes of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parshall.analysis.stats.claims import Claim
from parshall.report.document import Chart


@dataclass(frozen=True)
class CaseFindings:
    """What a case gives to its section: checks, a row of its table, figures."""

    checks: list[Claim]
    row: tuple[str, ...]
    figures: list[Chart]


def together(results: Sequence[CaseFindings]) -> tuple[list[Claim], list[tuple[str, ...]], list[Chart]]:
    """Checks, rows and figures of all cases, in their order."""
    checks = [check for each in results for check in each.checks]
    return checks, [each.row for each in results], [drawn for each in results for drawn in each.figures]
