"""The record tables of some repetitions, each read when it is asked for first.

A quantity sees no instrument, run or store, only these tables: the same function measures one run, a thousand runs of
a sweep (each as one repetition), and what another instrument recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Self

import polars as pl

Per = Literal["run", "group", "flow", "link"]
"""What a quantity is one of."""

Read = Callable[[str], pl.DataFrame | None]


class NotRecorded(Exception):  # noqa: N818 - no failure: a quantity that needs the table has no value
    """There is no such table, or nothing is in it."""


class Tables:
    """Tables by their names (`parshall list records`), with the column `repetition`.

    Flows have the column `forward` too; it is false for the flows that send from the far end of a dumbbell. The table
    ``ends`` is none of the records: it says when each repetition ended (`end_s`), where that is known.

    Parameters
    ----------
    read
        Gives a table, or None where it was not recorded.
    name
        The group, flow or link that they were cut to; empty: they are of all.
    whole
        The tables of all, where these are of a part.
    """

    def __init__(self, read: Read, name: str = "", whole: Tables | None = None) -> None:
        self.name = name
        self.whole: Tables = self if whole is None else whole
        self._read = read
        self._held: dict[str, pl.DataFrame | None] = {}
        self._parts: dict[tuple[str, str], Self] = {}
        self.computed: dict[object, Any] = {}
        """What was computed from them, by quantity: one that is defined anew is another."""

    def __getitem__(self, name: str) -> pl.DataFrame:
        """A table.

        Raises
        ------
        NotRecorded
            There is none, or it is empty. A quantity lets that pass: it has no value then.
        """
        table = self.get(name)
        if table is None:
            raise NotRecorded(name)
        return table

    def get(self, name: str) -> pl.DataFrame | None:
        """A table, or None where there is none or nothing in it."""
        if name not in self._held:
            table = self._read(name)
            if table is not None and name == "flows" and "forward" not in table.columns:
                table = table.with_columns(forward=pl.lit(value=True))
            self._held[name] = None if table is None or table.is_empty() else table
        return self._held[name]

    @property
    def repetitions(self) -> frozenset[int] | None:
        """All repetitions that there are, of the whole tables; None where no table says so."""
        tables = (self.whole.get(name) for name in ("links", "flows", "transfers"))
        first = next((table for table in tables if table is not None and "repetition" in table.columns), None)
        return None if first is None else frozenset(first["repetition"].unique().to_list())

    def having(self, name: str, *columns: str) -> pl.DataFrame:
        """A table that has these columns: what an earlier version recorded may not.

        Raises
        ------
        NotRecorded
            It is not there, or a column is missing.
        """
        table = self[name]
        if not set(columns) <= set(table.columns):
            raise NotRecorded(name)
        return table

    def of(self, per: Per, name: str) -> Self:
        """The tables of one group, flow or link: the rows that are its own; tables without such rows stay whole."""
        if (per, name) not in self._parts:
            self._parts[per, name] = type(self)(lambda table: self._cut(table, per, name), name, self)
        return self._parts[per, name]

    def _cut(self, table: str, per: Per, name: str) -> pl.DataFrame | None:
        rows = self.get(table)
        if rows is None:
            return None
        if per in rows.columns:
            return rows.filter(pl.col(per) == (int(name) if per == "flow" else name))
        if per == "group" and "flow" in rows.columns:  # a series of sampled flows
            own = self["flows"].filter(pl.col("group") == name).select("repetition", "flow")
            return rows.join(own, on=["repetition", "flow"], how="semi", maintain_order="left")
        return rows


ENDS = "ends"


def ending(read: Read, ends: Callable[[], Mapping[int, float]]) -> Read:
    """The same tables, and when each repetition ended, in s: asked for when it is needed first."""

    def found(name: str) -> pl.DataFrame | None:
        return ends_table(ends()) if name == ENDS else read(name)

    return found


def ends_table(ends: Mapping[int, float]) -> pl.DataFrame:
    """The table of ends, from those of each repetition in s."""
    columns = {"repetition": list(ends), "end_s": list(ends.values())}
    return pl.DataFrame(columns, schema={"repetition": pl.UInt32, "end_s": pl.Float64})


def backward(scenario: Mapping[str, Any]) -> frozenset[str]:
    """The groups that send from the far end of a dumbbell, of a scenario as it is written or as it is resolved."""
    groups = [group for group in scenario.get("flows") or scenario.get("groups") or () if isinstance(group, Mapping)]
    names = [link.get("name") for link in scenario.get("links") or () if isinstance(link, Mapping)]
    dumbbell = names == ["bottleneck", "reverse"]
    return frozenset(
        str(group.get("name"))
        for group in groups
        if group.get("direction") == "reverse" or (dumbbell and group.get("path") == [1])
    )


def directed(read: Read, groups: Iterable[str]) -> Read:
    """The same tables, flows with the column `forward`: false for these groups."""
    names = list(groups)

    def found(name: str) -> pl.DataFrame | None:
        table = read(name)
        if table is None or name != "flows" or "forward" in table.columns:
            return table
        return table.with_columns(forward=~pl.col("group").is_in(names))

    return found
