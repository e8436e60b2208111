"""``parshall ask``: a question answered by simulation, without a scenario file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli import completion
from parshall.cli.console import Commands, Json, Quiet, Scheduler, Workers, console, note, part, print_json, table, verb
from parshall.cli.execution import Kept, execution

if TYPE_CHECKING:
    from parshall.design.transfer import TransferTime

ask = typer.Typer(cls=Commands, help="Answer a question by simulation.", no_args_is_help=True, add_completion=False)


@ask.callback()
def root() -> None:
    """Answer a question by simulation."""


@ask.command("transfer")
@verb
def transfer(
    size: Annotated[str, typer.Option(help='What is sent, e.g. "1 GB".', show_default=False)],
    rate: Annotated[str, typer.Option(help='Rate of the bottleneck, e.g. "100 Mbit/s".', show_default=False)],
    rtt: Annotated[str, typer.Option(help='Two-way propagation delay, e.g. "40 ms".', show_default=False)],
    loss: Annotated[str, typer.Option(help="Share of the packets that are lost at random: 0.1 %, or 0.001.")] = "0",
    control: Annotated[
        str, typer.Option("--cc", help="Congestion control of the sender.", autocompletion=completion.controls)
    ] = "cubic",
    buffer: Annotated[str, typer.Option(help="Limit of the bottleneck's queue.")] = "1 BDP",
    others: Annotated[int, typer.Option(help="Flows that send beside it without end.", min=0)] = 0,
    repetitions: Annotated[int, typer.Option(help="How many transfers are simulated.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Of the simulation.", min=0)] = 1,
    store: Kept = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """How long a transfer takes: half of them, 95 % of them, the longest."""
    from parshall.design.transfer import transfer_time

    lost, silent = part("--loss", loss), quiet or as_json
    if not silent:
        note(f"simulating {repetitions} transfers ...")
    with execution(store, workers, scheduler, bar=None if silent else "transfer") as by:
        answer = transfer_time(
            size,
            rate,
            rtt,
            loss=lost,
            control=control,
            buffer=buffer,
            others=others,
            repetitions=repetitions,
            seed=seed,
            execution=by,
        )
    if as_json:
        print_json(answer.to_json())
    else:
        _show(answer)


def _show(answer: TransferTime) -> None:
    from parshall.analysis.stats.quantiles import NoValue
    from parshall.foundations.numbers import quantity

    shown = table("", "done", "within", "95 % interval")
    shown.title = None
    for share, each in answer.quantiles.items():
        if isinstance(each, NoValue):
            above = "" if each.above is None else f"more than {quantity(each.above, 's')}"
            shown.add_row(f"{100 * share:g} %", each.reason, above)
            continue
        known = each.low is not None and each.high is not None
        between = f"{quantity(each.low, 's')} to {quantity(each.high, 's')}" if known else each.how
        shown.add_row(f"{100 * share:g} %", f"{quantity(each.mean, 's')}{_minutes(each.mean)}", between)
    if not answer.unended:
        shown.add_row("all", f"{quantity(answer.times_s[-1], 's')}{_minutes(answer.times_s[-1])}", "")
    out = console()
    ended = f", {answer.ended}" if answer.unended else ""
    out.print(f"{answer.scenario.description}: {answer.transfers} transfers{ended}")
    out.print(shown)
    for model, time_s in answer.predicted.items():
        out.print(f"model {model}: {quantity(time_s, 's')}")


def _minutes(time_s: float) -> str:
    """A long time once more in minutes or hours, in brackets.

    Examples
    --------
    >>> _minutes(3489.0), _minutes(10_000.0), _minutes(50.0)
    (' (58 min)', ' (2.8 h)', '')
    """
    if time_s < 120:
        return ""
    return f" ({time_s / 60:.0f} min)" if time_s < 7200 else f" ({time_s / 3600:.1f} h)"
