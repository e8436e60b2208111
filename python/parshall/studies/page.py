"""The page of a study, and its checks as JSON."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from parshall.files import write_atomically
from parshall.report.document import Document, Section, Table, write_document
from parshall.report.numbers import counted
from parshall.stats.claims import Claim, Verdict
from parshall.studies import criterion
from parshall.studies.criterion import Criterion
from parshall.studies.forest import against_bounds, forest
from parshall.studies.study import Findings, Scale, Study
from parshall.version import __version__


def document(study: Study, scale: Scale, findings: Findings) -> Document:
    """The page of a study: how many verdicts of which kind, its own sections, what does not agree, every check."""
    byline = (f"scale {scale}", f"Parshall {__version__}", study.reference)
    kind = "suite" if findings.criteria else "study"
    return Document(kind, study.title, study.summary, byline, shown(findings).sections)


def shown(findings: Findings) -> Document:
    """The same without the study's name: verdicts, its sections, what does not agree, every check."""
    if findings.criteria:
        return _of_suite(findings)
    checks = findings.checks
    tables = [
        _table(caption, chosen)
        for caption, chosen in (
            ("Not reproduced", _of(checks, "not_reproduced", published=True)),
            ("Undecided", _of(checks, "undecided", published=True)),
            ("Not as our theory says", _of(checks, "not_reproduced", published=False)),
        )
        if chosen
    ]
    texts = (headline(checks), *_further(checks), *([WHERE] if tables else []), RULE)
    drawn = forest(checks)
    verdicts = Section("Published and ours", texts, figures=[drawn] if drawn else [])
    apart = [Section(NOT_AGREEING, (ROWS,), tables)] if tables else []
    every = Section("All checks", tables=[_table("", checks)])
    return Document("study", "Findings", "", (), (verdicts, *findings.sections, *apart, every))


def _of_suite(findings: Findings) -> Document:
    """Verdicts, the suite's sections, every criterion."""
    criteria = findings.criteria
    drawn = against_bounds(criteria)
    texts = (criterion.headline(criteria), criterion.RULE)
    verdicts = Section("What is asked and found", texts, figures=[drawn] if drawn else [])
    header = tuple(f"{column[0].upper()}{column[1:]}" for column in criterion.COLUMNS)
    tables = [
        Table(caption, header, [each.cells() for each in chosen], numbers=(3, 4))
        for caption, chosen in (
            ("Failed", [each for each in criteria if each.verdict == "failed"]),
            ("Undecided", [each for each in criteria if each.verdict == "undecided"]),
            ("All", criteria),
        )
        if chosen
    ]
    return Document("study", "Findings", "", (), (verdicts, *findings.sections, Section("Criteria", tables=tables)))


NOT_AGREEING = "What does not agree, or is undecided"
WHERE = f"Those that are not reproduced or undecided are listed below the findings: “{NOT_AGREEING}”."
ROWS = (
    "A row is a value in one reading of what the source leaves open. So there can be more rows here than the first "
    "sentence of this page counts: a value is not among those if another reading reproduces it."
)
RULE = (
    "A value counts as reproduced where our 95 % interval, widened by the tolerance, contains the published one, and "
    "is narrow enough to have excluded another. A published value that is a single run is compared with the interval "
    "in which a single run of ours falls."
)


def headline(checks: Sequence[Claim]) -> str:
    """How many of the source's own numbers and claims are reproduced; the first sentence of a study.

    A value that is tried in several readings of what the source leaves open counts once. It is reproduced if it is in
    at least one of them; the sentence says of how many this is true only in some.
    """
    readings: dict[tuple[str, str], list[str]] = defaultdict(list)
    for check in checks:
        if check.published is not None:
            readings[check.artefact, check.quantity].append(check.verdict)
    if not readings:
        return "Nothing here was published as a number or a claim."
    reproduced = [verdicts for verdicts in readings.values() if "reproduced" in verdicts]
    some = sum(set(verdicts) != {"reproduced"} for verdicts in reproduced)
    rest = [verdicts for verdicts in readings.values() if "reproduced" not in verdicts]
    undecided = sum("undecided" in verdicts for verdicts in rest)
    only = f" ({some} of them only in some readings of what the source leaves open)" if some else ""
    total = counted(len(readings), "published number or claim", "published numbers and claims")
    missed = len(rest) - undecided
    return f"Of {total}, reproduced: {len(reproduced)}{only}; not reproduced: {missed}; undecided: {undecided}."


def _further(checks: Sequence[Claim]) -> list[str]:
    """What is not the source's: ours against our theory, and what goes beyond."""
    theory = Counter(check.verdict for check in checks if check.theory is not None)
    beyond = sum(check.verdict == "extended" for check in checks)
    texts = []
    if theory:
        compared = counted(theory.total(), "value")
        agree = theory["consistent_with_theory"]
        texts.append(f"Ours against our own theory, not counted above: {agree} of {compared} agree.")
    if beyond:
        texts.append(f"Beyond the source: {counted(beyond, 'value')}.")
    return [" ".join(texts)] if texts else []


def _of(checks: Sequence[Claim], verdict: Verdict, *, published: bool) -> list[Claim]:
    return [check for check in checks if check.verdict == verdict and (check.published is not None) == published]


def write(
    page: Document, checks: Sequence[Claim] | Sequence[Criterion], directory: Path, kind: str = "study"
) -> list[Path]:
    """Write ``study.html`` (or ``suite.html``) and ``checks.json``.

    Raises
    ------
    OSError
        Something cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    listed = json.dumps([check.as_json() for check in checks], indent=2, ensure_ascii=False, allow_nan=False)
    return [
        write_atomically(directory / "checks.json", listed + "\n"),
        write_document(page, directory / f"{kind}.html"),
    ]


def _table(caption: str, checks: Sequence[Claim]) -> Table:
    header = ("Artefact", "Quantity", "Published or theory", "Ours", "95 % interval", "Tolerance", "Verdict", "Note")
    return Table(caption, header, [check.cells() for check in checks], numbers=(2, 3, 4, 5))
