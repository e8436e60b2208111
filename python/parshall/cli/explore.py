"""``parshall explore``: a scenario that is simulated again while one changes it, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import declare_controls, note, termination_interrupts
from parshall.cli.options import Controls, Force, Quiet
from parshall.cli.verb import verb


@verb
def explore(
    place: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SCENARIO|RUN|FOLDER|STORE]",
            help="A scenario in TOML, the directory of a run, a folder of results, or a store of sweeps.",
            show_default="quickstart",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(help="Port of the server.", show_default="any that is free", min=0, max=65535)
    ] = 0,
    save_in: Annotated[
        Path | None,
        typer.Option(
            "--save-in", metavar="DIR", help="A directory into which the page may save scenarios.", show_default="none"
        ),
    ] = None,
    offline: Annotated[
        Path | None,
        typer.Option(
            "--offline",
            metavar="FILE.html",
            help="Write a page with the simulator in it, which needs no server; of the SCENARIO, or of five.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    controls: Controls = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser, or only print the address.")
    ] = True,
    quiet: Quiet = False,
) -> None:
    """Explore a scenario or results in the browser, by a local server with a secret in its address."""
    from parshall.explore.server import serve
    from parshall.foundations.errors import InputError
    from parshall.foundations.extras import extra

    if offline is not None:
        from parshall.explore.offline import write
        from parshall.scenario import Scenario

        write(offline, [] if place is None else [Scenario.load(place)], overwrite=force)
        print(offline, flush=True)
        return
    if save_in is not None and not save_in.is_dir():
        raise InputError(f"--save-in: {save_in} is no directory")
    declare_controls(controls)

    def ready(address: str) -> None:
        print(address, flush=True)
        if not quiet:
            note("Ctrl-C ends it")
        if browser:
            _open(address)

    saved = None if save_in is None else str(save_in.absolute())
    with termination_interrupts(), extra("explore", "explore"):
        serve(None if place is None else str(place), port, saved, ready)


def _open(address: str) -> None:
    """Open the system's browser, which may take a while to start."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
