"""What verbs that write a page share: where it goes, and its figures as files beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from parshall.report.document import Document

PageOutput = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the page to this new directory.", show_default=False)
]
Formats = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT,...",
        help="Also write each figure of the page, to figures in --output, as csv, pdf, pgf, png or svg.",
        show_default=False,
    ),
]
Width = Annotated[str, typer.Option(help="How wide figures are, e.g. 3.3in (a column of IEEE), 84mm or 240pt.")]
WIDTH = "6.3in"
FIGURES = "figures"
"""The directory of the figures, beside the page."""


@dataclass(frozen=True)
class Files:
    """The files that are wanted of each figure of a page."""

    formats: Sequence[str]
    width_in: float

    def write(self, page: Document, directory: Path) -> list[Path]:
        """Write them to a directory, which is made.

        Raises
        ------
        OSError
            One cannot be written.
        """
        from parshall.report.writing import write_plots

        return write_plots(page.plots, directory, self.formats, self.width_in) if self.formats else []


def files(formats: str | None, width: str, output: Path | None, *, force: bool = False) -> Files:
    """The pictures that ``--format`` and ``--width`` ask for, checked at once; none without ``--format``.

    Raises
    ------
    InputError
        There is no such format or width, or no ``--output``.
    OutputExistsError
        Something is in ``--output``, and nobody said ``--force``.

    Examples
    --------
    >>> files("pdf, csv", "3.3in", Path("page")).formats
    ['pdf', 'csv']
    """
    from parshall.cli.console import one_of
    from parshall.foundations.errors import InputError, OutputExistsError
    from parshall.report.pictures import FORMATS, width_of

    wanted = [one_of("--format", each.strip(), FORMATS) for each in formats.split(",")] if formats is not None else []
    if wanted and output is None:
        raise InputError("--format: found no --output; accepted: --output DIRECTORY --format FORMAT")
    if output is not None and not force and output.is_dir() and any(output.iterdir()):
        raise OutputExistsError(
            f"{output} exists and is not empty; write the name of a new directory, or --force, which replaces its page"
        )
    return Files(wanted, width_of(width))


def write_page(make: Callable[[], Document], directory: Path, name: str, wanted: Files | None = None) -> Path:
    """Write a page into a directory, which is made, and the files of its figures below it; where the page is.

    Raises
    ------
    StorageError
        Something cannot be written.
    """
    from parshall.report.document import write_document
    from parshall.results.records import storage

    def written() -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        page = make()
        if wanted is not None:
            wanted.write(page, directory / FIGURES)
        return write_document(page, directory / name)

    return storage.guarded(written)
