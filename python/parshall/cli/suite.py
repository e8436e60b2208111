"""``parshall suite``: what a document asks of a congestion control or queue, and whether it is met."""

from __future__ import annotations

from typing import Annotated

import typer

from parshall.cli import completion
from parshall.cli.console import FAILURE, declare_controls
from parshall.cli.groups import PageOptions, Printed, StudyWork
from parshall.cli.options import Controls, Scale
from parshall.cli.study import carry_out
from parshall.cli.values import scale_named, shard_of
from parshall.cli.verb import verb


@verb
def suite(
    name: Annotated[
        str,
        typer.Argument(
            help="A name from `parshall list suites`.", show_default=False, autocompletion=completion.suites
        ),
    ],
    subject: Annotated[
        str,
        typer.Argument(
            help="The control or queue to test: an entry of the catalog, or a --control.",
            show_default=False,
            autocompletion=completion.controls,
        ),
    ],
    *,
    controls: Controls = None,
    scale: Scale = "quick",
    page: PageOptions,
    work: StudyWork,
    printed: Printed,
) -> None:
    """Test a congestion control or queue by the criteria of a document."""
    from parshall.studies.catalog import find_suite
    from parshall.studies.running import Execution

    declare_controls(controls)
    chosen = find_suite(name).of(subject)
    part = shard_of(work.shard, page.output, as_json=printed.as_json)
    by = Execution(work.store, work.workers, work.scheduler, part)
    findings = carry_out(chosen, scale_named(scale), by, page, printed)
    if any(each.outcome == "fails" for each in findings.checks):
        raise typer.Exit(FAILURE)
