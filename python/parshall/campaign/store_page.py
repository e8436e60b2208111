"""The page of a store: its sweeps, each with what it shows, its first figure and a link to its own page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from parshall.campaign import page
from parshall.campaign.result import Sweep
from parshall.campaign.store import Store
from parshall.foundations.errors import InputError
from parshall.foundations.numbers import counted
from parshall.report.document import Block, Document, Section, Table, write_document
from parshall.results.records.storage import REPORT_FILE

_MOST_FIGURES = 24
"""Of a store with more sweeps, only the first ones have a figure here; all have it on their own page."""


def write_pages(store: Store) -> list[Path]:
    """Write the pages of all sweeps again, and the page of the store.

    Raises
    ------
    InputError
        It has no sweep.
    OSError
        A page cannot be written.
    """
    sweeps = [Sweep.load(store, name) for name in store.sweeps]
    if not sweeps:
        raise InputError(
            f"{store.directory} is a store without a sweep; `parshall sweep SWEEP --store {store.directory}` does one"
        )
    documents = [page.document(sweep) for sweep in sweeps]
    written = [page.write_document_of(sweep, document) for sweep, document in zip(sweeps, documents, strict=True)]
    made = of_store(store, sweeps, documents)
    return [*written, write_document(made, store.directory / REPORT_FILE, store.partial("page"))]


def of_store(store: Store, sweeps: Sequence[Sweep], documents: Sequence[Document]) -> Document:
    """The page's content, of the sweeps of a store and their pages."""
    header = ("Sweep", "Status", "Points", "Runs", "Parameters", "Metrics", "Begun")
    rows = [
        (
            f"`{sweep.name}`",
            sweep.status,
            str(len(sweep.record.points)),
            str(sweep.record.runs),
            ", ".join(f"`{parameter.key}`" for parameter in sweep.record.parameters),
            ", ".join(map(sweep.label, sweep.record.metrics)),
            sweep.record.started,
        )
        for sweep in sweeps
    ]
    sections = [
        Section("Its sweeps", tables=[Table("", header, rows, numbers=(2, 3))], name="sweeps"),
        *(
            _section(number, sweep, document)
            for number, (sweep, document) in enumerate(zip(sweeps, documents, strict=True))
        ),
    ]
    runs = {run for sweep in sweeps for point in sweep.record.points for run in point.runs} - {
        run for sweep in sweeps for run in sweep.record.failed
    }
    byline = (counted(len(sweeps), "sweep"), counted(len(runs), "run"), str(store.directory))
    text = "What was done in this store. Runs that sweeps share are counted once."
    return Document("sweep", store.directory.resolve().name, text, byline, sections)


def _section(number: int, sweep: Sweep, document: Document) -> Section:
    """What a sweep shows, as its own page has it."""
    first = document.figures[:1] if number < _MOST_FIGURES else []
    texts = [each for each in (sweep.record.description, document.finding) if each]
    link = (f"pages/{quote(sweep.name)}.html", f"The page of {sweep.name}")
    return Section(
        sweep.name,
        texts,
        figures=[replace(drawn, name=f"sweep-{number}-{drawn.name}") for drawn in first],
        blocks=[Block("links", [link])],
    )
