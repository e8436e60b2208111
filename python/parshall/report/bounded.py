"""The groups of flows that a page shows one by one; the others are one group, as a page of thousands is no page."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from parshall.foundations.numbers import count, counted
from parshall.results.quantities.measuring import places
from parshall.results.quantities.tables import Tables
from parshall.results.quantities.together import together

MOST = 50
"""The most groups that a page shows one by one."""


@dataclass(frozen=True)
class Bounded:
    """The groups of a page.

    Parameters
    ----------
    names
        Those that have rows and figures of their own, in the order of the scenario.
    rest
        The name of the others together; empty: there are none.
    tables
        Records in which those others are one group.
    note
        What a table says of its last row; empty without others.
    """

    names: list[str]
    rest: str
    tables: Tables
    note: str

    @property
    def rows(self) -> list[str]:
        """The groups of `tables`: the others are the last."""
        return [*self.names, *([self.rest] if self.rest else [])]


def bounded(tables: Tables) -> Bounded:
    """The groups with the most and the least goodput of a flow one by one. Computed once for the same tables."""
    if MOST not in tables.computed:
        tables.computed[MOST] = _bounded(tables)
    found: Bounded = tables.computed[MOST]
    return found


def _bounded(tables: Tables) -> Bounded:
    names, flows = places(tables, "group"), tables.get("flows")
    if len(names) <= MOST or flows is None:
        return Bounded(names, "", tables, "")
    shown = set(extremes(mean_goodputs(flows), names, MOST))
    others = [name for name in names if name not in shown]
    rest = counted(len(others), "other group")
    half = MOST // 2
    note = (
        f"Of {count(len(names))} groups, the {half} with the most and the {half} with the least goodput of a flow have "
        f"a row each. The last row has the others together. The tables of the records have all of them."
    )
    return Bounded([name for name in names if name in shown], rest, together(tables, others, rest), note)


def mean_goodputs(flows: pl.DataFrame) -> dict[str, float]:
    """The mean goodput of a flow of each group over flows and repetitions, bit/s; 0 where none is known."""
    of_one = flows.group_by("group", "repetition").agg(pl.col("goodput_bps").mean())
    return dict(of_one.group_by("group").agg(pl.col("goodput_bps").mean().fill_null(0.0)).iter_rows())


def extremes(values: dict[str, float], names: list[str], most: int) -> list[str]:
    """The names with the largest and the smallest values, half of `most` each, from the largest on.

    Examples
    --------
    >>> extremes({"a": 1.0, "b": 4.0, "c": 2.0, "d": 3.0}, ["a", "b", "c", "d"], 2)
    ['b', 'a']
    """
    place = {name: number for number, name in enumerate(names)}
    ranked = sorted(names, key=lambda name: (-values.get(name, 0.0), place[name]))
    return ranked if len(ranked) <= most else [*ranked[: most // 2], *ranked[-(most // 2) :]]
