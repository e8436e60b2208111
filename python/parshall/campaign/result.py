"""A sweep that was done: its points, its runs, its tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import polars as pl

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.estimates import Means, Series
from parshall.analysis.stats.families import Pair, judged
from parshall.analysis.stats.quantiles import NoValue, Pooled
from parshall.analysis.stats.verdict import AT_LEAST, Judgement, without_value
from parshall.campaign.measured import frames_of, link_of, series_of
from parshall.campaign.record import SweepRecord, load
from parshall.campaign.snapshot import Snapshot, reading
from parshall.campaign.stopping import Value, interval
from parshall.campaign.store import Store
from parshall.foundations import notebook
from parshall.foundations.errors import SimulationError
from parshall.foundations.has_figures import HasFigures
from parshall.foundations.numbers import counted
from parshall.report.uncertainty import interval_text, no_value
from parshall.results.quantities.catalog import SUMMARY
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.naming import named

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

Difference = tuple[str, int, int]
"""A metric, a point, and the point that it is held against."""


class Sweep(HasFigures, page="parshall.campaign.page:document"):
    """The result of a sweep.

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
        """``complete``, ``failures`` (some runs failed), ``shard``, ``interrupted`` or ``running``."""
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
        """One row a run: the parameters, seed, totals, what summarises it; in the order of points and repetitions."""
        frame = self.table("runs")
        return self.record.members() if frame is None else frame

    @cached_property
    def points(self) -> pl.DataFrame:
        """One row a point: the parameters, how often it was repeated and why no more, estimates with 95 % intervals.

        Each metric has the columns ``NAME``, ``NAME_low`` and ``NAME_high``; null where there is none. One of which a
        point has none though something was measured has the column ``NAME_lacking`` too, which says why.
        """
        made = self.record.points_frame().with_columns(
            repetitions=pl.Series([len(point.runs) for point in self.record.points], dtype=pl.UInt32),
            ended=pl.Series([point.reason for point in self.record.points], dtype=pl.String),
        )
        self._measure(self.metrics)
        for metric in self.metrics:
            intervals = [self.interval(metric, number) for number in range(len(self.record.points))]
            made = made.with_columns(
                pl.Series(metric, [each and each.mean for each in intervals], dtype=pl.Float64),
                pl.Series(f"{metric}_low", [each and each.low for each in intervals], dtype=pl.Float64),
                pl.Series(f"{metric}_high", [each and each.high for each in intervals], dtype=pl.Float64),
            )
            lacking = [self.lacking(metric, number) for number in range(len(self.record.points))]
            if any(lacking):
                reasons = [each and each.reason for each in lacking]
                made = made.with_columns(pl.Series(f"{metric}_lacking", reasons, dtype=pl.String))
        return made

    @property
    def metrics(self) -> Sequence[str]:
        """The columns of `points`: what summarises runs, and what the sweep names."""
        return tuple(dict.fromkeys([*SUMMARY, *self.record.metrics]))

    @cached_property
    def link(self) -> str | None:
        """The link that metrics without one in their name speak of: the busiest over all runs of all points."""
        return reading(self.store, lambda snapshot: link_of(snapshot, self._numbers))

    @property
    def at_least(self) -> float:
        """Share of a value, of the baseline if there is one, below which a difference does not matter."""
        return float((self.record.compare or {}).get("at_least", AT_LEAST))

    def speaking_of(self, link: str | None) -> Self:
        """The same sweep, its metrics those of another link."""
        other = type(self)(self.store, self.record)
        other.__dict__["link"] = link
        return other

    def label(self, metric: str) -> str:
        """A metric's name for people; with the link, where there are several."""
        return named(metric).label(self.link if self._several_links else None)

    def estimate(self, metric: str, point: int) -> Pooled | None:
        """A metric at a point: the mean over repetitions, or the quantile of all their values; None without any."""
        series = self._at(metric, point)
        return None if series is None else series.estimate()

    def lacking(self, metric: str, point: int) -> NoValue | None:
        """Return the reason why a measured metric has no value at a point; None: it has one, or was not measured."""
        series = self._at(metric, point)
        return None if series is None else series.lacking()

    def text(self, metric: str, point: int) -> str:
        """A metric at a point as it is printed: value and interval, or why there is none; a dash for nothing."""
        lacking, unit = self.lacking(metric, point), named(metric).unit
        return interval_text(self.interval(metric, point), unit) if lacking is None else no_value(lacking, unit)

    def values(self, metric: str, point: int) -> dict[int, float]:
        """A metric's values at a point, by repetition; without runs that failed or do not have it.

        Of a quantile they are those of `parshall.analysis.stats.quantiles.Pooled`: their mean is the quantile of all
        values.
        """
        estimate = self.estimate(metric, point)
        return {} if estimate is None else dict(estimate.by_repetition)

    def fair_share(self, group: str) -> float | None:
        """The share of a group if each flow had the same: its share of the flows; None where that differs by point."""
        return self.fair_shares.get(group)

    @cached_property
    def fair_shares(self) -> dict[str, float]:
        """Return the share of the flows of each group whose share is the same in every run."""
        flows = reading(self.store, lambda snapshot: snapshot.scan("flows"))
        if flows is None:
            return {}
        own = flows.filter(pl.col("run").is_in(list(self._numbers)))
        counts = (
            own.group_by("run", "group")
            .agg(share=pl.len())
            .with_columns(pl.col("share") / pl.col("share").sum().over("run"))
        )
        shares = (
            counts.group_by("group").agg(pl.col("share").min(), most=pl.col("share").max(), runs=pl.len()).collect()
        )
        return {
            row["group"]: row["share"]
            for row in shares.to_dicts()
            if row["share"] == row["most"] and row["runs"] == len(self._numbers)
        }

    def own(self, metric: str, point: int) -> list[float]:
        """Return a metric of each run of a point by itself; of a quantile, that of the run's own values."""
        series = self._at(metric, point)
        return [] if series is None else list(series.own().values())

    def interval(self, metric: str, point: int) -> Interval | None:
        """A metric at a point and its 95 % interval; None without a value."""
        estimate = self.estimate(metric, point)
        return None if estimate is None else estimate.interval

    def difference(self, metric: str, point: int, baseline: int) -> Interval | None:
        """The difference of a metric to another point's, repetition by repetition, and its 95 % interval."""
        return interval(self._by_repetition(metric, point), self._by_repetition(metric, baseline))

    @property
    def paired(self) -> bool:
        """True if repetitions of the same number draw the same random numbers at all points."""
        return self.record.seed is not None and self.record.random_numbers == "common"

    def judged(self, wanted: Iterable[Difference], of: int = 0) -> dict[Difference, Judgement]:
        """The judgements of a family of differences; those without a value at one of their points are left out.

        Parameters
        ----------
        wanted
            The differences.
        of
            How many differences these were chosen from (`parshall.analysis.stats.families.cutoff`).
        """
        estimates = {
            each: (self.estimate(each[0], each[2]), self.estimate(each[0], each[1])) for each in dict.fromkeys(wanted)
        }
        pairs = {each: Pair(a, b, self.paired) for each, (a, b) in estimates.items() if a and b}
        return judged(pairs, at_least=self.at_least, of=of)

    def incomparable(self, metric: str, point: int, baseline: int) -> str:
        """The words for a point against another where one of them has no value."""
        here, there = (self.lacking(metric, each) or self.interval(metric, each) for each in (point, baseline))
        if here is None or there is None:
            lacking = [each for each in (here, there) if isinstance(each, NoValue)]
            return lacking[0].reason if lacking else "no values"
        found = without_value(there, here, at_least=self.at_least, names=("baseline", "here"))
        return found.verdict.text(self.at_least, found.reason)

    def _by_repetition(self, metric: str, point: int) -> dict[int, Value]:
        return dict(self.values(metric, point))

    def table(self, name: str) -> pl.DataFrame | None:
        """A table of its runs with the parameters in front, in the order of points and repetitions.

        Parameters
        ----------
        name
            ``flows``, ``links``, ... (`parshall list records`), or ``runs``, ``metrics``.
        """
        return reading(self.store, lambda snapshot: self._collected(snapshot, name))

    def to_xarray(self) -> xr.Dataset:
        """Return the sweep as a dataset: a variable a metric, in the unit of its attribute ``units``.

        The dimensions are the parameters and ``repetition`` where every combination of the parameters' values is a
        point once; otherwise ``point``, along which the parameters are coordinates, and ``repetition``. A run that
        failed or has no value of a metric has NaN there. Means and intervals are in `points`.

        Raises
        ------
        MissingExtraError
            xarray is not installed.
        """
        from parshall.campaign.labelled import dataset  # noqa: PLC0415 - xarray takes a while to load

        return dataset(self)

    def query(self, sql: str) -> pl.DataFrame:
        """The answer to a question in SQL; `parshall.campaign.query` says what there is to ask."""
        from parshall.campaign.query import query  # noqa: PLC0415 - DuckDB takes a moment to load

        return query(self.store, sql, [self.name])

    def _collected(self, snapshot: Snapshot, name: str) -> pl.DataFrame | None:
        table = snapshot.scan(name) if name != "metrics" else None
        if name in ("runs", "metrics"):
            each, summaries = frames_of(
                snapshot, list(self._numbers), self.record.metrics, link_of(snapshot, self._numbers)
            )
            if name == "runs" and table is not None:
                table = table.join(summaries.lazy(), on="run", how="left", maintain_order="left")
            if name == "metrics":
                table = each.lazy()
        if table is None:
            return None
        members = self.record.members().with_row_index("_order").lazy()
        own = table.drop([each for each in ("repetition",) if each in table.collect_schema().names()])
        # Rows of a run keep their order: the sort is stable.
        joined = members.join(own, on="run", how="inner", maintain_order="left_right")
        return joined.sort("_order", maintain_order=True).drop("_order").collect()

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Its runs, each under a number of its own."""
        members = self.record.members()
        return {run: number for number, run in enumerate(dict.fromkeys(members["run"].to_list()))}

    @cached_property
    def _places(self) -> dict[int, dict[int, int]]:
        """Of each point: the numbers of its runs, and their repetitions."""
        repetitions: dict[int, dict[int, int]] = {}
        for point, repetition, run in self.record.members().select("point", "repetition", "run").iter_rows():
            repetitions.setdefault(point, {})[self._numbers[run]] = repetition
        return repetitions

    @cached_property
    def _several_links(self) -> bool:
        names = reading(
            self.store,
            lambda snapshot: (
                None
                if (links := snapshot.scan("links")) is None
                else links.filter(pl.col("run").is_in(list(self._numbers)))
                .select(pl.col("link").n_unique())
                .collect()
                .item()
            ),
        )
        return names is not None and names > 1

    def _at(self, metric: str, point: int) -> Series | None:
        """Return the values of the repetitions of a point."""
        self._measure(self.record.metrics if metric in self.record.metrics else [metric])
        series = self._measured[metric, named(metric).quantity]
        if series is None:
            return None
        own, runs = series.numbered(self._places.get(point, {})), self.record.points[point].runs
        failed = any(run in self.record.failed for run in runs)
        return replace(own, among=range(len(runs))) if failed and isinstance(own, Means) else own

    def _measure(self, wanted: Sequence[str]) -> None:
        """Compute metrics that were not computed yet, or with another definition, all at once: tables are read once."""
        missing = [each for each in wanted if (each, named(each).quantity) not in self._measured]
        if missing:
            link, numbers = self.link, self._numbers
            series = reading(self.store, lambda snapshot: series_of(snapshot, numbers, missing, link))
            self._measured |= {(key, named(key).quantity): series.get(key) for key in missing}

    @cached_property
    def _measured(self) -> dict[tuple[str, Quantity], Series | None]:
        """Return the metrics computed since the sweep was read, by name and the quantity that it meant then."""
        return {}

    def _repr_html_(self) -> str:
        """Return what a notebook shows: its points, with the mean of each metric."""
        labels = [
            *(parameter.name for parameter in self.record.parameters),
            *(self.label(metric) for metric in self.metrics),
        ]
        rows = (
            [*map(str, point.values), *(self._mean(metric, number) for metric in self.metrics)]
            for number, point in enumerate(self.record.points)
        )
        remark = f"{self.status}, {self.record.runs} runs; means of their repetitions"
        return notebook.fragment(self.name, remark, notebook.table(labels, rows))

    def _mean(self, metric: str, point: int) -> float | None:
        interval = self.interval(metric, point)
        return None if interval is None else interval.mean

    def __repr__(self) -> str:
        return f"<Sweep {self.name!r}: {self.status}, {len(self.record.points)} points, {self.record.runs} runs>"
