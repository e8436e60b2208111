"""``parshall emulate``: a scenario with the kernel's own TCP, and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import (
    Json,
    Overrides,
    Quiet,
    fail,
    verb,
)

INVALID = 3
"""The exit status of an emulation that cannot be believed."""


@verb
def emulate(
    scenario: Annotated[Path, typer.Argument(help="A scenario in TOML.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A new directory for the results.", show_default="runs/NAME-N"),
    ] = None,
    overrides: Overrides = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the run that is in the output directory.")] = False,
    page: Annotated[bool, typer.Option("--page/--no-page", help="Whether to write the page, report.html.")] = True,
    accept_invalid: Annotated[
        bool, typer.Option("--accept-invalid", help="End with 0 even if the emulation cannot be believed.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario with the kernel's own TCP at both ends of its flows, in real time."""
    from parshall.cli.run import made_by, present
    from parshall.emulation import emulate as run_on_the_kernel
    from parshall.emulation import validity
    from parshall.scenario import Scenario

    read = Scenario.load(scenario, overrides or ())
    made = made_by(run_on_the_kernel, read, output, force, quiet)
    present(made, page=page, as_json=as_json, quiet=quiet)
    judged = validity(made)
    if judged is not None and judged.level == "invalid" and not accept_invalid:
        fail(f"{judged}; its results are in {made.directory}", INVALID)
