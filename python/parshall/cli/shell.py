"""``parshall shell``: any program in the network of a scenario."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import INVALID, fail, note
from parshall.cli.groups import Changes, Emulations, Results
from parshall.cli.options import ScenarioFile
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from parshall.instruments.simulation import Run
    from parshall.scenario import Scenario

KILLED = 124
"""The exit status if the client was killed when the scenario's duration was over, as of timeout(1)."""


@verb
def shell(
    scenario: ScenarioFile,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            help="The client and its arguments, after `--`; {server} and {client} are the addresses of both ends.",
            show_default="your shell",
        ),
    ] = None,
    *,
    server: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="A server at the other end, e.g. 'iperf3 -s'.", show_default=False),
    ] = None,
    flows: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The group of flows that the programs stand for.", show_default="the first"),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Put the client at the receiving end, so that downloads cross the links.")
    ] = False,
    results: Results,
    changes: Changes,
    emulations: Emulations,
) -> None:
    """Run any program in the network of a scenario, and exit with its status."""
    from parshall.cli.run import made_by, write_its_page
    from parshall.instruments.emulation import run_programs, validity

    read = changes.scenario(scenario)
    client = command or [os.environ.get("SHELL", "/bin/sh")]
    at_the_other_end = shlex.split(server) if server else None

    def instrument(scenario: Scenario, directory: Path, **options: Any) -> Run:
        return run_programs(
            scenario,
            client,
            directory,
            server=at_the_other_end,
            flows=flows,
            download=download,
            at_once=emulations.at_once,
            **options,
        )

    with interruptions_are_for_the_program():
        made = made_by(instrument, read, results, quiet=True)
    if results.page:
        write_its_page(made)
    verdict, status = validity(made), made.metadata["programs"]["client"]["status"]
    note(f"{verdict}; results: {made.directory}")
    if status is None:
        over = f"the scenario's {read.duration} were over, so the program was ended"
        fail(f"{over}; --set duration=... gives it more", KILLED)
    if status == 0 and verdict is not None and verdict.level == "invalid" and not emulations.accept_invalid:
        raise typer.Exit(INVALID)
    raise typer.Exit(status)


@contextmanager
def interruptions_are_for_the_program() -> Iterator[None]:
    """The terminal sends an interruption to all: the program decides, and what it did until then is recorded."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
