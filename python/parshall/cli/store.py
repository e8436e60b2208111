"""``parshall store``: what a store holds, whether it is intact, what can go, and taking a sweep out of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import FAILURE, Json, Quiet, console, note, print_json, table, verb

store = typer.Typer(no_args_is_help=True, help="Look after a store of runs: list, verify, gc, export.")

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
def verify(directory: Directory = Path("store"), as_json: Json = False, quiet: Quiet = False) -> None:
    """Compare every file with its digest; the exit code is 1 if something is damaged."""
    from parshall.campaign.maintenance import verify as check
    from parshall.campaign.store import Store

    found = check(Store(directory))
    if as_json:
        print_json({**asdict(found), "damage": [{"path": str(each.path), "what": each.what} for each in found.damage]})
    elif not quiet:
        print(
            f"{directory}: {found.runs} intact runs, {found.segments} segments, {found.sweeps} sweeps, "
            f"{found.failures} failures, {found.missing} runs missing"
        )
    for each in found.damage:
        note(f"parshall: {each.path}: damaged: {each.what}")
    if found.damage:
        note("parshall: `parshall store gc` sets aside what is damaged, and `parshall sweep` does those runs again")
        raise typer.Exit(FAILURE)


@store.command()
@verb
def gc(
    directory: Directory = Path("store"),
    unreferenced: Annotated[
        bool, typer.Option("--unreferenced", help="Also remove runs that no sweep refers to.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Set aside what is damaged, remove what killed processes left, gather small runs."""
    from parshall.campaign.maintenance import collect
    from parshall.campaign.store import Store

    done = collect(Store(directory), unreferenced=unreferenced, dry_run=dry_run)
    if as_json:
        print_json(asdict(done))
    elif not quiet:
        print(
            f"{directory}: {'would be ' if dry_run else ''}set aside {done.damaged}, removed {done.litter} unfinished "
            f"and {done.unreferenced} unreferenced ({done.bytes / 1e6:.1f} MB), gathered {done.gathered}"
        )


@store.command()
@verb
def export(
    directory: Directory,
    sweep: Annotated[str, typer.Argument(metavar="SWEEP", help="The name of a sweep.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="A new directory.", show_default=False)],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a sweep's tables, with the parameters as columns, to one Parquet file each."""
    from parshall.campaign.maintenance import export as write
    from parshall.campaign.store import Store

    written = write(Store(directory), sweep, output)
    if as_json:
        print_json([str(path) for path in written])
    elif not quiet:
        for path in written:
            note(str(path))
