"""Quantities of users: those that a program defines, and those of installed packages (plug-ins).

>>> import polars as pl
>>> @quantity("most_timeouts", unit="1", better="lower", label="timeouts of the flow that has most")
... def most_timeouts(tables):
...     return tables["flows"].group_by("repetition").agg(pl.col("timeouts").max())
>>> [each.key for each in defined()]
['most_timeouts']
>>> forget("most_timeouts")
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar, get_args

from parshall.foundations import plugins
from parshall.foundations.errors import InputError
from parshall.results.quantities.catalog import built_in
from parshall.results.quantities.definition import Better, Quantity, Values
from parshall.results.quantities.tables import Per, Tables

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_COLUMNS = frozenset({"ended", "link", "point", "repetition", "repetitions", "run", "seed", "sweep"})
"""Names that columns of a sweep's tables have anyway."""

_defined: dict[tuple[Per, str], Quantity] = {}

Function = TypeVar("Function", bound=Callable[[Tables], Values])


def quantity(
    key: str,
    *,
    unit: str,
    better: Better | None = None,
    per: Per = "run",
    label: str = "",
    range: tuple[float, float] | None = None,  # noqa: A002 - as the field is called
) -> Callable[[Function], Function]:
    """Make a function of the record tables a quantity that sweeps, comparisons, stopping rules and pages know.

    Parameters
    ----------
    key
        Its name: letters, digits and _. Of a group, flow or link it is used as ``group/NAME/key``.
    unit
        ``s``, ``bit/s``, ``packets``, ``bytes``, ``ratio`` (a share, printed in percent), ``1``, or any other text.
    better
        ``higher``, ``lower``, or None where neither is.
    per
        ``run``, ``group``, ``flow`` or ``link``: whose tables the function is given
        (`parshall.results.quantities.Tables`).
    label
        What people read; the key without one.
    range
        What it can be: intervals are cut to that. 0 to 1 of a ratio, else anything.

    Returns
    -------
    Callable
        A decorator, which leaves the function as it is. A function that is defined again replaces the former one.

    Raises
    ------
    InputError
        The key is taken, or an argument is not one of those above.
    """
    if not _KEY.fullmatch(key):
        raise InputError(f'quantity: found the key "{key}"; accepted: letters, digits and _, a letter first')
    if per not in get_args(Per):
        raise InputError(f'quantity "{key}": per: found {per!r}; accepted: {_listed(Per)}')
    if better is not None and better not in get_args(Better):
        raise InputError(f'quantity "{key}": better: found {better!r}; accepted: {_listed(Better)}, or None')
    bounds = range if range is not None else (0.0, 1.0) if unit == "ratio" else (float("-inf"), float("inf"))

    def define(function: Function) -> Function:
        made = Quantity(key, label or key, unit, better, per, function, bounds, source=_place(function))
        _refuse_taken(made)
        _defined[per, key] = made
        return function

    return define


def defined() -> tuple[Quantity, ...]:
    """Those of installed packages, and those that this process has defined."""
    _load_plugins()
    return tuple(_defined.values())


def forget(key: str, per: Per = "run") -> None:
    """Remove a quantity of this process."""
    _defined.pop((per, key), None)


@cache
def _load_plugins() -> None:
    for _ in plugins.loaded("quantities", "quantities"):
        pass  # to import what defines them is enough


def _refuse_taken(made: Quantity) -> None:
    if made.per in ("run", "link") and made.key in _COLUMNS:
        raise InputError(f'quantity "{made.key}" ({made.source}): a column of the tables has that name; choose another')
    # Without a name in front, a key is of the run or of its busiest link: it must not be both.
    shared: tuple[Per, ...] = ("run", "link") if made.per in ("run", "link") else (made.per,)
    others = [_defined[per, made.key] for per in shared if (per, made.key) in _defined]
    other = built_in(made.key, shared) or next((each for each in others if _home(each.of) != _home(made.of)), None)
    other = other or next((each for each in others if each.per != made.per), None)
    if other is not None:
        where = f"the one of {other.source}" if other.source else f'Parshall\'s own, "{other.label}"'
        raise InputError(f'quantity "{made.key}" ({made.source}): there is one of that key already, {where}')


def _home(function: Callable[..., object]) -> tuple[str, str]:
    return str(getattr(function, "__module__", "")), str(getattr(function, "__qualname__", ""))


def _place(function: Callable[..., object]) -> str:
    code = getattr(function, "__code__", None)
    return "a function" if code is None else f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def _listed(names: object) -> str:
    return ", ".join(f'"{name}"' for name in get_args(names))
