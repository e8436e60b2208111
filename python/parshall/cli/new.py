"""``parshall new``: something to begin with."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import note, verb

new = typer.Typer(help="Write something to begin with.", no_args_is_help=True, add_completion=False)


class Language(StrEnum):
    """In what a control may be written."""

    PYTHON = "python"
    C = "c"
    RUST = "rust"


@new.callback()
def root() -> None:
    """Write something to begin with."""


@new.command("control")
@verb
def control(
    name: Annotated[str, typer.Argument(help="What scenarios call it.", show_default=False)],
    language: Annotated[
        Language, typer.Option(help="Python runs anywhere; C and Rust are several times as fast.")
    ] = Language.PYTHON,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to: a directory.", show_default="here")
    ] = Path(),
) -> None:
    """Write a congestion control of one's own: Reno, to be changed."""
    from parshall.templates import write_control

    for line in write_control(name, language.value, output):
        note(line)
