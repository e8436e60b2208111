"""``parshall suite``: what a document asks of a congestion control or queue, and whether it is met."""

from __future__ import annotations

from typing import Annotated

import typer

from parshall.cli import completion
from parshall.cli.console import (
    FAILURE,
    Controls,
    Force,
    Json,
    Quiet,
    Scale,
    Scheduler,
    Shard,
    Workers,
    declare_controls,
    scale_named,
    shard_of,
    verb,
)
from parshall.cli.pages import WIDTH, Formats, PageOutput, Width, files
from parshall.cli.study import StudyStore, carry_out


@verb
def suite(
    name: Annotated[
        str,
        typer.Argument(
            help="Which suite; `parshall list suites`.", show_default=False, autocompletion=completion.suites
        ),
    ],
    subject: Annotated[
        str,
        typer.Argument(
            help="What it is asked of: an entry of the suite's catalog, or a --control.",
            show_default=False,
            autocompletion=completion.controls,
        ),
    ],
    controls: Controls = None,
    scale: Scale = "quick",
    output: PageOutput = None,
    force: Force = False,
    formats: Formats = None,
    width: Width = WIDTH,
    store: StudyStore = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    shard: Shard = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Hold a congestion control or queue against the criteria of a document."""
    from parshall.studies.catalog import find_suite
    from parshall.studies.running import Execution

    declare_controls(controls)
    chosen = find_suite(name).of(subject)
    by = Execution(store, workers, scheduler, shard_of(shard, output, as_json=as_json))
    drawn = files(formats, width, output, force=force)
    findings = carry_out(chosen, scale_named(scale), by, output, drawn, as_json=as_json, quiet=quiet)
    if any(each.outcome == "fails" for each in findings.checks):
        raise typer.Exit(FAILURE)
