"""``parshall report``: the page of a run, and its figures as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import Quiet, note, verb


@verb
def report(
    directory: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.", show_default=False)],
    figures: Annotated[
        Path | None,
        typer.Option(
            help="Write each figure as PNG and SVG to this directory, or all to this PDF.", show_default=False
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the page of a run (again), or its figures as PNG and SVG, or as one PDF."""
    from parshall.errors import InputError
    from parshall.records import storage
    from parshall.report import write_figures, write_page, write_pdf
    from parshall.runs import Run

    if (directory / "store.json").exists():
        raise InputError(
            f"{directory} is a store of runs; `parshall sweep SWEEP --store {directory}` writes a sweep's page"
        )
    if figures is not None and figures.suffix in {".png", ".svg"}:
        raise InputError(f"--figures: found {figures}; write a directory, or a file that ends in .pdf")
    run = Run.load(directory)
    if figures is None:
        written = [storage.guarded(lambda: write_page(run, directory / storage.REPORT_FILE))]
    elif figures.suffix == ".pdf":
        written = [storage.guarded(lambda: write_pdf(run, figures))]
    else:
        written = storage.guarded(lambda: write_figures(run, figures))
    if not quiet:
        for path in written:
            note(str(path))
