"""``parshall check-control``: the report card of a congestion control."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli import completion
from parshall.cli.console import FAILURE, console, declare_controls, note, print_json, table
from parshall.cli.groups import PageOptions, Printed, Work
from parshall.cli.options import Controls, Seed
from parshall.cli.verb import verb

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
    *,
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
    seed: Seed = 1,
    repetitions: Annotated[int, typer.Option(help="Repetitions of each simulation.", min=1)] = 5,
    measure: Annotated[
        bool,
        typer.Option("--measure/--no-measure", help="Run the conformance kit and simulate it, or only run the kit."),
    ] = True,
    work: Work,
    page: PageOptions,
    printed: Printed,
) -> None:
    """Test a congestion control: the rules that it must keep, and its behaviour beside Reno and CUBIC."""
    from parshall.cli.progress import working
    from parshall.suites.control_check import check
    from parshall.suites.control_check.page import page as card_page

    drawn = page.files()
    declare_controls(controls)
    with (
        work.execution() as by,
        working(shown=sys.stderr.isatty() and not printed.silent) as progress,
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
    page.write(lambda: card_page(card), "check-control.html", drawn, printed)
    if printed.as_json:
        print_json(card.as_json())
    elif not printed.quiet:
        _show(card)
    if not card.passed:
        raise typer.Exit(FAILURE)


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
