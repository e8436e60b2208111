"""``parshall new``: something to begin with."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import note
from parshall.cli.options import Folder
from parshall.cli.verb import Commands, verb
from parshall.scenario.templates.shipped import Shipped, shipped, write_copy

new = typer.Typer(cls=Commands, help="Write something to begin with.", no_args_is_help=True, add_completion=False)


class Language(StrEnum):
    """Programming languages of controls."""

    PYTHON = "python"
    C = "c"
    RUST = "rust"


@new.callback()
def root() -> None:
    """Write something to begin with: a commented scenario or sweep, or a congestion control."""


@new.command("control")
@verb
def control(
    name: Annotated[str, typer.Argument(help="The name of the control in scenarios.", show_default=False)],
    language: Annotated[
        Language, typer.Option(help="Python runs anywhere; C and Rust are several times as fast.")
    ] = Language.PYTHON,
    output: Folder = Path(),
) -> None:
    """Write a congestion control of your own: Reno, ready to change."""
    from parshall.results.records.storage import guarded
    from parshall.scenario.templates import write_control

    for line in guarded(lambda: write_control(name, language.value, output)):
        note(line)


def _of(template: Shipped) -> Callable[..., None]:
    """The verb that writes one of the shipped scenarios."""

    def write(
        name: Annotated[str, typer.Argument(help="The name, and that of the file.")] = template.name,
        output: Folder = Path(),
    ) -> None:
        from parshall.results.records.storage import guarded

        made = guarded(lambda: write_copy(template, name, output))
        note(", ".join(str(path) for path in made))
        note(f"next: parshall {template.command} {made[0]}")

    write.__doc__ = template.summary
    return write


for _template in shipped():
    new.command(_template.name)(verb(_of(_template)))
