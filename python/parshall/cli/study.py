"""``parshall study``: regenerate the tables and figures of a published study."""

from __future__ import annotations

from typing import Annotated

import typer

from parshall.cli.console import Json, Quiet, console, print_json, table, verb


@verb
def study(
    name: Annotated[str, typer.Argument(help="Which study; `parshall list studies`.", show_default=False)],
    scale: Annotated[str, typer.Option(help="quick: minutes; paper: as published.")] = "quick",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Regenerate a published study, and print our values beside the published ones."""
    from parshall.studies.catalog import find

    checked = _scale(scale)
    checks = find(name).run(checked)
    if as_json:
        print_json([check.as_json() for check in checks])
    elif not quiet:
        shown = table(name, "artefact", "quantity", "published", "ours", "95 %", "verdict", "note")
        for check in checks:
            shown.add_row(*check.cells())
        console().print(shown)


def _scale(text: str) -> str:
    from parshall.errors import InputError

    if text not in ("quick", "paper"):
        raise InputError(f'--scale: found "{text}"; accepted: "quick", "paper"')
    return text
