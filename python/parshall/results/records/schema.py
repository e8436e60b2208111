"""The columns of the record tables: types, units, descriptions, as ``crates/records/src/schema.rs`` declares them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from parshall import _core
from parshall.foundations.errors import InputError


@dataclass(frozen=True)
class Column:
    """One column.

    Parameters
    ----------
    name
        As in the table.
    type
        Of its values: ``uint32``, ``float64``, ``string``.
    nullable
        Whether a value may be null: what was not seen.
    unit
        ``s``, ``bit/s``, ``bytes``; empty for names, numbers and counts without one.
    description
        What it is.
    """

    name: str
    type: str
    nullable: bool
    unit: str
    description: str


@cache
def tables() -> list[dict[str, Any]]:
    """All tables as the schema says them: name, description and columns."""
    described: list[dict[str, Any]] = json.loads(_core.records_schema())
    return described


def columns(table: str) -> Mapping[str, Column]:
    """The columns of a table, by their names.

    Raises
    ------
    InputError
        No instrument writes a table of that name.

    Examples
    --------
    >>> columns("flows")["goodput_bps"].unit
    'bit/s'
    """
    for each in tables():
        if each["name"] == table:
            return {column["name"]: Column(**column) for column in each["columns"]}
    raise InputError(f'table: found "{table}"; accepted: {", ".join(each["name"] for each in tables())}')
