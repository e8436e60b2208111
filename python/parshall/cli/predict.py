"""``parshall predict``: what theory says of a scenario, without a simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli.added import one
from parshall.cli.console import console, note, print_json, table
from parshall.cli.groups import Changes, Printed
from parshall.cli.options import Force, output_option
from parshall.cli.values import part
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from parshall.report.predicted import PredictedSection
    from parshall.scenario import Scenario

THROUGHPUT = "throughput"
"""Word in place of a scenario."""


@verb
def predict(
    what: Annotated[
        str,
        typer.Argument(metavar="SCENARIO", help='A scenario in TOML; or the word "throughput".', show_default=False),
    ],
    *,
    changes: Changes,
    loss: Annotated[
        str | None,
        typer.Option(help="Of throughput: probability that a packet is lost, 2 % or 0.02.", show_default=False),
    ] = None,
    cc: Annotated[
        str, typer.Option("--cc", help="Of throughput: the control; reno, bic, highspeed, cubic, scalable.")
    ] = "reno",
    rtt: Annotated[
        str | None,
        typer.Option(
            help='Of throughput: round-trip time, e.g. "100 ms"; CUBIC needs it.', show_default="rates per RTT alone"
        ),
    ] = None,
    w_max: Annotated[
        int | None,
        typer.Option(help="Of throughput: largest window, packets.", show_default="1000 for reno, else 10000"),
    ] = None,
    rtts: Annotated[int, typer.Option(help="Of throughput: length of the flow, RTTs.")] = 2**18,
    scales: Annotated[
        list[int] | None,
        typer.Option(
            "--over",
            help="Of throughput: RTTs of the average; repeatable.",
            show_default="100 ... 2000",
        ),
    ] = None,
    low: Annotated[float | None, typer.Option(help="Least acceptable throughput, packets per RTT.")] = None,
    high: Annotated[float | None, typer.Option(help="Largest acceptable throughput, packets per RTT.")] = None,
    output: Annotated[Path | None, output_option(False)] = None,
    force: Force = False,
    printed: Printed,
) -> None:
    """Predict a scenario by the analytic models: throughput of each group, completion times, queues.

    Nothing is simulated. `parshall predict throughput --loss P` needs no scenario: it gives the mean throughput of one
    flow under independent losses, and how much it varies at each time scale.
    """
    from parshall.foundations.errors import InputError

    if what == THROUGHPUT and not Path(what).exists():
        if loss is None:
            raise InputError("--loss: found none; the probability that a packet is lost is needed, e.g. --loss 0.02")
        throughput = one(f"predict.{THROUGHPUT}")
        throughput(part("--loss", loss), cc, rtt, w_max, rtts, scales, (low, high), as_json=printed.as_json)
    elif loss is not None:
        raise InputError(f'--loss: found {loss} beside a scenario; it belongs to "parshall predict throughput"')
    else:
        _predict_scenario(changes.scenario(Path(what)), output, printed, force=force)


def _predict_scenario(scenario: Scenario, output: Path | None, printed: Printed, *, force: bool) -> None:
    from parshall.instruments.prediction.predict import flatten
    from parshall.instruments.prediction.predict import predict as predicted_for

    predicted = predicted_for(scenario)
    if output is not None:
        predicted.save(output, overwrite=force)
    if printed.as_json:
        assumptions = list(predicted.assumptions)
        print_json({"name": scenario.name, "predicted": flatten(predicted), "assumptions": assumptions})
        return
    from parshall.report.predicted import beside
    from parshall.report.sentences import say

    view = beside(predicted, {})
    for section in view.sections:
        _show(section)
    if printed.quiet:
        return
    if view.left_out:
        note(f"{view.left_out} --json has all.")
    if any(
        value.spread for section in view.sections for part in section.parts for row in part.rows for value in row.values
    ):
        note(say("predicted.range").text)
    note(say("predicted.assumed").text)
    for assumption in predicted.assumptions:
        note(f"- {assumption}")
    if output is not None:
        note(f"prediction: {output}")


def _show(section: PredictedSection) -> None:
    from parshall.report.sentences import say

    rows = [row for part in section.parts for row in part.rows]
    spoken = [row for row in rows if row.values]
    labels = list(dict.fromkeys(value.label for row in spoken for value in row.values))
    shown = table(section.title, "model", *labels)
    for row in spoken:
        texts = {value.label: f"{value.text} ({value.spread})" if value.spread else value.text for value in row.values}
        shown.add_row(row.name, *(texts.get(label, "") for label in labels))
    out = console()
    out.print(shown if spoken else section.title)
    for row in rows:
        if row.reason:
            out.print(say("predicted.no_answer", model=row.name, reason=row.reason).text)
    out.print()
