"""Harm: what a flow of the usual TCP loses to a neighbour with another control, that it would keep beside its own kind.

`parshall.results.quantities.transport` has the formulas. Harm is 0 where the neighbour is no worse than the rival's own
kind, 1 where everything is taken, and negative where the rival is better off. For quantities of which more is better it
is the share that is lost; for those of which less is better, the share of what is suffered that the neighbour has
caused, and, where it is negative, the share that it has spared. Where neither run has losses, nothing was harmed. These
are the questions that RFC 9743 asks of mixed traffic.

References: R. Ware, M. Mukerjee, S. Seshan, J. Sherry, Beyond Jain's fairness index, HotNets 2019; RFC 9743;
Guillier, Hablot & Vicat-Blanc Primet 2007, §4.2.3.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from parshall.results.quantities import transport
from parshall.results.quantities.tables import Tables

Pair = tuple[str, str]
"""A control and the rival beside it."""


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
    return transport.with_values(rows, transport.HARMS.values(), Tables({"pairs": pairs}.get))
