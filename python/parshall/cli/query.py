"""``parshall query``: questions over many runs, in SQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import Json, console, note, print_json, table, verb

if TYPE_CHECKING:
    import polars as pl

_MOST_SHOWN = 200


@verb
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One statement.", show_default=False)],
    store: Annotated[Path, typer.Option(help="Where the runs are.")] = Path("store"),
    sweeps: Annotated[
        list[str] | None,
        typer.Option("--sweep", help="Whose runs; repeatable.", show_default="the store's only sweep"),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    as_json: Json = False,
) -> None:
    """Ask the runs of a store: every table of records, with the sweep's parameters as columns."""
    from parshall.campaign.query import query as answer

    frame = answer(store, sql, sweeps or ())
    if as_json:
        print_json(rows(frame))
    elif csv:
        print(frame.write_csv(), end="")
    else:
        _show(frame)


def rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON has them; what is not finite is null."""
    return [dict(row) for row in json.loads(frame.write_json())] if len(frame) else []


def _show(frame: pl.DataFrame) -> None:
    shown = table("", *frame.columns)
    shown.title = None
    for row in frame.head(_MOST_SHOWN).iter_rows():
        shown.add_row(*(_text(value) for value in row))
    console().print(shown)
    if len(frame) > _MOST_SHOWN:
        note(f"{_MOST_SHOWN} of {len(frame)} rows; --csv or --json prints all")


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
