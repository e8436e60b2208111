"""What one case of a section gives, and all of them together: cases are done apart, in processes of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parshall.report.document import Drawn
from parshall.studies.check import Check


@dataclass(frozen=True)
class Found:
    """What a case gives to its section: checks, a row of its table, figures."""

    checks: list[Check]
    row: tuple[str, ...]
    figures: list[Drawn]


def together(results: Sequence[Found]) -> tuple[list[Check], list[tuple[str, ...]], list[Drawn]]:
    """Checks, rows and figures of all cases, in their order."""
    checks = [check for each in results for check in each.checks]
    return checks, [each.row for each in results], [drawn for each in results for drawn in each.figures]
