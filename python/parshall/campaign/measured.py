"""Metrics of the runs of a store, computed from the tables of these runs each time they are asked for.

Nothing is taken that was computed when a run was made: a metric that is defined anew, or named later, is that of the
code that reads. All runs are measured at once, each as one repetition of the tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from parshall.analysis.stats.estimates import Series
from parshall.campaign.snapshot import Snapshot
from parshall.results.quantities import measuring
from parshall.results.quantities.catalog import SUMMARY
from parshall.results.quantities.measuring import busiest
from parshall.results.quantities.tables import ENDS, Tables, backward


def link_of(snapshot: Snapshot, runs: Iterable[str]) -> str | None:
    """The link that metrics of these runs speak of: the busiest one over all of them; None without a run."""
    table = snapshot.scan("links")
    if table is None:
        return None
    used = (
        table.filter(pl.col("run").is_in(list(runs))).select("link", "utilisation", "mean_queueing_delay_s").collect()
    )
    return None if used.is_empty() else busiest(used)


def series_of(
    snapshot: Snapshot, runs: Mapping[str, int], wanted: Sequence[str], link: str | None
) -> dict[str, Series]:
    """The wanted metrics of runs; what none of them has is left out.

    Parameters
    ----------
    runs
        The number under which each run is in the series.
    link
        The link that metrics without a name of their own speak of.
    """

    def read(name: str) -> pl.DataFrame | None:
        if name == ENDS:
            described = _numbered(snapshot, "runs", runs)
            return None if described is None else described.select("repetition", end_s="simulated_s")
        table = _numbered(snapshot, name, runs)
        return table if table is None or name != "flows" else _directed(snapshot, table, runs)

    return measuring.series_of(Tables(read), wanted, link)


def frames_of(
    snapshot: Snapshot, runs: Sequence[str], wanted: Sequence[str], link: str | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What each run has by itself: one row a run and metric; and one row a run, its summary as columns."""
    numbers = {run: number for number, run in enumerate(runs)}
    by_key = series_of(snapshot, numbers, list(dict.fromkeys([*SUMMARY, *wanted])), link)
    rows = [(runs[number], key, value) for key, series in by_key.items() for number, value in series.own().items()]
    schema = {"run": pl.String, "metric": pl.String, "value": pl.Float64}
    columns = {
        key: [own.get(number) for number in range(len(runs))]
        for key in SUMMARY
        for own in [by_key[key].own() if key in by_key else {}]
    }
    wide = pl.DataFrame({"run": list(runs), **columns}, schema={"run": pl.String, **dict.fromkeys(SUMMARY, pl.Float64)})
    return pl.DataFrame(rows, schema=schema, orient="row"), wide


def _numbered(snapshot: Snapshot, name: str, runs: Mapping[str, int]) -> pl.DataFrame | None:
    """A table of these runs, their numbers in the column `repetition`."""
    table = snapshot.scan(name)
    if table is None:
        return None
    schema = {"run": pl.String, "repetition": pl.UInt32}
    numbers = pl.LazyFrame({"run": list(runs), "repetition": list(runs.values())}, schema=schema)
    known = [each for each in table.collect_schema().names() if each != "repetition"]
    return table.select(known).join(numbers, on="run", how="inner", maintain_order="left").collect()


def _directed(snapshot: Snapshot, flows: pl.DataFrame, runs: Mapping[str, int]) -> pl.DataFrame:
    """Flows with the column `forward`, from the scenario of each run."""
    scenarios, described = snapshot.scan("scenarios"), snapshot.scan("runs")
    if scenarios is None or described is None:
        return flows
    own = described.filter(pl.col("run").is_in(list(runs))).select("run", "scenario").collect()
    texts = scenarios.filter(pl.col("scenario").is_in(own["scenario"].unique().to_list())).collect()
    back = [
        (scenario, group)
        for scenario, text in texts.select("scenario", "resolved").unique("scenario").iter_rows()
        for group in backward(json.loads(text))
    ]
    if not back:
        return flows.with_columns(forward=pl.lit(value=True))
    groups = pl.DataFrame(back, schema={"scenario": pl.String, "group": pl.String}, orient="row")
    reversed_ = own.join(groups, on="scenario").select("run", "group", forward=pl.lit(value=False))
    joined = flows.join(reversed_, on=["run", "group"], how="left", maintain_order="left")
    return joined.with_columns(pl.col("forward").fill_null(value=True))
