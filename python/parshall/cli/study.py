"""``parshall study``: regenerate the tables and figures of a published study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parshall.cli import completion
from parshall.cli.console import (
    INSTRUMENTS,
    STORE,
    AtOnce,
    Instrument,
    Json,
    Quiet,
    Scale,
    Scheduler,
    Shard,
    Workers,
    console,
    note,
    one_of,
    print_json,
    scale_named,
    table,
    verb,
)
from parshall.cli.pages import FIGURES, WIDTH, Formats, PageOutput, Width, files


@verb
def study(
    name: Annotated[
        str,
        typer.Argument(
            help="Which study; `parshall list studies`.", show_default=False, autocompletion=completion.studies
        ),
    ],
    scale: Scale = "quick",
    output: PageOutput = None,
    formats: Formats = None,
    width: Width = WIDTH,
    figures: Annotated[bool, typer.Option("--figures", help="The same as --format png,svg.")] = False,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=STORE, show_default="at paper scale, in the user's cache"),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    shard: Shard = None,
    instrument: Instrument = "simulate",
    at_once: AtOnce = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Regenerate a published study, and print our values beside the published ones."""
    from parshall.campaign.shard import Shard as Part
    from parshall.errors import InputError
    from parshall.records import storage
    from parshall.studies.catalog import find
    from parshall.studies.page import document, headline, write
    from parshall.studies.running import Execution, run
    from parshall.studies.study import COLUMNS

    size = scale_named(scale)
    chosen = find(name)
    if figures and (output is None or formats is not None):
        other = "no --output" if output is None else "--format"
        raise InputError(f"--figures: found {other}; accepted: --output DIRECTORY --figures")
    drawn = files("png,svg" if figures else formats, width, output)
    if shard is not None and (output is not None or as_json):
        raise InputError("--shard: found beside --output or --json; a shard has no page, the same without it collects")
    part = None if shard is None else Part.parse(shard)
    kind = one_of("--instrument", instrument, INSTRUMENTS)
    execution = Execution(store, workers, scheduler, part, kind, at_once)
    findings = run(chosen, size, (lambda _: None) if quiet or as_json else note, execution)
    if shard is not None:
        if not quiet:
            note(f"shard {shard} of {name} is done; the same command without --shard collects")
        return
    if output is not None:
        page = document(chosen, size, findings)
        storage.guarded(lambda: drawn.write(page, output / FIGURES))
        written = storage.guarded(lambda: write(page, findings.checks, output))
        if not quiet:
            note(f"Page: {written[-1]}")
    if as_json:
        print_json([check.as_json() for check in findings.checks])
    elif not quiet:
        shown = table(name, *COLUMNS)
        for check in findings.checks:
            shown.add_row(*check.cells())
        console().print(shown)
        console().print(headline(findings.checks))
