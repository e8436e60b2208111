"""Harm: what a flow of the usual TCP loses to a neighbour with another control, that it would keep beside its own kind.

| symbol | key | of |
| --- | --- | --- |
| (g_own - g_with)/g_own | throughput_harm | the rival's goodput |
| (d_with - d_own)/max(d_with, d_own) | delay_harm | the rival's RTT over that without queues |
| (l_with - l_own)/max(l_with, l_own) | loss_harm | the rival's loss rate |
| T_with/T_own | completion_ratio | the rival's mean completion time |

Harm is 0 where the neighbour is no worse than the rival's own
kind, 1 where everything is taken, and negative where the rival is better off. For quantities of which more is better it
is the share that is lost; for those of which less is better, the share of what is suffered that the neighbour has
caused, and, where it is negative, the share that it has spared. Where neither run has losses, nothing was harmed. These
are the questions that RFC 9743 asks of mixed traffic.

References: R. Ware, M. Mukerjee, S. Seshan, J. Sherry, Beyond Jain's fairness index, HotNets 2019; RFC 9743;
Guillier, Hablot & Vicat-Blanc Primet 2007, §4.2.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import polars as pl

from parshall.analysis.stats.estimates import Means
from parshall.results.quantities.computing import aggregated
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.tables import Tables

Pair = tuple[str, str]
"""A control and the rival beside it."""


def _caused(name: str) -> pl.Expr:
    """The difference over the larger of both, in [-1, 1]; 0 where both are 0."""
    with_, own = pl.col(name), pl.col(f"{name}_own")
    larger = pl.max_horizontal(with_.abs(), own.abs())
    return pl.when(larger <= 0).then(0.0).otherwise((with_ - own) / larger)


def _pair(key: str, label: str, unit: str, value: pl.Expr) -> Quantity:
    no_bounds = (-math.inf, math.inf)
    return Quantity(key, label, unit, "lower", "run", aggregated("pairs", value.first()), no_bounds)


HARMS: Mapping[str, Quantity] = {
    each.key: each
    for each in (
        _pair(
            "throughput_harm",
            "throughput harm",
            "ratio",
            (pl.col("rival_bps_own") - pl.col("rival_bps")) / pl.col("rival_bps_own"),
        ),
        _pair("delay_harm", "delay harm", "ratio", _caused("rtt_excess_s")),
        _pair("loss_harm", "loss harm", "ratio", _caused("flow_loss_rate")),
        _pair(
            "completion_ratio",
            "completion time of the rival, ratio",
            "1",
            pl.col("completion_s") / pl.col("completion_s_own"),
        ),
    )
}
"""Quantities of a rival beside a control, compared with those beside its own kind."""


def harm(second: pl.DataFrame, points: Mapping[Pair, tuple[int, int]]) -> pl.DataFrame:
    """One row a control, rival and repetition.

    Parameters
    ----------
    second
        What rivals have in half ``b`` of all points: rival_bps, the goodput of a file or a flow, and of the metrics
        (`measures.measured`) completion_s, flow_loss_rate, rtt_excess_s.
    points
        By control and rival: the point of both together, and that of the rival among its own kind.
    """
    rows = pl.DataFrame(
        [(control, rival, mixed, own) for (control, rival), (mixed, own) in points.items()],
        schema={"control": pl.String, "rival": pl.String, "mixed": pl.UInt32, "own": pl.UInt32},
        orient="row",
    )
    wanted = second.select("point", "repetition", "rival_bps", "completion_s", "flow_loss_rate", "rtt_excess_s")
    mixed = rows.join(wanted, left_on="mixed", right_on="point", how="inner", maintain_order="left")
    both = mixed.join(
        wanted, left_on=["own", "repetition"], right_on=["point", "repetition"], suffix="_own", maintain_order="left"
    )
    pairs = both.drop("repetition").with_row_index("repetition")
    rows = both.select("control", "rival", "repetition")
    return with_values(rows, HARMS.values(), Tables({"pairs": pairs}.get))


def with_values(rows: pl.DataFrame, quantities: Iterable[Quantity], tables: Tables) -> pl.DataFrame:
    """Rows with a column for each quantity, the n-th row being what the tables have as repetition n; null: no value."""
    for each in quantities:
        series = each.series(tables)
        values = series.values if isinstance(series, Means) else {}
        own = [values.get(number) for number in range(len(rows))]
        rows = rows.with_columns(pl.Series(each.key, own, dtype=pl.Float64))
    return rows
