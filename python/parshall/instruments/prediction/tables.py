"""Columns of measured tables, whatever the library: Polars, pandas, Arrow, or plain lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray

Table = Any
"""A Polars or pandas data frame, an Arrow table, a mapping of columns, or a sequence of rows (mappings)."""


def numbers(table: Table, column: str) -> FloatArray:
    """A column as floats; missing values are NaN.

    Raises
    ------
    KeyError
        If there is no such column.

    Examples
    --------
    >>> numbers([{"loss_rate": 0.5}, {"loss_rate": None}], "loss_rate").tolist()
    [0.5, nan]
    """
    values = _values(table, column)
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values, dtype=np.float64)


def texts(table: Table, column: str) -> NDArray[np.str_]:
    """A column as text.

    Raises
    ------
    KeyError
        If there is no such column.

    Examples
    --------
    >>> texts({"group": ["a", "b"]}, "group").tolist()
    ['a', 'b']
    """
    values = _values(table, column)
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values, dtype=np.str_)


def named(measured: Any, table: str) -> Table | None:
    """The table of that name of a run, of a mapping of tables, or `measured` itself if it is the flows table.

    Examples
    --------
    >>> named({"transfers": [1]}, "flows") is None
    True
    >>> named([{"group": "a"}], "flows")
    [{'group': 'a'}]
    """
    if measured is None:
        return None
    if hasattr(measured, table):
        return getattr(measured, table)
    if isinstance(measured, Mapping) and "group" not in measured:
        return measured.get(table)
    has_tables = any(hasattr(measured, name) for name in ("flows", "transfers"))
    return measured if table == "flows" and not has_tables else None


def _values(table: Table, column: str) -> Any:
    return [row[column] for row in table] if isinstance(table, Sequence) else table[column]
