"""A sweep that was done: its points, its runs, its tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Self

import polars as pl

from parshall.campaign.record import SweepRecord, load
from parshall.campaign.snapshot import Snapshot, reading
from parshall.campaign.stopping import interval
from parshall.campaign.store import Store
from parshall.errors import SimulationError
from parshall.report.numbers import counted
from parshall.runs.merit import METRICS
from parshall.stats.confidence import Interval

if TYPE_CHECKING:
    from pathlib import Path


class Sweep:
    """What a sweep gave.

    Parameters
    ----------
    store
        Where its runs are.
    record
        Its parameters, points and runs.
    """

    def __init__(self, store: Store, record: SweepRecord) -> None:
        self.store = store
        self.record = record

    @classmethod
    def load(cls, store: str | Path | Store, name: str) -> Self:
        """A sweep of a store.

        Raises
        ------
        InputError
            There is none of that name.
        """
        place = store if isinstance(store, Store) else Store(store)
        return cls(place, load(place, name))

    @property
    def name(self) -> str:
        """Its name."""
        return self.record.name

    @property
    def status(self) -> str:
        """``complete``, ``failures`` (some runs failed), ``interrupted`` or ``running``."""
        return self.record.status

    def without_failures(self, what: str) -> Self:
        """Itself, for what cannot be said of a part of the runs.

        Raises
        ------
        SimulationError
            A run failed; the message begins with `what`.
        """
        if self.record.failed:
            first = next(iter(self.record.failed.values()))
            raise SimulationError(f"{what}: {counted(len(self.record.failed), 'run')} failed: {first}")
        return self

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row a run: the parameters, seed, figures of merit, totals; in the order of points and repetitions."""
        frame = self.table("runs")
        return self._members() if frame is None else frame

    @cached_property
    def points(self) -> pl.DataFrame:
        """One row a point: the parameters, how often it was repeated and why no more, and means with 95 % intervals.

        Each figure of merit has the columns ``NAME``, ``NAME_low`` and ``NAME_high``; null where there is none.
        """
        made = self.record.points_frame().with_columns(
            repetitions=pl.Series([len(point.runs) for point in self.record.points], dtype=pl.UInt32),
            ended=pl.Series([point.reason for point in self.record.points], dtype=pl.String),
        )
        for metric in self.metrics:
            intervals = [self.interval(metric, number) for number in range(len(self.record.points))]
            made = made.with_columns(
                pl.Series(metric, [each and each.mean for each in intervals], dtype=pl.Float64),
                pl.Series(f"{metric}_low", [each and each.low for each in intervals], dtype=pl.Float64),
                pl.Series(f"{metric}_high", [each and each.high for each in intervals], dtype=pl.Float64),
            )
        return made

    @property
    def metrics(self) -> Sequence[str]:
        """The metrics that are known of its runs: the figures of merit, and those that the sweep names."""
        return tuple(dict.fromkeys([*METRICS, *self.record.metrics]))

    def values(self, metric: str, point: int) -> dict[int, float]:
        """A metric's values at a point, by repetition; without runs that failed or do not have it."""
        return self._values.get((metric, point), {})

    def interval(self, metric: str, point: int) -> Interval | None:
        """Mean of a metric at a point and its 95 % interval; None without a value."""
        return interval(dict(self.values(metric, point)))

    def difference(self, metric: str, point: int, baseline: int) -> Interval | None:
        """Mean of the paired differences of a metric to another point's, and its 95 % interval."""
        return interval(dict(self.values(metric, point)), dict(self.values(metric, baseline)))

    def table(self, name: str) -> pl.DataFrame | None:
        """A table of its runs with the parameters in front, in the order of points and repetitions.

        Parameters
        ----------
        name
            ``flows``, ``links``, ... (`parshall list records`), or ``runs``, ``metrics``.
        """
        lazy = reading(self.store, lambda snapshot: self._collected(snapshot, name))
        return None if lazy is None else lazy

    def query(self, sql: str) -> pl.DataFrame:
        """The answer to a question in SQL; `parshall.campaign.query` says what there is to ask."""
        from parshall.campaign.query import query  # noqa: PLC0415 - DuckDB takes a moment to load

        return query(self.store, sql, [self.name])

    def _collected(self, snapshot: Snapshot, name: str) -> pl.DataFrame | None:
        table = snapshot.scan(name)
        if table is None:
            return None
        members = self._members().with_row_index("_order").lazy()
        own = table.drop([each for each in ("repetition",) if each in table.collect_schema().names()])
        # Rows of a run keep their order: the sort is stable.
        joined = members.join(own, on="run", how="inner", maintain_order="left_right")
        return joined.sort("_order", maintain_order=True).drop("_order").collect()

    def _members(self) -> pl.DataFrame:
        return self.record.members()

    @cached_property
    def _values(self) -> dict[tuple[str, int], dict[int, float]]:
        frame = self.table("metrics")
        found: dict[tuple[str, int], dict[int, float]] = {}
        if frame is not None:
            rows = frame.drop_nulls("value").select("metric", "point", "repetition", "value")
            for metric, point, repetition, value in rows.iter_rows():
                found.setdefault((metric, point), {})[repetition] = value
        return found

    def __repr__(self) -> str:
        return f"<Sweep {self.name!r}: {self.status}, {len(self.record.points)} points, {self.record.runs} runs>"
