"""The page of a verb in its directory, and the figures as files beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from parshall.cli.values import one_of

if TYPE_CHECKING:
    from parshall.report.document import Document

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
