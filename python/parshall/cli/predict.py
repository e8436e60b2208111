"""``parshall predict``: what theory says of a scenario, without a simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli.console import console, note, print_json, table
from parshall.cli.groups import Changes, Printed
from parshall.cli.options import Force, output_option
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from parshall.report.predicted import PredictedSection
    from parshall.scenario import Scenario


@verb
def predict(
    scenario: Annotated[
        Path,
        typer.Argument(metavar="SCENARIO", help="A scenario in TOML.", show_default=False),
    ],
    *,
    changes: Changes,
    output: Annotated[Path | None, output_option(False)] = None,
    force: Force = False,
    printed: Printed,
) -> None:
    """Predict a scenario by the analytic models: throughput of each group, completion times, queues.

    Nothing is simulated. `parshall predict throughput --loss P` needs no scenario: it gives the mean throughput of one
    flow under independent losses, and how much it varies at each time scale (with parshall-studies).
    """
    predict_scenario(changes.scenario(scenario), output, printed, force=force)


def predict_scenario(described: Scenario, output: Path | None, printed: Printed, *, force: bool) -> None:
    """Predict a scenario, store what the models say if there is an output, and print it."""
    from parshall.instruments.prediction.predict import flatten
    from parshall.instruments.prediction.predict import predict as predicted_for

    predicted = predicted_for(described)
    if output is not None:
        predicted.save(output, overwrite=force)
    if printed.as_json:
        assumptions = list(predicted.assumptions)
        print_json({"name": described.name, "predicted": flatten(predicted), "assumptions": assumptions})
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
    from parshall.report.predicted import NO_MODEL
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
            nobody = row.name == NO_MODEL
            out.print(row.reason if nobody else say("predicted.no_answer", model=row.name, reason=row.reason).text)
    out.print()
