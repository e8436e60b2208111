"""``parshall study``: regenerate the tables and figures of a published study."""

from __future__ import annotations

import json
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

Joint = Annotated[
    int | None,
    typer.Option(
        "--joint",
        metavar="N",
        help="Judge every claim in N settings of what the source leaves unsaid, instead of the page of the study.",
        show_default=False,
    ),
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
    joint: Joint = None,
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
    if joint is None:
        carry_out(chosen, size, by, output, drawn, as_json=as_json, quiet=quiet)
    else:
        _judge_jointly(chosen, joint, size, by, output, drawn, as_json=as_json, quiet=quiet)


def _judge_jointly(
    chosen: Study,
    count: int,
    scale: Literal["quick", "paper"],
    by: Execution,
    output: Path | None,
    drawn: Files,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Judge every claim in so many settings, write the page, and print what the best of them carries."""
    from parshall.foundations.files import write_atomically
    from parshall.report.document import write_document
    from parshall.results.records import storage
    from parshall.studies.joint_page import document, headline
    from parshall.studies.running import run_joint

    judgement = run_joint(chosen, count, scale, (lambda _: None) if quiet or as_json else note, by)
    if judgement is None:
        if not quiet:
            note(f"shard {by.shard} of the joint design is done; the same command without --shard collects")
        return
    if output is not None:
        page, folder = document(chosen, scale, judgement), output

        def write() -> Path:
            drawn.write(page, folder / FIGURES)
            listed = json.dumps(judgement.as_json(), indent=2, ensure_ascii=False, allow_nan=False)
            write_atomically(folder / "joint.json", listed + "\n")
            return write_document(page, folder / "joint.html")

        folder.mkdir(parents=True, exist_ok=True)
        written = storage.guarded(write)
        if not quiet:
            note(f"Page: {written}")
    if as_json:
        print_json(judgement.as_json())
    elif not quiet:
        console().print(headline(judgement))


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
