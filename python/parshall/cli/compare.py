"""``parshall compare``: results of any instruments, or two sweeps, metric by metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli.console import console, note, print_json, table
from parshall.cli.groups import Printed
from parshall.cli.options import AcceptInvalid, AtLeast, file_option, store_option
from parshall.cli.values import share
from parshall.cli.verb import verb
from parshall.foundations.errors import InputError

if TYPE_CHECKING:
    from parshall.campaign.comparing import SweepComparison as OfSweeps
    from parshall.report import Comparison


@verb
def compare(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="A B ...", help="The directories of results; with --store two sweeps.", show_default=False
        ),
    ],
    *,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The result that the others are compared with.", show_default="the first"),
    ] = None,
    output: Annotated[Path | None, file_option("Write a page, e.g. page.html.", False)] = None,
    store: Annotated[Path | None, store_option("A and B are results")] = None,
    other_store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The store of B.", show_default="that of A")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A metric of the sweeps; repeatable.", show_default="those of the page of A"),
    ] = None,
    at_least: AtLeast = None,
    accept_invalid: AcceptInvalid = False,
    printed: Printed,
) -> None:
    """Compare results: the values, and the difference of each to the first with its 95 % confidence interval.

    Results are runs, observations and predictions in any mixture. The differences that are shown and reach --at-least
    come first, the largest at the top.

    Sweeps are compared point by point. A difference is significant if it is found at a false discovery rate of 5 %.
    """
    if len(results) < 2 or (store is not None and len(results) != 2):
        raise InputError(f"compare: found {len(results)}; accepted: {'two sweeps' if store else 'two results or more'}")
    if store is not None and (baseline is not None or output is not None):
        raise InputError("--baseline and --output are not for sweeps; `parshall sweep` writes the page of a sweep")
    if store is not None:
        places = (store, results[0]), (other_store or store, results[1])
        _sweeps(*places, metric or [], share(at_least), printed)
    elif other_store is not None or metric:
        raise InputError("--other-store and --metric are for sweeps: give --store DIR too")
    else:
        _results(results, baseline, output, share(at_least), accept_invalid, printed)


def _results(
    places: list[str],
    baseline: str | None,
    output: Path | None,
    at_least: float,
    accept_invalid: bool,
    printed: Printed,
) -> None:
    from parshall.report import compare as compared
    from parshall.results.loading import load_result

    results = map(load_result, places)
    comparison = compared(*results, baseline=baseline, at_least=at_least, names=places, accept_invalid=accept_invalid)
    if output is not None:
        from parshall.report.comparison_page import write_page
        from parshall.results.records.storage import guarded

        guarded(lambda: write_page(comparison, output))
    if printed.as_json:
        print_json(comparison.to_json())
        return
    show(comparison, quiet=printed.quiet)
    if output is not None:
        printed.written(output.resolve())


def _sweeps(a: tuple[Path, str], b: tuple[Path, str], metrics: list[str], at_least: float, printed: Printed) -> None:
    from parshall.campaign import Sweep
    from parshall.campaign.comparing import compare as compared

    comparison = compared(Sweep.load(*a), Sweep.load(*b), metrics, at_least)
    if printed.as_json:
        print_json(comparison.to_json())
    else:
        _show_sweeps(comparison, quiet=printed.quiet)


def show(comparison: Comparison, *, quiet: bool = False) -> None:
    """Print a comparison, and how it was made unless that is not asked for."""
    from parshall.report.comparing import difference_text, header, letter, values, worded

    title = "   ".join(f"{letter(place)}: {each.name}" for place, each in enumerate(comparison.results))
    shown = table(title, *(heading.lower() if heading == "Metric" else heading for heading in header(comparison)))
    mixed = len(comparison.instruments) > 1
    rows = [row for row in comparison.shown if not mixed or len(row.missing) < len(comparison.results) - 1]
    for row in rows:
        texts = values(row)
        columns = texts[:1]
        for place, (text, each) in enumerate(zip(texts[1:], row.differences, strict=True), 1):
            verdict = "" if each is None else worded(each, comparison, letter(place))
            columns += [text, difference_text(each), verdict]
        shown.add_row(row.label, *columns)
    console().print(shown)
    if not quiet:
        _say_how(comparison, len(rows))


def _say_how(comparison: Comparison, listed: int) -> None:
    """Print the method of a comparison and its limits; `listed` of its quantities are in the table."""
    from parshall.foundations.numbers import counted
    from parshall.report.comparing import QUANTITIES, bounds, family, letter, meant
    from parshall.report.sentences import say

    for place, result in enumerate(comparison.results):
        if result.emulation is not None:
            note(f"{letter(place)}: {result.emulation}")
    known = [each.difference for each in comparison.differences if each.difference is not None]
    if comparison.paired and known:
        note(meant(known, "comparison.how", *comparison.paired).text)
    if listed < len(comparison.shown):
        only = len(comparison.shown) - listed
        note(say("comparison.only", number=f"{counted(only, 'metric')} {'is' if only == 1 else 'are'}").text)
    if "predict" in comparison.instruments:
        note(say("comparison.ranges").text)
    if comparison.tested:
        note(family(comparison.tested))
    for sentence in bounds([row.told for row in comparison.shown], QUANTITIES):
        note(sentence.text)
    _first(sum(row.matters for row in comparison.shown), comparison.at_least)


def _show_sweeps(comparison: OfSweeps, *, quiet: bool) -> None:
    from parshall.campaign.comparison_page import VALUES, alone, how
    from parshall.report.comparing import bounds, family

    first = comparison.differences[0]
    shown = table(f"A: {comparison.a}   B: {comparison.b}", *first.point, "metric", "A", "B", "B - A", "")
    for each in comparison.differences:
        shown.add_row(*each.point.values(), *comparison.cells(each))
    console().print(shown)
    if quiet:
        return
    note(how(comparison).text)
    if comparison.tested:
        note(family(comparison.tested))
    for sentence in (*bounds([[each] for each in comparison.differences], VALUES), *alone(comparison)):
        note(sentence.text)
    _first(sum(each.matters for each in comparison.differences), comparison.at_least)


def _first(number: int, at_least: float) -> None:
    from parshall.foundations.numbers import count
    from parshall.report.sentences import say

    note(say("comparison.order", number=count(number), least=f"{100 * at_least:g} %").text)
