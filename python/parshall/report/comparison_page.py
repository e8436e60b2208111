"""The page of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from parshall.report.comparing import cells, header, letter, note
from parshall.report.comparison import Comparison, Row
from parshall.report.document import Document, Section, Table, write_document
from parshall.report.numbers import ABSENT, counted
from parshall.report.uncertainty import interval_text

FROM = ("scenario_file", "sources", "seed", "started")
"""What the page says of where each result comes from."""


def document(comparison: Comparison) -> Document:
    """The page: what is compared, what differs and matters, the rest, and what some results do not have."""
    matter = [row for row in comparison.rows if row.matters]
    whole = [row for row in comparison.rows if not row.matters and not row.missing]
    parted = [row for row in comparison.rows if not row.matters and row.missing]
    sections = [
        Section("What is compared", [note(comparison)], [_listed(comparison)]),
        _section("What differs and matters", comparison, matter, "No difference is shown that matters."),
        _section("The rest", comparison, whole, "Nothing."),
    ]
    if parted:
        lacking = Table(
            "",
            ("Metric", *(letter(place) for place in range(len(comparison.results)))),
            [(row.label, *(interval_text(each, row.unit) for each in row.intervals)) for row in parted],
            numbers=range(1, len(comparison.results) + 1),
        )
        sections.append(Section("Not in all results", [f"{ABSENT} where a result does not have it."], [lacking]))
    return Document(
        kind="comparison",
        title=", ".join(each.name for each in comparison.results),
        description=f"{counted(len(comparison.results), 'result')} quantity by quantity, each against {letter(0)}.",
        byline=[f"Parshall {metadata.version('parshall')}"],
        sections=sections,
    )


def write_page(comparison: Comparison, path: str | Path) -> Path:
    """Write the page of a comparison to `path`, all or nothing.

    Raises
    ------
    OSError
        It cannot be written.
    """
    return write_document(document(comparison), path)


def _section(heading: str, comparison: Comparison, rows: Sequence[Row], nothing: str) -> Section:
    if not rows:
        return Section(heading, [nothing])
    columns = header(comparison)
    numbers = [place for place, label in enumerate(columns) if place and label]
    return Section(heading, (), [Table("", columns, [cells(comparison, row) for row in rows], numbers)])


def _listed(comparison: Comparison) -> Table:
    rows = []
    for place, each in enumerate(comparison.results):
        known = [(key, each.provenance[key]) for key in FROM if key in each.provenance]
        texts = [", ".join(value) if isinstance(value, list) else str(value) for _, value in known]
        origin = "; ".join(f"{key.replace('_', ' ')} {text}" for (key, _), text in zip(known, texts, strict=True))
        rows.append((letter(place), each.name, each.instrument, origin))
    return Table("", ("", "Result", "Instrument", "From"), rows)
