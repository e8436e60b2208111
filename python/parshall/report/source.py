"""What the report needs to know of a run: its description and its record tables.

`parshall.run.Run` is one; so is anything else with these attributes. A table that was not recorded is
``None``. The columns are those of the records (``docs``: units are in the names); every table has a
``repetition`` column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import polars as pl


class RunLike(Protocol):
    """A finished (or interrupted) run, as the report reads it."""

    @property
    def scenario(self) -> Any:
        """The scenario as the user could have written it: a mapping or a pydantic model."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """``run.json``: name, seed, versions, host, wall time, status."""

    @property
    def predicted(self) -> Sequence[Any]:
        """The analytic models' answers."""

    @property
    def flows(self) -> pl.DataFrame | None:
        """One row a flow."""

    @property
    def links(self) -> pl.DataFrame | None:
        """One row a link."""

    @property
    def transfers(self) -> pl.DataFrame | None:
        """One row a transfer."""

    @property
    def rounds(self) -> pl.DataFrame | None:
        """One row a round trip of a flow."""

    @property
    def flow_samples(self) -> pl.DataFrame | None:
        """Windows and round-trip times of sampled flows over time."""

    @property
    def link_samples(self) -> pl.DataFrame | None:
        """Binned series of each link."""

    @property
    def internals(self) -> pl.DataFrame | None:
        """Inner variables of congestion controls and queues over time."""

    @property
    def groups(self) -> pl.DataFrame | None:
        """Latency of each group of flows: one-way delays, jitter, round-trip times."""

    @property
    def latency_histogram(self) -> pl.DataFrame | None:
        """One-way delays and round-trip times of each group, counted in bins."""

    @property
    def delay_histogram(self) -> pl.DataFrame | None:
        """Queueing delays of each link, counted in bins."""


def filled(table: pl.DataFrame | None) -> pl.DataFrame | None:
    """``None`` for an empty table too: nothing was recorded, whatever the reason."""
    return None if table is None or table.is_empty() else table


def plain(value: Any) -> Any:
    """A pydantic model as the plain mapping it stands for; anything else unchanged."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else value


def group_names(run: RunLike) -> list[str]:
    """The groups of flows, in the order of the scenario (that of their first flow)."""
    flows = filled(run.flows)
    if flows is None:
        return []
    first = flows.group_by("group").agg(pl.col("flow").min()).sort("flow")
    return first["group"].to_list()


def link_names(table: pl.DataFrame) -> list[str]:
    """The links, in the order in which the table has them."""
    return table["link"].unique(maintain_order=True).to_list()
