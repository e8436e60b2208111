"""The page of a comparison of two sweeps: what differs and matters, then the rest, point by point."""

from __future__ import annotations

from parshall.campaign.comparing import Difference, SweepComparison
from parshall.foundations.numbers import count, counted
from parshall.foundations.version import __version__
from parshall.report.comparing import bounds, family, meant, summary
from parshall.report.document import Document, Section, Table
from parshall.report.sentences import Sentence, say

_MOST_ROWS = 500


def document(comparison: SweepComparison) -> Document:
    """The page's content."""
    matter = [each for each in comparison.differences if each.matters]
    rest = [each for each in comparison.differences if not each.matters]
    said = summary([[each] for each in comparison.differences], VALUES, comparison.at_least)
    return Document(
        kind="comparison",
        title=f"{comparison.a}, {comparison.b}",
        description="Two sweeps over the same parameters, point by point.",
        byline=[f"Parshall {__version__}"],
        sections=[
            Section("What is compared", _compared(comparison), name="compared"),
            _section("What differs and matters", comparison, matter),
            _section("The rest", comparison, rest),
        ],
        finding=" ".join(each.text for each in said),
    )


VALUES = ("value", "values")


def _compared(comparison: SweepComparison) -> list[str]:
    """The two sweeps, how values are meant, and what only one of both has."""
    return [
        f"{say('comparison.sweeps', a=comparison.a, b=comparison.b).text} {how(comparison).text}",
        *([family(comparison.tested)] if comparison.tested else []),
        *(each.text for each in bounds([[each] for each in comparison.differences], VALUES)),
        *(each.text for each in alone(comparison)),
    ]


def how(comparison: SweepComparison) -> Sentence:
    """Return the sentence that explains values and intervals, or says that there are no intervals."""
    differences = [each.difference for each in comparison.differences if each.difference is not None]
    return meant(differences, "comparison.sweep_values", comparison.paired)


def alone(comparison: SweepComparison) -> list[Sentence]:
    """Return sentences on the points that only one of the sweeps has."""
    return [
        say("comparison.alone", points=counted(number, "point"), name=name, are="is" if number == 1 else "are")
        for name, number in comparison.alone
    ]


def _section(heading: str, comparison: SweepComparison, differences: list[Difference]) -> Section:
    if not differences:
        return Section(heading, ["Nothing."])
    parameters = list(differences[0].point)
    rows = []
    for each in differences[:_MOST_ROWS]:
        label, *texts = comparison.cells(each)
        rows.append((label, *each.point.values(), *texts))
    header = ("Metric", *parameters, "A", "B", "B − A", "")
    numbers = range(1 + len(parameters), 4 + len(parameters))
    more = len(differences) - _MOST_ROWS
    left_out = [say("comparison.left_out", number=count(more)).text] if more > 0 else []
    return Section(heading, left_out, [Table("", header, rows, numbers)])
