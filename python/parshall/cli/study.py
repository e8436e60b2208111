"""``parshall study``: regenerate the tables and figures of a published study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from parshall.cli import completion
from parshall.cli.console import (
    INSTRUMENTS,
    STORE,
    AtOnce,
    Force,
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
    shard_of,
    table,
    verb,
)
from parshall.cli.pages import FIGURES, WIDTH, Files, Formats, PageOutput, Width, files

if TYPE_CHECKING:
    from parshall.studies.running import Execution
    from parshall.studies.study import Findings, Study

StudyStore = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help=STORE, show_default="at paper scale, in the user's cache"),
]


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
    force: Force = False,
    formats: Formats = None,
    width: Width = WIDTH,
    figures: Annotated[bool, typer.Option("--figures", help="The same as --format png,svg.")] = False,
    store: StudyStore = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    shard: Shard = None,
    instrument: Instrument = "simulate",
    at_once: AtOnce = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Regenerate a published study, and print our values beside the published ones."""
    from parshall.studies.catalog import find
    from parshall.studies.running import Execution

    size, chosen = scale_named(scale), find(name)
    if figures and (output is None or formats is not None):
        from parshall.foundations.errors import InputError

        other = "no --output" if output is None else "--format"
        raise InputError(f"--figures: found {other}; accepted: --output DIRECTORY --figures")
    drawn = files("png,svg" if figures else formats, width, output, force=force)
    part, kind = shard_of(shard, output, as_json=as_json), one_of("--instrument", instrument, INSTRUMENTS)
    by = Execution(store, workers, scheduler, part, at_once, kind)
    carry_out(chosen, size, by, output, drawn, as_json=as_json, quiet=quiet)


def carry_out(
    chosen: Study,
    scale: Literal["quick", "paper"],
    by: Execution,
    output: Path | None,
    drawn: Files,
    *,
    as_json: bool,
    quiet: bool,
) -> Findings:
    """Do a study or suite, write its page, and print its findings; a shard has none."""
    from parshall.report.claims import COLUMNS, cells
    from parshall.results.records import storage
    from parshall.studies import headline
    from parshall.studies.page import document, write
    from parshall.studies.running import run

    findings = run(chosen, scale, (lambda _: None) if quiet or as_json else note, by)
    if by.shard is not None:
        if not quiet:
            note(f"shard {by.shard} of {chosen.name} is done; the same command without --shard collects")
        return findings
    if output is not None:
        page = document(chosen, scale, findings)
        storage.guarded(lambda: drawn.write(page, output / FIGURES))
        written = storage.guarded(lambda: write(page, findings.checks, output, chosen.kind))
        if not quiet:
            note(f"Page: {written[-1]}")
    if as_json:
        print_json([each.as_json() for each in findings.checks])
    elif not quiet:
        shown = table(chosen.title, *COLUMNS)
        for each in findings.checks:
            shown.add_row(*cells(each))
        console().print(shown)
        told = [headline.of_criteria] if chosen.kind == "suite" else [headline.headline, headline.further]
        console().print(" ".join(filter(None, (say(findings.checks) for say in told))))
    return findings
