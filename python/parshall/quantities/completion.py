"""Times from start to completion, of the transfers that ended."""

from __future__ import annotations

import polars as pl

from parshall.quantities.computing import PERCENTILES, Of, by_repetition, parted
from parshall.quantities.definition import Quantity
from parshall.quantities.tables import Per, Tables
from parshall.stats.estimates import Quantiles

_TIME = pl.col("completion_s") - pl.col("start_s")


def _ended(tables: Tables) -> pl.DataFrame:
    return tables["transfers"].drop_nulls("completion_s")


def _percentile(level: int) -> Of:
    def of(tables: Tables) -> Quantiles:
        times = _ended(tables).select("repetition", time_s=_TIME.cast(pl.Float64))
        return Quantiles({int(n): rows["time_s"].to_numpy() for n, rows in parted(times)}, level / 100)

    return of


def _percentiles(per: Per) -> tuple[Quantity, ...]:
    return tuple(
        Quantity(
            f"completion_p{level}_s",
            f"{PERCENTILES[level]} completion time",
            "s",
            "lower",
            per,
            _percentile(level),
            what="of all transfers of all repetitions together",
        )
        for level in (50, 95)
    )


RUN = (
    Quantity(
        "completion_s",
        "mean completion time",
        "s",
        "lower",
        "run",
        lambda tables: by_repetition(_ended(tables), _TIME.mean()),
    ),
    *_percentiles("run"),
)

GROUP = _percentiles("group")
