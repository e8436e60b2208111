"""``parshall query``: questions over many runs, in SQL."""

from __future__ import annotations

import json
import math
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import console, note, print_json, table
from parshall.cli.options import Json, Store
from parshall.cli.verb import verb

if TYPE_CHECKING:
    import polars as pl

_MOST_SHOWN = 200


@verb
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One statement.", show_default=False)],
    store: Store = Path("store"),
    sweeps: Annotated[
        list[str] | None,
        typer.Option("--sweep", help="The name of a sweep; repeatable.", show_default="the store's only sweep"),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    as_json: Json = False,
) -> None:
    """Ask the runs of a store in SQL: tables of records, with the parameters of the sweep as columns."""
    from parshall.campaign.query import query as answer

    frame = answer(store, sql, sweeps or ())
    if as_json:
        print_json(rows(frame))
    elif csv:
        print(flat(frame).write_csv(), end="")
    else:
        _show(frame)


def rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON has them: what is not finite is null, bytes are hexadecimal digits, times are ISO 8601."""
    return [{name: _plain(value) for name, value in row.items()} for row in frame.to_dicts()]


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The same without columns that CSV does not have: lists and the like are JSON, bytes hexadecimal digits."""
    import polars as pl

    nested = [name for name, kind in frame.schema.items() if kind.is_nested() or kind == pl.Binary]
    texts = [pl.Series(name, [_text(value) for value in frame[name].to_list()], dtype=pl.String) for name in nested]
    return frame.with_columns(texts)


def _show(frame: pl.DataFrame) -> None:
    shown = table("", *frame.columns)
    shown.title = None
    for row in frame.head(_MOST_SHOWN).iter_rows():
        shown.add_row(*map(_text, row))
    console().print(shown)
    if len(frame) > _MOST_SHOWN:
        note(f"{_MOST_SHOWN} of {len(frame)} rows; --csv or --json prints all")


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.6g}"
        case list() | dict():
            return json.dumps(_plain(value), ensure_ascii=False)
        case bytes():
            return value.hex()
        case _:
            return str(value)


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case bytes():
            return value.hex()
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)
