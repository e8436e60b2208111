"""Quantities that users of a transport service get: the measures of the transport benchmark, of one run.

The benchmark makes the tables that they are computed from:

| table | a row is | columns |
| --- | --- | --- |
| files | a timed file | group, source, start_s, end_s, time_s, size_bytes, slowdown, finished, expected |
| rates | a moment of a sampled flow | group, flow, time_s, goodput_bps, start_s, completion_s, target_bps |
| flows, links | as recorded, of the half and of the bottleneck | |

| symbol | key | of |
| --- | --- | --- |
| T mean, sigma_T | completion_s, completion_sd_s | files |
| T_max, T_min | completion_max_s, completion_min_s | files |
| predictability | unpredictability | coefficient of variation of T over that on an empty path |
| g_i mean | file_goodput_bps | mean over the files |
| G | aggregate_bps | all timed bytes over the time from first start to last end |
| sigma_i | flow_goodput_sd_bps | over time, mean over the sampled flows |
| J | jain | over the sources |
| E = G/X | efficiency | goodput over throughput |
| | start_up_s | from start until the goodput first is `REACHED` of the fair share |
| | convergence_s | until Jain's index of the sampled flows' goodputs first is `REACHED` |
| | rtt_excess_s | mean RTT over that without queues |
| | finished | share of the timed files that were complete at the end |

Spread and fairness of one file are left out. A file that was not complete at the end has the time until then, which is
less than it would have taken: its times are too short and its goodput too large, and so are their means and extremes.
Spread and fairness are bounded by nothing then, so that there are none unless all files were complete; start-up and
convergence are not there unless they were seen in all sampled flows.

Harms are those of `parshall.results.quantities.harm`.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.2.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from parshall.results.quantities.catalog import OURS
from parshall.results.quantities.computing import Of, aggregated, by_repetition, column
from parshall.results.quantities.definition import Better, Quantity
from parshall.results.quantities.fairness import REACHED, convergence, index
from parshall.results.quantities.harm import HARMS, with_values
from parshall.results.quantities.tables import Tables

__all__ = ["HARMS", "MEASURES", "OTHERS", "REACHED", "with_values"]

_TIME, _SIZE, _SLOWDOWN = pl.col("time_s"), pl.col("size_bytes"), pl.col("slowdown")


def _several(statistic: pl.Expr) -> pl.Expr:
    """A statistic that one value does not have."""
    return pl.when(pl.len() > 1).then(statistic)


_COMPLETE = pl.col("finished").all() & (pl.len() == pl.col("expected").first())
"""Expression: all timed files of a repetition were complete at the end."""


def _spread(statistic: pl.Expr) -> pl.Expr:
    """A statistic that one file does not have, nor files that were cut off."""
    return pl.when(_COMPLETE).then(_several(statistic))


def _jain(tables: Tables) -> dict[int, float]:
    files = tables["files"]
    complete = files.group_by("repetition", maintain_order=True).agg(complete=_COMPLETE).filter("complete")
    sources = (
        files.join(complete, on="repetition", how="semi", maintain_order="left")
        .group_by("repetition", "group", "source", maintain_order=True)
        .agg(rate=8 * _SIZE.sum() / _TIME.sum())
    )
    return by_repetition(sources, _several(index(pl.col("rate"))))


def _by_flow(value: pl.Expr) -> Of:
    """The mean of a statistic over the sampled flows, if all have it."""

    def of(tables: Tables) -> dict[int, float]:
        flows = tables["rates"].group_by("repetition", "group", "flow", maintain_order=True).agg(value=value)
        each = pl.col("value")
        return by_repetition(flows, pl.when(each.null_count() == 0).then(each.mean()))

    return of


_REACHED_AT = pl.col("time_s").filter(pl.col("goodput_bps") >= pl.col("target_bps")).min()
_START_UP = _REACHED_AT - pl.col("start_s").first()


def _files(key: str, label: str, unit: str, better: Better | None, value: pl.Expr) -> Quantity:
    return Quantity(key, label, unit, better, "run", aggregated("files", value))


def _flows(key: str, label: str, unit: str, better: Better | None, value: pl.Expr) -> Quantity:
    return Quantity(key, label, unit, better, "run", aggregated("flows", value))


MEASURES: Mapping[str, Quantity] = {
    each.key: each
    for each in (
        _files("completion_s", "mean completion time", "s", "lower", _TIME.mean()),
        # The mean of (T_i - mean)^2 over all i: the source divides by N, not by N - 1.
        _files("completion_sd_s", "standard deviation of completion time", "s", "lower", _spread(_TIME.std(ddof=0))),
        _files("completion_max_s", "longest completion time", "s", "lower", _TIME.max()),
        _files("completion_min_s", "shortest completion time", "s", "lower", _TIME.min()),
        _files("unpredictability", "unpredictability", "1", "lower", _spread(_SLOWDOWN.std(ddof=0) / _SLOWDOWN.mean())),
        Quantity("jain", "Jain's index", "1", "higher", "run", _jain, (0.0, 1.0)),
        _files("file_goodput_bps", "mean goodput of a file", "bit/s", "higher", (8 * _SIZE / _TIME).mean()),
        _files(
            "aggregate_bps",
            "aggregate goodput",
            "bit/s",
            "higher",
            8 * _SIZE.sum() / (pl.col("end_s").max() - pl.col("start_s").min()),
        ),
        Quantity(
            "flow_goodput_sd_bps",
            "standard deviation of a flow's goodput",
            "bit/s",
            "lower",
            "run",
            _by_flow(pl.col("goodput_bps").std(ddof=0)),
        ),
        _flows("efficiency", "efficiency", "1", "higher", pl.col("goodput_bps").sum() / pl.col("throughput_bps").sum()),
        OURS["link", "utilisation"],
        OURS["link", "queueing_delay_s"],
        Quantity(
            "queueing_delay_p99_s",
            "99th percentile of the queueing delay",
            "s",
            "lower",
            "link",
            column("links", "queueing_delay_p99_s"),
        ),
        OURS["link", "loss_rate"],
        Quantity("start_up_s", "start-up time", "s", "lower", "run", _by_flow(_START_UP)),
        Quantity("convergence_s", "convergence", "s", "lower", "run", convergence),
    )
}
"""Metrics by which controls are compared, in the order of output; the first one ranks them."""

OTHERS = (
    _files("slowdown", "completion time over that on an empty path", "1", "lower", _SLOWDOWN.mean()),
    _files(
        "finished",
        "files complete at the end",
        "ratio",
        "higher",
        pl.col("finished").sum() / pl.col("expected").first(),
    ),
    _flows(
        "flow_loss_rate",
        "loss rate of the flows",
        "ratio",
        "lower",
        pl.col("packets_dropped").sum() / pl.col("packets_sent").sum(),
    ),
    _flows(
        "rtt_excess_s",
        "round-trip time over that without queues",
        "s",
        "lower",
        (pl.col("mean_rtt_s") - pl.col("rtt_base_s")).mean(),
    ),
)
