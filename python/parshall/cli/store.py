"""``parshall store``: what a store holds, whether it is intact, what can go, and taking a sweep out of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import FAILURE, console, note, print_json, table
from parshall.cli.groups import Printed
from parshall.cli.options import Force, Json, output_option
from parshall.cli.values import duration_s
from parshall.cli.verb import Commands, verb

store = typer.Typer(
    cls=Commands, no_args_is_help=True, help="Look after a store of runs: list, verify, gc, merge, export."
)

Directory = Annotated[Path, typer.Argument(metavar="STORE", help="The store's directory.")]


@store.command("list")
@verb
def list_(directory: Directory = Path("store"), as_json: Json = False) -> None:
    """List the sweeps of a store."""
    from parshall.campaign.maintenance import listed
    from parshall.campaign.store import Store

    frame = listed(Store(directory))
    if as_json:
        print_json(frame.to_dicts())
        return
    shown = table(str(directory), *frame.columns)
    for row in frame.iter_rows():
        shown.add_row(*("" if value is None else str(value) for value in row))
    console().print(shown)


@store.command()
@verb
def verify(directory: Directory = Path("store"), *, printed: Printed) -> None:
    """Compare every file with its digest, and exit with 1 if a file is damaged or missing."""
    from parshall.campaign.maintenance import verify as check
    from parshall.campaign.store import Store

    report = check(Store(directory))
    if printed.as_json:
        damage = [{"path": str(each.path), "what": each.what} for each in report.damage]
        print_json({**asdict(report), "damage": damage, "strays": [str(path) for path in report.strays]})
    elif not printed.quiet:
        print(
            f"{directory}: {report.runs} intact runs, {report.segments} segments, {report.sweeps} sweeps, "
            f"{report.failures} failures, {report.missing} runs missing, {report.answers} answers of studies"
        )
    for each in report.damage:
        note(f"parshall: {each.path}: damaged: {each.what}")
    if report.damage:
        note("parshall: `parshall store gc` sets aside what is damaged, and `parshall sweep` or `study` does it again")
    for path in report.strays:
        note(f"parshall: {path}: ignored: it is not the store's")
    if report.missing:
        note(f"parshall: {report.missing} runs of sweeps are missing; `parshall sweep` does them again")
    if report.damage or report.missing:
        raise typer.Exit(FAILURE)


@store.command()
@verb
def gc(
    directory: Directory = Path("store"),
    *,
    unreferenced: Annotated[
        bool, typer.Option("--unreferenced", help="Also remove runs that no sweep refers to.")
    ] = False,
    older_than: Annotated[
        str,
        typer.Option("--older-than", metavar="TIME", help="Remove only unreferenced runs older than this."),
    ] = "1 h",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
    printed: Printed,
) -> None:
    """Set damaged runs aside, remove unfinished files of killed processes, and compact small runs."""
    from parshall.campaign.maintenance import collect
    from parshall.campaign.store import Store

    young_s = duration_s("--older-than", older_than) or 0.0
    done = collect(Store.mended(directory), unreferenced=unreferenced, dry_run=dry_run, older_than_s=young_s)
    if printed.as_json:
        print_json(asdict(done))
    elif not printed.quiet:
        print(
            f"{directory}: {'would be ' if dry_run else ''}set aside {done.damaged}, removed {done.litter} unfinished "
            f"and {done.unreferenced} unreferenced ({done.bytes / 1e6:.1f} MB), compacted {done.gathered}"
        )
        if done.spared:
            print(f"{directory}: {done.spared} unreferenced are younger than {older_than} and stay (--older-than)")


@store.command()
@verb
def merge(
    directory: Directory,
    others: Annotated[list[Path], typer.Argument(metavar="OTHER...", help="Other stores.", show_default=False)],
    *,
    printed: Printed,
) -> None:
    """Copy the runs and answers of other stores, such as those of shards, into this one."""
    from parshall.campaign.merging import merge as take
    from parshall.campaign.store import Store

    made = Store(directory, create=True)
    taken = {str(other): take(made, Store(other)) for other in others}
    if printed.as_json:
        print_json({other: asdict(each) for other, each in taken.items()})
    elif not printed.quiet:
        for other, each in taken.items():
            left = f", left {each.damaged} that are damaged" if each.damaged else ""
            print(f"{directory}: took {each.runs} runs and {each.answers} answers of {other}{left}")


@store.command()
@verb
def export(
    directory: Directory,
    sweep: Annotated[str, typer.Argument(metavar="SWEEP", help="The name of a sweep.", show_default=False)],
    *,
    output: Annotated[Path, output_option(False)],
    force: Force = False,
    printed: Printed,
) -> None:
    """Write a sweep's tables, with the parameters as columns, to one Parquet file each."""
    from parshall.campaign.maintenance import export as write
    from parshall.campaign.store import Store

    written = write(Store(directory), sweep, output, overwrite=force)
    if printed.as_json:
        print_json([str(path) for path in written])
    elif not printed.quiet:
        for path in written:
            note(str(path))
