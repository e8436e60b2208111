"""Flows that got next to nothing, because others held the queue: a run whose averages hide that says so.

At a full drop-tail queue a flow that is clocked by its own ACKs can find every place that falls free, while the packets
of others, sent again after longer and longer timeouts, find none (phase effects: Floyd & Jacobson 1992). Such a flow

- has less than `SHARE` of an equal share of what all flows of its repetition delivered, datagrams too: a source that no
  ACK holds back locks out all TCP flows alike, and among themselves these still have equal shares,
- has lost at least `LOST` of the packets that it sent,
- and has had at least `TIMEOUTS` timeouts, so that it tried for a while.

A flow that is idle, or that began at the very end, fails one of them.

References: S. Floyd, V. Jacobson, On traffic phase effects in packet-switched gateways, Internetworking: Research and
Experience 3(3), 1992.
"""

from __future__ import annotations

import polars as pl

from parshall.foundations.numbers import count, counted, quantity
from parshall.report.sentences import say
from parshall.results.records import Result

SHARE = 0.01
LOST = 0.5
TIMEOUTS = 3


def with_shares(flows: pl.DataFrame) -> pl.DataFrame:
    """Those of a table of flows whose goodput is known.

    They have the column ``share``: their goodput over an equal share of what all of them had in their repetition.
    """
    known = flows.filter(pl.col("goodput_bps").is_not_null())
    return known.with_columns(share=pl.col("goodput_bps") / pl.col("goodput_bps").mean().over("repetition"))


def locked_out(flows: pl.DataFrame) -> pl.DataFrame:
    """Those of `with_shares` that got next to nothing; datagrams have no timeouts, and are none of them."""
    return with_shares(flows).filter(
        (pl.col("share") < SHARE) & (pl.col("loss_rate") >= LOST) & (pl.col("timeouts") >= TIMEOUTS)
    )


def starved(run: Result) -> list[str]:
    """A sentence for each group of which flows got next to nothing."""
    flows = run.tables.get("flows")
    if flows is None:
        return []
    known = with_shares(flows)
    sentences = []
    for (group,), rows in locked_out(flows).group_by("group", maintain_order=True):
        of = known.filter(pl.col("group") == group).height
        beside = known.filter(pl.col("repetition").is_in(rows["repetition"].unique().to_list()))
        best = beside.sort("goodput_bps").row(-1, named=True)
        sentences.append(
            say(
                "locked_out" if best["congestion_control"] else "locked_out_by_datagrams",
                group=str(group),
                number=count(rows.height),
                flows=counted(of, "flow"),
                share=f"{SHARE:.0%}",
                best=best["group"],
                goodput=quantity(best["goodput_bps"], "bit/s"),
            ).text
        )
    return sentences
