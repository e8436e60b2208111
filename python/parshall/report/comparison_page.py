"""The page of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from parshall.analysis.stats.ranges import Number, Range
from parshall.foundations.numbers import ABSENT, counted, quantity
from parshall.foundations.version import __version__
from parshall.report import validity_section
from parshall.report.comparing import QUANTITIES, cells, header, letter, note, summary, values
from parshall.report.comparison import Comparison, Row
from parshall.report.comparison_figures import candidates, courses, differences, distributions
from parshall.report.document import Document, Section, Table, write_document
from parshall.report.sentences import say
from parshall.report.uncertainty import no_value, range_text

FROM = ("scenario_file", "sources", "seed", "started")
"""Facts of each result's origin that the page shows."""


def document(comparison: Comparison) -> Document:
    """The page: what is compared, what differs and matters, the rest, and what some results do not have."""
    matter = [row for row in comparison.shown if row.matters]
    whole = [row for row in comparison.shown if not row.matters and not row.missing]
    parted = [row for row in comparison.shown if not row.matters and row.missing]
    scatter, forest = candidates(comparison), differences(comparison)
    shapes, over_time = distributions(comparison), courses(comparison)
    sections = [
        *([Section("All candidates", figures=[scatter], name="candidates", is_opening=True)] if scatter else []),
        *([Section("What differs most", figures=[forest], name="differences")] if forest else []),
        Section("What is compared", [note(comparison)], [_listed(comparison)], name="compared"),
        _section("What differs and matters", comparison, matter, "No difference is shown that matters."),
        *([Section("Distributions", figures=shapes, name="distributions")] if shapes else []),
        *([Section("Over time", figures=over_time, name="over-time")] if over_time else []),
        _section("The rest", comparison, whole, "Nothing."),
    ]
    if len(comparison.results) > 2 and matter + whole:
        every = Section("Every difference", tables=[_differences(comparison, matter + whole)], name="every-difference")
        sections.append(every)
    if parted:
        sections.append(
            Section("Not in all results", [f"{ABSENT} where a result does not have it."], [_values(comparison, parted)])
        )
    return Document(
        kind="comparison",
        title=", ".join(each.name for each in comparison.results),
        description=f"{counted(len(comparison.results), 'result')} quantity by quantity, each against {letter(0)}.",
        byline=[f"Parshall {__version__}"],
        sections=sections,
        warnings=warnings(comparison),
        finding=finding(comparison),
    )


def write_page(comparison: Comparison, path: str | Path) -> Path:
    """Write the page of a comparison to `path`, all or nothing.

    Raises
    ------
    OSError
        It cannot be written.
    """
    return write_document(document(comparison), path)


def warnings(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the validity of its emulations, each with the reasons."""
    return [
        (
            f"{letter(place)}: real Linux TCP; the emulation is {each.emulation.level}.",
            validity_section.why(each.emulation),
        )
        for place, each in enumerate(comparison.results)
        if each.emulation is not None
    ]


MENTIONED = 3
"""Quantities that the finding names."""


def finding(comparison: Comparison) -> str:
    """Return the number of differences, and the largest ones: of whole results where there are such."""
    said = summary([row.told for row in comparison.shown], QUANTITIES, comparison.at_least)
    matter = [row for row in comparison.shown if row.matters]
    named = sorted(matter, key=lambda row: ("/" in row.key, not any(each and each.better for each in row.differences)))
    for row in named[:MENTIONED]:
        known = enumerate(zip(row.intervals, row.lacking, strict=True))
        texts = [
            f"{no_value(why, row.unit) if why else _told(each, row.unit) if each else ''} in {letter(place)}"
            for place, (each, why) in known
            if each is not None or why is not None
        ]
        said.append(say("comparison.values", label=row.label, values=", ".join(texts)))
    return " ".join(each.text for each in said)


def _told(number: Number, unit: str) -> str:
    """An estimate, or a range and the model that states it."""
    if isinstance(number, Range):
        return f"{range_text(number, unit)} by {number.between}{',' if number.has_width else ''}"
    return quantity(number.mean, unit)


def _section(heading: str, comparison: Comparison, rows: Sequence[Row], nothing: str) -> Section:
    """Of two results values and differences, of more the values alone: their differences have a table of their own."""
    if not rows:
        return Section(heading, [nothing])
    table = _differences(comparison, rows) if len(comparison.results) == 2 else _values(comparison, rows)
    return Section(heading, tables=[table])


def _differences(comparison: Comparison, rows: Sequence[Row]) -> Table:
    columns = header(comparison)
    numbers = [place for place, label in enumerate(columns) if place and label]
    return Table("", columns, [cells(comparison, row) for row in rows], numbers)


def _values(comparison: Comparison, rows: Sequence[Row]) -> Table:
    places = range(len(comparison.results))
    return Table(
        "",
        ("Metric", *map(letter, places)),
        [(row.label, *values(row)) for row in rows],
        numbers=[1 + place for place in places],
    )


def _listed(comparison: Comparison) -> Table:
    rows = []
    for place, each in enumerate(comparison.results):
        known = [(key, each.provenance[key]) for key in FROM if key in each.provenance]
        texts = [", ".join(value) if isinstance(value, list) else str(value) for _, value in known]
        origin = "; ".join(f"{key.replace('_', ' ')} {text}" for (key, _), text in zip(known, texts, strict=True))
        rows.append((letter(place), each.name, each.instrument, origin))
    return Table("", ("", "Result", "Instrument", "From"), rows)
