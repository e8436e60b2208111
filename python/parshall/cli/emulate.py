"""``parshall emulate``: a scenario with the kernel's own TCP, and its page."""

from __future__ import annotations

import time
from dataclasses import asdict
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
    console,
    declare_controls,
    hush,
    note,
    print_json,
    table,
    verb,
)


@verb
def emulate(
    scenario: Annotated[Path | None, typer.Argument(help="A scenario in TOML.", show_default=False)] = None,
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
    lists: Annotated[
        bool, typer.Option("--list", help="Only say which emulation of this machine has its turn, and which wait.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario with the kernel's own TCP at both ends of its flows, in real time."""
    from parshall.cli.run import made_by, present
    from parshall.foundations.errors import InputError
    from parshall.instruments.emulation import emulate as run_on_the_kernel
    from parshall.results.records.validity import believable
    from parshall.scenario import Scenario

    if lists:
        _list(as_json=as_json)
        return
    if scenario is None:
        raise InputError("found no scenario; accepted: a scenario in TOML, or --list")
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
