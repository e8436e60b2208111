"""Jain's index of goodputs, from 1/n to 1.

Of a run it is that of the TCP flows (of all flows, if none is TCP's), of a group that of its flows. One flow is not
more or less fair than another: its index is 1 in a run's summary, and left out elsewhere.

References: R. Jain, D. Chiu, W. Hawe, DEC TR-301, 1984.
"""

from __future__ import annotations

import polars as pl

from parshall.results.quantities.computing import aggregated, by_repetition
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.tables import Tables

_RANGE = (0.0, 1.0)

REACHED = 0.9
"""Jain's index that is called even, and the part of the fair share that is called reached."""


def index(rates: pl.Expr) -> pl.Expr:
    """Jain's index; null without any, or if all are 0 (as `parshall.analysis.stats.fairness`)."""
    squares = (rates**2).sum()
    return pl.when(squares > 0).then(rates.sum() ** 2 / (rates.len() * squares))


_JAIN = index(pl.col("goodput_bps").drop_nulls())


def _of_tcp(tables: Tables) -> dict[int, float]:
    tcp = pl.col("congestion_control") != ""
    return by_repetition(tables["flows"].filter(tcp | ~tcp.any().over("repetition")), _JAIN)


def _several(tables: Tables) -> bool:
    flows = tables.get("flows")
    return flows is not None and flows.height != flows["repetition"].n_unique()


RUN = Quantity(
    "jain",
    "Jain's index",
    "1",
    "higher",
    "run",
    _of_tcp,
    range=_RANGE,
    heading="Jain's index of the goodputs",
    says=_several,
    what="of the TCP flows' goodputs; of all flows', if none is TCP's",
)

GROUP = Quantity(
    "jain",
    "Jain's index",
    "1",
    "higher",
    "group",
    aggregated("flows", pl.when(pl.col("goodput_bps").count() > 1).then(_JAIN)),
    range=_RANGE,
    what="of its flows' goodputs; nothing of one flow",
)


def convergence(tables: Tables) -> dict[int, float]:
    """Return the time from the last flow's start until all sampled flows share evenly, in s, where that was seen."""
    rates = tables["rates"]
    bounds = rates.group_by("repetition", maintain_order=True).agg(
        flows=pl.col("flow").n_unique(), last=pl.col("start_s").max(), until=pl.col("completion_s").min()
    )
    together = (
        rates.join(bounds, on="repetition")
        .filter((pl.col("time_s") > pl.col("last")) & (pl.col("time_s") <= pl.col("until")))
        .group_by("repetition", "time_s", maintain_order=True)
        .agg(jain=index(pl.col("goodput_bps")))
    )
    even = together.filter(pl.col("jain") >= REACHED)
    first = even.group_by("repetition", maintain_order=True).agg(at=pl.col("time_s").min())
    times = bounds.join(first, on="repetition", how="left").filter(pl.col("flows") > 1)
    return by_repetition(times, (pl.col("at") - pl.col("last")).first())
