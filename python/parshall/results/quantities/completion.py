"""Times from start to completion, of all transfers: those that had not ended at the end of the run are marked as such.

A transfer that was under way at the end took longer than it had lasted by then (`parshall.analysis.stats.censored`).
Data without an end are no transfer.
"""

from __future__ import annotations

import polars as pl

from parshall.analysis.stats.censored import Durations
from parshall.analysis.stats.estimates import Censored
from parshall.results.quantities.computing import PERCENTILES, Of, parted
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.tables import ENDS, Per, Tables

_LAST_SEEN = pl.max_horizontal("start_s", "completion_s").max()


def lasted(tables: Tables) -> pl.DataFrame:
    """The transfers with two columns more: `lasted_s`, until each ended or the run did, and whether it `ended`.

    Where it was not recorded when the run ended, that is the last moment that a transfer tells of.

    Raises
    ------
    NotRecorded
        There are no transfers.
    """
    transfers = _with_an_end(tables["transfers"])
    ends = tables.whole["transfers"].group_by("repetition").agg(_seen_s=_LAST_SEEN)
    known = tables.whole.get(ENDS)
    if known is not None:
        known = known.with_columns(pl.col("repetition").cast(ends.schema["repetition"]))
        ends = ends.join(known, on="repetition", how="left").with_columns(_seen_s=pl.max_horizontal("_seen_s", "end_s"))
    joined = transfers.join(ends.select("repetition", "_seen_s"), on="repetition", how="left", maintain_order="left")
    until = pl.col("completion_s").fill_null(pl.col("_seen_s"))
    return joined.with_columns(
        lasted_s=(until - pl.col("start_s")).cast(pl.Float64), ended=pl.col("completion_s").is_not_null()
    ).drop("_seen_s")


def _with_an_end(transfers: pl.DataFrame) -> pl.DataFrame:
    return transfers.drop_nulls("size_bytes") if "size_bytes" in transfers.columns else transfers


def counts(tables: Tables) -> tuple[int, int]:
    """Return the numbers of transfers that ended, and that had begun, in all repetitions."""
    if tables.get("transfers") is None:
        return 0, 0
    transfers = _with_an_end(tables["transfers"])
    return int(transfers["completion_s"].count()), transfers.height


def durations(transfers: pl.DataFrame) -> dict[int, Durations]:
    """The durations of `lasted`, by repetition."""
    return {int(n): Durations(rows["lasted_s"].to_numpy(), rows["ended"].to_numpy()) for n, rows in parted(transfers)}


def _censored(probability: float | None) -> Of:
    return lambda tables: Censored(durations(lasted(tables)), probability)


def _percentiles(per: Per) -> tuple[Quantity, ...]:
    return tuple(
        Quantity(
            f"completion_p{level}_s",
            f"{PERCENTILES[level]} completion time",
            "s",
            "lower",
            per,
            _censored(level / 100),
            what="of all transfers of all repetitions together, by Kaplan and Meier where some had not ended",
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
        _censored(None),
        what="where all transfers ended, else none",
    ),
    *_percentiles("run"),
)

GROUP = _percentiles("group")
