"""``parshall card``: the answer of a run as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import note
from parshall.cli.options import Force, Quiet, file_option
from parshall.cli.verb import verb


@verb
def card(
    directory: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="The directory of a run or an observation.", show_default=False),
    ],
    output: Annotated[Path | None, file_option("The file, .png or .svg.", "card.png in the directory")] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write the answer of a run as a picture of 1200 x 630 pixels, for a chat, a slide or a readme."""
    from parshall.results.loading import load_result
    from parshall.results.records.storage import CARD_FILES

    result = load_result(directory)
    written = result.card(output or directory / CARD_FILES[0], overwrite=force)
    if not quiet:
        note(str(written))
