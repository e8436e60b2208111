"""``parshall compare``: two runs, metric by metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import Json, console, note, print_json, table, verb

if TYPE_CHECKING:
    from parshall.report.metrics import Metric
    from parshall.runs import Run


@verb
def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="The directory of a run.", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="B", help="That of another.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Compare two runs metric by metric: values, and the difference B - A with its 95 % confidence interval."""
    from parshall.runs import Run

    first, second = Run.load(before), Run.load(after)
    compared = differences(first, second)
    if as_json:
        print_json({"a": str(before), "b": str(after), "paired": paired(first, second), "metrics": compared})
    else:
        _show(first, second, compared)


def paired(first: Run, second: Run) -> bool:
    """Whether repetitions of both runs share their random numbers: then their differences vary less."""
    return first.metadata["seed"] == second.metadata["seed"] and first.repetitions == second.repetitions


def differences(first: Run, second: Run) -> list[dict[str, Any]]:
    """Each metric that both runs have."""
    from parshall.report.metrics import all_metrics

    ours, theirs = all_metrics(first), all_metrics(second)
    both_paired = paired(first, second)
    return [_difference(key, ours[key], theirs[key], both_paired) for key in ours if key in theirs]


def _difference(key: str, before: Metric, after: Metric, both_paired: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from parshall.stats.confidence import paired_difference, welch_difference

    same = both_paired and before.values.keys() == after.values.keys()
    values = list(after.values.values()), list(before.values.values())
    difference = paired_difference(*values) if same else welch_difference(*values)
    excluded = difference.contains(0.0)
    return {
        "metric": key,
        "label": before.label,
        "unit": before.unit,
        "a": asdict(before.interval),
        "b": asdict(after.interval),
        "difference": asdict(difference),
        "differs": None if excluded is None else not excluded,
    }


def _show(first: Run, second: Run, compared: list[dict[str, Any]]) -> None:
    from parshall.cli.metrics import interval_text

    shown = table(f"A: {first.directory}   B: {second.directory}", "metric", "A", "B", "B - A", "differs")
    words = {True: "yes", False: "no", None: "?"}
    for each in compared:
        texts = [interval_text(each[key], each["unit"]) for key in ("a", "b", "difference")]
        name = each["metric"].rpartition("/")[0]
        shown.add_row(f"{name + ': ' if name else ''}{each['label']}", *texts, words[each["differs"]])
    console().print(shown)
    how = "paired by common random numbers" if paired(first, second) else "of independent repetitions (Welch)"
    note(f"95 % confidence intervals {how}; ?: one repetition tells no interval")
