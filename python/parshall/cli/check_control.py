"""``parshall check-control``: the report card of a congestion control."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli import completion
from parshall.cli.console import (
    FAILURE,
    Controls,
    Force,
    Json,
    Quiet,
    Scheduler,
    Workers,
    console,
    declare_controls,
    note,
    print_json,
    table,
    verb,
)
from parshall.cli.execution import Kept, execution
from parshall.cli.pages import WIDTH, Files, Formats, PageOutput, Width, files, write_page

if TYPE_CHECKING:
    from parshall.suites.control_check import Card


@verb
def check_control(
    control: Annotated[
        str,
        typer.Argument(
            help="FILE.py:CLASS or LIBRARY.so, or a name of the catalog.",
            show_default=False,
            autocompletion=completion.controls,
        ),
    ],
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A parameter of the control, e.g. increase=2; repeatable.",
            show_default=False,
        ),
    ] = None,
    controls: Controls = None,
    seed: Annotated[int, typer.Option(help="What all random numbers follow from.", min=0)] = 1,
    repetitions: Annotated[int, typer.Option(help="Of each simulation.", min=1)] = 5,
    measure: Annotated[
        bool,
        typer.Option("--measure/--no-measure", help="Whether to simulate it, or to run the conformance kit alone."),
    ] = True,
    store: Kept = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    output: PageOutput = None,
    force: Force = False,
    formats: Formats = None,
    width: Width = WIDTH,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put a congestion control to the test: what it must keep, and what it does beside Reno and CUBIC."""
    from parshall.cli.progress import working
    from parshall.suites.control_check import check

    drawn = files(formats, width, output, force=force)
    declare_controls(controls)
    with (
        execution(store, workers, scheduler) as by,
        working(shown=sys.stderr.isatty() and not (quiet or as_json)) as progress,
    ):
        card = check(
            control,
            parameters or (),
            seed=seed,
            repetitions=repetitions,
            measured=measure,
            execution=by,
            progress=progress,
        )
    if output is not None:
        path = _write(card, output, drawn)
        if not quiet:
            note(f"Page: {path}")
    if as_json:
        print_json(card.as_json())
    elif not quiet:
        _show(card)
    if not card.passed:
        raise typer.Exit(FAILURE)


def _write(card: Card, output: Path, drawn: Files) -> Path:
    from parshall.suites.control_check.page import page

    return write_page(lambda: page(card), output, "check-control.html", drawn)


def _show(card: Card) -> None:
    from parshall.report.sentences import say
    from parshall.suites.control_check.answer import answer
    from parshall.suites.control_check.card import COLUMNS

    out = console()
    kit = table(f"{card.control}: conformance", "check", "what must hold", "found")
    for finding in card.findings:
        kit.add_row(finding.name, finding.sentence, finding.text)
    out.print(kit)
    if card.rows:
        out.print()
        shown = table(f"{card.control} beside Reno and CUBIC", "", *card.controls, *COLUMNS)
        for row in card.rows:
            shown.add_row(*row.cells(card.controls))
        out.print(shown)
    out.print()
    if card.not_measured is not None:
        note(say("card.not_measured", why=card.not_measured).text)
    failed = ", ".join(finding.name for finding in card.findings if finding.fails)
    told = say("card.named_fails", control=card.control, failed=failed) if failed else None
    out.print((told or say("card.named_passes", control=card.control)).text)
    if measured := answer(card)[1:]:
        out.print(" ".join(measured))
    note(f"{card.wall_s:.1f} s")
