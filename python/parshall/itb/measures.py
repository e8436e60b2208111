"""The metrics of a run (§4.2), for many runs at a time.

| symbol | column | unit | of |
| --- | --- | --- | --- |
| T mean, sigma_T | `completion_s`, `completion_sd_s` | s | timed files |
| T_max, T_min | `completion_max_s`, `completion_min_s` | s | timed files |
| predictability | `unpredictability` | 1 | coefficient of variation of T over that on an empty path |
| g_i mean | `goodput_bps` | bit/s | mean over the files |
| G | `aggregate_bps` | bit/s | all timed bytes over the time from first start to last end |
| sigma_i | `goodput_sd_bps` | bit/s | over time, of sampled flows with one file |
| p_{i,k} | `goodput_shares` | 1 | the same flows: how often the goodput is k % of C_a |
| J | `jain` | 1 | over the sources |
| E = G/X | `efficiency` | 1 | useful flows: goodput over throughput |
| queueing delay | `queueing_delay_s`, `queueing_delay_p99_s` | s | at the bottleneck |
| | `loss_rate`, `flow_loss_rate` | 1 | at the bottleneck; of the half's own packets |
| | `utilisation` | 1 | of the bottleneck |
| | `start_up_s` | s | from start until the goodput first is 90 % of the fair share |
| | `convergence_s` | s | until Jain's index of the sampled flows' goodputs first is 0.9 |
| | `rtt_excess_s` | s | mean RTT of the half's flows over that without queues |
| | `finished` | 1 | share of the timed files that were complete at the end |

Spread and fairness are null where a run has one file (TU, PA). A file of PA is the whole ping-pong, both directions of
it: `parshall.itb.ping_pong`.

A file that is not complete at the end counts as if it were complete then, so completion times are lower bounds
wherever `finished` is below 1. The same holds for start-up and convergence that were not seen. Start-up, convergence,
sigma_i and p_{i,k} are those of applications with one file a source; others idle in between. Goodputs over time are
moving averages over two RTTs or one sampling interval, whichever is longer.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.2; R. Jain, D. Chiu, W. Hawe, DEC TR-301, 1984.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.itb.building import EXCHANGED, SAMPLES, TIMED, Case
from parshall.itb.ping_pong import message_s

KEYS = ("point", "repetition")
Scope = Literal["all", "a", "b"]
_GROUPS: dict[Scope, str] = {"all": TIMED, "a": r"^a\d+$", "b": r"^b\d+$"}

REACHED = 0.9
"""Of the fair share (start-up), and of Jain's index (convergence)."""

_RTTS = 2.0
"""Over which goodputs are averaged."""


@dataclass(frozen=True)
class Tables:
    """Tables of several runs, with the columns `point` and `repetition` in front."""

    flows: pl.DataFrame
    links: pl.DataFrame
    transfers: pl.DataFrame
    flow_samples: pl.DataFrame


def measured(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    """The metrics of a half, or of both: one row a run."""
    files = _files(case, tables, scope)
    found = _completion(case, files).join(_of_flows(tables, scope), on=KEYS, how="left")
    found = found.join(_of_link(tables), on=KEYS, how="left")
    if not case.application.idles:
        found = found.join(_over_time(case, tables, scope), on=KEYS, how="left")
    else:
        found = found.with_columns(
            pl.lit(None, dtype=pl.Float64).alias(name) for name in ("goodput_sd_bps", "start_up_s", "convergence_s")
        )
    return found.sort(KEYS)


def completion_times(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    """One row a timed file: `source`, `transfer`, `completion_s`, `slowdown`, `finished`."""
    return _files(case, tables, scope).rename({"time_s": "completion_s"})


def goodput_shares(case: Case, tables: Tables, scope: Scope) -> dict[int, NDArray[np.float64]]:
    """How often a flow's goodput is k % of C_a, k = 0 .. 100, by point (the distribution of §4.2.2)."""
    found = {}
    for (point,), rows in _goodputs(case, tables, scope).group_by("point", maintain_order=True):
        percent = np.clip(100 * rows["goodput_bps"].to_numpy() / case.factors.access_bps, 0, 100.999)
        counts = np.bincount(percent.astype(int), minlength=101)
        found[int(str(point))] = counts / counts.sum()
    return found


def _of(table: pl.DataFrame, scope: Scope) -> pl.DataFrame:
    return table.filter(pl.col("group").str.contains(_GROUPS[scope]))


def _files(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    """The timed files; the parallel streams of one are put together."""
    if case.application.replies:
        return _exchanges(case, tables, scope)
    rtts = tables.flows.select(*KEYS, "flow", "rtt_base_s")
    first = pl.col("flow").min().over(*KEYS, "group")
    of_streams = (
        _of(tables.transfers, scope)
        .with_columns(source=(pl.col("flow") - first) // case.factors.streams)
        .filter(pl.col("transfer") < case.rounds)
        .join(rtts, on=[*KEYS, "flow"], how="left")
    )
    files = of_streams.group_by(*KEYS, "group", "source", "transfer", maintain_order=True).agg(
        start_s=pl.col("start_s").min(),
        end_s=pl.col("completion_s").fill_null(case.duration_s).max(),
        finished=pl.col("completion_s").is_not_null().all(),
        size_bytes=pl.col("size_bytes").sum(),
        rtt_base_s=pl.col("rtt_base_s").mean(),
    )
    empty_s = 8 * pl.col("size_bytes") / case.factors.access_bps + pl.col("rtt_base_s")
    return files.with_columns(time_s=pl.col("end_s") - pl.col("start_s")).with_columns(
        slowdown=pl.col("time_s") / empty_s
    )


def _exchanges(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    """One ping-pong a half: the times of its messages there and back, one after the other."""
    rtts = tables.flows.select(*KEYS, "flow", "rtt_base_s")
    half = pl.col("group").str.strip_prefix("back-")
    flows = (
        tables.transfers.filter(pl.col("group").str.contains(EXCHANGED) & half.str.contains(_GROUPS[scope]))
        .join(rtts, on=[*KEYS, "flow"], how="left")
        .with_columns(time_s=message_s(case.duration_s), half=half)
        .group_by(*KEYS, "half", "group", "flow", maintain_order=True)
        .agg(
            pl.col("time_s").sum(),
            pl.col("start_s").min(),
            pl.col("size_bytes").sum(),
            pl.col("rtt_base_s").first(),
            complete=pl.col("completion_s").is_not_null().sum(),
        )
    )
    ways = flows.group_by(*KEYS, "half", "group", maintain_order=True).agg(
        pl.col("time_s").max(),  # of parallel streams the last one
        pl.col("start_s").min(),
        pl.col("size_bytes").sum(),
        pl.col("rtt_base_s").mean(),
        complete=(pl.col("complete") == case.scale.messages).all() & (pl.len() == case.factors.streams),
    )
    exchanges = ways.group_by(*KEYS, "half", maintain_order=True).agg(
        pl.col("time_s").sum(),
        pl.col("start_s").min(),
        pl.col("size_bytes").sum(),
        pl.col("rtt_base_s").mean(),
        finished=pl.col("complete").all() & (pl.len() == len(("there", "back"))),
    )
    empty_s = 8 * pl.col("size_bytes") / case.factors.access_bps + case.scale.messages * pl.col("rtt_base_s")
    return exchanges.rename({"half": "group"}).with_columns(
        source=pl.lit(0, dtype=pl.Int64),
        transfer=pl.lit(0, dtype=pl.UInt32),
        end_s=pl.col("start_s") + pl.col("time_s"),
        slowdown=pl.col("time_s") / empty_s,
    )


def _completion(case: Case, files: pl.DataFrame) -> pl.DataFrame:
    time, slowdown = pl.col("time_s"), pl.col("slowdown")
    sources = files.group_by(*KEYS, "group", "source", maintain_order=True).agg(
        rate=8 * pl.col("size_bytes").sum() / pl.col("time_s").sum(),
    )
    fairness = sources.group_by(*KEYS, maintain_order=True).agg(
        jain=_of_several(pl.col("rate").sum() ** 2 / (pl.len() * (pl.col("rate") ** 2).sum())), sources=pl.len()
    )
    # The mean of (T_i - mean)^2 over all i: the source divides by N, not by N - 1.
    return (
        files.group_by(*KEYS, maintain_order=True)
        .agg(
            completion_s=time.mean(),
            completion_max_s=time.max(),
            completion_min_s=time.min(),
            completion_sd_s=_of_several(time.std(ddof=0)),
            unpredictability=_of_several(slowdown.std(ddof=0) / slowdown.mean()),
            slowdown=slowdown.mean(),
            goodput_bps=(8 * pl.col("size_bytes") / time).mean(),
            aggregate_bps=8 * pl.col("size_bytes").sum() / (pl.col("end_s").max() - pl.col("start_s").min()),
            complete=pl.col("finished").sum(),
        )
        .join(fairness, on=KEYS, how="left")
        .with_columns(finished=pl.col("complete") / (pl.col("sources") * case.rounds))
        .drop("complete", "sources")
    )


def _of_several(statistic: pl.Expr) -> pl.Expr:
    """A statistic that one value does not have."""
    return pl.when(pl.len() > 1).then(statistic)


def _of_flows(tables: Tables, scope: Scope) -> pl.DataFrame:
    sent, excess = pl.col("packets_sent"), pl.col("mean_rtt_s") - pl.col("rtt_base_s")
    return (
        _of(tables.flows, scope)
        .group_by(*KEYS, maintain_order=True)
        .agg(
            efficiency=pl.col("goodput_bps").sum() / pl.col("throughput_bps").sum(),
            flow_loss_rate=pl.col("packets_dropped").sum() / sent.sum(),
            rtt_excess_s=excess.mean(),
        )
    )


def _of_link(tables: Tables) -> pl.DataFrame:
    return tables.links.filter(pl.col("link") == "bottleneck").select(
        *KEYS,
        "utilisation",
        "loss_rate",
        queueing_delay_s="mean_queueing_delay_s",
        queueing_delay_p99_s="queueing_delay_p99_s",
    )


def _goodputs(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    """Goodput over time of sampled flows while they have something to send."""
    groups = tables.flows.select(*KEYS, "flow", "group")
    ends = tables.transfers.group_by(*KEYS, "flow", maintain_order=True).agg(
        pl.col("start_s").min(), pl.col("completion_s").fill_null(case.duration_s).max()
    )
    interval_s = case.duration_s / SAMPLES
    window = max(1, round(_RTTS * case.factors.mean_rtt_s / interval_s))
    samples = _of(tables.flow_samples.join(groups, on=[*KEYS, "flow"], how="inner"), scope).sort(
        *KEYS, "flow", "time_s"
    )
    before = pl.col("delivered_bytes").shift(1).over(*KEYS, "flow").fill_null(0)
    rates = samples.with_columns(
        rate=8.0 * (pl.col("delivered_bytes").cast(pl.Int64) - before.cast(pl.Int64)) / interval_s
    )
    rates = rates.with_columns(
        goodput_bps=pl.col("rate").rolling_mean(window, min_samples=1).over(*KEYS, "flow"),
    )
    joined = rates.join(ends, on=[*KEYS, "flow"], how="inner")
    active = (pl.col("time_s") > pl.col("start_s")) & (pl.col("time_s") <= pl.col("completion_s"))
    return joined.filter(active).select(*KEYS, "group", "flow", "time_s", "goodput_bps", "start_s", "completion_s")


def _over_time(case: Case, tables: Tables, scope: Scope) -> pl.DataFrame:
    rates = _goodputs(case, tables, scope)
    target_bps = REACHED * case.share_bps / case.factors.streams * _payload_share(case)
    reached = pl.col("time_s").filter(pl.col("goodput_bps") >= target_bps).min()
    flows = rates.group_by(*KEYS, "group", "flow", maintain_order=True).agg(
        start_up=reached.fill_null(pl.col("completion_s").first()) - pl.col("start_s").first(),
        spread=pl.col("goodput_bps").std(ddof=0),
    )
    means = flows.group_by(*KEYS, maintain_order=True).agg(
        start_up_s=pl.col("start_up").mean(), goodput_sd_bps=pl.col("spread").mean()
    )
    return means.join(convergence(rates), on=KEYS, how="left")


def convergence(rates: pl.DataFrame) -> pl.DataFrame:
    """When all sampled flows share evenly, counted from the last one's start; null for one flow.

    Parameters
    ----------
    rates
        `goodput_bps` over time: columns `KEYS`, `flow`, `time_s`, `goodput_bps`, `start_s`, `completion_s`.
    """
    bounds = rates.group_by(*KEYS, maintain_order=True).agg(
        flows=pl.col("flow").n_unique(), last=pl.col("start_s").max(), until=pl.col("completion_s").min()
    )
    together = (
        rates.join(bounds, on=KEYS)
        .filter((pl.col("time_s") > pl.col("last")) & (pl.col("time_s") <= pl.col("until")))
        .group_by(*KEYS, "time_s", maintain_order=True)
        .agg(
            jain=pl.col("goodput_bps").sum() ** 2 / (pl.len() * (pl.col("goodput_bps") ** 2).sum()),
        )
    )
    first = (
        together.filter(pl.col("jain") >= REACHED).group_by(*KEYS, maintain_order=True).agg(at=pl.col("time_s").min())
    )
    found = bounds.join(first, on=KEYS, how="left").with_columns(
        convergence_s=pl.when(pl.col("flows") > 1).then(pl.col("at").fill_null(pl.col("until")) - pl.col("last"))
    )
    return found.select(*KEYS, "convergence_s")


def _payload_share(case: Case) -> float:
    mix = case.application.mixes(case.factors, case.scale, case.itb_class.aggregation)[0]
    return (mix.packet_bytes - 40) / mix.packet_bytes
