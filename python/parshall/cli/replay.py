"""``parshall replay``: a congestion control against a recording of the kernel's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli import completion
from parshall.cli.console import FAILURE, console, note, print_json, table
from parshall.cli.groups import Printed
from parshall.cli.verb import verb
from parshall.foundations.errors import InputError

if TYPE_CHECKING:
    from parshall.instruments.replaying import Replay


@verb
def replay(
    recording: Annotated[
        Path, typer.Argument(help="calls.csv.zst of `parshall emulate --record-controls`.", show_default=False)
    ],
    *,
    control: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The control to drive: one of the catalog, or your own as NAME=FILE.py:CLASS or NAME=LIBRARY.so.",
            show_default=False,
            autocompletion=completion.controls,
        ),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the control; repeatable.", show_default=False),
    ] = None,
    recorded: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The kernel's control, if the recording has several.", show_default=False),
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="DIRECTORY",
            help="Write each recorded connection as a log in qlog, for qvis and other stacks.",
            show_default=False,
        ),
    ] = None,
    printed: Printed,
) -> None:
    """Call a congestion control as the kernel called its own, and exit with 1 if their answers differ."""
    from parshall.instruments import replaying
    from parshall.scenario.schema import reading

    if control is None and qlog is None:
        raise InputError("found neither --control nor --qlog; write the control to drive, or a directory for logs")
    logs = {} if qlog is None else {"logs": [str(path) for path in replaying.qlog(recording, qlog)]}
    if control is None:
        if printed.as_json:
            print_json(logs)
        elif not printed.quiet:
            note(f"{len(logs['logs'])} log(s) in qlog: {qlog}")
        return
    name, own, _ = control.partition("=")
    value: dict[str, Any] = {"name": name}
    reading.apply(value, tuple(parameters or ()))
    made = replaying.replay(recording, value, recorded=recorded, controls=[control] if own else ())
    if printed.as_json:
        print_json({**made.to_json(), **logs})
    elif not printed.quiet:
        _show(made)
    if not made.agrees:
        raise typer.Exit(FAILURE)


def _show(made: Replay) -> None:
    from parshall.foundations.numbers import significant

    out = console()
    shown = table(f"{made.control} beside {made.recorded} of Linux {made.kernel}", "", "calls", "within", "largest")
    for each in made.compared:
        unit = {"cwnd": "packets", "ssthresh": "packets", "bandwidth": "packets/s"}.get(each.quantity, "")
        share = f"{100 * each.within / each.calls:.1f} %"
        shown.add_row(each.quantity, str(each.calls), share, f"{significant(each.largest)} {unit}".strip())
    out.print(shown)
    for cause, count in made.causes.items():
        out.print(f"{count} x {cause}")
    for first in made.first:
        ours, kernel = (_value(each) for each in (first.ours, first.kernel))
        where = f"flow {first.flow}, port {first.port}, call {first.call} ({first.function}) at {first.time_s:.6f} s"
        out.print(f"first difference: {where}: {first.quantity} is {ours}, the kernel's {kernel}: {first.cause}")
    note(f"{made.calls} calls of {made.connections} connection(s)")
    if made.dropped:
        note(f"{made.dropped} calls are missing: there was no room for them when they were recorded")
    if made.left_out:
        note(f"the kernel left out {made.left_out} calls at least: its control did not get them either")
    if not made.complete:
        note(f"the recording was cut off: what is whole of it was replayed, {made.broken} line(s) are broken")


def _value(value: float | None) -> str:
    from parshall.foundations.numbers import significant

    return "infinite" if value is None else significant(value)
