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
        typer.Option(help="Write each figure as PNG and SVG to this directory.", show_default=False),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the page of a run (again), or its figures as PNG and SVG."""
    from parshall.report import write_figures, write_page
    from parshall.runs import Run, storage

    run = Run.load(directory)
    if figures is None:
        written = [storage.guarded(lambda: write_page(run, directory / storage.REPORT_FILE))]
    else:
        written = storage.guarded(lambda: write_figures(run, figures))
    if not quiet:
        for path in written:
            note(str(path))
