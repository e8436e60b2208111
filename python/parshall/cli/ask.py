"""``parshall ask``: a question answered by simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli import completion
from parshall.cli.console import console, print_json, table
from parshall.cli.groups import Changes, PageOptions, Printed, Work
from parshall.cli.options import AtLeast, ScenarioFile, Seed
from parshall.cli.values import part, share
from parshall.cli.verb import Commands, verb

if TYPE_CHECKING:
    from parshall.design.rules_answer import RulesAnswer
    from parshall.design.transfer import TransferTime

ask = typer.Typer(cls=Commands, help="Answer a question by simulation.", no_args_is_help=True, add_completion=False)


@ask.callback()
def root() -> None:
    """Answer a question by simulation."""


@ask.command("transfer")
@verb
def transfer(
    *,
    size: Annotated[str, typer.Option(help='Size of the transfer, e.g. "1 GB".', show_default=False)],
    rate: Annotated[str, typer.Option(help='Rate of the bottleneck, e.g. "100 Mbit/s".', show_default=False)],
    rtt: Annotated[str, typer.Option(help='Two-way propagation delay, e.g. "40 ms".', show_default=False)],
    loss: Annotated[str, typer.Option(help="Share of the packets that are lost at random: 0.1 %, or 0.001.")] = "0",
    control: Annotated[
        str, typer.Option("--cc", help="Congestion control of the sender.", autocompletion=completion.controls)
    ] = "cubic",
    buffer: Annotated[str, typer.Option(help="Limit of the bottleneck's queue.")] = "1 BDP",
    others: Annotated[int, typer.Option(help="Number of other flows, which send without end.", min=0)] = 0,
    repetitions: Annotated[int, typer.Option(help="Number of transfers to simulate.", min=1)] = 100,
    seed: Seed = 1,
    work: Work,
    printed: Printed,
) -> None:
    """Tell how long a transfer takes: the median, the 95th percentile and the longest time."""
    from parshall.design.transfer import transfer_time

    lost = part("--loss", loss)
    printed.note(f"simulating {repetitions} transfers ...")
    with work.execution(bar=printed.bar("transfer")) as by:
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
    if printed.as_json:
        print_json(answer.to_json())
    else:
        _show(answer)


@ask.command("rules")
@verb
def rules(
    scenario: ScenarioFile,
    *,
    changes: Changes,
    quantities: Annotated[
        list[str] | None,
        typer.Option(
            "--quantity",
            metavar="KEY",
            help="A quantity to compare, e.g. loss_rate or group/NAME/share; repeatable.",
            show_default="goodput, losses, delay, shares, retransmissions, completion times",
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            help="Repetitions of each variant.", min=2, show_default="8, doubled until intervals are narrow, 64 at most"
        ),
    ] = None,
    at_least: AtLeast = None,
    emulate: Annotated[
        bool, typer.Option("--emulate", help="Also emulate it once, with the TCP of this machine's kernel.")
    ] = False,
    work: Work,
    page: PageOptions,
    printed: Printed,
) -> None:
    """Tell which of Linux's TCP rules makes the difference in a scenario."""
    from parshall.design.rules import ask_rules
    from parshall.design.rules_page import rules_page

    drawn, asked = page.files(), changes.scenario(scenario)
    printed.note("simulating with each rule switched ...")
    with work.execution(bar=printed.bar("rules")) as by:
        answer = ask_rules(
            asked,
            quantities or (),
            repetitions=repetitions,
            at_least=share(at_least),
            emulated=emulate,
            execution=by,
        )
    page.write(lambda: rules_page(answer), "rules.html", drawn, printed)
    if printed.as_json:
        print_json(answer.to_json())
    elif not printed.quiet:
        _show_rules(answer)


def _show_rules(answer: RulesAnswer) -> None:
    from parshall.design.rules_page import shown_rows

    out = console()
    for line in answer.sentences():
        out.print(line)
    if not answer.asked:
        return
    shown = table("Differences", "quantity", "rules", "Linux less RFCs", "share", "verdict")
    for row in shown_rows(answer):
        shown.add_row(*row)
    out.print(shown)


def _show(answer: TransferTime) -> None:
    from parshall.analysis.stats.quantiles import NoValue
    from parshall.foundations.numbers import quantity

    shown = table("", "done", "within", "95 % interval")
    shown.title = None
    for done, each in answer.quantiles.items():
        if isinstance(each, NoValue):
            above = "" if each.above is None else f"more than {quantity(each.above, 's')}"
            shown.add_row(f"{100 * done:g} %", each.reason, above)
            continue
        known = each.low is not None and each.high is not None
        between = f"{quantity(each.low, 's')} to {quantity(each.high, 's')}" if known else each.how
        shown.add_row(f"{100 * done:g} %", f"{quantity(each.mean, 's')}{_minutes(each.mean)}", between)
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
