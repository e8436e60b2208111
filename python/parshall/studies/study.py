"""What a study finds, and the page that says so."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from parshall.files import write_atomically
from parshall.report.document import Document, Section, Table, write_document
from parshall.report.numbers import counted
from parshall.report.writing import write_plots
from parshall.studies.check import Check

Scale = Literal["quick", "paper"]
Progress = Callable[[str], None]
"""Told in a few words what is being done now."""


@dataclass(frozen=True)
class Execution:
    """How a study that runs as a campaign is done.

    Parameters
    ----------
    store
        Where runs are kept; `None`: at ``paper`` scale in the user's cache, at ``quick`` scale nowhere.
    workers
        Runs at a time on this machine; by default as many as it has cores.
    scheduler
        The address of a Dask scheduler whose workers do the runs instead.
    """

    store: Path | None = None
    workers: int | None = None
    scheduler: str | None = None


@dataclass(frozen=True)
class Findings:
    """What a study gives: each published value beside ours, and the sections of its page."""

    checks: Sequence[Check]
    sections: Sequence[Section]


def document(title: str, summary: str, reference: str, scale: Scale, findings: Findings) -> Document:
    """The page of a study: the verdicts first, then its own sections, then every check."""
    found = Counter(check.verdict for check in findings.checks)
    verdicts = Section(
        "Published and ours",
        (
            f"{counted(found['reproduced'], 'published value')} reproduced, {found['not_reproduced']} not, and "
            f"{counted(found['extended'], 'value')} beyond the source. A value counts as reproduced where our 95 % "
            "interval, widened by the tolerance, contains the published one.",
        ),
        tables=[_failures(findings.checks)] if found["not_reproduced"] else (),
    )
    every = Section("All checks", tables=[_table("", findings.checks)])
    byline = (f"scale {scale}", f"Parshall {metadata.version('parshall')}", reference)
    return Document("study", title, summary, byline, (verdicts, *findings.sections, every))


def write(page: Document, checks: Sequence[Check], directory: Path, *, figures: bool) -> list[Path]:
    """Write ``study.html``, ``checks.json`` and, if asked for, the figures as PNG and SVG.

    Raises
    ------
    OSError
        Something cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    listed = json.dumps([check.as_json() for check in checks], indent=2, ensure_ascii=False, allow_nan=False)
    written = [write_atomically(directory / "checks.json", listed + "\n")]
    if figures:
        written += write_plots(page.plots, directory / "figures")
    return [*written, write_document(page, directory / "study.html")]


def _failures(checks: Sequence[Check]) -> Table:
    return _table("Not reproduced", [check for check in checks if check.verdict == "not_reproduced"])


def _table(caption: str, checks: Sequence[Check]) -> Table:
    header = ("Artefact", "Quantity", "Published", "Ours", "95 % interval", "Tolerance", "Verdict", "Note")
    return Table(caption, header, [check.cells() for check in checks], numbers=(2, 3, 4, 5))
