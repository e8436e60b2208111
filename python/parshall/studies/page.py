"""The page of a study, and its claims as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parshall.analysis.stats.claims import Claim
from parshall.foundations.files import write_atomically
from parshall.foundations.numbers import counted
from parshall.foundations.version import __version__
from parshall.report.claims import COLUMNS, NUMBERS, cells
from parshall.report.document import Document, Section, Table, write_document
from parshall.report.sentences import say
from parshall.studies import headline
from parshall.studies.forest import against_bounds, forest
from parshall.studies.register import Register
from parshall.studies.study import Findings, Scale, Study


def document(study: Study, scale: Scale, findings: Findings) -> Document:
    """The page of a study: the four numbers, readings by claims, its own sections, what does not agree, every claim."""
    byline = (f"scale {scale}", f"Parshall {__version__}", study.reference)
    return Document(study.kind, study.title, study.summary, byline, _sections(findings, suite=study.kind == "suite"))


def shown(findings: Findings) -> Document:
    """The same without the study's name."""
    suite = any(each.basis == "asked" for each in findings.checks)
    return Document("study", "Findings", "", (), _sections(findings, suite=suite))


def _sections(findings: Findings, *, suite: bool) -> tuple[Section, ...]:
    return _of_suite(findings) if suite else _of_study(findings)


def _of_study(findings: Findings) -> tuple[Section, ...]:
    checks = findings.checks
    tables = [
        _table(caption, chosen)
        for caption, chosen in (
            ("Not reproduced", _of(checks, "fails", published=True)),
            ("Compatible: the record is too short to say more", _of(checks, "compatible", published=True)),
            ("Undecided", _of(checks, "undecided", published=True)),
            ("Cannot fail", [each for each in checks if each.cannot_fail]),
            ("Not as our theory says", _of(checks, "fails", published=False)),
        )
        if chosen
    ]
    texts = [headline.headline(checks), headline.further(checks), WHERE if tables else "", RULE]
    drawn, matrix = forest(checks), headline.matrix(checks)
    verdicts = Section(
        "Published and ours",
        [each for each in (*texts, headline.MEANING if matrix else "") if each],
        matrix,
        [drawn] if drawn else [],
    )
    apart = [Section(NOT_AGREEING, (ROWS,), tables)] if tables else []
    every = Section("All claims", tables=[_table("", checks)])
    listed = [] if findings.register is None else [_register(findings.register)]
    return verdicts, *findings.sections, *apart, every, *listed


def _of_suite(findings: Findings) -> tuple[Section, ...]:
    """Verdicts, the suite's sections, every criterion."""
    criteria = findings.checks
    drawn = against_bounds(criteria)
    verdicts = Section(
        "What is asked and found", (headline.of_criteria(criteria), CRITERIA), figures=[drawn] if drawn else []
    )
    tables = [
        _table(caption, chosen)
        for caption, chosen in (
            ("Failing", [each for each in criteria if each.outcome == "fails"]),
            ("Compatible or undecided", [each for each in criteria if each.outcome in {"compatible", "undecided"}]),
            ("All", criteria),
        )
        if chosen
    ]
    return verdicts, *findings.sections, Section("Criteria", tables=tables)


NOT_AGREEING = "What does not agree, or says too little"
WHERE = f"Claims that are not reproduced, or of which too little is known, are listed below: “{NOT_AGREEING}”."
ROWS = (
    "A row is a claim in one reading of what the source leaves open. So there can be more rows here than the first "
    "sentence of this page counts: a claim is not among those if another reading reproduces it."
)
RULE = (
    "A claim is reproduced where our whole 95 % interval is within the tolerance, and not reproduced where all of it "
    "is outside; in between the record is too short to say more, and the claim is compatible. It is undecided where "
    "the source's own value is a single run or a rounded number that could mean both, or where two instruments "
    "contradict each other. A claim that accepts an answer without the effect cannot fail, and is not counted."
)
CRITERIA = (
    "A criterion holds, or fails, where the whole 95 % interval over the repetitions is on one side of the bound. "
    "Where the bound is within it, the value is compatible, and more or longer repetitions would tell; without a "
    "value, or of a single one beyond the bound, the criterion is undecided. What has no bound is only reported."
)


def write(page: Document, checks: Sequence[Claim], directory: Path, kind: str = "study") -> list[Path]:
    """Write ``study.html`` (or ``suite.html``) and ``checks.json``.

    Raises
    ------
    OSError
        Something cannot be written.
    """
    return write_both(page, f"{kind}.html", [check.as_json() for check in checks], "checks.json", directory)


def write_both(page: Document, html: str, value: Any, json_name: str, directory: Path) -> list[Path]:
    """Write a value as JSON and a page, each under its name; errors are those of `write`."""
    directory.mkdir(parents=True, exist_ok=True)
    listed = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return [write_atomically(directory / json_name, listed + "\n"), write_document(page, directory / html)]


def _of(checks: Sequence[Claim], outcome: str, *, published: bool) -> list[Claim]:
    basis = "published" if published else "theory"
    return [each for each in checks if each.outcome == outcome and each.basis == basis and not each.cannot_fail]


def _table(caption: str, checks: Sequence[Claim]) -> Table:
    header = tuple(f"{column[0].upper()}{column[1:]}" for column in COLUMNS)
    return Table(caption, header, [cells(check) for check in checks], numbers=NUMBERS)


def _register(register: Register) -> Section:
    """Every claim of the source: what judges it, or why nothing can."""
    checked = [each for each in register.entries if each.check]
    claims = counted(len(register.entries), "claim")
    whole = {"source": register.source, "claims": claims}
    text = (
        say("claims.register_whole", **whole)
        if len(checked) == len(register.entries)
        else say("claims.register", checked=f"{len(checked)}", **whole)
    ).text
    header = ("claim", "where", "kind", "states", "refuted by", "checked by, or why not")
    rows = [
        (
            f"`{each.id}`",
            each.artefact,
            each.kind,
            each.states,
            each.refuted_by,
            "; ".join(each.check) if each.check else f"not checked: {each.not_checked}",
        )
        for each in register.entries
    ]
    return Section("Every claim of the source", (text,), [Table("", header, rows)])
