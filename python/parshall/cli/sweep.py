"""``parshall sweep``: do what is missing of a sweep, and write its page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import (
    FAILURE,
    AtOnce,
    Controls,
    Json,
    Quiet,
    Scheduler,
    Shard,
    Store,
    WithPage,
    Workers,
    console,
    declare_controls,
    note,
    print_json,
    table,
    verb,
)
from parshall.cli.execution import execution

if TYPE_CHECKING:
    from parshall.campaign.result import Sweep

Changes = Annotated[
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
    store: Store = Path("store"),
    changes: Changes = None,
    controls: Controls = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    shard: Shard = None,
    at_once: AtOnce = False,
    page: WithPage = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Do what is missing of a sweep: what its store has is not done again."""
    from parshall.campaign.plan import Plan

    declare_controls(controls)
    by = {"workers": workers, "scheduler": scheduler, "shard": shard, "at_once": at_once}
    made = _done(Plan.load(plan, tuple(changes or ())), store, by, quiet=quiet)
    written = _page(made) if page and shard is None else None
    if as_json:
        print_json(result(made, written))
    elif not quiet and shard is not None:
        note(f"shard {shard} of {made.name} is done in {made.record.wall_s:.1f} s; without --shard it is collected")
    elif not quiet:
        _show(made, written)
    if made.record.failed:
        _tell_failures(made)
        raise typer.Exit(FAILURE)


def result(made: Sweep, page: Path | None) -> dict[str, Any]:
    """What ``--json`` prints; docs/json.md describes it."""
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


def _done(plan: Any, store: Path, by: dict[str, Any], *, quiet: bool) -> Sweep:
    from parshall.campaign.runner import sweep as do

    with execution(store, by["workers"], by["scheduler"], bar=None if quiet else plan.name) as who:
        return do(plan, store, progress=who.progress, **by)


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
