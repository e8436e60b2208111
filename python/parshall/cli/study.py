"""``parshall study``: regenerate the tables and figures of a published study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from parshall.cli.pages import FIGURES, WIDTH, Files, Formats, PageOutput, Width, files

if TYPE_CHECKING:
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

    request = Request(store, workers, scheduler, shard, instrument, output, as_json, quiet, at_once)
    scale_named(scale)
    chosen = find(name)
    if figures and (output is None or formats is not None):
        from parshall.errors import InputError

        other = "no --output" if output is None else "--format"
        raise InputError(f"--figures: found {other}; accepted: --output DIRECTORY --figures")
    carry_out(chosen, scale, files("png,svg" if figures else formats, width, output), request)


@dataclass(frozen=True)
class Request:
    """How a study or suite is done, and where its findings go: the options."""

    store: Path | None
    workers: int | None
    scheduler: str | None
    shard: str | None
    instrument: str
    output: Path | None
    as_json: bool
    quiet: bool
    at_once: bool = False


def carry_out(chosen: Study, scale: str, drawn: Files, request: Request) -> Findings:
    """Do a study or suite, write its page, and print what was found; of a shard nothing is found."""
    from parshall.campaign.shard import Shard as Part
    from parshall.errors import InputError
    from parshall.records import storage
    from parshall.studies import criterion
    from parshall.studies.page import document, headline, write
    from parshall.studies.running import Execution, run
    from parshall.studies.study import COLUMNS

    size, output, shard = scale_named(scale), request.output, request.shard
    if shard is not None and (output is not None or request.as_json):
        raise InputError("--shard: found beside --output or --json; a shard has no page, the same without it collects")
    part = None if shard is None else Part.parse(shard)
    instrument = one_of("--instrument", request.instrument, INSTRUMENTS)
    execution = Execution(request.store, request.workers, request.scheduler, part, request.at_once, instrument)
    findings = run(chosen, size, (lambda _: None) if request.quiet or request.as_json else note, execution)
    if shard is not None:
        if not request.quiet:
            note(f"shard {shard} of {chosen.name} is done; the same command without --shard collects")
        return findings
    if output is not None:
        page = document(chosen, size, findings)
        storage.guarded(lambda: drawn.write(page, output / FIGURES))
        written = storage.guarded(lambda: write(page, findings.listed, output, chosen.kind))
        if not request.quiet:
            note(f"Page: {written[-1]}")
    if request.as_json:
        print_json([each.as_json() for each in findings.listed])
    elif not request.quiet:
        suite = chosen.kind == "suite"
        shown = table(chosen.title, *(criterion.COLUMNS if suite else COLUMNS))
        for each in findings.listed:
            shown.add_row(*each.cells())
        console().print(shown)
        console().print(criterion.headline(findings.criteria) if suite else headline(findings.checks))
    return findings
