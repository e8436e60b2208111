"""A comparison in words: the rows of a table, a fragment for notebooks, and a page."""

from __future__ import annotations

import string
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from parshall import notebook
from parshall.report.document import Document, Section, Table, write_document
from parshall.report.numbers import ABSENT, NO_BREAK, counted, significant
from parshall.report.uncertainty import interval_text
from parshall.stats.verdict import Verdict

if TYPE_CHECKING:
    from parshall.report.comparison import Comparison, MetricComparison, Row

FROM = ("scenario_file", "sources", "seed", "started")
"""What the page says of where each result comes from."""


def letter(place: int) -> str:
    """How a result is called in the heading of a column: A, B, ..., and after Z by its number."""
    return string.ascii_uppercase[place] if place < len(string.ascii_uppercase) else str(place + 1)


def header(comparison: Comparison) -> list[str]:
    """The headings: of two results ``Metric, A, B, B - A`` and a remark; more have their three columns each."""
    columns = ["Metric", letter(0)]
    for place in range(1, len(comparison.results)):
        columns += [letter(place), f"{letter(place)} - {letter(0)}", ""]
    return columns


def cells(comparison: Comparison, row: Row) -> list[str]:
    """Label, the first result, and of each other: value, difference with its interval, and what can be said."""
    texts = [row.label, interval_text(row.intervals[0], row.unit)]
    for place, (interval, difference) in enumerate(zip(row.intervals[1:], row.differences, strict=True), 1):
        texts.append(interval_text(interval, row.unit))
        texts += [_difference(difference), remark(difference, comparison.at_least, letter(place))]
    return texts


def remark(difference: MetricComparison | None, at_least: float, name: str) -> str:
    """What a difference shows: ``2.8 % lower, better for A``."""
    if difference is None:
        return ""
    verdict = worded(difference.verdict, at_least, name)
    if difference.better is None or difference.relative is None:
        return verdict
    percent = f"{significant(abs(100 * difference.relative), 2)}{NO_BREAK}%"
    return f"{percent} {verdict}, better for {letter(0) if difference.better == 'a' else name}"


def worded(verdict: Verdict, at_least: float, name: str) -> str:
    """A verdict of a result that is called by a letter."""
    return f"only in {name}" if verdict is Verdict.ONLY_B else verdict.text(at_least)


def note(comparison: Comparison) -> str:
    """How the differences are meant."""
    first = f"First comes what differs and matters (by {100 * comparison.at_least:g}{NO_BREAK}% or more)."
    sentences = [first]
    if not any(each.difference and each.difference.low is not None for each in comparison.differences):
        sentences.append("One repetition: there are no confidence intervals, so no difference can be shown.")
        return " ".join(sentences)
    sentences.append("± is the half width of the 95 % confidence interval.")
    if any(comparison.paired):
        sentences.append("Same seed: repetitions are compared in pairs.")
    if not all(comparison.paired):
        sentences.append("Without a common seed repetitions are compared as independent samples (Welch).")
    if "predict" in comparison.instruments:
        sentences.append(
            "A prediction has a range in brackets, from empty to full buffers of full links: a difference is shown "
            "where it leaves out the whole range."
        )
    sentences.append(
        "Each interval stands for itself: among 20 metrics without any difference, one is expected to show one."
    )
    return " ".join(sentences)


def fragment(comparison: Comparison) -> str:
    """The comparison as a fragment of HTML."""
    named = ", ".join(f"{letter(place)}: {each.name}" for place, each in enumerate(comparison.results))
    rows = [cells(comparison, row) for row in comparison.rows]
    return notebook.fragment(named, note(comparison), notebook.table(header(comparison), rows))


def document(comparison: Comparison) -> Document:
    """The page: what is compared, what differs and matters, the rest, and what some results do not have."""
    whole = [row for row in comparison.rows if not row.missing]
    parted = [row for row in comparison.rows if row.missing]
    matter = [row for row in whole if row.matters]
    sections = [
        Section("What is compared", [note(comparison)], [_listed(comparison)]),
        _section("What differs and matters", comparison, matter, "No difference is shown that matters."),
        _section("The rest", comparison, [row for row in whole if not row.matters], "Nothing."),
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


def _difference(comparison: MetricComparison | None) -> str:
    if comparison is None or comparison.difference is None:
        return ABSENT
    if comparison.verdict is Verdict.EQUAL:
        return "0"
    sign = "+" if comparison.difference.mean > 0 else ""
    return sign + interval_text(comparison.difference, comparison.unit)
