"""``parshall compare``: two runs, or two sweeps, metric by metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli.console import AtLeast, Json, console, note, print_json, share, table, verb
from parshall.errors import InputError

if TYPE_CHECKING:
    from parshall.campaign.comparing import Comparison
    from parshall.report import MetricComparison


@verb
def compare(
    before: Annotated[
        str, typer.Argument(metavar="A", help="The directory of a run; with --store a sweep.", show_default=False)
    ],
    after: Annotated[str, typer.Argument(metavar="B", help="Another.", show_default=False)],
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The store of runs in which A and B are sweeps.")
    ] = None,
    other_store: Annotated[Path | None, typer.Option(metavar="DIR", help="That of B, if it is another one.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Of sweeps: a metric to compare; may be repeated. Else those of A's page."),
    ] = None,
    at_least: AtLeast = None,
    as_json: Json = False,
) -> None:
    """Compare two runs or two sweeps: values, and the difference B - A with its 95 % confidence interval.

    First comes what differs and matters: differences that are shown and reach --at-least, the largest first.

    Sweeps are compared point by point; a difference is called significant if it is among those found at a false
    discovery rate of 5 %.
    """
    if store is not None:
        _sweeps((store, before), (other_store or store, after), metric or [], share(at_least), as_json)
    elif other_store is not None or metric:
        raise InputError("--other-store and --metric are for sweeps: give --store DIR too")
    else:
        _runs(before, after, share(at_least), as_json)


def _runs(before: str, after: str, at_least: float, as_json: bool) -> None:
    from parshall.report import compare as compared
    from parshall.runs import Run

    comparisons = compared(Run.load(before), Run.load(after), at_least)
    if as_json:
        metrics = [each.to_json() for each in comparisons]
        print_json({"a": before, "b": after, "at_least": at_least, "metrics": metrics})
    else:
        _show_runs(f"A: {before}   B: {after}", comparisons, at_least)


def _sweeps(a: tuple[Path, str], b: tuple[Path, str], metrics: list[str], at_least: float, as_json: bool) -> None:
    from parshall.campaign import Sweep
    from parshall.campaign.comparing import compare as compared

    comparison = compared(Sweep.load(*a), Sweep.load(*b), metrics, at_least)
    if as_json:
        print_json(comparison.to_json())
    else:
        _show_sweeps(comparison)


def _show_runs(title: str, comparisons: list[MetricComparison], at_least: float) -> None:
    from parshall.cli.metrics import interval_text

    shown = table(title, "metric", "A", "B", "B - A", "")
    for each in comparisons:
        intervals = (each.a, each.b, each.difference)
        texts = ["" if interval is None else interval_text(interval, each.unit) for interval in intervals]
        where = each.key.rpartition("/")[0]
        shown.add_row(f"{where + ': ' if where else ''}{each.label}", *texts, each.verdict.text(at_least))
    console().print(shown)
    _how(any(each.paired for each in comparisons))
    _first(sum(each.matters for each in comparisons), at_least)


def _show_sweeps(comparison: Comparison) -> None:
    from parshall.cli.metrics import interval_text
    from parshall.quantities.catalog import named

    first = comparison.differences[0]
    shown = table(f"A: {comparison.a}   B: {comparison.b}", *first.point, "metric", "A", "B", "B - A", "")
    for each in comparison.differences:
        metric = named(each.metric)
        texts = [interval_text(interval, metric.unit) for interval in (each.a, each.b, each.difference)]
        shown.add_row(
            *each.point.values(), metric.label(comparison.link), *texts, each.verdict.text(comparison.at_least)
        )
    console().print(shown)
    _how(comparison.paired)
    tested = [each for each in comparison.differences if each.significant is not None]
    significant = sum(bool(each.significant) for each in tested)
    _first(sum(each.matters for each in comparison.differences), comparison.at_least)
    note(f"{significant} of {len(tested)} differences are significant at a false discovery rate of 5 %")
    for name, alone in ((comparison.a, comparison.only_a), (comparison.b, comparison.only_b)):
        if alone:
            note(f"{alone} points of {name} are not in the other sweep")


def _first(number: int, at_least: float) -> None:
    note(f"first: {number} that are shown and matter, by {100 * at_least:g} % or more (--at-least), the largest first")


def _how(paired: bool) -> None:
    how = "paired by common random numbers" if paired else "independent (Welch)"
    note(f"95 % confidence intervals; repetitions are {how}")
