"""``parshall emulate``: a scenario with the kernel's own TCP, and its page."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import console, note, print_json, table
from parshall.cli.groups import Changes, Emulations, Printed, Results
from parshall.cli.verb import verb


@verb
def emulate(
    scenario: Annotated[
        Path | None, typer.Argument(metavar="[SCENARIO]", help="A scenario in TOML.", show_default=False)
    ] = None,
    *,
    results: Results,
    changes: Changes,
    record_controls: Annotated[
        bool,
        typer.Option(
            "--record-controls",
            help="Record each call that the kernel's congestion controls get, for `parshall replay`.",
        ),
    ] = False,
    emulations: Emulations,
    lists: Annotated[
        bool,
        typer.Option(
            "--list", help="Only list the emulations of this machine: the one that runs, and those that wait."
        ),
    ] = False,
    printed: Printed,
) -> None:
    """Run a scenario in real time, with the kernel's own TCP at both ends of its flows."""
    from parshall.cli.run import made_by, present
    from parshall.foundations.errors import InputError
    from parshall.instruments.emulation import emulate as run_on_the_kernel
    from parshall.results.records.validity import believable

    if lists:
        _list(as_json=printed.as_json)
        return
    if scenario is None:
        raise InputError("found no scenario; accepted: a scenario in TOML, or --list")
    printed.hush()
    instrument = partial(run_on_the_kernel, record_controls=record_controls, at_once=emulations.at_once)
    made = made_by(instrument, changes.scenario(scenario), results, quiet=printed.quiet)
    present(made, printed, page=results.page)
    recorded = made.metadata.get("recording")
    if recorded and not printed.silent:
        lost = f"{recorded['dropped']} calls were lost" if recorded["dropped"] else "none was lost"
        missing = f", and the kernel left out {recorded['left_out']} at least" if recorded.get("left_out") else ""
        note(f"recorded: {recorded['calls']} calls of the kernel's controls; {lost}{missing}")
    believable([made], accept_invalid=emulations.accept_invalid)


def _list(*, as_json: bool) -> None:
    """Print whose turn it is, and who waits."""
    from parshall.instruments.emulation import participants

    found = participants()
    if as_json:
        print_json([asdict(each) for each in found])
        return
    if not found:
        console().print("no emulation of this machine is under way")
        return
    shown = table("Emulations of this machine", "", "user", "PID", "since", "until", "command")
    for each in found:
        state = ("waits" if each.waits else "has its turn") + (", stopped" if each.is_stopped else "")
        pid = "?" if each.pid is None else str(each.pid)
        shown.add_row(state, each.user or "?", pid, _clock(each.since), _clock(each.until), each.command or "?")
    console().print(shown)


def _clock(time_s: float | None) -> str:
    return "?" if time_s is None else time.strftime("%H:%M:%S", time.localtime(time_s))
