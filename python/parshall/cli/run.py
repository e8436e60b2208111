"""``parshall run``: predict and simulate a scenario, and write its page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from parshall.cli.console import INTERRUPTED, console, fail, note, print_json, table, termination_interrupts
from parshall.cli.groups import Changes, Emulations, Printed, Results
from parshall.cli.options import ScenarioFile, Workers
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from parshall.instruments.prediction.predict import Predicted
    from parshall.instruments.simulation import Run
    from parshall.report import Comparison
    from parshall.scenario import Scenario


@verb
def run(
    scenario: ScenarioFile,
    *,
    results: Results,
    changes: Changes,
    workers: Workers = None,
    also: Annotated[
        Literal["emulate"] | None,
        typer.Option(
            help="Also emulate it, into OUTPUT-emulated, and compare both with the prediction.",
            show_default=False,
        ),
    ] = None,
    emulations: Emulations,
    printed: Printed,
) -> None:
    """Predict and simulate a scenario, and write one page with both."""
    from parshall.instruments.emulation import emulate
    from parshall.instruments.simulation import run as simulate

    read = changes.scenario(scenario)
    made = made_by(partial(simulate, workers=workers), read, results, quiet=printed.quiet)
    if also == "emulate":
        instrument = partial(emulate, at_once=emulations.at_once)
        _emulate_too(made, read, instrument, results, printed, accept_invalid=emulations.accept_invalid)
    else:
        present(made, printed, page=results.page)


def _emulate_too(
    made: Run,
    scenario: Scenario,
    emulate: Callable[..., Run],
    results: Results,
    printed: Printed,
    *,
    accept_invalid: bool,
) -> None:
    """Emulate the simulated scenario, and show predicted, simulated and emulated values side by side."""
    from parshall.results.records.validity import believable, is_invalid

    printed.hush()
    place = Path(made.place)
    beside = replace(results, output=place.with_name(f"{place.name}-emulated"))
    emulated = made_by(emulate, scenario, beside, quiet=printed.quiet)
    predicted, problem = _predicted(scenario, emulated)
    is_refused = is_invalid(emulated) and not accept_invalid
    compared = None if is_refused else _side_by_side(made, predicted, emulated)
    written = _write_pages(made, emulated, compared) if results.page else None
    if printed.as_json:
        print_json(_results_of(made, predicted, emulated, compared))
    elif not printed.quiet:
        _show_side_by_side(compared, problem, written)
        note(f"results: {made.directory}, {emulated.directory}")
    believable([emulated], accept_invalid=accept_invalid)


def _show_side_by_side(compared: Comparison | None, problem: str | None, page: Path | None) -> None:
    from parshall.cli.compare import show

    if compared is not None:
        show(compared)
    if problem is not None:
        note(f"no predictions: {problem}")
    if page is not None:
        note(f"page:    {page.resolve()}")


def _predicted(scenario: Scenario, emulated: Run) -> tuple[Predicted | None, str | None]:
    """Return the models' answers to the scenario alone, or the reason why there are none to compare."""
    from parshall.foundations.errors import ParshallError
    from parshall.instruments.prediction.predict import predict

    if (problem := emulated.metadata["prediction_problem"]) is not None:
        return None, str(problem)
    try:
        predicted = predict(scenario)
    except ParshallError as error:
        return None, str(error)
    return (predicted, None) if predicted.metrics() else (None, "no model holds there")


def _side_by_side(made: Run, predicted: Predicted | None, emulated: Run) -> Comparison:
    """Each against the simulation, which has all quantities."""
    from parshall.report import compare

    named = {"simulated": made, "predicted": predicted, "emulated": emulated}
    there = {name: result for name, result in named.items() if result is not None}
    return compare(*there.values(), names=list(there), accept_invalid=True)


def _write_pages(made: Run, emulated: Run, compared: Comparison | None) -> Path | None:
    """The pages of both, and of the comparison if there is one: where that is."""
    from parshall.report.comparison_page import write_page
    from parshall.results.records import storage

    for each in (made, emulated):
        write_its_page(each)
    path = Path(made.place) / storage.COMPARED_FILE
    return None if compared is None else storage.guarded(lambda: write_page(compared, path))


def _results_of(made: Run, predicted: Predicted | None, emulated: Run, compared: Comparison | None) -> dict[str, Any]:
    """Return the value that ``--also emulate --json`` prints."""
    return {
        "predicted": None if predicted is None else predicted.to_json(),
        "simulated": result(made),
        "emulated": result(emulated),
        "compared": None if compared is None else compared.to_json(),
    }


def present(made: Run, printed: Printed, *, page: bool) -> None:
    """Write the page of a run, and print its results."""
    if page:
        write_its_page(made)
    if printed.as_json:
        print_json(result(made))
    elif not printed.quiet:
        _show(made, page)


def write_its_page(made: Run) -> None:
    """Write the page of a run into its directory."""
    from parshall.report import write_page
    from parshall.results.records import storage

    storage.guarded(lambda: write_page(made, Path(made.place) / storage.REPORT_FILE))


def result(made: Run) -> dict[str, Any]:
    """Return the value that ``--json`` prints; docs/json.md describes it."""
    from parshall.report import settling

    return {
        **made.summary,
        "halves": settling.as_json(made),
        "predicted": made.predicted,
        "warnings": made.metadata["warnings"],
        "name": made.metadata["name"],
        "seed": made.metadata["seed"],
        "status": made.status,
        "instrument": made.instrument,
        "emulation": made.metadata.get("emulation"),
        "repetitions": len(made.repetitions),
        "directory": str(made.directory),
    }


def made_by(instrument: Callable[..., Run], scenario: Scenario, results: Results, *, quiet: bool) -> Run:
    """Return the run of a scenario by an instrument (`parshall.run`, `parshall.emulate`), with a bar of progress."""
    from parshall.results.records import storage

    directory = results.output or storage.next_directory(Path("runs"), scenario.name)
    shown = not quiet and sys.stderr.isatty()
    try:
        with termination_interrupts(), _progress_bar(scenario.name, shown) as progress:
            return instrument(scenario, directory, overwrite=results.force, progress=progress)
    except KeyboardInterrupt:
        if (directory / storage.RUN_FILE).exists():
            done = len(storage.read(directory)["repetitions_finished"])
            fail(f"interrupted; {done} of {scenario.repetitions} repetitions can be read in {directory}", INTERRUPTED)
        fail("interrupted before a repetition was finished", INTERRUPTED)
        raise


def _progress_bar(name: str, shown: bool) -> AbstractContextManager[Any]:
    if not shown:
        return nullcontext()
    from parshall.cli.progress import progress_bar

    return progress_bar(name)


def _show_cost(made: Run) -> None:
    """Print the cost of the run; of an emulation, its verdict."""
    from parshall.foundations.numbers import quantity

    summary = made.summary
    simulated, spent = quantity(summary["simulated_s"], "s"), quantity(summary["cpu_s"], "s")
    if made.instrument == "simulate":
        rate = summary["packets_forwarded"] / summary["cpu_s"] if summary["cpu_s"] > 0 else 0.0
        note(f"{simulated} simulated in {spent} of processor time, {rate / 1e6:.2f} M packets/s")
    else:
        from parshall.instruments.emulation import validity

        note(f"{simulated} emulated; {validity(made)}")


def _show(made: Run, page: bool) -> None:
    from parshall.analysis.stats.confidence import Interval
    from parshall.report.uncertainty import interval_text
    from parshall.results.quantities.catalog import SUMMARY
    from parshall.results.quantities.naming import named

    summary = made.summary
    done = len(made.repetitions)
    title = f"{made.metadata['name']}: {done} repetition{'s' if done > 1 else ''}"
    shown = table(title, "metric", "estimate" if done == 1 else "estimate ± 95 %")
    both_ways = summary["intervals"]["goodput_reverse_bps"] is not None
    for each in map(named, SUMMARY):
        interval = summary["intervals"][each.name]
        if interval is not None and each.quantity.says(made.tables):
            label = each.quantity.title_of_run(summary["link"], both_ways=both_ways)
            lacks = interval["mean"] is None
            shown.add_row(label, interval["how"] if lacks else interval_text(Interval(**interval), each.unit))
    console().print(shown)
    _show_cost(made)
    for warning in made.metadata["warnings"]:
        note(f"warning: {warning}")
    if made.metadata["prediction_problem"] is not None:
        note(f"no predictions: {made.metadata['prediction_problem']}")
    note(f"results: {made.directory}")
    if page:
        note(f"page:    {(Path(made.place) / 'report.html').resolve()}")
