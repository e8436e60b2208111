"""``parshall compare``: two runs, metric by metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli.console import Json, console, note, print_json, table, verb

if TYPE_CHECKING:
    from parshall.report import MetricComparison


@verb
def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="The directory of a run.", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="B", help="That of another.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Compare two runs metric by metric: values, and the difference B - A with its 95 % confidence interval."""
    from parshall.report import compare as compared
    from parshall.runs import Run

    comparisons = compared(Run.load(before), Run.load(after))
    if as_json:
        print_json({"a": str(before), "b": str(after), "metrics": [each.to_json() for each in comparisons]})
    else:
        _show(f"A: {before}   B: {after}", comparisons)


def _show(title: str, comparisons: list[MetricComparison]) -> None:
    from parshall.cli.metrics import interval_text

    shown = table(title, "metric", "A", "B", "B - A", "")
    for each in comparisons:
        intervals = (each.a, each.b, each.difference)
        texts = ["" if interval is None else interval_text(interval, each.unit) for interval in intervals]
        where = each.key.rpartition("/")[0]
        shown.add_row(f"{where + ': ' if where else ''}{each.label}", *texts, str(each.verdict))
    console().print(shown)
    how = "paired by common random numbers" if any(each.paired for each in comparisons) else "independent (Welch)"
    note(f"95 % confidence intervals; repetitions are {how}")
