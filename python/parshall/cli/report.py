"""``parshall report``: the page of a result, and the figures of a run as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli.console import note
from parshall.cli.options import Quiet
from parshall.cli.pages import write_page
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from parshall.results.records import Result


@verb
def report(
    directory: Annotated[
        Path,
        typer.Argument(metavar="RESULT", help="The directory of a result, or a store of sweeps.", show_default=False),
    ],
    figures: Annotated[
        Path | None,
        typer.Option(
            help="Write each figure as PNG and SVG to this directory, or all to this PDF.", show_default=False
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the page of a result again, or the figures of a run as PNG and SVG, or as one PDF.

    For a store of sweeps, write the page of each sweep, and a page of the store with links to them.
    """
    written = _of_store(directory, figures) if (directory / "store.json").exists() else _of_result(directory, figures)
    if not quiet:
        for path in written:
            note(str(path))


def _of_result(directory: Path, figures: Path | None) -> list[Path]:
    from parshall.foundations.errors import InputError
    from parshall.report import write_figures, write_pdf
    from parshall.results.loading import load_result
    from parshall.results.records import storage

    if figures is not None and figures.suffix in {".png", ".svg"}:
        raise InputError(f"--figures: found {figures}; write a directory, or a file that ends in .pdf")
    result = load_result(directory)
    if figures is None:
        return [_write(result, directory)]
    if result.instrument in {"observe", "predict"}:
        raise InputError(f"--figures: {directory} is no run; its figures are those of its page")
    if figures.suffix == ".pdf":
        return [storage.guarded(lambda: write_pdf(result, figures))]
    return storage.guarded(lambda: write_figures(result, figures))


def _of_store(directory: Path, figures: Path | None) -> list[Path]:
    from parshall.campaign.store import Store
    from parshall.campaign.store_page import write_pages
    from parshall.foundations.errors import InputError
    from parshall.results.records import storage

    if figures is not None:
        raise InputError(
            f"--figures: {directory} is a store of sweeps; `parshall figure SWEEP --store {directory}` lists and "
            "writes the figures of a sweep"
        )
    store = Store(directory)
    return storage.guarded(lambda: write_pages(store))


def _write(result: Result, directory: Path) -> Path:
    from parshall.results.loading import page_of
    from parshall.results.records.storage import OBSERVED_PAGE, REPORT_FILE

    name = OBSERVED_PAGE if result.instrument == "observe" else REPORT_FILE
    return write_page(lambda: page_of(result), directory, name)
