"""``parshall sweep``: do what is missing of a sweep, and write its page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import FAILURE, console, declare_controls, note, print_json, table
from parshall.cli.groups import Printed, SweepWork
from parshall.cli.options import AtOnce, Controls, WithPage
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from parshall.campaign.plan import Plan
    from parshall.campaign.result import Sweep

PlanChanges = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Change a value of the sweep file, e.g. repetitions=5 or budget.runs=100; repeatable.",
        show_default=False,
    ),
]

_SHOWN_POINTS = 40


@verb
def sweep(
    plan: Annotated[Path, typer.Argument(metavar="SWEEP", help="A sweep in TOML.", show_default=False)],
    *,
    work: SweepWork,
    changes: PlanChanges = None,
    controls: Controls = None,
    at_once: AtOnce = False,
    page: WithPage = True,
    printed: Printed,
) -> None:
    """Run a scenario over many values: only the runs that its store lacks."""
    from parshall.campaign.plan import Plan

    declare_controls(controls)
    made = _done(Plan.load(plan, tuple(changes or ())), work, at_once=at_once, quiet=printed.quiet)
    written = _page(made) if page and work.shard is None else None
    if printed.as_json:
        print_json(result(made, written))
    elif not printed.quiet and work.shard is not None:
        took = f"{made.record.wall_s:.1f} s"
        note(f"shard {work.shard} of {made.name} is done in {took}; the same command without --shard collects")
    elif not printed.quiet:
        _show(made, written)
    if made.record.failed:
        _tell_failures(made)
        raise typer.Exit(FAILURE)


def result(made: Sweep, page: Path | None) -> dict[str, Any]:
    """Return the value that ``--json`` prints; docs/json.md describes it."""
    kept = made.record
    return {
        "name": kept.name,
        "status": kept.status,
        "store": str(made.store.directory),
        "page": None if page is None else str(page),
        "code": kept.code,
        "wall_s": kept.wall_s,
        "runs": kept.runs,
        "failed": [{"run": run, "error": error} for run, error in kept.failed.items()],
        "points": made.points.to_dicts(),
    }


def _done(plan: Plan, work: SweepWork, *, at_once: bool, quiet: bool) -> Sweep:
    from parshall.campaign.runner import sweep as do

    with work.execution(bar=None if quiet else plan.name) as who:
        return do(
            plan,
            work.store,
            workers=work.workers,
            scheduler=work.scheduler,
            shard=work.shard,
            progress=who.progress,
            at_once=at_once,
        )


def _page(made: Sweep) -> Path:
    from parshall.campaign.page import write_page
    from parshall.results.records import storage

    return storage.guarded(lambda: write_page(made))


def _show(made: Sweep, page: Path | None) -> None:
    from parshall.foundations.numbers import counted
    from parshall.report.sentences import say

    shown = table(
        made.name, *(each.name for each in made.record.parameters), "runs", *map(made.label, made.record.metrics)
    )
    for number, point in enumerate(made.record.points[:_SHOWN_POINTS]):
        texts = [made.text(metric, number) for metric in made.record.metrics]
        shown.add_row(*_values(made, number), str(len(point.runs)), *texts)
    console().print(shown)
    more, record = len(made.record.points) - _SHOWN_POINTS, made.record
    if more > 0:
        note(say("sweep.more", points=counted(more, "more point")).text)
    runs, points = counted(record.runs, "run"), counted(len(record.points), "point")
    note(say("sweep.ended", runs=runs, points=points, took=f"{record.wall_s:.1f} s", status=made.status).text)
    note(f"store: {made.store.directory}")
    if page is not None:
        note(f"page:  {page.resolve()}")


def _values(made: Sweep, point: int) -> list[str]:
    from parshall.campaign.values import label

    return [label(value) for value in made.record.points[point].values]


def _tell_failures(made: Sweep) -> None:
    from parshall.foundations.numbers import counted
    from parshall.report.sentences import say

    failed = made.record.failed
    note(f"{say('sweep.errors', runs=counted(len(failed), 'run')).text} {next(iter(failed.values()))}")
