"""The arriving traffic, and the share of a link's capacity that it uses.

`goodput_bps` is a sum wherever it stands: over all flows, over those of a group, or of the one flow that is
named. The mean of a flow is `flow_goodput_bps`.
"""

from __future__ import annotations

import polars as pl

from parshall.results.quantities.computing import aggregated, by_repetition, column, mean_of
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.tables import Tables

_SUM = pl.col("goodput_bps").sum()


def _total(flows: pl.DataFrame) -> dict[int, float]:
    """The sum over the flows whose goodput is known; a repetition where none is has no value."""
    return by_repetition(flows.drop_nulls("goodput_bps"), _SUM)


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
        lambda tables: _total(tables["flows"].filter(pl.col("forward"))),
        what="sum over the flows; where some flows of a dumbbell have `direction = 'reverse'`, over the others",
        forward_heading="goodput, forward direction",
    ),
    Quantity(
        "goodput_reverse_bps",
        "goodput, other direction",
        "bit/s",
        "higher",
        "run",
        lambda tables: _total(tables["flows"].filter(~pl.col("forward"))),
        what="sum over the flows with `direction = 'reverse'`",
    ),
)

GROUP = (
    Quantity(
        "goodput_bps",
        "goodput",
        "bit/s",
        "higher",
        "group",
        lambda tables: _total(tables["flows"]),
        what="sum over the flows",
    ),
    Quantity(
        "flow_goodput_bps",
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
