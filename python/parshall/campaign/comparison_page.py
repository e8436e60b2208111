"""The page of a comparison of two sweeps: what differs and matters, then the rest, point by point."""

from __future__ import annotations

from parshall.campaign.comparing import Comparison, Difference
from parshall.report.comparing import family, pairing
from parshall.report.document import Document, Section, Table
from parshall.report.numbers import counted
from parshall.version import __version__

_MOST_ROWS = 500


def document(comparison: Comparison) -> Document:
    """The page's content."""
    matter = [each for each in comparison.differences if each.matters]
    rest = [each for each in comparison.differences if not each.matters]
    compared = counted(len(comparison.differences), "difference")
    sentences = [
        f"A is {comparison.a}, B is {comparison.b}. Values are means over repetitions with their 95 % confidence "
        f"intervals; repetitions are {pairing(comparison.paired)}.",
        *([family(comparison.tested)] if comparison.tested else []),
        *(
            f"{counted(alone, 'point')} of {name} {'is' if alone == 1 else 'are'} not in the other sweep."
            for name, alone in comparison.alone
        ),
    ]
    return Document(
        kind="comparison",
        title=f"{comparison.a}, {comparison.b}",
        description="Two sweeps over the same parameters, point by point.",
        byline=[f"Parshall {__version__}"],
        sections=[
            Section("What is compared", sentences, name="compared"),
            _section("What differs and matters", comparison, matter),
            _section("The rest", comparison, rest),
        ],
        finding=f"Of {compared}, {len(matter)} are shown and matter, by {100 * comparison.at_least:g} % or more.",
    )


def _section(heading: str, comparison: Comparison, differences: list[Difference]) -> Section:
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
    left_out = [f"{more} more are left out here; `parshall compare --json` has them all."] if more > 0 else []
    return Section(heading, left_out, [Table("", header, rows, numbers)])
