"""What arrives, and how much of a link's capacity is used."""

from __future__ import annotations

import polars as pl

from parshall.quantities.computing import aggregated, by_repetition, column, mean_of
from parshall.quantities.definition import Quantity
from parshall.quantities.tables import Tables

_SUM = pl.col("goodput_bps").sum()


def _share(tables: Tables) -> dict[int, float]:
    own = pl.col("goodput_bps").filter(pl.col("group") == tables.name).sum()
    return by_repetition(tables.whole["flows"], pl.when(_SUM > 0).then(own / _SUM))


RUN = (
    Quantity(
        "goodput_bps",
        "goodput, all flows",
        "bit/s",
        "higher",
        "run",
        lambda tables: by_repetition(tables["flows"].filter(pl.col("forward")), _SUM),
        what="sum over the flows; where some flows of a dumbbell have `direction = 'reverse'`, over the others",
        forward_heading="goodput, forward direction",
    ),
    Quantity(
        "goodput_reverse_bps",
        "goodput, other direction",
        "bit/s",
        "higher",
        "run",
        lambda tables: by_repetition(tables["flows"].filter(~pl.col("forward")), _SUM),
        what="sum over the flows with `direction = 'reverse'`",
    ),
)

GROUP = (
    Quantity(
        "goodput_bps",
        "goodput of a flow",
        "bit/s",
        "higher",
        "group",
        aggregated("flows", mean_of("goodput_bps")),
        what="mean over the flows",
    ),
    Quantity("share", "share of the goodput", "ratio", None, "group", _share, what="its sum over that of all flows"),
)

FLOW = (Quantity("goodput_bps", "goodput", "bit/s", "higher", "flow", column("flows", "goodput_bps")),)

LINK = (
    Quantity(
        "utilisation",
        "utilisation",
        "ratio",
        "higher",
        "link",
        column("links", "utilisation"),
        what="of the capacity",
        preposition="of",
    ),
)
