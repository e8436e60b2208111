"""``parshall rerun``: a run once more, from what its directory says, with changes."""

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
    Workers,
    declare_controls,
    hush,
    verb,
)


@verb
def rerun(
    directory: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.", show_default=False)],
    output: Output = None,
    overrides: Overrides = None,
    controls: Controls = None,
    force: Force = False,
    workers: Workers = None,
    page: WithPage = True,
    accept_invalid: AcceptInvalid = False,
    at_once: AtOnce = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Do a run once more, with changes: its scenario is read from its directory."""
    from parshall.cli.run import made_by, present
    from parshall.foundations.errors import InputError
    from parshall.instruments.emulation import emulate
    from parshall.instruments.simulation import Run
    from parshall.instruments.simulation import run as simulate
    from parshall.results.loading import load_result
    from parshall.results.records.validity import believable

    earlier = load_result(directory)
    if not isinstance(earlier, Run):
        raise InputError(f'{directory} holds a result of "{earlier.instrument}"; accepted: runs and emulations')
    if output is not None and output.resolve() == directory.resolve():
        raise InputError(f"--output: found {output}, the run that is repeated; write another directory")
    hush(quiet or as_json)
    declare_controls(controls)
    scenario = earlier.scenario.with_overrides(overrides or ())
    instrument = (
        partial(emulate, at_once=at_once) if earlier.instrument == "emulate" else partial(simulate, workers=workers)
    )
    made = made_by(instrument, scenario, output, force, quiet)
    present(made, page=page, as_json=as_json, quiet=quiet)
    believable([made], accept_invalid=accept_invalid)
