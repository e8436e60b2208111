"""``parshall emulate``: a scenario with the kernel's own TCP, and its page."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import (
    AcceptInvalid,
    AtOnce,
    Controls,
    Force,
    Json,
    Output,
    Overrides,
    Quiet,
    WithPage,
    declare_controls,
    hush,
    note,
    verb,
)


@verb
def emulate(
    scenario: Annotated[Path, typer.Argument(help="A scenario in TOML.", show_default=False)],
    output: Output = None,
    overrides: Overrides = None,
    controls: Controls = None,
    record_controls: Annotated[
        bool,
        typer.Option(
            "--record-controls",
            help="Record each call that the kernel's congestion controls get, for `parshall replay`.",
        ),
    ] = False,
    force: Force = False,
    page: WithPage = True,
    accept_invalid: AcceptInvalid = False,
    at_once: AtOnce = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario with the kernel's own TCP at both ends of its flows, in real time."""
    from parshall.cli.run import made_by, present
    from parshall.emulation import emulate as run_on_the_kernel
    from parshall.records.validity import believable
    from parshall.scenario import Scenario

    hush(quiet or as_json)
    declare_controls(controls)
    read = Scenario.load(scenario, overrides or ())
    made = made_by(
        partial(run_on_the_kernel, record_controls=record_controls, at_once=at_once), read, output, force, quiet
    )
    present(made, page=page, as_json=as_json, quiet=quiet)
    recorded = made.metadata.get("recording")
    if recorded and not quiet and not as_json:
        lost = f"{recorded['dropped']} calls were lost" if recorded["dropped"] else "none was lost"
        missing = f", and the kernel left out {recorded['left_out']} at least" if recorded.get("left_out") else ""
        note(f"recorded: {recorded['calls']} calls of the kernel's controls; {lost}{missing}")
    believable([made], accept_invalid=accept_invalid)
