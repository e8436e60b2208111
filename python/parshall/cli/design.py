"""``parshall design``: from what is asked of a network to what to set."""

from __future__ import annotations

import typer

from parshall.cli import added, design_network
from parshall.cli.verb import Commands

design = typer.Typer(
    cls=Commands, help="Choose parameters for what is asked.", no_args_is_help=True, add_completion=False
)


@design.callback()
def root() -> None:
    """Choose parameters for what is asked."""


design.command("buffer")(design_network.buffer)
design.command("aqm")(design_network.aqm)
design.command("repetitions")(design_network.repetitions)
added.extend(design, "design")
