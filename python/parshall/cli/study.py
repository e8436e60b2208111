"""``parshall study``: regenerate the tables and figures of a published study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parshall.cli import completion
from parshall.cli.console import Json, Quiet, Scale, console, note, print_json, scale_named, table, verb


@verb
def study(
    name: Annotated[
        str,
        typer.Argument(
            help="Which study; `parshall list studies`.", show_default=False, autocompletion=completion.studies
        ),
    ],
    scale: Scale = "quick",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the page and the checks to this directory.", show_default=False),
    ] = None,
    figures: Annotated[bool, typer.Option("--figures", help="Also write each figure as PNG and SVG there.")] = False,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Where runs are kept, so that the study can be resumed (tail_index).",
            show_default="at paper scale, in the user's cache",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Runs at a time (tail_index); parts at a time (large_deviations).", show_default="one a core", min=1
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Have the workers of a Dask scheduler do the runs (tail_index)."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Regenerate a published study, and print our values beside the published ones."""
    from parshall.errors import InputError
    from parshall.records import storage
    from parshall.studies.catalog import find
    from parshall.studies.study import Execution, headline, write

    size = scale_named(scale)
    chosen = find(name)
    if figures and output is None:
        raise InputError("--figures: found no --output; accepted: --output DIRECTORY --figures")
    execution = Execution(store, workers, scheduler)
    findings = chosen.run(size, (lambda _: None) if quiet or as_json else note, execution)
    if output is not None:
        page = chosen.page(size, findings)
        written = storage.guarded(lambda: write(page, findings.checks, output, figures=figures))
        if not quiet:
            note(f"Page: {written[-1]}")
    if as_json:
        print_json([check.as_json() for check in findings.checks])
    elif not quiet:
        shown = table(name, "artefact", "quantity", "published", "ours", "95 %", "tolerance", "verdict", "note")
        for check in findings.checks:
            shown.add_row(*check.cells())
        console().print(shown)
        console().print(headline(findings.checks))
